"""Losses: convex functions of a score, each a NamedTuple with its verbs."""

from surefit.losses.absolute import Absolute
from surefit.losses.base import (
    curvature,
    fenchel_conjugate,
    is_margin_loss,
    lipschitz,
    make_smoothed,
    slope,
    smoothed,
    smoothness,
    value,
)
from surefit.losses.epsilon_insensitive import EpsilonInsensitive
from surefit.losses.exponential import ExponentialLoss
from surefit.losses.hinge import Hinge
from surefit.losses.huber import Huber
from surefit.losses.logistic import Logistic
from surefit.losses.lp import Lp
from surefit.losses.modified_huber import ModifiedHuber
from surefit.losses.perceptron import PerceptronLoss
from surefit.losses.pinball import Pinball
from surefit.losses.poisson import Poisson
from surefit.losses.ranges import bound_on, clip, lipschitz_on, subgradients
from surefit.losses.squared import Squared
from surefit.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from surefit.losses.squared_hinge import SquaredHinge
from surefit.losses.tweedie import Tweedie
from surefit.losses.zero_one import ZeroOne

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "ExponentialLoss",
    "Hinge",
    "Huber",
    "Logistic",
    "Lp",
    "ModifiedHuber",
    "PerceptronLoss",
    "Pinball",
    "Poisson",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tweedie",
    "ZeroOne",
    "bound_on",
    "clip",
    "curvature",
    "fenchel_conjugate",
    "is_margin_loss",
    "lipschitz",
    "lipschitz_on",
    "make_smoothed",
    "slope",
    "smoothed",
    "smoothness",
    "subgradients",
    "value",
]
