"""Least squares with and without a ridge penalty: moments in one pass over the rows, then small dense algebra."""

from surefit.solvers.least_squares.leave_one_out import Basis, Path, leave_one_out
from surefit.solvers.least_squares.minimize import Solution, solve
from surefit.solvers.least_squares.moments import Moments, collect

__all__ = ["Basis", "Moments", "Path", "Solution", "collect", "leave_one_out", "solve"]
