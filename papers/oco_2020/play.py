"""The set-up of [Cho20]: MNIST, 0 against the rest, every method on the l1 ball of radius 10."""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bench.datasets.mnist8 import IMAGE_HEADER, LABEL_HEADER
from bench.harness.files import cached, open_data
from papers.harness.data import Split
from papers.harness.report import Scale
from pegasos.online import Everywhere, L1Ball, Learner, row_costs, rule_named

RADIUS, LAM = 10.0, 1.0 / 3.0
ROUNDS, FULL_ROUNDS, EVERY = 10_000, 100, 100
METHODS = {
    "GD": "gd", "PGD": "pgd", "SGD": "sgd", "SMD": "smd",
    "SEGpm": "seg", "AdaGrad": "adagrad", "Pegasos": "pegasos",
}  # fmt: skip
FULL = ("GD", "PGD")
ETA = {"AdaGrad": 0.1}  # per coordinate; 1 elsewhere, of 1/sqrt(t)
SETTING = (
    "lam is not given in the paper: 1/3 where not varied. 10,000 and 3,000 rows drawn at "
    "random from MNIST's training and test sets. Steps 1/sqrt(t) but for Pegasos and AdaGrad; "
    "shown are the average iterates, looked at every 100 rounds (GD and PGD: every round)."
)


class Play(NamedTuple):
    """What a method's average was worth after so many rounds, and what the rounds took."""

    rounds: np.ndarray
    cost: np.ndarray  # P on the training rows
    accuracy: np.ndarray  # on the test rows, in percent
    seconds: float
    learner: Any


@cache
def digits() -> Split:
    """Return the rows; digit 0 is -1, the others are +1."""
    parts = []
    for part, n in (("train", 10_000), ("t10k", 3_000)):
        X, digit = cached(f"papers-digits-{part}", lambda part=part: parse(part))
        chosen = np.random.default_rng(0).permutation(len(digit))[:n]
        X = X[chosen].astype(np.float64) / 255.0
        parts += [X, np.where(digit[chosen] == 0, -1, 1)]
    return Split("MNIST, 0 against the rest", *parts)


def parse(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Read pixels and digits."""
    with open_data("mnist", f"{part}-images-idx3-ubyte.xz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=IMAGE_HEADER).reshape(-1, 784)
    with open_data("mnist", f"{part}-labels-idx1-ubyte.xz") as file:
        return pixels, np.frombuffer(file.read(), np.uint8, offset=LABEL_HEADER)


@cache
def play(method: str, lam: float = LAM, seed: int = 0, eta: float | None = None) -> Play:
    """Play all rounds of one method."""
    split = digits()
    costs = row_costs(split.X, split.y, lam=lam)
    within = Everywhere() if method == "GD" else L1Ball(RADIUS)
    eta = ETA.get(method, 1.0) if eta is None else eta
    rule = rule_named(METHODS[method], within, lam=lam, scale=eta)
    learner = Learner(rule, costs.n_weights)
    order = np.random.default_rng(seed).integers(0, split.n, ROUNDS)
    rounds, cost, accuracy, seconds = [], [], [], 0.0
    full = costs.full()
    warm_up(method, costs, lam)
    for k in range(FULL_ROUNDS if method in FULL else ROUNDS // EVERY):
        start = time.process_time()
        if method in FULL:
            learner.see(full)
        else:
            learner.see_rows(costs, order[EVERY * k : EVERY * (k + 1)])
        seconds += time.process_time() - start
        w = learner.average
        rounds.append(learner.steps)
        cost.append(full.value(w))
        right = split.y_test * (split.X_test @ w) > 0.0
        accuracy.append(100.0 * float(right.mean()))
    return Play(np.array(rounds), np.array(cost), np.array(accuracy), seconds, learner)


def warm_up(method: str, costs: Any, lam: float) -> None:
    """Let what is compiled be loaded before anything is timed."""
    within = Everywhere() if method == "GD" else L1Ball(RADIUS)
    learner = Learner(rule_named(METHODS[method], within, lam=lam), costs.n_weights)
    if method in FULL:
        learner.see(costs.full())
    else:
        learner.see_rows(costs, np.arange(3))


def averaged(method: str, scale: Scale, lam: float = LAM, eta: float | None = None) -> Play:
    """Return the mean over the seeds; the learner is the last one's."""
    plays = [play(method, lam, seed, eta) for seed in scale.seeds]
    parts = [np.mean([one[k] for one in plays], axis=0) for k in range(4)]
    return Play(*parts, plays[-1].learner)
