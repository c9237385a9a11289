"""Losses of gradient boosting and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from surefit.core.errors import CertificateError


def loss_values(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the loss of every row."""
    name, f = problem["loss"], z[0]
    if name == "log_loss" and problem["scores"] == 1:
        return np.logaddexp(0, f) - y * f
    if name == "log_loss":
        return logsumexp(z, axis=0) - np.sum(z * _own(y, z), axis=0)
    if name == "exponential":
        return np.exp(-(2 * y - 1) * f)
    r = y - f
    if name == "squared_error":
        return r**2 / 2
    if name in ("absolute_error", "quantile"):
        q = 0.5 if name == "absolute_error" else problem["parameter"]
        loss = np.maximum(q * r, (q - 1) * r)
        return 2 * loss if name == "absolute_error" else loss
    if name == "huber":
        delta, size = problem["parameter"], np.abs(r)
        return np.where(size <= delta, r**2 / 2, delta * (size - delta / 2))
    if name == "poisson":
        return np.exp(f) - y * f
    if name == "gamma":
        return y * np.exp(-f) + f
    raise CertificateError(f"The checker does not support the loss {name!r}.")


def derivatives(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the second derivative of every row, with one line per score."""
    name, f = problem["loss"], z[0]
    one = np.ones((1, len(f)))
    if name == "log_loss" and problem["scores"] == 1:
        signs = 2 * y - 1
        right = signs * f
        wrong = expit(-right)
        return (-signs * wrong)[None], (wrong * expit(right))[None]
    if name == "log_loss":
        p, others = _shares(z)
        return np.where(_own(y, z), -others, p), p * others
    if name == "exponential":
        e = np.exp(-(2 * y - 1) * f)
        return (-(2 * y - 1) * e)[None], e[None]
    if name == "squared_error":
        return -(y - f)[None], one
    if name in ("absolute_error", "quantile"):
        return one, one
    if name == "huber":
        return -np.clip(y - f, -problem["parameter"], problem["parameter"])[None], one
    if name == "poisson":
        e = np.exp(f)
        return (e - y)[None], e[None]
    if name == "gamma":
        e = y * np.exp(-f)
        return (1 - e)[None], e[None]
    raise CertificateError(f"The checker does not support the loss {name!r}.")


def _own(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return whether each score belongs to the class of its row."""
    return np.asarray(np.arange(len(z))[:, None] == y[None])


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
