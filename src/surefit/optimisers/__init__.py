"""Descents as objects: gradient descent and its stochastic form on any smooth function, with steps that theory admits."""

from surefit.optimisers.functions import FiniteSum, LinearScores, Quadratic, SmoothFunction
from surefit.optimisers.gradient_descent import GradientDescent
from surefit.optimisers.outcome import Descent
from surefit.optimisers.steps import DecayingStep, FixedStep, LineSearch, SmoothnessStep, StepTheory
from surefit.optimisers.stochastic import StochasticGradientDescent
from surefit.optimisers.stopping import GapBound, GradientNorm, IterateChange, ObjectiveChange

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
