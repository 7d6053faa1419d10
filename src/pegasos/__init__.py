"""Support vector machines trained with a proof of how good the answer is."""

from typing import TYPE_CHECKING, Any

from pegasos.estimators.classifier import PegasosClassifier
from pegasos.estimators.fourier import FourierFeatures
from pegasos.estimators.kernel_classifier import KernelPegasosClassifier
from pegasos.estimators.kernel_regressor import KernelPegasosRegressor
from pegasos.estimators.online_classifier import OnlineClassifier
from pegasos.estimators.online_regressor import OnlineRegressor
from pegasos.estimators.regressor import PegasosRegressor
from pegasos.estimators.sequence_labeler import PegasosSequenceLabeler
from pegasos.estimators.structured import PegasosStructured
from pegasos.problem.custom_loss import CustomLoss
from pegasos.recorder import Recorder
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from pegasos.solvers.cutting_plane.ocas import OCAS
from pegasos.solvers.cutting_plane.svm_perf import SVMPerf
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.lasvm.lasvm import LASVM
from pegasos.solvers.mpu.mpu import MPU
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.perceptron.kernel import KernelPerceptron
from pegasos.solvers.perceptron.linear import Perceptron
from pegasos.solvers.sdca.kernel import KernelSDCA
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd.scheduled import ScheduledSGD
from pegasos.solvers.sgd.sgd import SGD
from pegasos.solvers.sgd_qn.sgd_qn import SGDQN
from pegasos.solvers.simba.simba import SIMBA
from pegasos.solvers.svmsgd.svmsgd import SVMSGD

if TYPE_CHECKING:
    from pegasos.interfaces.plots.convergence import ConvergenceDisplay
    from pegasos.interfaces.plots.regret import RegretDisplay

__version__ = "0.1.0.dev0"

__all__ = [
    "LASVM",
    "MPU",
    "OCAS",
    "SDCA",
    "Newton",
    "SGD",
    "BatchPerceptron",
    "ConvergenceDisplay",
    "CustomLoss",
    "Decomposition",
    "FourierFeatures",
    "KernelPegasos",
    "KernelPegasosClassifier",
    "KernelPegasosRegressor",
    "KernelPerceptron",
    "KernelSDCA",
    "OnlineClassifier",
    "OnlineRegressor",
    "Pegasos",
    "PegasosClassifier",
    "PegasosRegressor",
    "PegasosSequenceLabeler",
    "PegasosStructured",
    "Perceptron",
    "Recorder",
    "SGDQN",
    "SIMBA",
    "SVMPerf",
    "SVMSGD",
    "RegretDisplay",
    "ScheduledSGD",
]


def __getattr__(name: str) -> Any:
    """Import what draws only when it is asked for."""
    if name == "ConvergenceDisplay":
        from pegasos.interfaces.plots.convergence import ConvergenceDisplay

        return ConvergenceDisplay
    if name == "RegretDisplay":
        from pegasos.interfaces.plots.regret import RegretDisplay

        return RegretDisplay
    raise AttributeError(f"module 'pegasos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "ConvergenceDisplay", "RegretDisplay"])
