"""Convex programs, their duals, and optimality conditions: weak duality, Slater's condition, Karush-Kuhn-Tucker."""

from surefit.duality.base import Program
from surefit.duality.completion import DeterminantCompletion
from surefit.duality.convex import Constraint, ConvexProgram
from surefit.duality.convex_quadratic import ConvexQuadraticProgram, lasso_program
from surefit.duality.convexity import ConvexityReport, convexity_check
from surefit.duality.kernel_ridge import KernelRidgeDual, kernel_ridge_dual
from surefit.duality.kkt import DualityGap, KKTReport, kkt_report, weak_duality
from surefit.duality.linear import LinearProgram
from surefit.duality.models import ModelKKT
from surefit.duality.one_variable import nearest_to_origin
from surefit.duality.quadratic import QuadraticProgram
from surefit.duality.water_filling import WaterFilling

__all__ = [
    "Constraint",
    "ConvexProgram",
    "ConvexQuadraticProgram",
    "ConvexityReport",
    "DeterminantCompletion",
    "DualityGap",
    "KKTReport",
    "KernelRidgeDual",
    "LinearProgram",
    "ModelKKT",
    "Program",
    "QuadraticProgram",
    "WaterFilling",
    "convexity_check",
    "kernel_ridge_dual",
    "kkt_report",
    "lasso_program",
    "nearest_to_origin",
    "weak_duality",
]
