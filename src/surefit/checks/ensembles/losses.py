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
        signs = 2 * y - 1
        wrong = expit(-signs * f)
        return np.logaddexp(0, f) - y * f, (-signs * wrong)[None], (wrong * expit(signs * f))[None]
    if name == "log_loss":
        own = np.arange(len(z))[:, None] == y[None]
        p, others = _shares(z)
        return logsumexp(z, axis=0) - np.sum(z * own, axis=0), np.where(own, -others, p), p * others
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


def _shares(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the softmax of each column, and one minus it as the sum of the other classes, which is accurate near a probability of 1."""
    e = np.exp(z - np.max(z, axis=0))
    none = np.zeros((1, e.shape[1]))
    before = np.cumsum(np.vstack([none, e[:-1]]), axis=0)
    after = np.cumsum(np.vstack([none, e[:0:-1]]), axis=0)[::-1]
    total = before[-1] + e[-1]
    return e / total, (before + after) / total


def gradient_terms(problem: dict[str, Any], g: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the size of the terms of a gradient, to which its rounding is relative: mean and target cancel in Poisson and gamma losses."""
    return np.abs(g) + 2 * h if problem["loss"] in ("poisson", "gamma") else np.abs(g)
