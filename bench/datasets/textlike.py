"""Text-like rows of RCV1's width from the package's own generator: lam 1e-4 and 1e-5."""

from bench.task import Task

NAME = "textlike"
LAMS = (1e-4, 1e-5)


def load(lam: float) -> Task:
    from pegasos.data.textlike import textlike

    X, y = textlike(200_000, 47_236, random_state=0)
    return Task(NAME, X, y, lam, "generated text-like rows, a stand-in for RCV1/CCAT")
