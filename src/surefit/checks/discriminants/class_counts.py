"""Enclosed counts and probabilities of discrete naive Bayes, and the distances of stored values from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.discriminants.class_variances import (
    Found,
    hoeffding,
    largest_of,
    log_distances,
    prior_distances,
    relative,
)
from surefit.checks.discriminants.scatter import over_classes
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import Enclosed, gamma
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.partitioned import Part
from surefit.core.sample import Data


def discrete_distances(certificate: Certificate, earlier: dict[str, np.ndarray], data: Data) -> Found:
    """Return the largest distance of a log-probability or (relatively) of a count, and the loss of log-likelihood."""
    problem, model = certificate.problem, certificate.model
    K, (n, d) = len(problem["classes"]), data.X.shape
    masses, counts = over_classes(data, problem["classes"], _of_rows, K, problem["binarize"])
    masses = masses + _recorded(earlier, "class_count_", (K,))
    counts = counts + _recorded(earlier, "feature_count_", (K, d))
    rounding = gamma(n + d + K + 32)  # all terms of the sums and quotients below are non-negative
    wanted = _probabilities(problem, masses, counts)
    stored = np.asarray(model["feature_log_prob_"])
    found = _weights(stored, wanted, rounding, problem)
    priors = prior_distances(certificate, masses, np.asarray(model["class_log_prior_"]))
    smoothed = (counts + np.asarray(problem["alpha"])).sum(axis=1) if problem["density"] == "multinomial" else masses

    def distances(factor: float) -> tuple[float, float]:
        largest, lost = priors(factor)
        for name, value in (("class_count_", masses), ("feature_count_", counts), ("feature_all_", counts.sum(axis=0))):
            largest = max(largest, relative(model, name, value, factor * rounding))
        low, high = found.mid - factor * found.rad, found.mid + factor * found.rad
        largest = max(largest, largest_of(low, high))
        if problem["density"] == "multinomial":
            possible = wanted > 0
            for k in np.flatnonzero(smoothed):
                outside = np.any(found.mid[k][~possible[k]] != 0)  # a positive probability where zero is expected
                lost += math.inf if outside else smoothed[k] * hoeffding(low[k][possible[k]], high[k][possible[k]])
        elif problem["density"] == "bernoulli":
            lost += _bernoulli_loss(masses[:, None] + 2 * np.asarray(problem["alpha"]), wanted, stored, found, factor)
        return largest, lost * (1 + rounding)

    return distances


def _recorded(earlier: dict[str, np.ndarray], name: str, shape: tuple[int, ...]) -> Any:
    if not earlier:
        return 0.0
    if earlier[name].shape != shape or not np.all(earlier[name] >= 0):
        raise CertificateError("The recorded statistics of earlier rows are not valid counts for this model.")
    return earlier[name]


def _of_rows(part: Part, codes: np.ndarray, K: int, threshold: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the classes and the sums of their counts."""
    s = weights_of(part)
    return np.bincount(codes, s, minlength=K), _sums(_counted(threshold, part.X), codes, s, K)


def _counted(threshold: float | None, X: Any) -> Any:
    """Return the entries of X, or the indicators of exceeding the threshold."""
    if threshold is None:
        if (X.data if sparse.issparse(X) else X).min(initial=0) < 0:
            raise CertificateError("Counts must not be negative.")
        return X
    return (X > threshold).astype(np.float64)


def _sums(X: Any, codes: np.ndarray, s: np.ndarray, K: int) -> np.ndarray:
    """Return the sums of the columns over the rows of each class."""
    members = sparse.csc_array((s, codes, np.arange(len(codes) + 1)), shape=(K, len(codes))).tocsr()
    sums = members @ X
    return np.asarray(sums.toarray() if sparse.issparse(sums) else sums, dtype=np.float64)


def _probabilities(problem: dict[str, Any], masses: np.ndarray, counts: np.ndarray) -> np.ndarray:
    alpha = np.broadcast_to(np.asarray(problem["alpha"]), counts.shape)
    if problem["density"] == "bernoulli":
        parts, totals = counts + alpha, masses[:, None] + 2 * alpha
        return np.where(totals > 0, parts / np.where(totals > 0, totals, 1.0), 0.5)
    if problem["density"] == "complement":
        zero = np.zeros((1, counts.shape[1]))
        before, after = np.cumsum(counts, axis=0)[:-1], np.cumsum(counts[::-1], axis=0)[-2::-1]
        counts = np.vstack([zero, before]) + np.vstack([after, zero])  # of all other classes
    parts = counts + alpha
    totals = parts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, parts / np.where(totals > 0, totals, 1.0), 1.0 / counts.shape[1])


def _weights(stored: np.ndarray, wanted: np.ndarray, rounding: float, problem: dict[str, Any]) -> Enclosed:
    """Enclose the error of stored weights: logarithms, negative logarithms (complement) or normalized ones (norm)."""
    if problem["density"] != "complement":
        return log_distances(stored, wanted, rounding)
    if not problem["norm"]:
        return log_distances(-stored, wanted, rounding)
    with np.errstate(divide="ignore"):
        logs = np.log(wanted)
    total = logs.sum(axis=1, keepdims=True)
    if wanted.shape[1] == 1 or not np.all(np.isfinite(total)):  # the logarithm of one, or a probability of zero
        exact = np.zeros_like(stored) if wanted.shape[1] == 1 else np.full_like(stored, np.nan)
        return Enclosed(np.where(stored == exact, 0.0, math.inf), np.zeros_like(stored))
    radius = rounding * 1.01 + gamma(logs.shape[1] + 16) * np.abs(logs)
    shares = logs / total
    return Enclosed(
        stored - shares, (radius + np.abs(shares) * radius.sum(axis=1, keepdims=True)) / np.abs(total) * 1.01
    )


def _bernoulli_loss(totals: np.ndarray, wanted: Any, stored: Any, found: Enclosed, factor: float) -> float:
    r"""Bound the sum of the divergences by :math:`(p - q)^2 / (q (1 - q))`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        off = wanted * np.expm1(np.abs(found.mid) + factor * found.rad) * (1 + gamma(16))
        certain = (found.mid == 0) & ((wanted == 0) | (wanted == 1))  # all rows, or no rows, have the feature
        variance = np.exp(stored) * -np.expm1(stored) * (1 - gamma(16))
        terms = np.where(certain, 0.0, totals * off * off / variance)
    total = float(np.sum(terms))
    return math.inf if math.isnan(total) or np.any(terms < 0) else total
