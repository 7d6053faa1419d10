"""Bad parameters: values by parameter, and what the message must say of all of them.

Every estimator that has the parameter refuses every value, before it looks at the data.
"""

from decimal import Decimal

import numpy as np
import pandas as pd

from pegasos import (
    SDCA,
    SGD,
    CustomLoss,
    Decomposition,
    KernelSDCA,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
)

HUGE = 10**5000  # Python refuses to print it


class Untouchable:
    """Data that must not be looked at."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("data was looked at before the parameters were checked")

    def __len__(self):
        raise AssertionError("data was looked at before the parameters were checked")


def some_function(z):
    return z


NO_NUMBERS = ["1", b"1", [1.0], np.array([1.0, 2.0]), np.array(1.0), 1j, True, {}, some_function]
NO_NUMBERS += [pd.NA, Decimal("0.1"), np.datetime64("2020-01-01")]
NOT_POSITIVE = [0, 0.0, -1, -0.5, np.nan, np.inf, -np.inf, np.float32("nan")]
EXTREME = [1e-320, 1e308, HUGE]
NAMES = ["", "Hinge", b"free", 0, 1.5, ["free"], {}, np.array(["free", "none"]), some_function]

A_NUMBER = r"{} must (be a positive, finite number|lie between \S+ and \S+); got {}=.*\. \S+"
WHOLE = r"{} must be a whole number, 1 or more; got {}="


def numbers(name, *, allowed=(), also=()):
    """A parameter that is a positive number."""
    values = [v for v in NOT_POSITIVE + EXTREME + NO_NUMBERS if not any(v is a for a in allowed)]
    return name, values + list(also), A_NUMBER.format(name, name)


PARAMETERS = [
    numbers("C", also=[None]),
    numbers("lam"),
    numbers("bias_scale", also=[None, 1e300]),
    numbers("tol", also=[None]),
    numbers("max_time"),
    numbers("gamma", also=[None, "foo", "Scale"]),
    numbers("degree", also=[None]),
    numbers("cache_size", also=["200MB", 1e10]),
    ("epsilon", [-1, -0.5, np.nan, np.inf, 1e308, HUGE, None, *NO_NUMBERS],
     A_NUMBER.format("epsilon", "epsilon")),
    ("coef0", [np.nan, np.inf, -np.inf, 1e308, -1e308, None, *NO_NUMBERS],
     r"coef0 must be a finite number from \S+ to \S+; got coef0=.*constant"),
    ("max_iter", [0, -1, 2.5, 100.0, np.nan, np.inf, *NO_NUMBERS], WHOLE.format(*["max_iter"] * 2)),
    ("n_pairs", [0, -1, 2.5, 100.0, np.nan, *NO_NUMBERS], WHOLE.format(*["n_pairs"] * 2)),
    ("n_pairs", [None, HUGE, 10**10], A_NUMBER.format("n_pairs", "n_pairs")),
    ("warm_start", ["yes", 1, 0, None, [True], np.array([True, False])],
     r"warm_start must be True or False; got "),
    ("n_jobs", [0, -2, 1.5, np.nan, np.inf, *NO_NUMBERS],
     r"n_jobs must be a whole number of threads, 1 or more, or -1 or None .*; got n_jobs="),
    ("verbose", [-1, "1", None, 1.5, [1], np.nan], r"verbose must be 0 or 1; got "),
    ("random_state", ["abc", -1, 1.5, np.nan, 2**32, HUGE, [[1.5]], {}, np.random.default_rng(0)],
     r"random_state must be a whole number from 0 to 2\*\*32 - 1, .* got "),
    ("bias", [*NAMES, None, True, "fixed", "Free"], r'bias must be .*"none".*; got '),
    ("stop", [*NAMES, None, "early"], r'stop must be "gap" or "decisions"; got '),
    ("multiclass", [*NAMES, None, "OVO"], r'multiclass must be .* or "ovr"; got '),
    ("cost", ["high", [0, 1], 1.5, HUGE, {}, some_function], "cost must be a square matrix of num"),
    ("decision_function_shape", [*NAMES, None, "auto"],
     r'decision_function_shape must be "ovr" or "ovo"; got '),
    ("loss", [*NAMES, None, "huber", 3, PegasosClassifier, SDCA()],
     r'loss must be ".*" or a CustomLoss; got '),
    ("solver", [*NAMES, None, "simplex", "SDCA", PegasosRegressor()],
     r"solver must be .*(object|\(\.\.\.\)); got "),
    ("kernel", ["", "gauss", "RBF", None, 3, True, ["rbf"], b"rbf", {}, np.array(["rbf", "poly"])],
     r'kernel must be one of "linear", .*function of two matrices; got kernel='),
    ("class_weight", ["even", "", [1, 2], 3, (1, 2), np.ones(2), some_function, True],
     r'class_weight must be "balanced", a dict or None; got '),
]  # fmt: skip

FAR_LOSS = CustomLoss(lambda z, y: 0.0, lambda z, y: 0.0)
COMBINATIONS = [  # parameters, the estimators' names they are for, message
    ({"C": 2.0, "lam": 0.1}, "", r"Give C or lam, not both; got C=2.0 and lam=0.1"),
    ({"loss": "epsilon_insensitive"}, "Classifier", r"loss must be .* That loss is for regression"),
    ({"loss": "hinge"}, "Regressor", r"loss must be .* That loss is for classification"),
    ({"loss": FAR_LOSS, "epsilon": 0.5}, "Regressor", r"epsilon=0.5 has no effect on a loss given"),
    ({"bias": "regularized"}, "Kernel", r'must be "free" or "none" with a kernel; got bias='),
    ({"bias": "free-batch"}, "Kernel", r'must be "free" or "none" with a kernel; got bias='),
    (
        {"multiclass": "ovr", "decision_function_shape": "ovo"},
        "KernelPegasosClassifier",
        r'which multiclass="ovr" does not train; use multiclass="ovo"',
    ),
    ({"solver": SDCA()}, "Kernel", r"solver must be a name or one of Decomposition.*; got SDCA"),
    ({"solver": Pegasos()}, "Kernel", r"solver must be a name or one of Decomp.*; got Pegasos"),
    ({"solver": SGD()}, "Kernel", r"solver must be a name or one of Decomposition.*; got SGD"),
    ({"solver": Decomposition(0)}, "Kernel", r"working_set must be a whole number from 1"),
    ({"solver": Decomposition("2")}, "Kernel", r"working_set must be a whole number from 1"),
    ({"solver": Decomposition(shrinking=1)}, "Kernel", r"shrinking must be True or False; got 1"),
    ({"solver": "lasvm"}, "KernelPegasosRegressor", r'solver="lasvm" has no loss=Epsilon.*; use'),
    ({"solver": "lasvm", "loss": "logistic"}, "KernelPegasosClassifier", r"has no loss=.*; use"),
    ({"solver": "decomposition", "loss": "logistic"}, "KernelPegasosClassifier", r"has no loss="),
    ({"solver": Decomposition()}, "=Pegasos", r"solver must be a name or one of SDCA.*; got Decom"),
    ({"solver": KernelSDCA()}, "=Pegasos", r"solver must be a name or one of SDCA.*; got Kernel"),
    ({"solver": "lasvm"}, "=Pegasos", r"solver must be .*; got 'lasvm'"),
    ({"solver": Pegasos(batch_size=0)}, "=Pegasos", r"batch_size must be a whole number"),
    ({"solver": Pegasos(batch_size=2.5)}, "=Pegasos", r"batch_size must be a whole number"),
    ({"solver": Pegasos(sampling="sorted")}, "=Pegasos", r"sampling must be one of .*; got 'sort"),
    ({"solver": Pegasos(projection=1)}, "=Pegasos", r"projection must be True or False; got 1"),
    ({"solver": Pegasos(output="best")}, "=Pegasos", r"output must be one of .*; got 'best'"),
    ({"solver": SGD(variant="x")}, "=Pegasos", r"variant must be one of .*; got 'x'"),
    ({"solver": SGD(variant="m"), "loss": "logistic"}, "=PegasosClassifier", r"counts margin err"),
    ({"solver": SDCA(shrinking="no")}, "=Pegasos", r"shrinking must be True or False; got 'no'"),
    ({"solver": "sdca", "bias": "free-search"}, "=Pegasos", r'has no bias="free-search"; use'),
    ({"solver": "sgd", "bias": "free-batch"}, "=Pegasos", r'has no bias="free-batch"; use'),
    ({"bias": "free-batch", "loss": "logistic"}, "=PegasosClassifier", r"only the hinge .*got los"),
    ({"bias": "free-batch"}, "=Pegasos", r"needs batch_size >= 2"),
    ({"solver": "perceptron", "loss": "logistic"}, "=PegasosClassifier", r"judged by the hinge"),
    ({"loss": CustomLoss(3, 4)}, "=PegasosClassifier", r"value must be a function of z and y; got"),
]
