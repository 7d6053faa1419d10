"""One integer -> one case: estimator, solver, loss, bias, kernel, penalty, data, all drawn."""

import numpy as np

import pegasos
from tests.hostile import data
from tests.hostile.case import Case
from tests.hostile.data import chance, decades

ESTIMATORS = {
    "PegasosClassifier": 0.4,
    "PegasosRegressor": 0.2,
    "KernelPegasosClassifier": 0.25,
    "KernelPegasosRegressor": 0.15,
}
FREE_WAYS = ["free-subgradient", "free-batch", "free-search", "free-bisection"]  # of Pegasos alone
SECONDS = 3.0  # limit on a fit


def squared_hinge(z, y):
    return max(0.0, 1.0 - y * z) ** 2


def squared_hinge_slope(z, y):
    return -2.0 * y * max(0.0, 1.0 - y * z)


def squared(z, y):
    return (z - y) ** 2


def squared_slope(z, y):
    return 2.0 * (z - y)


def rbf(A, B):
    """A callable kernel that is positive semi-definite."""
    return np.exp(-0.3 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def largest_difference(A, B):
    """A callable kernel that is not."""
    return 1.0 - np.abs(A[:, None, :] - B[None, :, :]).max(axis=2) / 10.0


def draw(seed):
    """Return the case of an integer."""
    rng = np.random.default_rng([8, seed])
    estimator = str(rng.choice(list(ESTIMATORS), p=list(ESTIMATORS.values())))
    has_kernel, is_regression = estimator.startswith("Kernel"), estimator.endswith("Regressor")
    n, d = data.sizes(rng, kernel=has_kernel)
    X = data.rows(rng, n, d, mild=has_kernel and chance(rng, 0.7))
    y = data.numbers(rng, X) if is_regression else data.labels(rng, X)
    parameters = {**penalty(rng), **limits(rng), "random_state": int(seed % 2**31)}
    s = data.sample_weights(rng, n)
    if is_regression:
        parameters["epsilon"] = float(rng.choice([0.0, 0.01, 0.1, 1.0])) * max(float(y.std()), 1e-9)
    elif np.ndim(y) == 1 and chance(rng, 0.2):
        heavy = {label: float(decades(rng, -3, 3)) for label in sorted(set(y.tolist()))}
        parameters["class_weight"] = "balanced" if chance(rng, 0.5) else heavy
    case = Case(f"seed {seed}", estimator, X, y, parameters, s)
    if has_kernel:
        choose_kernel(rng, case)
        case.parameters.update(bias=str(rng.choice(["free", "none"])))
    else:
        case.X = data.container(rng, X)
        case.parameters.update(bias=str(rng.choice(["free", "regularized", "none"])))
        if case.parameters["bias"] == "regularized":
            case.parameters["bias_scale"] = float(rng.choice([1.0, 1.5, 1e-3, 1e3]))
    choose_method(rng, case)
    choose_start(rng, case)
    return case


def penalty(rng):
    """C over six decades, or twenty; or lam."""
    kind = rng.choice(["ordinary", "wide", "lam"], p=[0.5, 0.35, 0.15])
    if kind == "lam":
        return {"lam": float(decades(rng, -14, 2))}
    return {"C": float(decades(rng, -3, 3) if kind == "ordinary" else decades(rng, -10, 10))}


def limits(rng):
    """Tolerance and limits; few epochs, so that certificates far from the optimum are seen too."""
    found = {"max_time": SECONDS}
    if chance(rng, 0.4):
        found["tol"] = float(decades(rng, -9, -0.5))
    epochs = rng.choice([0, 1, 3, 20, 200], p=[0.5, 0.1, 0.15, 0.15, 0.1])
    return {**found, "max_iter": int(epochs)} if epochs else found


def choose_kernel(rng, case):
    """A kernel, its width and constant, and rows in a container it takes."""
    names = ["rbf", "linear", "poly", "laplacian", "sigmoid", "precomputed", "callable"]
    name = str(rng.choice(names, p=[0.42, 0.12, 0.14, 0.12, 0.05, 0.1, 0.05]))
    d = case.X.shape[1]
    spread = max(float(np.var(case.X)) * d, 1e-30)
    case.parameters.update(kernel=name, gamma=float(decades(rng, -2, 1) / spread))
    if name == "poly":
        case.parameters.update(degree=int(rng.integers(1, 4)), coef0=float(rng.choice([0.0, 1.0])))
    if name == "callable":
        case.parameters["kernel"] = largest_difference if chance(rng, 0.3) else rbf
    if name == "precomputed":
        F = case.X / np.sqrt(spread)
        case.X = np.exp(-((F[:, None, :] - F[None, :, :]) ** 2).sum(axis=2))
    else:
        case.X = data.container(rng, case.X, allow_sparse=name not in ("callable", "precomputed"))
    if name == "callable":
        case.X = np.ascontiguousarray(case.X, dtype=np.float64)


def choose_method(rng, case):
    """A loss and a solver that go together."""
    own = chance(rng, 0.02)
    if case.is_regression and own:
        case.loss_name = "squared"
        del case.parameters["epsilon"]
        case.parameters["loss"] = pegasos.CustomLoss(squared, squared_slope)
    elif own:
        case.loss_name = "squared_hinge"
        case.parameters["loss"] = pegasos.CustomLoss(squared_hinge, squared_hinge_slope)
    elif not case.is_regression:
        loss = str(rng.choice(["hinge", "squared_hinge", "logistic"], p=[0.6, 0.2, 0.2]))
        case.parameters["loss"] = loss
    if case.has_kernel:
        solver = kernel_solver(rng, case)
    else:
        solver = linear_solver(rng, case)
    case.parameters["solver"] = solver
    is_dual = isinstance(solver, pegasos.SDCA) or solver in (
        "auto",
        "newton",
        "sdca",
        "decomposition",
    )
    if not is_dual:  # a limit is what ends them
        case.parameters["max_iter"] = min(case.parameters.get("max_iter", 100), 100)


def linear_solver(rng, case):
    loss, parameters = case.parameters.get("loss"), case.parameters
    names = ["auto", "newton", "sdca", "pegasos", "sgd", "perceptron"]
    solver = str(rng.choice(names, p=[0.3, 0.2, 0.1, 0.15, 0.15, 0.1]))
    if solver == "perceptron" and loss != "hinge":
        solver = "auto"
    if solver == "pegasos" and parameters["bias"] == "free" and chance(rng, 0.5):
        smooth = loss not in ("hinge", None) or case.loss_name is not None
        parameters["bias"] = str(
            rng.choice([way for way in FREE_WAYS if not smooth or way != "free-batch"])
        )
    if solver == "pegasos" and (parameters["bias"] == "free-batch" or chance(rng, 0.5)):
        least = 2 if parameters["bias"] == "free-batch" else 1
        options = {
            "batch_size": min(max(least, int(rng.choice([1, 4, 17]))), case.X.shape[0]),
            "sampling": str(rng.choice(["epoch", "permutation", "fixed", "iid", "multiset"])),
            "projection": chance(rng, 0.3),
            "output": str(rng.choice(["tail", "tail", "last", "average", "random"])),
        }
        return pegasos.Pegasos(**options)
    if solver == "sdca" and chance(rng, 0.3):
        return pegasos.SDCA(shrinking=False, sampling=str(rng.choice(["epoch", "iid"])))
    if solver == "sgd" and loss == "hinge" and chance(rng, 0.5):
        return pegasos.SGD(
            variant=str(rng.choice(["s", "r", "m"])),
            duals=str(rng.choice(["tail", "all"])),
            output=str(rng.choice(["tail", "last"])),
            precision=str(rng.choice(["double", "single"])),
        )
    if solver == "sgd" and not parameters["bias"].startswith("free") and chance(rng, 0.5):
        output = str(rng.choice(["tail", "last", "average"]))
        return pegasos.ScheduledSGD("norma", output=output)
    return solver


def kernel_solver(rng, case):
    names = ["auto", "sdca", "pegasos"]
    if case.loss_name is None and case.loss != "logistic":
        names.append("decomposition")
    if case.loss_name is None and case.loss == "hinge":
        names += ["lasvm", "batch_perceptron", "perceptron"]
    solver = str(rng.choice(["auto", str(rng.choice(names)), str(rng.choice(names))]))
    if solver == "batch_perceptron":  # has no weights
        case.sample_weight = None
        case.parameters.pop("class_weight", None)
        return pegasos.BatchPerceptron(output=str(rng.choice(["best", "average"])))
    return solver


def choose_start(rng, case):
    """Sometimes a warm start along a path of penalties, or a stream before the fit."""
    if "C" in case.parameters and chance(rng, 0.12):
        case.parameters["warm_start"] = True
        case.path = [{"C": case.parameters["C"] * float(decades(rng, -2, 2))} for _ in range(2)]
    is_auto = isinstance(case.parameters["solver"], str) and case.parameters["solver"] == "auto"
    can_stream = is_auto and np.ndim(case.y) == 1 and not case.path
    can_stream &= case.parameters.get("class_weight") != "balanced"
    if case.has_kernel:
        can_stream &= "C" in case.parameters and case.loss == "hinge" and case.loss_name is None
        can_stream &= case.parameters["kernel"] != "precomputed"
    else:
        can_stream &= "lam" in case.parameters
    case.streams_first = bool(can_stream and chance(rng, 0.3))
    if not case.is_regression and chance(rng, 0.08):
        case.parameters["stop"] = "decisions"


def draw_plain(seed):
    """The case of an integer brought to a few types: what few compiled variants can fit."""
    case = draw(seed)
    case.loss_name, parameters = None, case.parameters
    parameters.update(
        solver="auto", max_time=None, max_iter=min(parameters.get("max_iter", 100), 100)
    )
    if parameters["bias"] in FREE_WAYS:
        parameters["bias"] = "free"
    if case.is_regression:
        parameters.pop("loss", None)
        parameters.setdefault("epsilon", 0.1)
    else:
        parameters["loss"] = "hinge"
    if case.has_kernel and case.option("kernel", "rbf") != "precomputed":
        X = case.X.toarray() if hasattr(case.X, "toarray") else case.X
        case.X = np.ascontiguousarray(X)
        parameters["kernel"] = "rbf"
    elif not case.has_kernel:
        case.X = (
            case.X.astype(np.float64)
            if hasattr(case.X, "indptr")
            else np.array(case.X, dtype=np.float64, order="C")
        )
    return case
