"""The sets of [PT13], or what stands in for them; no test parts, as the paper has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bench.datasets import news20, reuters
from bench.harness.files import cached, data_path
from papers.harness import data
from papers.harness.data import Matrix, Split, some
from papers.harness.report import Scale

STAND_INS = (
    "Physics, real-sim, news20 (binary), webspam, C11 and CCAT are not at hand; what stands in is "
    "named in the tables. Web has no stand-in."
)


def adult(scale: Scale) -> Split:
    """Adult as compiled by Platt is a9a, 32,561 x 123."""
    return data.adult(scale.pick(10_000, 10**9))


def physics(scale: Scale) -> Split:
    """Physics, 50,000 dense rows: MNIST's 8 against the rest stands in."""
    split = data.kernel_set("mnist8", scale.pick(3_000, 10**9))
    return replace(split, stands_in_for="Physics")


def real_sim(scale: Scale) -> Split:
    """real-sim, 72,309 x 20,958."""
    rows = data.text_rows(scale.pick(10_000, 72_309), 1_000, 20_958, 51.0, 3)
    return replace(rows, stands_in_for="real-sim")


def news(scale: Scale) -> Split:
    """news20 with two classes, 19,996 x 1,355,191: the first ten of LIBSVM's twenty groups."""
    X, group = cached(news20.NAME, news20.parse)
    return bare("news20, 10 groups vs 10", X, np.where(group < 10, 1, -1), "news20")


def webspam(scale: Scale) -> Split:
    """webspam, unigrams: 350,000 x 254, 85 of them filled."""
    rows = data.text_rows(scale.pick(10_000, 350_000), 1_000, 254, 85.0, 4)
    return replace(rows, stands_in_for="webspam")


def cover(scale: Scale) -> Split:
    """Covertype, class 1 against the rest, all features times 0.001, as in the paper."""
    X, y = some(*data.covertype_rows(), scale.pick(20_000, 10**9))
    return bare("Covertype", np.float32(0.001) * X, y)


def c11(scale: Scale) -> Split:
    """C11 of RCV1: the topic "earn" of Reuters-21578 stands in."""
    data_path("reuters_modapte", "reuters21578.topics.txt")
    X, y = cached(reuters.NAME, reuters.parse)
    return bare("Reuters earn", X, y, "C11")


def ccat(scale: Scale) -> Split:
    """CCAT of RCV1, 804,414 x 47,236."""
    return data.ccat(scale).few(scale.pick(30_000, 10**9))


def bare(name: str, X: Matrix, y: np.ndarray, stands_in_for: str = "") -> Split:
    """Return a split that is tested on a few of its own rows, which nobody looks at."""
    return Split(name, X, y, X[:10], y[:10], stands_in_for=stands_in_for)


SETS: dict[str, Callable[[Scale], Split]] = {
    "Adult": adult, "Physics": physics, "real-sim": real_sim, "news20": news,
    "webspam": webspam, "Covertype": cover, "C11": c11, "CCAT": ccat,
}  # fmt: skip
