"""The last certificate rests on the data alone where that costs little, and says so."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier
from pegasos.certificate import judge as module


def fitted(classes=2, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = np.digitize(X[:, 0] + rng.standard_normal(400), np.linspace(-1, 1, classes + 1)[1:-1])
    return KernelPegasosClassifier(cache_size=0.2, random_state=0, **options).fit(X, y)


@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
@pytest.mark.parametrize(
    "options",
    [{}, {"stop": "decisions", "tol": 1e-13, "C": 0.1}, {"max_iter": 2}, {"classes": 3}],
    ids=["tolerance", "decisions", "epochs", "classes"],
)
def test_certificates_are_recomputed_where_that_is_cheap(options, monkeypatch):
    monkeypatch.setattr(module, "CHEAP", 0.0)
    audited = fitted(**options).certificate_
    assert audited.basis == "audited on 64 rows"
    monkeypatch.setattr(module, "CHEAP", np.inf)
    recomputed = fitted(**options).certificate_
    assert recomputed.basis == "recomputed"
    assert recomputed.primal == pytest.approx(audited.primal, rel=1e-9)
    assert recomputed.is_within_tol == audited.is_within_tol
