"""Is what a fitted model claims true? Every claim is held against the oracle's interval."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import ThreadpoolController

from pegasos.errors import InvalidData, InvalidParameter, NotCertified
from tests.hostile.case import problem, weights
from tests.hostile.handed_out import objective
from tests.hostile.oracle.kernels import WIDE
from tests.hostile.oracle.optimum import optimum
from tests.hostile.pairs import is_of_pairs, views

# lam, S and the printed numbers are themselves float64: so many roundings are not a lie.
NUMBERS = 16 * np.finfo(np.float64).eps
SMALLEST = 5e-324  # what doubles are apart near 0: weights of 1e-170 have a square of 0
DECIDED = 1e-9  # relative width of the oracle's interval that decides whatever is claimed
SHARE = 0.05  # or this part of what is claimed
ROWS = 80  # rows that predictions are checked on
INDEFINITE = 1e-6  # of the largest eigenvalue: a negative one of this size is no rounding
TELLABLE = 2000  # rows whose kernel matrix is looked through for negative eigenvalues
ONE_THREAD = ThreadpoolController()  # small matrices, several processes


@dataclass
class Verdict:
    """What became of a case; `failures` are sentences, empty where all claims hold."""

    name: str
    outcome: str = "above tol"  # or "within tol", "unproven", "refused"
    failures: list = field(default_factory=list)
    is_undecided: bool = False
    certain: int = 0  # labels called certain that the oracle could check
    bounded: int = 0  # finite decision bounds checked
    refusal: str = ""


def judge(case):
    """Fit and check."""
    found = Verdict(case.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = case.fitted()
        except (InvalidData, InvalidParameter) as error:
            found.outcome = "refused"
            found.refusal = str(error)
            return found
        except Exception as error:
            found.failures.append(f"exception: {type(error).__name__}: {error}")
            return found
        check(case, model, found)
    return found


def check(case, model, found):
    """Check the certificate, then the predictions."""
    certificate = model.certificate_
    found.outcome = "within tol" if certificate.is_within_tol else "above tol"
    check_numbers(case, model, found)
    if is_of_pairs(case):
        for of_pair, pair in views(case, model):
            check(of_pair, pair, found)
        return
    the = problem(case, model.lam_)
    if case.has_kernel and not check_kernel(case, model, the, found):
        return
    with ONE_THREAD.limit(limits=1):
        points = [optimum(the.rows, the.loss, y, the.u, the.epsilon) for y in the.Y.T]
    for k, best in enumerate(points):
        check_model(case, model, the, k, best, found)
    check_predictions(case, model, the, points, found)


def check_numbers(case, model, found):
    """No NaN, no negative gap, sums that are sums."""
    certificate, models = model.certificate_, model.certificate_.models
    arrays = [model.dual_coef_ if case.has_kernel else model.coef_, model.intercept_]
    if not all(np.all(np.isfinite(array)) for array in arrays):
        found.failures.append("numbers: weights that are not finite")
    for name in ("primal", "dual", "gap", "relative_gap"):
        if np.any(np.isnan(models[name])) or np.isnan(getattr(certificate, name)):
            found.failures.append(f"numbers: {name} is NaN")
    if np.any(models["gap"] < 0) or certificate.gap < 0 or certificate.relative_gap < 0:
        found.failures.append(f"negative gap: {models['gap'].min():.3g}")
    if certificate.relative_gap != models["relative_gap"].max():
        found.failures.append("numbers: relative_gap is not that of the worst model")
    for name in ("primal", "dual", "gap"):
        total = models[name].sum()
        if np.isfinite(total) and abs(getattr(certificate, name) - total) > 1e-12 * abs(total):
            found.failures.append(f"numbers: {name} is not the sum over models")
    if "lam" not in case.parameters and "nu" not in str(case.option("solver", "")):
        C, S = case.option("C", 1.0), weights(case).sum()
        if abs(model.lam_ * C * S - 1) > 1e-12:
            found.failures.append(f"numbers: lam_={model.lam_} is not 1/(C S) = {1 / (C * S)}")


def check_kernel(case, model, the, found):
    """Whether there is anything to prove; a kernel with negative eigenvalues must not be proven."""
    proven = model.certificate_.is_proven
    K = the.rows.whole.astype(np.float64)
    with ONE_THREAD.limit(limits=1):
        values = np.linalg.eigvalsh(K) if len(K) <= TELLABLE else np.array([0.0, 1.0])
    if values[0] < -INDEFINITE * max(values[-1], -values[0]):
        if proven:
            found.failures.append(
                f"indefinite: least eigenvalue {values[0]:.3g} of {values[-1]:.3g} passes as proven"
            )
        found.outcome = "unproven"
        return False
    if not proven:
        found.outcome = "unproven"
        try:
            model.decision_bounds(case.X[:1])
            found.failures.append("unproven: decision_bounds answers all the same")
        except NotCertified:
            pass
        return False
    return True


def check_model(case, model, the, k, best, found):
    """[dual, primal] holds the optimum, and the model is as near to it as is claimed."""
    primal, dual, gap, relative = (
        float(model.certificate_.models[name][k])
        for name in ("primal", "dual", "gap", "relative_gap")
    )
    true, hidden = objective(case, model, the, k)
    low, high = best.low * the.lam, min(best.high * the.lam, true + hidden)
    if high - low > max(DECIDED, SHARE * min(relative, 1.0)) * low:
        found.is_undecided = True

    def refuse(what, excess, size):
        """Fail if a claim is off by more than the roundings of the numbers that state it."""
        if excess <= NUMBERS * size + SMALLEST:
            return
        share = float(excess / high) if high > 0 else np.inf
        found.failures.append(
            f"{what} by {share:.2g} of the optimum; model {k}: claimed [{dual:.17g}, "
            f"{primal:.17g}], gap {gap:.3g}, relative {relative:.3g}; true {float(true):.17g}, "
            f"optimum in [{float(low):.17g}, {float(high):.17g}]"
        )

    refuse("dual: above the optimum", dual - high, high)
    refuse("primal: below the optimum", low - primal, low)
    refuse("primal: not the objective, beyond the gap", abs(true - primal) - hidden - gap, true)
    refuse("gap: smaller than primal - dual", primal - dual - gap, abs(primal) + abs(dual))
    if np.isfinite(relative):
        claimed = (1 + WIDE(relative)) * high
        refuse("relative_gap: too small", true - hidden - claimed, claimed)


def check_predictions(case, model, the, points, found):
    """`certain` and `decision_bounds` against the oracle's bounds on the optimum's values."""
    if case.has_kernel and case.option("kernel", "rbf") == "precomputed":
        return
    X = case.X[:ROWS]
    if not (hasattr(X, "toarray") or callable(case.option("kernel", None))):
        X = np.concatenate([X, (X * 1.25).astype(X.dtype)])
    low, high = (bound.reshape(X.shape[0], -1) for bound in model.decision_bounds(X))
    if np.any(np.isnan(low)) or np.any(np.isnan(high)) or np.any(low > high):
        found.failures.append("bounds: NaN, or upside down")
        return
    with np.errstate(all="ignore"):
        known = [best.decision_bounds(the.rows, X) for best in points]
    below = np.array([bounds[0] for bounds in known]).T
    above = np.array([bounds[1] for bounds in known]).T
    wrong = (low > above) | (high < below)
    found.bounded += int((np.isfinite(low) & np.isfinite(above - below)).sum())
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        found.failures.append(
            f"bounds: {wrong.sum()} of {wrong.size} miss the optimum's value; row {i} model {k}: "
            f"[{low[i, k]:.17g}, {high[i, k]:.17g}], optimum in [{float(below[i, k]):.17g}, "
            f"{float(above[i, k]):.17g}]"
        )
    if not case.is_regression:
        check_certain(model, X, below, above, found)


def check_certain(model, X, below, above, found):
    """Labels that are called certain are the optimum's, where the oracle knows those."""
    is_certain, Z = model.certain(X), model.decision_function(X).reshape(len(below), -1)
    if is_certain.ndim == 2 or below.shape[1] == 1:
        known = (below > 0) | (above < 0)
        wrong = known & ((Z > 0) != (below > 0))
        is_certain = is_certain.reshape(below.shape)
    else:
        rows, best = np.arange(len(below)), below.argmax(axis=1)
        rivals = above.copy()
        rivals[rows, best] = -np.inf
        known = below[rows, best] > rivals.max(axis=1)
        wrong = known & (Z.argmax(axis=1) != best)
    found.certain += int((is_certain & known).sum())
    if (wrong & is_certain).any():
        found.failures.append(f"certain: {(wrong & is_certain).sum()} labels are not the optimum's")
