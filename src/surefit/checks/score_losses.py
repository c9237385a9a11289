r"""Losses of a linear score as the checker reads them: slopes, and Fenchel-Young differences that are never negative.

For a score :math:`z` and a dual number :math:`q` (a negative slope) the difference :math:`\phi(z) + \phi^*(-q) + qz` is convex in
:math:`z`, so its largest value over an interval is at an end.
"""

import numpy as np

from surefit.checks.enclosure import UNIT

ERROR = 32 * UNIT  # of one evaluation, relative to the size of its terms


def softplus(u: np.ndarray) -> np.ndarray:
    """Return ``ln(1 + e^u)`` without overflow."""
    return np.log1p(np.exp(-np.abs(u))) + np.maximum(u, 0.0)


def dual_numbers(problem: dict, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return minus the slopes of the (possibly smoothed) loss; in the domain of the conjugate for any ``z``."""
    loss, width = problem["loss"], problem.get("width", 0.0)
    if loss == "logistic":
        u = y * z
        e = np.exp(-np.abs(u))
        return y * np.where(u >= 0, e, 1.0) / (1.0 + e)
    if loss == "squared_hinge":
        return 2.0 * y * np.maximum(1.0 - y * z, 0.0)
    if loss == "hinge":
        return y * _step(1.0 - y * z, width)
    if loss == "perceptron":
        return y * _step(-y * z, width)
    if loss == "modified_huber":
        return 2.0 * y * np.clip(1.0 - y * z, 0.0, 2.0)
    if loss == "squared_error":
        return y - z
    epsilon = problem["epsilon"]
    if loss == "huber":
        return np.clip(y - z, -epsilon, epsilon)
    if loss == "epsilon_insensitive":
        return _step(y - z - epsilon, width) - _step(z - y - epsilon, width)
    beyond = np.maximum(np.abs(y - z) - epsilon, 0.0)
    return 2.0 * beyond * np.sign(y - z)


def largest_dual(problem: dict) -> float:
    """Return the largest absolute value of a dual number."""
    if problem["loss"] in ("logistic", "hinge", "perceptron", "epsilon_insensitive"):
        return 1.0
    return {"modified_huber": 4.0, "huber": problem.get("epsilon", 0.0)}.get(problem["loss"], np.inf)


def _step(slack: np.ndarray, width: float) -> np.ndarray:
    if width > 0:
        return np.clip((slack + 0.5 * width) / width, 0.0, 1.0)
    return (slack > 0).astype(np.float64)


def differences(problem: dict, y: np.ndarray, z: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Fenchel-Young differences and a bound on the error of each evaluation."""
    loss = problem["loss"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if loss == "logistic":
            p, u = np.clip(q * y, 0.0, 1.0), y * z
            entropy = np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)
            entropy = entropy + np.where(p < 1, (1.0 - p) * np.log1p(-np.where(p < 1, p, 0.0)), 0.0)
            ahead, behind = softplus(u), softplus(-u)
            total = entropy + p * ahead + (1.0 - p) * behind
            size = np.abs(entropy) + p * ahead + (1.0 - p) * behind + UNIT
        elif loss == "hinge":
            p, slack = np.clip(q * y, 0.0, 1.0), 1.0 - y * z
            total = np.where(slack > 0, (1.0 - p) * slack, -p * slack)
            size = 1.0 + np.abs(z)
            size = np.where(total == 0, 0.0, size)
        elif loss == "squared_hinge":
            p, slack = np.maximum(q * y, 0.0), 1.0 - y * z
            total = (np.maximum(slack, 0.0) - 0.5 * p) ** 2 + p * np.maximum(-slack, 0.0)
            size = (1.0 + np.abs(z) + p) ** 2
            size = np.where((p == 0) & (slack <= 0), 0.0, size)
        elif loss == "perceptron":
            p, u = np.clip(q * y, 0.0, 1.0), y * z
            total = np.where(u < 0, (p - 1.0) * u, p * u)
            size = np.abs(z)
        elif loss == "modified_huber":
            p, slack = np.clip(q * y, 0.0, 4.0), 1.0 - y * z
            total = (np.maximum(slack, 0.0) - 0.5 * p) ** 2 + p * np.maximum(-slack, 0.0)
            total = np.where(slack > 2.0, (4.0 - p) * (slack - 1.0 - 0.25 * p), total)
            size = np.where((p == 0) & (slack <= 0), 0.0, (1.0 + np.minimum(np.abs(z), 4.0) + p) ** 2 + 8.0 * np.abs(z))
        elif loss == "squared_error":
            total = 0.5 * (y - z - q) ** 2
            size = (np.abs(y) + np.abs(z) + np.abs(q)) ** 2
        elif loss == "huber":
            r, epsilon = y - z, problem["epsilon"]
            inner = np.minimum(np.abs(r), epsilon)
            total = inner * (np.abs(r) - 0.5 * inner) + 0.5 * q**2 - r * q
            size = (np.abs(y) + np.abs(z)) * (inner + np.abs(q)) + q**2
        else:
            r, epsilon = y - z, problem["epsilon"]
            beyond = np.maximum(np.abs(r) - epsilon, 0.0)
            if loss == "epsilon_insensitive":
                total = beyond + epsilon * np.abs(q) - r * q
                size = (np.abs(y) + np.abs(z) + epsilon) * (1.0 + np.abs(q))
            else:
                total = beyond**2 + epsilon * np.abs(q) + 0.25 * q**2 - r * q
                size = (np.abs(y) + np.abs(z) + epsilon + np.abs(q)) ** 2
            size = np.where((q == 0) & (beyond == 0), 0.0, size)
    return np.maximum(total, 0.0), ERROR * size


def values(problem: dict, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the losses."""
    loss = problem["loss"]
    if loss == "logistic":
        return softplus(-y * z)
    if loss == "perceptron":
        return np.maximum(-y * z, 0.0)
    if loss == "modified_huber":
        return np.where(y * z < -1.0, -4.0 * y * z, np.maximum(1.0 - y * z, 0.0) ** 2)
    if loss == "squared_error":
        return 0.5 * (y - z) ** 2
    if loss == "huber":
        inner = np.minimum(np.abs(y - z), problem["epsilon"])
        return inner * (np.abs(y - z) - 0.5 * inner)
    if loss in ("hinge", "squared_hinge"):
        slack = np.maximum(1.0 - y * z, 0.0)
    else:
        slack = np.maximum(np.abs(y - z) - problem["epsilon"], 0.0)
    return slack**2 if loss.startswith("squared") else slack
