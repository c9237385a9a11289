"""Newton's method for penalized losses of linear scores, stopped by a duality gap."""

from surefit.solvers.newton.centered_rows import Centered, centered
from surefit.solvers.newton.exponential_scores import ExponentialScores
from surefit.solvers.newton.first_model import first_model
from surefit.solvers.newton.logistic_scores import LogisticScores
from surefit.solvers.newton.minimize import Fit, minimize
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores
from surefit.solvers.newton.softmax_scores import SoftmaxScores
from surefit.solvers.newton.start import subsample_start

__all__ = [
    "Centered",
    "ExponentialScores",
    "Fit",
    "LogisticScores",
    "Rows",
    "ScalarScores",
    "SoftmaxScores",
    "centered",
    "first_model",
    "minimize",
    "subsample_start",
]
