"""Text-like rows of RCV1's width from the package's own generator: lam 1e-4 and 1e-5."""

from bench.datasets.base import Dataset

NAME = "textlike"
LAMS = (1e-4, 1e-5)


def load(lam: float) -> Dataset:
    from pegasos.data.textlike import textlike

    X, y = textlike(200_000, 47_236, random_state=0)
    return Dataset(NAME, X, y, lam, "generated text-like rows, a stand-in for RCV1/CCAT")
