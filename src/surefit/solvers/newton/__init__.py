"""Newton's method for penalised losses of linear scores, stopped by a duality gap."""

from surefit.solvers.newton.centred_rows import Centred, centred
from surefit.solvers.newton.minimise import Fit, minimise
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores
from surefit.solvers.newton.softmax_scores import SoftmaxScores
from surefit.solvers.newton.start import subsample_start

__all__ = ["Centred", "Fit", "Rows", "ScalarScores", "SoftmaxScores", "centred", "minimise", "subsample_start"]
