"""Losses: convex functions of a score, each a NamedTuple with its verbs."""

from surefit.losses.absolute import Absolute
from surefit.losses.base import conjugate, curvature, is_margin_loss, lipschitz, slope, smoothness, value
from surefit.losses.epsilon_insensitive import EpsilonInsensitive
from surefit.losses.exponential import Exponential
from surefit.losses.hinge import Hinge
from surefit.losses.huber import Huber
from surefit.losses.logistic import Logistic
from surefit.losses.modified_huber import ModifiedHuber
from surefit.losses.perceptron import PerceptronLoss
from surefit.losses.squared import Squared
from surefit.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from surefit.losses.squared_hinge import SquaredHinge
from surefit.losses.zero_one import ZeroOne

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Exponential",
    "Hinge",
    "Huber",
    "Logistic",
    "ModifiedHuber",
    "PerceptronLoss",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
    "conjugate",
    "curvature",
    "is_margin_loss",
    "lipschitz",
    "slope",
    "smoothness",
    "value",
]
