"""What SDCA and Newton's method take, and the numbers of `pegasos.solvers.auto` fitted to it.

python -m bench.choice              measure on one core; print the fitted `Rates` and the choices
python -m bench.choice --limit 5    seconds per fit (4)

Both solvers run to 1e-3 on ordinary tables and on texts, for the losses hinge, squared hinge and
logistic, on regressions for the epsilon-insensitive one, at three penalties. Epochs of SDCA are
fitted by least squares of their logarithm, loss by loss, and so are seconds of an epoch or a step,
all where epochs are few enough to matter. The fit is printed as Python, to be put into `auto.py` by
hand.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import gmean

from bench.datasets import DATASETS
from bench.harness import command
from bench.ordinary.tables import PART, TABLES

PENALTIES = (0.01, 1.0, 100.0)
TABLE_NAMES = (
    "breast_cancer-raw", "wine-std", "digits-raw", "letter2-std", "letter-raw", "a9a", "cov1-unit",
    "mnist8-unit",
)  # fmt: skip
TEXT_NAMES = ("reuters", "news20")
REGRESSION_NAMES = (
    "diabetes-std",
    "abalone-raw",
    "abalone-std",
    "cal_housing-raw",
    "cal_housing-std",
)
MOST_KAPPA = 1000.0  # beyond it epochs are too many, however many
MOST_ROWS = 600_000
LONGER = 4  # times the epochs of a run that the limit ended: what it is taken to need


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, fit, and print how the choices would turn out."""
    known = (*TABLE_NAMES, *TEXT_NAMES, *REGRESSION_NAMES)
    parser = command.parser("bench.choice", __doc__, known, 4.0, takes=())
    options = command.parsed(parser, arguments)
    asked = command.chosen(known, options)
    found = [record for data in sets(asked) for record in measured(*data, options.limit)]
    rates = fitted(found)
    print("\nfitted:\n")
    for name, value in rates._asdict().items():
        print(f"    {name}: {value}" if name == "epochs" else f"    {name}: float = {value:.3g}")
    judge(found, rates)


def sets(names: Sequence[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield names, rows and labels, (n, K) of -1 and +1."""
    for name in names:
        if name in TEXT_NAMES:
            data = DATASETS[name].load(1e-4)
            yield name, data.X, indicators(data.y)
        else:
            X, y = TABLES[name].load()
            X, y = X[:MOST_ROWS], y[:MOST_ROWS]
            yield name, X, y[:, None].astype(float) if name in REGRESSION_NAMES else indicators(y)


def indicators(y: Any) -> Any:
    """Return labels as columns of -1 and +1."""
    columns = y[:, None] if y.min() < 0 else np.where(y[:, None] == np.unique(y), 1, -1)
    return np.ascontiguousarray(columns, dtype=np.float64)


def measured(name: str, X: Any, Y: Any, limit: float) -> Iterator[dict]:
    """Run both solvers on a set for every loss and penalty."""
    from pegasos.certificate.stopping import Stopping
    from pegasos.data.compress import quickest
    from pegasos.data.rows import as_rows
    from pegasos.parallel import one_blas_thread
    from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
    from pegasos.problem.objective import make_problem
    from pegasos.solve import solve
    from pegasos.solvers.auto import MOST_COLUMNS, facts_of
    from pegasos.solvers.newton.newton import Newton
    from pegasos.solvers.sdca.linear import SDCA

    rows = quickest(as_rows(X))
    losses = (Hinge(), SquaredHinge(), Logistic())
    if name in REGRESSION_NAMES:
        losses = (EpsilonInsensitive(PART * float(np.std(Y))),)
    for loss in losses:
        for C in PENALTIES:
            problem = make_problem(loss, rows, Y, None, 1.0 / (C * X.shape[0]), "free")
            record = {"name": name, "loss": type(loss).__name__, "C": C, "facts": facts_of(problem)}
            for solver in (SDCA(), Newton()):
                if isinstance(solver, Newton) and X.shape[1] > MOST_COLUMNS:
                    continue
                for budget in (0.01, limit):  # the first compiles
                    begin = time.process_time()
                    with one_blas_thread:
                        end = solve(problem, solver, Stopping(max_iter=5000, max_time=budget))
                    seconds = time.process_time() - begin
                certificate = end.certificate
                record[solver.name] = {
                    "seconds": seconds, "epochs": max(1, certificate.epochs),
                    "is_proven": certificate.relative_gap <= 1e-3,
                }  # fmt: skip
            print(record, flush=True)
            yield record


def fitted(found: list[dict]) -> Any:
    """Fit the numbers of `auto.Rates`."""
    from pegasos.solvers.auto import RATES

    sdca = [r for r in found if r["facts"].kappa <= MOST_KAPPA]
    either = [r for r in sdca if "newton" in r]  # where there is a choice
    newton = [r for r in found if r.get("newton", {}).get("is_proven")]
    steps = {
        kind: float(gmean([r["newton"]["epochs"] for r in newton if kind_of(r) == kind]))
        for kind in dict.fromkeys(map(kind_of, newton))
    }
    value, sparse_value, row, root, epoch = fit_times(
        [terms_of_sdca(r["facts"]) for r in sdca],
        [r["sdca"]["seconds"] / r["sdca"]["epochs"] for r in sdca],
    )
    read, searched, product, sparse_product, overhead = fit_times(
        [terms_of_newton(r["facts"]) for r in newton],
        [r["newton"]["seconds"] / r["newton"]["epochs"] for r in newton],
    )
    return RATES._replace(
        value=value, sparse_value=sparse_value, row=row, root=root, epoch=epoch,
        epochs={**RATES.epochs, **epochs_of(either)},
        steps=steps.get((False, False), RATES.steps),
        smooth_steps=steps.get((True, False), RATES.smooth_steps),
        tall_steps=steps.get((False, True), RATES.tall_steps),
        tall_smooth_steps=steps.get((True, True), RATES.tall_smooth_steps),
        read=read, searched=searched,
        product=product, sparse_product=sparse_product, overhead=overhead,
    )  # fmt: skip


def kind_of(record: dict) -> tuple[bool, bool]:
    """Return whether the loss is smooth, and whether the data are tall."""
    from pegasos.solvers.auto import is_tall

    return record["facts"].is_smooth, is_tall(record["facts"])


def epochs_of(found: list[dict]) -> dict[str, Any]:
    """Fit the epochs of SDCA, loss by loss."""
    from pegasos.solvers.auto import Epochs

    fits = {}
    for loss in dict.fromkeys(record["loss"] for record in found):
        some = [r for r in found if r["loss"] == loss]
        terms = [[1.0, np.log1p(r["facts"].kappa), np.log(r["facts"].models)] for r in some]
        taken = [r["sdca"]["epochs"] * (1 if r["sdca"]["is_proven"] else LONGER) for r in some]
        first, growth, spread = np.linalg.lstsq(np.array(terms), np.log(taken), rcond=None)[0]
        fits[loss] = Epochs(*(round(float(x), 3) for x in (np.exp(first), growth, spread)))
    return fits


def fit_times(terms: list[list[float]], seconds: list[float]) -> list[float]:
    """Return positive nanoseconds per term, by the logarithm of the error."""
    known, measured = np.array(terms), np.log(1e9 * np.array(seconds))
    is_there = known.any(axis=0)  # with few tables, not all is
    known = known[:, is_there]
    start = np.log(np.exp(measured.mean()) / known.shape[1] / known.mean(axis=0))

    def errors(logarithms: Any) -> Any:
        return np.log(known @ np.exp(logarithms)) - measured

    found = least_squares(errors, start, loss="soft_l1", f_scale=0.3)
    fits = np.full(len(is_there), np.nan)
    fits[is_there] = np.exp(found.x)
    return [float(x) for x in fits]


def terms_of_sdca(facts: Any) -> list[float]:
    """Return what the seconds of an epoch are a combination of; see `auto.epoch_of_sdca`."""
    from pegasos.solvers.auto import SIDE_BY_SIDE

    values = facts.values * (1.0 + SIDE_BY_SIDE * (facts.models - 1))
    dense, compressed = (0.0, values) if facts.is_sparse else (values, 0.0)
    rows = facts.models * facts.n
    return [dense, compressed, rows, rows if facts.loss == "Logistic" else 0.0, 1.0]


def terms_of_newton(facts: Any) -> list[float]:
    """Return what the seconds of a step are a combination of; see `auto.step_of_newton`."""
    from pegasos.solvers.auto import answering, products

    by_blas, of_rows = products(facts)
    multiplied = answering(facts)
    dense, compressed = (0.0, of_rows) if of_rows < by_blas / 8.0 else (by_blas, 0.0)
    terms = [
        facts.values, facts.n, multiplied * dense + facts.d**3 / 3.0, multiplied * compressed, 1.0,
    ]  # fmt: skip
    return [facts.models * term for term in terms]


def judge(found: list[dict], rates: Any) -> None:
    """Print what would be chosen, and what the better solver took."""
    from pegasos.solvers.auto import seconds_of_newton, seconds_of_sdca

    lost = []
    print("\nset, loss, C: chosen; seconds of sdca, newton (* not proven)\n")
    for record in found:
        facts, both = record["facts"], {"sdca": record["sdca"], **only(record, "newton")}
        is_newton = seconds_of_newton(facts, 1e-3, rates) < seconds_of_sdca(facts, 1e-3, rates)
        chosen = "newton" if is_newton and "newton" in both else "sdca"
        took = {
            name: run["seconds"] * (1 if run["is_proven"] else 10) for name, run in both.items()
        }
        lost.append(took[chosen] / min(took.values()))
        shown = ", ".join(
            f"{run['seconds']:.3g}{'' if run['is_proven'] else '*'}" for run in both.values()
        )
        print(f"{record['name']}, {record['loss']}, {record['C']:g}: {chosen}; {shown}")
    print(f"\nchosen / better: mean {np.mean(lost):.2f}, worst {max(lost):.1f}")


def only(record: dict, name: str) -> dict:
    """Return a part of a record as a dict of its own, if it is there."""
    return {name: record[name]} if name in record else {}


if __name__ == "__main__":
    main()
