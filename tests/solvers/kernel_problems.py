"""Small kernel problems, and the epochs of a solver one by one; shared by the tests beside it."""

import numpy as np

from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.store import RowStore
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from tests.conftest import draw
from tests.reference.kernel_optimum import kernel_matrix

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]
GAUSSIAN = Gaussian(0.3)
BUDGET = 100_000_000


def kernel_problem(loss, seed=0, kernel=GAUSSIAN, **options):
    """Draw a problem as `tests.conftest.draw` does; its rows are a kernel matrix."""
    options.setdefault("regression", isinstance(loss, EpsilonInsensitive))
    drawn = draw(loss, seed, **options)
    rows = Gram(kernel, drawn.problem.rows, BUDGET)
    return drawn._replace(problem=drawn.problem._replace(rows=rows))


def afresh(problem, capacity=None, rows=None):
    """The same problem with an empty store, of so many rows if given, over other rows if given."""
    gram = problem.rows
    new = Gram(gram.kernel, gram.rows if rows is None else rows, BUDGET)
    if capacity is not None:
        new.kept = RowStore(new.n, new.store[:capacity].copy())
    return problem._replace(rows=new)


def whole_matrix(drawn):
    """The kernel matrix of a drawn problem, pair by pair."""
    kernel = drawn.problem.rows.kernel
    name = {Linear: "linear", Gaussian: "rbf", Polynomial: "poly", Laplacian: "laplacian"}
    return kernel_matrix(name[type(kernel)], drawn.X, drawn.X, **kernel._asdict())


def run_epochs(solver, problem, epochs, seed=0, previous=None):
    """Run complete epochs; return the state and the rows of each epoch in order."""
    state = solver.start(problem, seed, previous)
    visits = []
    for _ in range(epochs):
        while not solver.advance(problem, state).ends_epoch:
            pass
        path = getattr(state, "path", state)
        visits.append(np.array(path.order, dtype=int))
    return state, visits


def batches(visits, k):
    """Cut the rows of each epoch into batches."""
    return [[epoch[t : t + k] for t in range(0, len(epoch), k)] for epoch in visits]
