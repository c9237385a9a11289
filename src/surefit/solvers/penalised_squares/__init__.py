"""Penalised least squares: lasso, elastic net and relatives, solved to a stated duality gap.

``prepare`` reads the data once; ``solve``, ``solve_path`` and ``solve_radius`` use it for any number of penalties.
"""

from surefit.solvers.penalised_squares.descent import solve, solve_path
from surefit.solvers.penalised_squares.problem import Prepared, prepare
from surefit.solvers.penalised_squares.radius import alpha_max, solve_radius

__all__ = ["Prepared", "alpha_max", "prepare", "solve", "solve_path", "solve_radius"]
