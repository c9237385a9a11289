"""Penalized least squares: lasso, elastic net and relatives, solved to a stated duality gap.

``prepare`` reads the data once; ``solve``, ``solve_path`` and ``solve_radius`` use it for any number of penalties.
"""

from surefit.solvers.coordinate_descent.descent import solve, solve_path
from surefit.solvers.coordinate_descent.problem import Prepared, prepare
from surefit.solvers.coordinate_descent.radius import alpha_max, solve_radius

__all__ = ["Prepared", "alpha_max", "prepare", "solve", "solve_path", "solve_radius"]
