"""Class-conditional distributions fitted by maximum likelihood: normal (full or diagonal) and Bernoulli."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import xlog1py, xlogy

from surefit.core.errors import InvalidData

FAMILIES = ("diagonal", "full", "common", "bernoulli")


class ClassParameters(NamedTuple):
    """Parameters of all classes: means (or probabilities), and variances or covariance matrices."""

    means: np.ndarray  # (classes, d)
    spreads: np.ndarray  # (classes, d) variances, (classes, d, d) or (1, d, d) covariances, (0,) for Bernoulli


def estimate(
    family: str, X: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int, floor: float
) -> ClassParameters:
    """Return the maximum-likelihood estimates; ``floor`` is added to variances (or to the counts of zeros and ones)."""
    d = X.shape[1]
    mass = np.bincount(codes, weights, minlength=n_classes)
    means = np.stack([weights[codes == k] @ X[codes == k] / mass[k] for k in range(n_classes)])
    if family == "bernoulli":
        return ClassParameters((means * mass[:, None] + floor) / (mass + 2 * floor)[:, None], np.zeros(0))
    about = X - means[codes]
    if family == "diagonal":
        spreads = np.stack([weights[codes == k] @ about[codes == k] ** 2 / mass[k] for k in range(n_classes)])
        return ClassParameters(means, spreads + floor)
    groups = [codes >= 0] if family == "common" else [codes == k for k in range(n_classes)]
    matrices = [(about[g] * weights[g, None]).T @ about[g] / weights[g].sum() for g in groups]
    return ClassParameters(means, np.stack([(S + S.T) / 2 + floor * np.eye(d) for S in matrices]))


def log_densities(family: str, parameters: ClassParameters, X: np.ndarray) -> np.ndarray:
    """Return the log-density of each row under each class, (n, classes)."""
    means, spreads = parameters
    if family == "bernoulli":
        return np.stack([np.sum(xlogy(X, p) + xlog1py(1 - X, -p), axis=1) for p in means], axis=1)
    half = -0.5 * X.shape[1] * math.log(2 * math.pi)
    columns = []
    for k, mean in enumerate(means):
        about = X - mean
        if family == "diagonal":
            quadratic, determinant = np.sum(about**2 / spreads[k], axis=1), float(np.sum(np.log(spreads[k])))
        else:
            L = np.linalg.cholesky(spreads[0 if family == "common" else k])
            quadratic = np.sum(solve_triangular(L, about.T, lower=True) ** 2, axis=0)
            determinant = 2 * float(np.sum(np.log(np.diag(L))))
        columns.append(half - 0.5 * determinant - 0.5 * quadratic)
    return np.stack(columns, axis=1)


def require_spread(who: str, family: str, parameters: ClassParameters, classes: np.ndarray) -> None:
    """Raise an error that names the class and the column if a distribution has no density."""
    spreads = parameters.spreads
    if family == "diagonal":
        flat = np.argwhere(spreads <= 0)
        if len(flat):
            k, j = flat[0]
            raise InvalidData(
                f"{who}: column {j} is constant within class {classes.tolist()[k]!r}, so its normal distribution has no density; remove "
                "the column, or set var_smoothing > 0."
            )
    elif family != "bernoulli":
        for k, S in enumerate(spreads):
            if np.linalg.eigvalsh(S)[0] <= 1e-13 * np.trace(S):
                which = "all classes together" if family == "common" else f"class {classes[k]!r}"
                raise InvalidData(
                    f"{who}: the covariance matrix of {which} is singular (too few rows, or linearly dependent columns); use "
                    "distributions='diagonal', or a larger var_smoothing."
                )
