"""Enclosed means and variances of Gaussian naive Bayes, and the distances of stored values from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.discriminants.class_sums import Sums, joined, sums_of_classes
from surefit.checks.discriminants.scatter import over_classes
from surefit.checks.enclosure import Enclosed, gamma
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

Found = Callable[[float], tuple[float, float]]


class Moved(NamedTuple):
    """Enclosed means of the rows minus given points, and enclosed variances, per class and column."""

    shift: Enclosed
    variance: Enclosed


def gaussian_distances(certificate: Certificate, earlier: dict[str, np.ndarray], data: Data) -> Found:
    """Return distances of means (in standard deviations) and variances (relative), and the loss of log-likelihood."""
    model, K, d = certificate.model, len(certificate.problem["classes"]), data.X.shape[1]
    theta, var = np.asarray(model["theta_"]), np.asarray(model["var_"])
    if theta.shape != (K, d) or var.shape != (K, d) or not np.isfinite(theta).all():
        raise CertificateError(f"{certificate.estimator}: theta_ or var_ have no valid means and variances.")
    classes = certificate.problem["classes"]
    sums, before = over_classes(data, classes, sums_of_classes, theta, 0, combine=joined), _before(earlier, K, d)
    totals = sums.totals + before[0]
    if not np.all(var[totals > 0] > 0):
        raise CertificateError(f"{certificate.estimator}: theta_ or var_ have no valid means and variances.")
    sizes, depth = sums.sizes(), sums.depth
    floor = _floor(certificate, theta, sums, sizes, depth)
    moved = _moved(theta, sums, sizes, depth, totals, before)
    wanted, roots, distance = moved.variance.mid + floor.mid, np.sqrt(var), np.abs(moved.shift.mid)
    change, change_radius = np.abs(wanted - var), moved.variance.rad + floor.rad + gamma(4) * (wanted + var)
    with np.errstate(divide="ignore"):
        log_priors = np.log(model["class_prior_"]) if "class_prior_" in model else model["class_log_prior_"]
    priors = prior_distances(certificate, totals, log_priors)

    added = relative(model, "epsilon_", floor.mid, 0.0)

    def distances(factor: float) -> tuple[float, float]:
        largest, lost = priors(factor)
        largest = max(largest, relative(model, "class_count_", totals, gamma(8) * factor))
        largest = max(largest, added + float(_over(factor * floor.rad, floor.mid)))
        means = _over(distance + factor * moved.shift.rad, roots)
        variances = _over(change + factor * change_radius, var)
        largest = max(largest, float(means.max()), float(variances.max()))
        lost += float(totals @ (_entropy_loss(variances) + means * means).sum(axis=1)) / 2
        return largest * (1 + gamma(16)), lost * (1 + gamma(K * d + 64))

    return distances


def _before(earlier: dict[str, np.ndarray], K: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights, means and variances of earlier rows."""
    if not earlier:
        return np.zeros(K), np.zeros((K, d)), np.zeros((K, d))
    variances = np.maximum(earlier["var_"] - earlier["epsilon_"], 0.0)
    if earlier["class_count_"].shape != (K,) or earlier["theta_"].shape != (K, d) or variances.shape != (K, d):
        raise CertificateError("The shapes of the recorded statistics of earlier rows are not those of the model.")
    return earlier["class_count_"], earlier["theta_"], variances


def _moved(
    points: np.ndarray, sums: Sums, sizes: np.ndarray, depth: int, totals: np.ndarray, before: tuple[Any, ...]
) -> Moved:
    """Enclose the means, relative to ``points``, and the variances of the rows of each class and of earlier rows."""
    count, mean, variance = before[0][:, None], before[1], before[2]
    empty, total = totals[:, None] == 0, np.where(totals == 0, 1.0, totals)[:, None]
    apart, rounding = mean - points, gamma(depth + 16)
    shift = np.where(empty, points, (sums.sums + count * apart) / total)
    shift_radius = rounding * (sizes + count * np.abs(apart)) / total * (1 + rounding)
    squares = (sums.squares + count * (variance + apart * apart)) / total
    radius = rounding * (squares + shift * shift) + (2 * np.abs(shift) + shift_radius) * shift_radius
    variance, radius = np.maximum(squares - shift * shift, 0.0), np.where(empty, 0.0, radius * (1 + rounding))
    return Moved(Enclosed(shift, np.where(empty, 0.0, shift_radius)), Enclosed(variance, radius))


def _floor(certificate: Certificate, theta: np.ndarray, sums: Sums, sizes: np.ndarray, depth: int) -> Enclosed:
    """Enclose the constant added to variances: a share of the largest one, or the stored one of another library."""
    share = certificate.problem.get("var_smoothing")
    if share is None:
        return Enclosed(np.asarray(certificate.model["epsilon_"]), np.zeros(()))
    masses = sums.totals
    total, m = math.fsum(masses.tolist()), masses[:, None]
    apart = theta - masses @ theta / total  # the sums of each class are shifted to one point near the mean of all rows
    rounding, away, heavy = gamma(depth + len(masses) + 32), np.abs(apart), m * apart
    mean = (sums.sums + heavy).sum(axis=0) / total
    mean_radius = rounding * (sizes + m * away).sum(axis=0) / total
    squares, square = sums.squares + heavy * apart, mean * mean
    second = (squares + 2 * sums.sums * apart).sum(axis=0) / total
    size = (squares + 2 * sizes * away).sum(axis=0) / total
    radius = (rounding * (size + square) + (2 * np.abs(mean) + mean_radius) * mean_radius) * (1 + rounding)
    variance = np.maximum(second - square, 0.0)
    return Enclosed(share * variance.max(), share * (radius + gamma(4) * variance).max())


def _entropy_loss(change: np.ndarray) -> np.ndarray:
    r"""Bound :math:`r - 1 - \ln r` for ratios r within ``change`` of one."""
    return np.where(change < 1, (change / np.maximum(1 - change, 1e-100)) ** 2 / 2, math.inf)


def _over(part: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return quotients, with zero divided by zero equal to zero."""
    if (unit > 0).all():
        return part / unit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part == 0, 0.0, part / unit)


def relative(model: dict[str, Any], name: str, wanted: np.ndarray, radius: float) -> float:
    """Return the largest relative distance of a stored attribute from the expected values; zero if it is missing."""
    if name not in model:
        return 0.0
    stored = np.asarray(model[name], dtype=np.float64)
    if stored.shape != np.shape(wanted):
        return math.inf
    found = float(np.max(_over(np.abs(stored - wanted) + radius * wanted, wanted), initial=0.0))
    return math.inf if math.isnan(found) else found


def prior_distances(certificate: Certificate, totals: np.ndarray, stored: np.ndarray) -> Found:
    """Return the distances of log class priors from the frequencies or given priors, and the loss of log-likelihood."""
    given = certificate.problem.get("priors")
    if certificate.problem.get("given_priors"):
        return lambda factor: (0.0, 0.0)  # priors given by the user of another library
    found = log_distances(stored, totals / math.fsum(totals) if given is None else np.asarray(given), gamma(8))

    def distances(factor: float) -> tuple[float, float]:
        low, high = found.mid - factor * found.rad, found.mid + factor * found.rad
        return largest_of(low, high), 0.0 if given is not None else math.fsum(totals) * hoeffding(low, high)

    return distances


def log_distances(stored: np.ndarray, wanted: np.ndarray, rounding: float) -> Enclosed:
    """Enclose ``stored - log(wanted)``, with ``wanted`` known up to a relative error; equal infinities give zero."""
    if np.shape(stored) != np.shape(wanted):
        raise CertificateError("The shape of the stored logarithms is not that of the sums over the rows.")
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(wanted)
        mid = np.where(stored == logs, 0.0, stored - logs)
        rad = np.where(np.isneginf(logs), 0.0, rounding * 1.01 + gamma(8) * (np.abs(stored) + np.abs(logs)))
    return Enclosed(np.where(np.isnan(mid), math.inf, mid), np.where(np.isfinite(rad), rad, 0.0))


def largest_of(low: np.ndarray, high: np.ndarray) -> float:
    """Return the largest absolute value in the given intervals."""
    return float(np.max(np.maximum(np.abs(low), np.abs(high)), initial=0.0)) * (1 + gamma(4))


def hoeffding(low: np.ndarray, high: np.ndarray) -> float:
    """Bound the divergence of distributions by Hoeffding's lemma: the squared range of the log-ratios over eight."""
    reach = float(np.max(high, initial=-math.inf) - np.min(low, initial=math.inf))
    return reach * reach / 8 * (1 + gamma(8)) if np.size(low) and math.isfinite(reach) else math.inf
