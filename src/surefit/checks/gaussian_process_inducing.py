"""Checks the bounds on the evidence that come with inducing elements, by eigenvalues instead of factors."""

import math

import numpy as np
from scipy import linalg

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT
from surefit.checks.kernel_values import kernel_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.kernels import Kernel, Noise, Sum

ROWS = 1024


def _noise_in(kernel: Kernel) -> float:
    if isinstance(kernel, Sum):
        return _noise_in(kernel.left) + _noise_in(kernel.right)
    return float(kernel.variance) if isinstance(kernel, Noise) else 0.0


@checker("gaussian_process.variational_gap")
def check_variational_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The exact log evidence lies between two bounds that are at most ``value`` apart."""
    kernel, X = kernel_of(certificate), data.X
    y = (np.asarray(data.target, dtype=np.float64) - certificate.model["y_mean_"]) / certificate.model["y_scale_"]
    Z = X[certificate.model["inducing_"]]
    own = _noise_in(kernel)
    s = float(certificate.problem["noise"]) + own
    inside = kernel(Z, Z)
    inside = (inside + inside.T) / 2
    inside.flat[:: len(inside) + 1] += certificate.problem["jitter"] * float(np.mean(np.diag(inside)))
    values, vectors = linalg.eigh(inside)
    if not kernel.positive_semidefinite or values[0] <= 0:
        return Finding(claim.name, claim.value, math.inf, False, "recomputed", "the kernel is not positive definite.")
    half = vectors / np.sqrt(values)
    G, pull, explained = np.zeros_like(inside), np.zeros(len(inside)), 0.0
    for start in range(0, len(y), ROWS):
        W = kernel(X[start : start + ROWS], Z) @ half
        G += W.T @ W
        pull += W.T @ y[start : start + ROWS]
        explained += float(np.sum(W**2))
    left = max(math.fsum(kernel.diag(X)) - len(y) * own - explained, 0.0)
    spectrum, axes = linalg.eigh(G)
    spectrum, along = np.maximum(spectrum, 0.0), axes.T @ pull
    base = -0.5 * len(y) * math.log(2 * math.pi * s) - 0.5 * float(np.sum(np.log1p(spectrum / s)))
    lower = base - 0.5 * (float(y @ y) - float(np.sum(along**2 / (spectrum + s)))) / s - 0.5 * left / s
    wide = s + left
    upper = base - 0.5 * (float(y @ y) - float(np.sum(along**2 / (spectrum + wide)))) / wide
    found = max(upper, claim.numbers["upper"]) - min(lower, claim.numbers["lower"])
    sums = math.fsum(kernel.diag(X)) + float(y @ y)
    rounding = UNIT * math.sqrt(values[-1] / values[0]) * sums / s  # what this route itself may lose
    message = f"between {lower:.8g} and {upper:.8g}, up to rounding of {rounding:.1g}."
    return Finding(claim.name, claim.value, found, found <= claim.value + rounding, "recomputed", message)
