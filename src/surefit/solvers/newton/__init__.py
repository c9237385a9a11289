"""Newton's method for penalised losses of linear scores, stopped by a duality gap."""

from surefit.solvers.newton.minimise import Fit, minimise
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores
from surefit.solvers.newton.softmax_scores import SoftmaxScores
from surefit.solvers.newton.start import subsample_start

__all__ = ["Fit", "Rows", "ScalarScores", "SoftmaxScores", "minimise", "subsample_start"]
