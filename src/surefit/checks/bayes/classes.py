"""Checks of fitted class-conditional distributions: parameters are compared with the moments of each class."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim, no_claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

no_claim("map.given",
         "The distributions were given; nothing was fitted, and nothing is claimed about whether they are the true ones.")  # fmt: skip


class Deviation:
    """Largest deviation so far, including rounding, and the rounding in it."""

    def __init__(self) -> None:
        self.value, self.rounding = 0.0, 0.0

    def add(self, stored: np.ndarray, found: np.ndarray, radius: np.ndarray, scale: Any) -> None:
        """Compare stored numbers with those found up to ``radius``, relative to ``scale`` (zero: must be equal)."""
        off = np.abs(stored - found)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(off + radius == 0, 0.0, (off + radius) / scale)
            rounding = np.where(np.isfinite(parts), (radius + gamma(8) * off) / np.where(parts > 0, scale, 1.0), 0.0)
        largest = float(np.max(parts, initial=0.0)) * (1 + gamma(8))
        self.value = max(self.value, math.inf if math.isnan(largest) else largest)
        self.rounding = max(self.rounding, float(np.max(rounding, initial=0.0)))


@claim("map.likelihood", kind="optimality", side="upper", infinite=True, theory="mle-map",
       says="Priors and parameters solve the likelihood equations of their family up to {value:.2g} (of standard deviations and "
       "variances).")  # fmt: skip
def likelihood(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no parameter deviates from the likelihood equations by more than ``value``, in its own units."""
    problem, model = certificate.problem, certificate.model
    X, weights, y = dense(data.X), weights_of(data), data.target
    classes = model["classes_"]
    classes = classes.astype(np.float64) if classes.dtype.kind in "biuf" else classes
    present, codes = np.unique(y[weights > 0], return_inverse=True)
    if classes.shape != present.shape or not np.all(classes == present):
        return refused("classes_ are not the labels of the rows, sorted")
    X, weights, k, d = X[weights > 0], weights[weights > 0], len(classes), X.shape[1]
    shapes = {"diagonal": (k, d), "full": (k, d, d), "common": (1, d, d), "bernoulli": (0,)}
    wanted = {"means_": (k, d), "spreads_": shapes[problem["family"]], "class_prior_": (k,)}
    if any(model[name].shape != shape for name, shape in wanted.items()):
        return refused("means_, spreads_ or class_prior_ do not have the shapes of their family")
    mass = np.array([math.fsum(weights[codes == c]) for c in range(k)])
    found = Deviation()
    if problem["priors"] is None:
        shares = mass / math.fsum(weights)
        found.add(model["class_prior_"], shares, gamma(4) * shares, 1.0)
    elif not np.array_equal(model["class_prior_"], np.asarray(problem["priors"], dtype=np.float64)):
        return refused("class_prior_ are not the given priors")
    _compare(found, problem, model, X, codes, weights, mass)
    note = f"largest deviation {found.value:.2g}, moments recomputed."
    return Proof(found.value, note=note, spread=found.rounding)


def _compare(found: Deviation, problem: Any, model: Any, X: Any, codes: Any, weights: Any, mass: Any) -> None:
    family, n = problem["family"], len(X)
    smoothing = float(problem["var_smoothing"])
    floor, floor_radius = (smoothing, 0.0) if family == "bernoulli" else _floor(X, weights, smoothing)
    pooled, pooled_radius = 0.0, 0.0
    for c in range(len(mass)):
        w, x = weights[codes == c], X[codes == c]
        mean = np.array([math.fsum(w * column) for column in x.T]) / mass[c]
        radius = gamma(8) * (w @ np.abs(x)) / mass[c] * (1 + gamma(n + 8))
        if family == "bernoulli":
            share = (mean * mass[c] + floor) / (mass[c] + 2 * floor) if mass[c] + 2 * floor > 0 else mean
            found.add(model["means_"][c], share, radius + gamma(8) * share, 1.0)
            continue
        spread = model["spreads_"][0 if family == "common" else c]
        deviation = np.sqrt(spread if family == "diagonal" else np.diag(spread))
        found.add(model["means_"][c], mean, radius, deviation)
        about = x - mean
        if family == "diagonal":
            variance = (w @ about**2) / mass[c] + floor
            rounding = gamma(n + 16) * variance + radius**2 + floor_radius
            found.add(spread, variance, rounding, deviation**2)
            continue
        scatter = (w[:, None] * about).T @ about
        size = (w[:, None] * np.abs(about)).T @ np.abs(about)
        rounding = gamma(n + 16) * size + mass[c] * np.outer(radius, radius)
        if family == "common":
            pooled, pooled_radius = pooled + scatter, pooled_radius + rounding
        else:
            _compare_matrix(found, spread, scatter / mass[c], rounding / mass[c], floor, floor_radius)
    if family == "common":
        total = math.fsum(mass)
        _compare_matrix(found, model["spreads_"][0], pooled / total, pooled_radius / total, floor, floor_radius)


def _compare_matrix(found: Deviation, spread: Any, matrix: Any, radius: Any, floor: float, floor_radius: float) -> None:
    matrix = matrix + floor * np.eye(len(matrix))
    deviation = np.sqrt(np.diag(spread))
    found.add(spread, matrix, radius + gamma(8) * np.abs(matrix) + floor_radius, np.outer(deviation, deviation))


def _floor(X: np.ndarray, weights: np.ndarray, smoothing: float) -> tuple[float, float]:
    """Return ``smoothing`` times the largest column variance, and its radius."""
    total = math.fsum(weights)
    mean = (weights @ X) / total
    variance = (weights @ (X - mean) ** 2) / total
    radius = gamma(len(X) + 16) * variance + (gamma(len(X) + 8) * (weights @ np.abs(X)) / total) ** 2
    return smoothing * float(np.max(variance)), smoothing * float(np.max(radius)) * 2
