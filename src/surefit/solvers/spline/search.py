"""Choice of the smoothing parameter: criteria, the grid, and its best point."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.solvers.spline import profile
from surefit.solvers.spline.problem import SWEEPS, Curve, Problem, trace, workspace

STEPS = 0.375  # decades between two values of the grid, times the order: degrees of freedom change by half
SMOOTHEST = 1e3  # the largest lambda of the grid, in units of the range of x: practically a polynomial
ZOOMS = 3  # each makes the interval 4.5 times shorter
FLOOR = 1e-24  # sums of squares below this fraction of that of the targets are rounding: data on a line get the largest lambda
BRACKET = 0.01  # accuracy in log(lambda) to which the minimum is enclosed


class Choice(NamedTuple):
    """Chosen lambda, and the criterion on the grid."""

    lam: float
    value: float
    lams: np.ndarray
    values: np.ndarray
    edge: bool  # at an end of the grid, or chosen from given values: not a local minimum between neighbors


def declared_grid(problem: Problem) -> np.ndarray:
    """Return a grid of lambda from nearly an interpolating spline to nearly a polynomial, in units of the data."""
    power = 2 * problem.order
    low = (math.pi * max(len(problem.knots), 2)) ** -power
    count = math.ceil(math.log10(SMOOTHEST / low) / (STEPS * problem.order)) + 1
    return np.geomspace(low, SMOOTHEST, count) * problem.length ** (power - 1)


def squares_and_trace(problem: Problem, curve: Curve) -> tuple[float, float]:
    """Return the residual sum of squares over all rows, and ``S`` minus the effective degrees of freedom."""
    r = curve.residuals
    left = problem.total - len(problem.knots) + float(curve.residual_diagonal.sum())
    return problem.within + float((problem.weights * r) @ r), left


def leave_one_out(problem: Problem, curve: Curve) -> np.ndarray:
    """Return the error at each row when one copy of it is left out; infinite if the others do not determine the spline."""
    knot = problem.rows
    if len(knot) == len(problem.knots) and curve.residual_diagonal.all() and np.all(problem.weights <= 1.0):
        return curve.left_out
    mass, residual_diagonal = problem.weights[knot], curve.residual_diagonal[knot]
    copies = np.minimum(problem.row_weights, 1.0)
    alone = mass <= copies
    r = problem.row_targets - problem.targets[knot] + curve.residuals[knot]
    kept = residual_diagonal + np.maximum(mass - copies, 0.0) * (1 - residual_diagonal) / mass
    errors = np.where(
        alone, np.where(residual_diagonal > 0, curve.left_out[knot], np.inf), r / np.where(alone, 1.0, kept)
    )
    return np.where(knot < 0, problem.row_targets, errors)  # at the origin the spline is zero for any data


def score(problem: Problem, lam: float, criterion: str, room: np.ndarray | None = None) -> float:
    """Return the value of the criterion, to be minimized."""
    room = workspace(problem) if room is None else room
    sweeps, rate, rounding = SWEEPS[problem.degree], problem.rate(lam), floor(problem)
    if criterion == "reml":
        energy, log_det = sweeps.likelihood(problem.gaps, problem.weights, problem.targets, rate, problem.lead)
        free = problem.total - problem.free
        if free <= 0:
            return math.inf
        return free * math.log(max(problem.within + energy, rounding, 1e-300) / free) + log_det
    if criterion == "loo":
        errors = leave_one_out(problem, trace(problem, lam, room))
        return max(float(problem.row_weights @ errors**2), rounding) / problem.total
    squares, left = squares_and_trace(problem, trace(problem, lam, room))
    return problem.total * max(squares, rounding) / left**2 if left > 0 else math.inf


def floor(problem: Problem) -> float:
    """Return the level of rounding errors in a sum of squares."""
    return FLOOR * (problem.within + float((problem.weights * problem.targets) @ problem.targets))


def scores(problem: Problem, lams: np.ndarray, criterion: str, room: np.ndarray) -> np.ndarray:
    """Return the values of the criterion; for GCV, many are computed together."""
    if criterion != "gcv":
        return np.array([score(problem, lam, criterion, room) for lam in lams])
    squares, degrees_of_freedom = profile.squares_and_trace(problem, lams)
    left, squares = problem.total - degrees_of_freedom, np.maximum(squares, floor(problem))
    return np.where(left > 0, problem.total * squares / np.where(left > 0, left, 1.0) ** 2, math.inf)


def choose(problem: Problem, criterion: str, lams: np.ndarray | None = None) -> Choice:
    """Return the best lambda of the grid, then of the interval between its neighbors; ties go to the largest."""
    given = lams is not None
    grid = np.sort(lams) if lams is not None else declared_grid(problem)
    room = np.empty((0, 0)) if criterion in ("gcv", "reml") else workspace(problem)

    def values_at(logs):
        return scores(problem, np.exp(logs), criterion, room)

    values = scores(problem, grid, criterion, room)
    best = len(grid) - 1 - int(np.argmin(values[::-1]))
    lam, value = float(grid[best]), float(values[best])
    if given or best in (0, len(grid) - 1) or not math.isfinite(value):
        return Choice(lam, value, grid, values, True)
    low, high = math.log(grid[best - 1]), math.log(grid[best + 1])
    place = zoomed(values_at, low, high) if criterion == "gcv" else descended(values_at, low, high)
    here, *sides = values_at(place + np.array([0.0, -BRACKET, BRACKET]))
    if here < value:
        return Choice(math.exp(place), float(here), grid, values, bool(min(sides) < here))
    sides = values_at(math.log(lam) + np.array([-BRACKET, BRACKET]))
    return Choice(lam, value, grid, values, bool(min(sides) < value))


def zoomed(values_at, low: float, high: float) -> float:
    """Minimize between two points by successively finer grids and a final parabola."""
    for _ in range(ZOOMS):
        points = np.linspace(low, high, profile.LANES + 2)
        values = np.concatenate([[math.inf], values_at(points[1:-1]), [math.inf]])
        best = int(np.argmin(values))
        low, high = points[best - 1], points[best + 1]
    left, middle, right = values[best - 1 : best + 2]
    bend = left - 2 * middle + right
    if not (math.isfinite(bend) and bend > 0):
        return float(points[best])
    return float(points[best] + (points[1] - points[0]) * 0.5 * (left - right) / bend)


def descended(values_at, low: float, high: float) -> float:
    """Minimize between two points by Brent's method."""
    found = minimize_scalar(
        lambda t: values_at(np.array([t]))[0], bounds=(low, high), method="bounded", options={"xatol": BRACKET / 10}
    )
    return float(found.x)
