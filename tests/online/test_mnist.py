"""The set-up of [Cho20]: every stochastic preset classifies MNIST's zeros after 10,000 steps."""

import numpy as np
import pytest

from pegasos.online import PRESETS, L1Ball, Learner, row_costs, rule_named


@pytest.mark.data
def test_the_average_of_every_stochastic_preset_is_accurate():
    from docs.online_figures import digits

    X, y = digits("train", 10_000)
    X_test, y_test = digits("t10k", 3_000)
    costs = row_costs(X, y, lam=1.0 / 3.0)
    order = np.random.default_rng(1).integers(0, 10_000, 10_000)
    for name, preset in PRESETS.items():
        if not preset.full:
            rule = rule_named(name, L1Ball(10.0), lam=1.0 / 3.0)
            w = Learner(rule, 784).see_rows(costs, order).average
            assert np.mean(y_test * (X_test @ w) > 0.0) >= 0.965, name
