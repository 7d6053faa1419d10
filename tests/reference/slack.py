"""What w and p tell of the slack-constrained problem, from the kernel and nothing else."""

import numpy as np

from pegasos.solvers.batch_perceptron.slack import basin, bounds_of, level


def slack_bounds(problem, nu, B, p):
    """Return the value of w = sum_j B_j phi(x_j) and the bound of p both recomputed.

    Parameters
    ----------
    problem : Problem
        Its rows are a `Gram`; its lam plays no part.
    nu : float
        Slack per row.
    B : ndarray of shape (n,)
        Coefficients of w; a w longer than 1 is shortened to 1.
    p : ndarray of shape (n,)
        A distribution over the rows; with a free bias, of mass 1/2 on each class.
    """
    n, y = len(p), np.ascontiguousarray(problem.costs.Y[:, 0])
    Z = np.zeros((n, 2))
    problem.rows.add_scores(np.column_stack([B, p * y]), Z)
    length = np.sqrt(max(0.0, float(B @ Z[:, 0])))
    columns = basin(y * Z[:, 0] / max(1.0, length), y, problem.is_free)
    square = float((p * y) @ Z[:, 1])
    return bounds_of(level(columns, n * nu), min(1.0, length), p, square, n * nu)
