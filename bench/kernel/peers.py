"""Peers on problems that our certificate judges itself: the fastest tolerance that is true enough.

scikit-learn's libsvm and scikit-learn-intelex are fitted at a few of their tolerances, from coarse
to fine, until the *true* suboptimality, by a judge that collects lower bounds of the optimum from
all fits, is at most 1e-3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from bench.harness import command
from bench.harness.competitor import Competitor
from bench.harness.fits import Fit, fitted, fitted_within
from bench.harness.page import Lines, head, number
from bench.kernel.solvers import SOLVERS
from bench.kernel.solvers.base import CACHE_MB

NAMES = ("intelex", "libsvm")
TOLS = (1e-1, 1e-2, 1e-3)
THRESHOLD = 1e-3


class Judge(Protocol):
    """Who values models, and knows better and better how low the optimum may be."""

    def value(self, svm: Any) -> float:
        """Return the objective of a fitted model; remember its lower bound of the optimum."""

    def suboptimality(self, value: float) -> float:
        """Return how far a value is above the best bound so far, relative to it."""


def there(is_slow: bool = True) -> list[Competitor]:
    """Return ours and those peers that are installed; libsvm only where it is not too slow."""
    names = ("pegasos-auto", *(name for name in NAMES if is_slow or name != "libsvm"))
    return command.installed(SOLVERS[name] for name in names)


def estimator(name: str, kind: str) -> Callable[..., Any]:
    """Return the class `kind`, SVC or SVR, of a peer."""
    if name == "intelex":
        from sklearnex import svm
    else:
        from sklearn import svm
    return getattr(svm, kind)


def rows_of_peer(
    name: str,
    make: Callable[[float], Any],
    data: tuple[Any, Any],
    judge: Judge,
    limit: float,
    repeats: int,
) -> Iterable[tuple[str, Fit, float]]:
    """Yield effort, fit and objective at each tolerance, until one is true enough or too slow."""
    X, y = SOLVERS[name].container(data[0]), data[1]
    for tol in TOLS:
        build = lambda tol=tol: make(tol).set_params(cache_size=CACHE_MB)  # noqa: E731
        if SOLVERS[name].survives_a_fork:
            fit = fitted_within(limit, build, X, y, repeats)
        else:
            fit = fitted(build, X, y, repeats, least=1)
        if fit is None:
            print(f"{name}, tol {tol:g}: ended at the limit", flush=True)
            return
        value = judge.value(fit.model)
        print(f"{name}, tol {tol:g}: {fit.seconds:.3g} s, {judge.suboptimality(value):.1e}")
        yield f"tol {tol:g}", fit, value
        if fit.seconds > limit or judge.suboptimality(value) <= THRESHOLD:
            return  # good enough already: a finer tolerance would only take longer


def best_of(rows: Sequence[dict], judge: Judge) -> list[dict]:
    """Turn values into gaps; return the fastest row that is true enough, or else the last."""
    for row in rows:
        row["gap"] = judge.suboptimality(row.pop("value"))
    good = [row for row in rows if row["gap"] <= THRESHOLD]
    return [min(good, key=lambda row: row["seconds"])] if good else list(rows[-1:])


def lines(rows: Sequence[dict], columns: dict[str, Callable[[dict], str]]) -> Lines:
    """Return the cells of a table: solver, effort, seconds, ratio of ours to it, and columns."""
    cells = head("solver", "effort", "seconds", "ratio", *columns, words=1)
    ours = next((r["seconds"] for r in rows if r["solver"] == "pegasos"), None)
    for r in rows:
        ratio = f"{ours / r['seconds']:.2f}" if ours and r["solver"] != "pegasos" else ""
        shown = [column(r) for column in columns.values()]
        cells.append([r["solver"], r["effort"], number(r["seconds"]), ratio, *shown])
    return cells
