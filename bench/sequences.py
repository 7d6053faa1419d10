"""Labelling sequences, beside python-crfsuite: python -m bench.sequences.

    python -m bench.sequences                    everything; writes docs/benchmarks/sequences.md
    python -m bench.sequences --only conll,ocr   some parts (million, conll, ocr, folds)

million: the memory that a million tokens take. conll: chunks, from feature dicts to a model, and
python-crfsuite with its default training (c2 = 1, which is C = 1/2). ocr: one fold of handwritten
words, both losses. folds: errors over all ten folds, and without transitions; C, and whether there
is a constant feature, are chosen for each test fold by the errors on one of the nine others.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bench.datasets import conll2000, ocr_letters
from bench.harness import command
from bench.harness.competitor import Package
from bench.harness.page import page as page_of
from bench.harness.page import table
from bench.harness.results import Results, carry_out
from pegasos import PegasosSequenceLabeler

NAME = "sequences"
INTRODUCTION = """\
# Label sequences

`PegasosSequenceLabeler` beside python-crfsuite, from the same feature dicts to a model: seconds of
the clock and of the processor. crfsuite has one thread, as has our training (our certificates have
two). "within 1e-3" is when an objective was within 0.1 % of the best known: ours proven, crfsuite's
against its own last value, by its own log. "sum" is the sum of the losses and ||w||^2 / (2 C),
which is what crfsuite minimises, too (but for pairs of a feature and a label that never occur
together, which it leaves out, and weights of the first and last label, which it does not have): the
sums are of two problems that differ in this, and neither bounds the other's.

For `folds`, C and whether there is a constant feature are chosen for each test fold without looking
at it: by the errors on the fold after it, after training on the other eight. Seconds include that.

"""


GRID = {"logistic": (0.3, 1.0, 3.0), "hinge": (0.1, 0.2, 0.5)}  # C that `folds` chooses among
TASKS = {"conll": "chunks of CoNLL-2000", "ocr": "handwritten words, fold 0"}
Words = tuple[Any, Any, Any]  # pictures, letters and folds


class CrfSuite(Package):
    """python-crfsuite, for its version."""

    name, package = "crfsuite", "python-crfsuite"


class Clock:
    """Seconds of the clock and of the processor, of what happens inside."""

    def __enter__(self) -> Clock:
        self.begin = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *details: Any) -> None:
        self.wall = time.perf_counter() - self.begin[0]
        self.cpu = time.process_time() - self.begin[1]


def crfsuite(X: Any, y: Any, options: dict[str, Any]) -> tuple[Callable[[Any], Any], dict]:
    """Train python-crfsuite; return what labels a sequence, and what it took."""
    import pycrfsuite

    folder = tempfile.mkdtemp()
    path = str(Path(folder, "model"))
    trainer = pycrfsuite.Trainer(verbose=False, params=options)
    with Clock() as clock:
        for one, labels in zip(X, y, strict=True):
            trainer.append(one, labels)
        trainer.train(path)
    rounds = trainer.logparser.iterations
    best = min(r["loss"] for r in rounds)
    near = next(k for k, r in enumerate(rounds) if r["loss"] <= 1.001 * best) + 1
    training = sum(r["time"] for r in rounds)
    part = sum(r["time"] for r in rounds[:near])
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    facts = {
        "solver": "crfsuite", "options": str(options or "defaults"), "rounds": len(rounds),
        "seconds": clock.wall, "cpu": clock.cpu,
        "near": clock.wall - training + part if training < clock.wall else clock.wall,
        "objective": best,
    }  # fmt: skip
    return lambda Z: [tagger.tag(one) for one in Z], facts


def ours(X: Any, y: Any, **options: Any) -> tuple[PegasosSequenceLabeler, dict]:
    """Train ours, compiled beforehand; return the model and what it took."""
    model = PegasosSequenceLabeler(random_state=0, **options)
    few = sorted(range(len(y)), key=lambda i: -len(set(y[i])))[:20]
    PegasosSequenceLabeler(**(options | {"max_iter": 3, "tol": 1.0})).fit(
        [X[i] for i in few], [y[i] for i in few]
    )
    with Clock() as clock:
        model.fit(X, y)
    certificate = model.certificate_
    near = {"near": clock.wall} if certificate.relative_gap <= 1e-3 else {}
    return model, near | {
        "solver": f"pegasos {options.get('loss', 'logistic')}", "options": f"C={model.C:g}",
        "rounds": model.n_iter_, "seconds": clock.wall, "cpu": clock.cpu,
        "objective": certificate.primal * len(y), "gap": certificate.relative_gap,
    }  # fmt: skip


def conll() -> dict:
    """Chunks of CoNLL-2000."""
    (X, y), (Z, truth) = conll2000.load("train"), conll2000.load("test")
    rows = []
    for C, loss in ((0.5, "logistic"), (1.0, "logistic"), (0.1, "hinge")):
        model, facts = ours(X, y, C=C, loss=loss)
        rows.append(facts | {"score": f"F1 {conll2000.f1(truth, model.predict(Z)):.2f}"})
    label, facts = crfsuite(X, y, {})
    rows.append(facts | {"score": f"F1 {conll2000.f1(truth, label(Z)):.2f}"})
    return {"shape": f"{len(X):,} sentences, {sum(map(len, X)):,} tokens", "rows": rows}


def as_dicts(one: Any) -> list[dict[str, float]]:
    """Return the pixels that are on, as crfsuite wants them."""
    return [{str(j): 1.0 for j in row.nonzero()[0]} for row in one.toarray()]


def parted(
    words: Words, is_tested: Callable[[int], bool], is_left_out: Callable[[int], bool]
) -> tuple[Any, Any, Any, Any]:
    """Return words to train on, which are not of folds left out, and words to test on."""
    X, y, folds = words
    train = [i for i in range(len(y)) if not is_left_out(folds[i])]
    test = [i for i in range(len(y)) if is_tested(folds[i])]
    return tuple([values[i] for i in part] for part in (train, test) for values in (X, y))  # type: ignore[return-value]


def error(truth: Any, given: Any) -> float:
    """Return the fraction of wrong labels."""
    pairs = [
        (a, b)
        for one, other in zip(truth, given, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    return float(np.mean([a != b for a, b in pairs]))


def ocr() -> dict:
    """Handwritten words, tested on fold 0."""
    X, y, Z, truth = parted(ocr_letters.load(), lambda one: one == 0, lambda one: one == 0)
    rows = []
    for C, loss in ((0.5, "logistic"), (1.0, "logistic"), (0.2, "hinge")):
        model, facts = ours(X, y, C=C, loss=loss)
        rows.append(facts | {"score": f"error {1 - model.score(Z, truth):.2%}"})
    options = {"c2": 1.0, "max_iterations": 200}
    label, facts = crfsuite([as_dicts(one) for one in X], y, options)
    found = label([as_dicts(one) for one in Z])
    rows.append(facts | {"score": f"error {error(truth, found):.2%}"})
    return {"shape": f"{len(X):,} words, {sum(map(len, y)):,} letters", "rows": rows}


def without_constant(words: Any) -> Any:
    """Return pictures without the constant feature, which is the last."""
    return [one[:, :-1] for one in words]


def chosen(words: Words, fold: int, loss: str) -> tuple[float, bool]:
    """Return the C, and whether to have the constant feature, that do best on the next fold."""
    held, found = (fold + 1) % 10, []
    for has_constant in (True, False):
        X, y, Z, truth = parted(words, lambda one: one == held, lambda one: one in (fold, held))
        if not has_constant:
            X, Z = without_constant(X), without_constant(Z)
        model = PegasosSequenceLabeler(loss=loss, tol=1e-2, warm_start=True, random_state=0)
        for C in GRID[loss]:  # each goes on from the one before
            error = 1.0 - model.set_params(C=C).fit(X, y).score(Z, truth)
            found.append((error, C, has_constant))
    _, C, has_constant = min(found)
    return C, has_constant


def on_fold(words: Words, fold: int, loss: str, has_transitions: bool) -> tuple[float, float]:
    """Choose, train and test; return C and the error."""
    X, y, Z, truth = parted(words, lambda one: one == fold, lambda one: one == fold)
    C, has_constant = chosen(words, fold, loss) if has_transitions else (1.0, True)
    if not has_constant:
        X, Z = without_constant(X), without_constant(Z)
    if not has_transitions:  # every letter is a sequence of its own
        X, y, Z, truth = (
            [one[t : t + 1] for one in part for t in range(_length(one))]
            for part in (X, y, Z, truth)
        )
    model = PegasosSequenceLabeler(C=C, loss=loss, tol=1e-2, random_state=0).fit(X, y)
    return C, 1.0 - model.score(Z, truth)


def folds() -> dict:
    """Errors over the ten folds, with and without transitions."""
    words, rows = ocr_letters.load(), []
    for loss, has_transitions in (("logistic", True), ("hinge", True), ("logistic", False)):
        with Clock() as clock:
            pairs = [on_fold(words, fold, loss, has_transitions) for fold in range(10)]
        errors = [error for _, error in pairs]
        Cs = ", ".join(f"{C:g}" for C in sorted({C for C, _ in pairs}))
        name = loss if has_transitions else f"{loss}, no transitions"
        rows.append({
            "solver": f"pegasos {name}", "options": f"C={Cs}; tol=1e-2", "rounds": 10,
            "seconds": clock.wall, "cpu": clock.cpu,
            "score": f"error {np.mean(errors):.2%} ({min(errors):.2%} to {max(errors):.2%})",
        })  # fmt: skip
    return {"shape": "ten folds, sums of seconds, choosing C included", "rows": rows}


def _length(one: Any) -> int:
    return int(one.shape[0]) if hasattr(one, "shape") else len(one)


def million() -> dict:
    """A million tokens of 20 features each, like words': what a fit takes beside its data."""
    rng = np.random.default_rng(0)
    n, L, each, d, K = 40_000, 25, 20, 200_000, 20
    U = rng.standard_normal((d, K)).astype(np.float32)
    X, y, nonzeros = [], [], 0
    for _ in range(n):
        names = np.sort((d ** rng.random((L, each))).astype(np.int32), axis=1)
        one = csr_array(
            (np.ones(L * each, np.float32), names.ravel(), np.arange(L + 1) * each), (L, d)
        )
        one.sum_duplicates()
        scores = one @ U + 3.0 * rng.standard_normal((L, K))
        X.append(one)
        y.append(scores.argmax(axis=1).tolist())
        nonzeros += one.nnz
    own, before = 8 * nonzeros, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, facts = ours(X, y, C=0.01, tol=0.01)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    facts["score"] = (
        f"{nonzeros:,} nonzeros, {own / 1e6:,.0f} MB; the fit took {(peak - before) / 1e3:,.0f} MB "
        f"more, {8e-6 * d * K:,.0f} MB of them weights (a dense array: {8e-6 * n * L * d:,.0f} MB)"
    )
    return {"shape": f"{n * L:,} tokens x {d:,} features, {K} labels", "rows": [facts]}


def lines(rows: list[dict]) -> list[list[str]]:
    """Return the cells of a part's table."""
    head = ["solver", "options", "epochs", "seconds", "cpu", "within 1e-3", "gap", "sum", "result"]
    cells = [
        [
            r["solver"], r["options"], str(r["rounds"]), f"{r['seconds']:.3g}", f"{r['cpu']:.3g}",
            f"{r['near']:.3g}" if "near" in r else "-", f"{r['gap']:.1e}" if "gap" in r else "-",
            f"{r['objective']:.6g}" if "objective" in r else "-", r["score"],
        ]
        for r in rows
    ]  # fmt: skip
    return [head, ["---"] * len(head), *cells]


def summary(results: Results) -> str:
    """Return the README's table: seconds and what a model is worth, a row per fit."""
    rows = [["task", "solver", "seconds", "within 1e-3", "result"], ["---", "---", *["---:"] * 3]]
    for name, part in results.parts.items():
        for r in part["rows"] if name in ("conll", "ocr") else []:
            near = f"{r['near']:.3g}" if "near" in r else "-"
            solver = f"{r['solver']}, {r['options']}"
            rows.append([TASKS[name], solver, f"{r['seconds']:.3g}", near, r["score"]])
    return (
        "Label sequences, from feature dicts to a model: seconds in all, and until within 1e-3 "
        f"(ours proven; details in `docs/benchmarks/sequences.md`):\n\n{table(rows)}\n"
    )


def page(results: Results) -> str:
    """Return the whole document."""
    pieces = [
        f"## {name}: {part['shape']}\n\n{table(lines(part['rows']))}\n"
        for name, part in results.parts.items()
    ]
    return page_of(INTRODUCTION, results, *pieces)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every part."""
    parser = command.parser("bench.sequences", __doc__, PARTS, np.inf, takes=("anew",))
    options = command.parsed(parser, arguments)
    results = command.begun(NAME, [CrfSuite()], options)
    jobs = [(name, PARTS[name]) for name in command.chosen(PARTS, options)]
    carry_out(results, jobs, page, lambda part: table(lines(part["rows"])))


# Memory first: a peak stays.
PARTS = {"million": million, "conll": conll, "ocr": ocr, "folds": folds}

if __name__ == "__main__":
    main()
