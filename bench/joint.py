"""Several classes in one model, beside scikit-learn: python -m bench.joint.

    python -m bench.joint                          everything; writes docs/benchmarks/joint.md
    python -m bench.joint --only letter-raw,costs  some parts

The hinge over all classes beside LinearSVC(multi_class="crammer_singer"), with its regularised
bias; softmax beside LogisticRegression (lbfgs, saga), with its free one; C = 1. costs: what a
random matrix of costs, trained with, does to those of a test set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from bench.harness import command
from bench.harness.measure import fastest_peer, measure
from bench.harness.page import head, heading, measurements_of, number, reached, seconds, table
from bench.harness.page import page as page_of
from bench.harness.results import Results, carry_out
from bench.joint_problem import SOLVERS, TABLES, JointTask, remembered_optimum, tasks

NAME = "joint"
THRESHOLDS = (1e-3,)
SPLITS = 5
COSTS = "costs"
INTRODUCTION = """\
# Several classes in one model, side by side

lam/2 ||W||^2 + mean loss, C = 1/(lam n) = 1. The hinge over all classes with a regularised bias, as
LinearSVC(multi_class="crammer_singer") has it; softmax with a free bias, as LogisticRegression has
it. Everybody may use all cores.

- *Seconds to 1e-3*: the fastest fit from scratch whose objective is within 0.1 % of the optimum;
  ours has to prove it. Efforts are tolerances as the solver means them, from loose to tight.
- *Accuracy*: of that fit, on rows that were not trained on.
- *Reached*: the lowest objective over all efforts tried, and how far it is from the optimum.
- A dash: not reached within the seconds per fit that the heading gives.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every part."""
    parser = command.parser("bench.joint", __doc__, (*TABLES, COSTS), 60.0)
    options = command.parsed(parser, arguments)
    results = command.begun(NAME, command.installed(SOLVERS), options)
    carry_out(results, jobs(options), page, section)


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the parts asked for, each table loaded once."""
    names = command.chosen((*TABLES, COSTS), options)
    for name in names:
        if name == COSTS:
            yield COSTS, cost_experiment
            continue
        for task in tasks(name):
            yield task.key, partial(one_part, task, options)


def one_part(task: JointTask, options: argparse.Namespace) -> dict:
    """Measure everybody on one task."""
    print(f"# {task.key}: {task.shape_text}", flush=True)
    optimum = remembered_optimum(task, 3.0 * options.limit)
    print(f"P* in {tuple(optimum)}, relative gap {optimum.relative_gap:.0e}", flush=True)
    found = measure(
        task, command.installed(SOLVERS), optimum, limit=options.limit, repeats=options.repeats,
        thresholds=THRESHOLDS,
    )  # fmt: skip
    return {
        "title": task.key, "shape": task.shape_text, "optimum": list(optimum),
        "limit": options.limit, "measurements": [m.as_dict() for m in found],
    }  # fmt: skip


def cost_experiment() -> dict:
    """Mean costs of test rows, trained with their costs and with 0 and 1, over some splits."""
    from pegasos import PegasosClassifier

    X, y = TABLES["letter-std"]()
    rows = []
    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        cost = rng.exponential(1.0, (26, 26))
        np.fill_diagonal(cost, 0.0)
        order = rng.permutation(len(y))
        train, test = order[:15_000], order[15_000:]
        of_costs, of_errors = (
            PegasosClassifier(multiclass="joint", cost=given, random_state=0).fit(
                X[train], y[train]
            )
            for given in (cost, None)
        )
        paid = [
            float(cost[y[test], model.predict(X[test])].mean()) for model in (of_costs, of_errors)
        ]
        rows.append({"split": split, "costs": paid[0], "zero-one": paid[1]})
    return {"title": COSTS, "rows": rows}


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of(INTRODUCTION, results, *map(section, results.parts.values()))


def section(part: dict) -> str:
    """Return the text of one part."""
    if part["title"] == COSTS:
        return cost_section(part)
    threshold = THRESHOLDS[0]
    rows = head("solver", heading(threshold), "accuracy, %", "effort", "reached")
    for m in measurements_of(part):
        rung = m.best(threshold)
        accuracy = None if rung is None or rung.test_error is None else 100.0 - rung.test_error
        cells = [
            number(seconds(m, threshold)),
            number(accuracy, ".2f"),
            rung.effort if rung else "-",
        ]
        rows.append([m.solver, *cells, reached(m)])
    dual, primal = part["optimum"]
    where = f"P* in [{dual:.6f}, {primal:.6f}]. Limit: {part['limit']:g} s per fit"
    return f"## {part['title']}\n\n{part['shape']}. {where}.\n\n{table(rows)}\n"


def cost_section(part: dict) -> str:
    """Return the table of the experiment with costs, and what its differences say."""
    rows = head("split", "trained with the costs", "trained with 0 and 1")
    for row in part["rows"]:
        rows.append([str(row["split"]), f"{row['costs']:.4f}", f"{row['zero-one']:.4f}"])
    less = np.array([row["zero-one"] - row["costs"] for row in part["rows"]])
    t = less.mean() / (less.std(ddof=1) / np.sqrt(len(less)))
    return (
        f"## {COSTS}: mean costs on test rows\n\nletter, standardised, 15,000 / 5,000 rows, C = 1; "
        f"costs drawn from an exponential distribution, anew for every split. The difference is "
        f"{less.mean():.4f}, {t:.1f} standard errors.\n\n{table(rows)}\n"
    )


def summary(results: Results) -> str:
    """Return the README's table: ours and the fastest peer, a row per task."""
    rows = head("classes, C = 1", "ours, s", "accuracy, %", "fastest peer", "s", "accuracy, %")
    rows[1][3] = "---"
    for key, part in results.parts.items():
        if key == COSTS:
            continue
        found = measurements_of(part)
        ours = next(m for m in found if m.is_ours).best(THRESHOLDS[0])
        peer = fastest_peer(found, THRESHOLDS[0])
        cells = [number(ours and ours.seconds), accuracy_of(ours)]
        others = [peer[0], number(peer[1].seconds), accuracy_of(peer[1])] if peer else ["-"] * 3
        rows.append([key, *cells, *others])
    facts = results.facts
    return (
        "Several classes in one model: seconds until the objective is within 0.1 % of the optimum, "
        f"ours proven. {facts['processor']}; {facts['date']}; `python -m bench.joint`; all numbers "
        f"in `docs/benchmarks/joint.md`.\n\n{table(rows)}\n"
    )


def accuracy_of(rung: object) -> str:
    """Write the accuracy of a fit."""
    error = getattr(rung, "test_error", None)
    return "-" if error is None else f"{100.0 - error:.2f}"


if __name__ == "__main__":
    main()
