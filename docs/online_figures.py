"""Write the figure and the tables of docs/online.md (`make docs-online`).

How fast regret falls on a stream of random rows with noisy labels, and the set-up of [Cho20] on
MNIST if PEGASOS_DATA names the folder with it. About a minute.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np

from bench.datasets.mnist8 import IMAGE_HEADER, LABEL_HEADER
from bench.harness.files import open_data
from pegasos.online import PRESETS, Everywhere, L1Ball, L2Ball, Learner, row_costs, rule_named

mpl.use("Agg")
PAGE = Path(__file__).with_name("online.md")
STEPS = np.array([100, 316, 1_000, 3_162, 10_000, 31_623, 100_000])
FROM = 2  # the first of them that slopes are fitted to
LAM, RADIUS = 0.1, 2.0
DIGITS_LAM, DIGITS_RADIUS, ROUNDS, FULL_ROUNDS = 1.0 / 3.0, 10.0, 10_000, 100
EXPECTED = {"pegasos": "log T / T"}


def noisy_rows(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of signs whose label is the first sign, but for three in ten."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (n, d))
    return X, np.where(rng.random(n) < 0.3, -X[:, 0], X[:, 0])


def regret_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper ends of the regret per step, at each of STEPS."""
    X, y = noisy_rows(STEPS[-1])
    lam = LAM if name == "pegasos" else 0.0
    within = {"seg": L1Ball(RADIUS), "pegasos": None}.get(name, L2Ball(RADIUS))
    learner, ends = Learner(rule_named(name, within, lam=lam), X.shape[1]), []
    for T in STEPS if not PRESETS[name].full else STEPS[:5]:
        seen = row_costs(X[:T], y[:T], lam=lam)
        if PRESETS[name].full:
            fixed = row_costs(X[:1000], y[:1000], lam=lam)
            while learner.steps < T:
                learner.see(fixed.full())
            regret = learner.regret(fixed, tol=1e-7)
        else:
            learner.see_rows(seen, np.arange(learner.steps, T))
            regret = learner.regret(seen, tol=1e-4)
        ends.append((regret.lower / T, regret.upper / T))
    return tuple(np.array(ends).T)


def slopes() -> str:
    """Draw the regret of every preset; return a table of the slopes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    rows = []
    for name in PRESETS:
        low, high = regret_of(name)
        steps = STEPS[: len(high)]
        middle = 0.5 * (low + high)
        slope = np.polyfit(np.log(steps[FROM:]), np.log(middle[FROM:]), 1)[0]
        axes.plot(steps, middle, marker="o", markersize=3, label=f"{name} ({slope:.2f})")
        axes.fill_between(steps, np.maximum(low, 1e-9), high, alpha=0.2)
        theory = EXPECTED.get(name, "1 / sqrt T")
        rows.append(f"| `{name}` | {theory} | {slope:.2f} | {low[-1]:.2e} to {high[-1]:.2e} |")
    axes.set(xscale="log", yscale="log", xlabel="steps T", ylabel="regret / T")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8, title="preset (slope)")
    figure.savefig(PAGE.with_name("online_regret.png"), dpi=80)
    head = "| preset | theory: at most | slope measured | regret per step at the last T |"
    return "\n".join([head, "|---|---|---:|---|", *rows])


def digits(part: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n random rows of MNIST, pixels / 255; digit 0 is -1, the others are +1."""
    with open_data("mnist", f"{part}-images-idx3-ubyte.xz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=IMAGE_HEADER).reshape(-1, 784)
    with open_data("mnist", f"{part}-labels-idx1-ubyte.xz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=LABEL_HEADER)
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return X[chosen] / 255.0, np.where(y[chosen] == 0, -1.0, 1.0)


def mnist() -> str:
    """Return a table of every preset in the set-up of [Cho20]."""
    X, y = digits("train", 10_000)
    X_test, y_test = digits("t10k", 3_000)
    costs = row_costs(X, y, lam=DIGITS_LAM)
    order = np.random.default_rng(1).integers(0, len(y), ROUNDS)
    rows = []
    for name, preset in PRESETS.items():
        within = Everywhere() if name == "gd" else L1Ball(DIGITS_RADIUS)
        learner = Learner(rule_named(name, within, lam=DIGITS_LAM), costs.n_weights)
        if preset.full:
            for _ in range(FULL_ROUNDS):
                learner.see(costs.full())
            regret = learner.regret(costs)
        else:
            learner.see_rows(costs, order)
            regret = learner.regret(costs, np.bincount(order, minlength=len(y)))
        accuracy = [
            100.0 * np.mean(y_test * (X_test @ w) > 0) for w in (learner.average, learner.w)
        ]
        cost = costs.full().value(learner.average)
        bound = f"{regret.bound:.0f}" if np.isfinite(regret.bound) else "none"
        rows.append(
            f"| `{name}` | {learner.steps} | {accuracy[0]:.1f} | {accuracy[1]:.1f} | {cost:.4f} "
            f"| {regret.lower:.1f} to {regret.upper:.1f} | {bound} |"
        )
    head = (
        "| preset | steps | average, % | last, % | P(average) | regret, proven | theory: at most |"
    )
    return "\n".join([head, "|---|---:|---:|---:|---:|---|---:|", *rows])


def write(name: str, table: str) -> None:
    """Put a table between its marks on the page."""
    place = rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)"
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(place, lambda found: found[1] + table + "\n" + found[2], text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write("slopes", slopes())
    try:
        write("mnist", mnist())
    except FileNotFoundError as missing:
        print(f"The table of MNIST is left as it is: {missing}")
