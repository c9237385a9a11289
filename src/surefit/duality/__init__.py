"""Convex programmes, their duals, and what a pair of points proves: weak duality, Slater's condition, Kuhn-Tucker."""

from surefit.duality.base import Programme
from surefit.duality.completion import DeterminantCompletion
from surefit.duality.convex import Constraint, ConvexProgramme
from surefit.duality.convexity import ConvexityReport, convexity_check
from surefit.duality.kkt import DualityGap, KKTReport, kkt_report, weak_duality
from surefit.duality.linear import LinearProgramme
from surefit.duality.one_variable import nearest_to_origin
from surefit.duality.quadratic import QuadraticProgramme
from surefit.duality.water_filling import WaterFilling

__all__ = [
    "Constraint",
    "ConvexProgramme",
    "ConvexityReport",
    "DeterminantCompletion",
    "DualityGap",
    "KKTReport",
    "LinearProgramme",
    "Programme",
    "QuadraticProgramme",
    "WaterFilling",
    "convexity_check",
    "kkt_report",
    "nearest_to_origin",
    "weak_duality",
]
