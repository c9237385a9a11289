"""Losses of gradient boosting and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from surefit.core.errors import CertificateError


def derivatives(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loss, gradient and second derivative of every row; the derivatives have one line per score."""
    name, f = problem["loss"], z[0]
    one = np.ones((1, len(f)))
    if name == "log_loss" and problem["scores"] == 1:
        p = expit(f)
        return np.logaddexp(0, f) - y * f, (p - y)[None], (p * (1 - p))[None]
    if name == "log_loss":
        own = np.arange(len(z))[:, None] == y[None]
        p = np.exp(z - logsumexp(z, axis=0))
        return logsumexp(z, axis=0) - np.sum(z * own, axis=0), p - own, p * (1 - p)
    if name == "exponential":
        e = np.exp(-(2 * y - 1) * f)
        return e, (-(2 * y - 1) * e)[None], e[None]
    r = y - f
    if name == "squared_error":
        return r**2 / 2, -r[None], one
    if name in ("absolute_error", "quantile"):
        q = 0.5 if name == "absolute_error" else problem["parameter"]
        loss = np.maximum(q * r, (q - 1) * r)
        return (2 * loss if name == "absolute_error" else loss), one, one
    if name == "huber":
        delta = problem["parameter"]
        size = np.abs(r)
        loss = np.where(size <= delta, r**2 / 2, delta * (size - delta / 2))
        return loss, -np.clip(r, -delta, delta)[None], one
    if name == "poisson":
        return np.exp(f) - y * f, (np.exp(f) - y)[None], np.exp(f)[None]
    if name == "gamma":
        e = y * np.exp(-f)
        return e + f, (1 - e)[None], e[None]
    raise CertificateError(f"The checker does not support the loss {name!r}.")
