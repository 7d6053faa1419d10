"""The objective of a model as handed out: its attributes, the data, in extended precision."""

import numpy as np

from tests.hostile.case import kernel_options
from tests.hostile.oracle.kernels import WIDE, exactly, kernel_matrix
from tests.hostile.oracle.losses import value
from tests.hostile.oracle.rows import SAFETY


def objective(case, model, the, k):
    """Objective of model k, and what rounding here may hide of it."""
    b, y = WIDE(model.intercept_[k]), the.Y[:, k]
    scores = expansion if case.has_kernel else linear
    f, error, square, hidden = scores(case, model, the, k)
    if the.rows.bias_scale:
        square = square + (b / the.rows.bias_scale) ** 2
    if case.is_regression:  # an offset of both cancels exactly
        y = y - b
    else:
        error = error + SAFETY * np.finfo(WIDE).eps * (np.abs(f) + np.abs(b))
        f = f + b
    losses = [the.s @ value(the.loss, f + e, y, the.epsilon) / the.S for e in (error, -error, 0)]
    return the.lam / 2 * square + losses[2], the.lam / 2 * hidden + max(losses) - min(losses)


def linear(case, model, the, k):
    """<w, x_i> and ||w||^2, with what rounding may hide of each after it."""
    w = np.atleast_2d(model.coef_)[k].astype(WIDE)
    error = SAFETY * np.finfo(WIDE).eps * (8 + len(w) ** 0.5) * (np.abs(the.rows.X) @ np.abs(w))
    return the.rows.X @ w, error, w @ w, 0


def expansion(case, model, the, k):
    """f(x_i) without bias and ||f||^2, with what rounding may hide of each after it."""
    beta, support = model.dual_coef_[k].astype(WIDE), model.support_
    kernel, precision = case.option("kernel", "rbf"), the.rows.precision
    if isinstance(kernel, str) and kernel == "precomputed":
        inner = exactly(case.X[np.ix_(support, support)])
        outer = exactly(case.X[np.ix_(the.kept, support)])
    elif len(the.kept) == case.X.shape[0]:
        outer = the.rows.whole[:, support]
        inner = outer[support]
    else:
        options = {"precision": precision, **kernel_options(case)}
        inner = kernel_matrix(kernel, case.X[support], case.X[support], **options)
        outer = kernel_matrix(kernel, case.X[the.kept], case.X[support], **options)
    lengths = np.sqrt(np.abs(inner.diagonal())).astype(WIDE)
    size = SAFETY * the.rows.eps * (8 + len(beta) ** 0.5) * (lengths @ np.abs(beta))
    f, own = ((part @ beta.astype(precision)).astype(WIDE) for part in (outer, inner))
    return f, size * the.rows.lengths, beta @ own, size * (lengths @ np.abs(beta))
