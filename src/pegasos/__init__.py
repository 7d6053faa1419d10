"""Support vector machines trained with a proof of how good the answer is."""

from pegasos.estimators.classifier import PegasosClassifier
from pegasos.estimators.regressor import PegasosRegressor

__version__ = "0.1.0.dev0"

__all__ = ["PegasosClassifier", "PegasosRegressor"]
