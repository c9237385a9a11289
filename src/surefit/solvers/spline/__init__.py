"""Smoothing splines in linear time."""

from surefit.solvers.spline.gap import Proof, prove
from surefit.solvers.spline.problem import Curve, Problem, coefficients, fold, spread, starting_at, trace
from surefit.solvers.spline.search import Choice, choose, declared_grid, score

__all__ = [
    "Choice",
    "Curve",
    "Problem",
    "Proof",
    "choose",
    "coefficients",
    "declared_grid",
    "fold",
    "prove",
    "score",
    "spread",
    "starting_at",
    "trace",
]
