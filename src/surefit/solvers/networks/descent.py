"""Descent on the objective over all rows: L-BFGS, and gradient descent with a line search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from surefit.core.budget import Budget, Reason

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

ENOUGH = 1e-4  # fraction of the first-order decrease that a step must attain (Armijo)
SHORTEST = 1e-14  # relative to the first step tried


def l_bfgs(
    objective: Objective, theta: np.ndarray, *, tol: float, max_fun: int, budget: Budget
) -> tuple[np.ndarray, list[float], Reason]:
    """Minimize by L-BFGS until the largest absolute derivative is at most ``tol``.

    Return the point, the objective after each iteration (it never increases), and why it stopped.
    """
    losses: list[float] = []
    why: list[Reason] = []

    def after(intermediate_result) -> None:
        losses.append(float(intermediate_result.fun))
        reason = budget.spent(len(losses), losses[-1])
        if reason is not None:
            why.append(reason)
            raise StopIteration

    # A small decrease is not a reason to stop, because the claim is about the gradient.
    options = {"maxfun": max_fun, "maxiter": 10**9, "gtol": tol, "ftol": 4 * np.finfo(float).eps}
    found = minimize(objective, theta, method="L-BFGS-B", jac=True, callback=after, options=options)
    steep = float(np.max(np.abs(found.jac), initial=0.0))
    if steep <= tol:
        reason = Reason.CONVERGED
    elif why:
        reason = why[0]
    else:
        reason = Reason.MAX_ITER if found.nfev >= max_fun else Reason.STALLED
    return found.x, losses or [float(found.fun)], reason


def gradient_descent(
    objective: Objective, theta: np.ndarray, *, tol: float, budget: Budget, rate: float
) -> tuple[np.ndarray, list[float], Reason]:
    """Minimize by gradient descent with backtracking.

    Return the point, the objective at the start and after each step (it never increases), and why it stopped.
    """
    value, derivative = objective(theta)
    losses, step = [value], rate
    reason = budget.spent(0, value)
    while reason is None:
        if np.max(np.abs(derivative), initial=0.0) <= tol:
            return theta, losses, Reason.CONVERGED
        promised, step = float(derivative @ derivative), 2 * step
        shortest = SHORTEST * step
        while True:
            trial = theta - step * derivative
            new_value, new_slope = objective(trial)
            if new_value <= value - ENOUGH * step * promised:
                break
            step /= 2
            if step < shortest:
                return theta, losses, Reason.STALLED
        theta, value, derivative = trial, new_value, new_slope
        losses.append(value)
        reason = budget.spent(len(losses) - 1, value)
    done = np.max(np.abs(derivative), initial=0.0) <= tol
    return theta, losses, Reason.CONVERGED if done else reason
