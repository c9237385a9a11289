r"""Checks of nearest centroids: means or medians, deviations and shrunken centroids, with bounds on rounding.

Medians and soft thresholds are 1-Lipschitz, so they do not amplify errors of means and deviations (theory:
``nearest-centroid``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.eigen import dense
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.checks.labels import label_codes
from surefit.core.centering import column_means
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


@claim("nearest_centroid.centroids", kind="data_fact", side="upper", infinite=True, theory="nearest-centroid",
       says="No entry of a centroid is off by more than {value:.2g} of the largest entry of its column, no standard deviation within "
       "classes by more than {deviation:.2g} of it, and no class probability by more than {prior:.2g}.")  # fmt: skip
def centroids(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that centroids, deviations and priors are accurate up to the stated values."""
    codes, K = label_codes(certificate, data)
    X, problem, model = dense(data.X), certificate.problem, certificate.model
    own, own_std, prior = (np.asarray(model[name]) for name in ("centroids_", "within_class_std_dev_", "class_prior_"))
    if own.shape != (K, X.shape[1]) or own_std.shape != X.shape[1:] or prior.shape != (K,):
        return refused("the centroids do not have one row per class and one entry per column")
    n, counts = len(X), np.bincount(codes, minlength=K)
    center = _medians if problem["metric"] == "manhattan" else _means
    parts = [X[codes == k] for k in range(K)]
    found = [center(part) for part in parts]
    c = Enclosed(np.array([one.mid for one in found]), np.array([one.rad for one in found]))
    squares = np.sum([_squares(part - one.mid) for part, one in zip(parts, found, strict=True)], axis=0)
    std = np.sqrt(squares / max(n - K, 1))
    moved = np.sqrt(counts @ c.rad**2 / max(n - K, 1))  # due to the errors of the centroids
    std_rad = (gamma(n + 16) * std + moved) * (1 + gamma(8))
    if problem["shrink_threshold"] is not None:
        c = _shrunken(c, _means(X), Enclosed(std, std_rad), np.sqrt(1 / counts - 1 / n), problem["shrink_threshold"])
    size = _largest(X)
    size = np.where(size > 0, size, 1.0)
    wanted = counts / n if problem["priors"] == "empirical" else np.full(K, 1 / K)
    if not isinstance(problem["priors"], str):
        wanted = np.asarray(problem["priors"]) / math.fsum(problem["priors"])
    off, spread = np.max((np.abs(own - c.mid) + c.rad) / size), np.max(c.rad / size)
    apart = np.max((np.abs(own_std - std) + std_rad) / size)
    by = float(np.max(np.abs(prior - wanted))) + gamma(K + 8)
    numbers = {
        "deviation": AtMost(float(apart) * (1 + 8 * UNIT), 2 * float(np.max(std_rad / size))),
        "prior": AtMost(by, 2 * gamma(K + 8)),
    }
    value = float(off) * (1 + 8 * UNIT)
    if not math.isfinite(value + numbers["deviation"].value):
        return Proof(math.inf, note="sums overflow.", numbers={**numbers, "deviation": AtMost(math.inf)})
    return Proof(value, note="recomputed from the rows of each class.", numbers=numbers, spread=2 * float(spread))


def _means(X: np.ndarray) -> Enclosed:
    with np.errstate(over="ignore"):
        size = np.sqrt(_squares(X) / len(X)) * (1 + gamma(len(X) + 8))  # at least the mean absolute value
        return Enclosed(column_means(X), gamma(len(X) + 4) * size)


def _squares(X: np.ndarray) -> np.ndarray:
    """Return the sums of squares of the columns."""
    return np.einsum("ij,ij->j", X, X)


def _largest(X: np.ndarray) -> np.ndarray:
    """Return the largest absolute value of each column; 64 rows at a time are reduced together, for speed."""
    (n, d), wide = X.shape, 64
    lines = np.abs(X[: n - n % wide]).reshape(-1, wide * d)
    rest = np.abs(X[n - n % wide :])
    most = np.max(lines, axis=0, initial=0.0).reshape(wide, d)
    return np.max(np.concatenate([most, rest]), axis=0)


def _medians(X: np.ndarray) -> Enclosed:
    """Return the middle entries, or the means of the two middle ones, which are rounded once."""
    X, half = np.sort(X, axis=0), len(X) // 2
    mid = X[half] if len(X) % 2 else 0.5 * (X[half - 1] + X[half])
    return Enclosed(mid, 2 * UNIT * np.abs(mid))


def _shrunken(c: Enclosed, mean: Enclosed, std: Enclosed, shares: np.ndarray, threshold: float) -> Enclosed:
    scale, scale_rad = std.mid + np.median(std.mid), std.rad + np.max(std.rad)
    cut, cut_rad = threshold * shares[:, None] * scale, threshold * shares[:, None] * scale_rad
    away = c.mid - mean.mid
    soft = np.sign(away) * np.maximum(np.abs(away) - cut, 0.0)
    mid = mean.mid + soft
    rad = c.rad + 2 * mean.rad + cut_rad + gamma(16) * (np.abs(c.mid) + np.abs(mean.mid) + cut)
    return Enclosed(mid, rad * (1 + gamma(8)))
