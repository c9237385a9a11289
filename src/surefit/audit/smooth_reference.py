"""Minimizer of smooth losses with an elastic-net penalty for reference solutions; the checker bounds their gap."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from surefit.checks.gap import loss_of, rows

STEPS = 20_000


def smooth_minimum(problem: dict, X, y: np.ndarray, c: np.ndarray) -> dict[str, np.ndarray]:
    """Return coefficients and intercept found by L-BFGS-B, with coefficients split into two parts for an l1 penalty."""
    d, free, loss = X.shape[1], problem["fit_intercept"], loss_of(problem)
    l1, l2 = problem["penalty"]["l1"], problem["penalty"]["l2"]
    nothing = np.zeros(len(y))

    def both(parts: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = (parts[:d] - parts[d : 2 * d], parts[-1]) if l1 > 0 else (parts[:d], parts[-1])
        z = np.asarray(X @ w).ravel() + b
        slopes = c * rows.slopes(loss, y, z, 0.0)[0]
        of_w, of_b = np.asarray(X.T @ slopes).ravel() + l2 * w, float(np.sum(slopes)) if free else 0.0
        value = float(
            np.sum(rows.row_terms(loss, y, c, z, nothing, nothing, nothing, nothing, nothing)[0])
        ) + 0.5 * l2 * float(w @ w)
        if l1 > 0:
            return value + l1 * float(np.sum(parts[: 2 * d])), np.concatenate([of_w + l1, l1 - of_w, [of_b]])
        return value, np.append(of_w, of_b)

    size = (2 * d if l1 > 0 else d) + 1
    bounds = [(0.0, None)] * (2 * d) + [(None, None)] if l1 > 0 else None
    options = {"maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-13}
    parts = minimize(both, np.zeros(size), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    w = parts[:d] - parts[d : 2 * d] if l1 > 0 else parts[:d]
    return {"coef": w[None, :], "intercept": np.array([parts[-1] if free else 0.0])}
