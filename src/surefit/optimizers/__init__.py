"""Gradient descent and stochastic gradient descent on smooth functions, with admissible step sizes."""

from surefit.optimizers.functions import FiniteSum, LinearScores, Quadratic, SmoothFunction
from surefit.optimizers.gradient_descent import GradientDescent
from surefit.optimizers.outcome import Descent
from surefit.optimizers.steps import DecayingStep, FixedStep, LineSearch, SmoothnessStep, StepTheory
from surefit.optimizers.stochastic import StochasticGradientDescent
from surefit.optimizers.stopping import GapBound, GradientNorm, IterateChange, ObjectiveChange

__all__ = [
    "DecayingStep",
    "Descent",
    "FiniteSum",
    "FixedStep",
    "GapBound",
    "GradientDescent",
    "GradientNorm",
    "IterateChange",
    "LineSearch",
    "LinearScores",
    "ObjectiveChange",
    "Quadratic",
    "SmoothFunction",
    "SmoothnessStep",
    "StepTheory",
    "StochasticGradientDescent",
]
