"""Smoothing splines in linear time."""

from surefit.solvers.spline.problem import Curve, Problem, coefficients, fold, spread, starting_at, trace
from surefit.solvers.spline.search import Choice, choose, declared_grid, score

__all__ = [
    "Choice",
    "Curve",
    "Problem",
    "choose",
    "coefficients",
    "declared_grid",
    "fold",
    "score",
    "spread",
    "starting_at",
    "trace",
]
