r"""Checks of kernel densities at some of the rows, by sums over all rows with enclosed distances.

A kernel decreases with the distance, so its values at both ends of an enclosed distance enclose its value. The sums of
the lower and of the upper values enclose the density (theory: ``kernel-density``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, special

from surefit.checks.balls import LIBM
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, gamma, upper_sum
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.neighbors.distances import distances
from surefit.checks.neighbors.rules import sampled
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

SHAPES: dict[str, Callable[[Any], Any]] = {
    "gaussian": lambda u: np.exp(-0.5 * (u * u)),
    "exponential": lambda u: np.exp(-u),
    "tophat": lambda u: np.where(u < 1, 1.0, 0.0),
    "epanechnikov": lambda u: np.where(u < 1, 1.0 - np.minimum(u, 1.0) ** 2, 0.0),
    "linear": lambda u: np.where(u < 1, 1.0 - np.minimum(u, 1.0), 0.0),
    "cosine": lambda u: np.where(u < 1, np.cos(0.5 * np.pi * np.minimum(u, 1.0)), 0.0),
}
CACHED = 1 << 15  # number of distances per block, so that a block fits in the cache
CONSTANT = 1e-11  # largest relative error of a kernel's integral that SciPy's quadrature may report


@claim("kernel_density.values", kind="data_fact", side="upper", infinite=True, theory="kernel-density",
       says="At {rows} training rows the log density is the sum over all rows, up to {value:.2g}.")  # fmt: skip
def values(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the errors of the recorded log densities are at most ``value``."""
    s = weights_of(data)
    present, d, problem = np.flatnonzero(s > 0), data.X.shape[1], certificate.problem
    places = sampled(len(present), d)
    stored = np.asarray(claim.witness["log_density"], dtype=np.float64)
    if stored.shape != places.shape or not np.all(np.isfinite(stored)):
        return refused(f"the log density of each of {len(places)} rows must be recorded")
    if float(certificate.model["bandwidth_"]) != problem["bandwidth"]:
        return refused("bandwidth_ is not the one that the parameters require")
    found = distances(problem, data.X, present[places], present, certificate.subject)
    if found is None:
        return refused("the distance is a function, which a certificate does not carry; pass the model to verify")
    h, w = problem["bandwidth"], s[present]
    shape, constant = (
        SHAPES[problem["shape"]],
        _log_integral(problem["shape"], d) + d * math.log(h) + math.log(upper_sum(w)),
    )
    most, least = np.empty(len(places)), np.empty(len(places))
    step = max(1, CACHED // len(w))
    for part in (slice(start, start + step) for start in range(0, len(places), step)):
        mid, rad = found.mid[part], found.rad[part]
        most[part] = shape(np.maximum(mid - rad, 0.0) * ((1 - 8 * UNIT) / h)) @ w
        least[part] = shape((mid + rad) * ((1 + 8 * UNIT) / h)) @ w
    libm = 16 * LIBM + 16 * UNIT * len(SHAPES)
    if not np.all(least > 0):
        return Proof(math.inf, note="a density is not certain to be positive.", numbers={"rows": len(places)})
    top, bottom = np.log(most) + libm - constant, np.log(least) - libm - constant
    rounding = (
        gamma(64) * (np.abs(top) + abs(constant) + d) + CONSTANT + 2 * gamma(len(w))
    )  # the terms of the sums are nonnegative
    off = float(np.max(np.maximum(np.abs(stored - top), np.abs(stored - bottom)) + rounding))
    spread = float(np.max(top - bottom + 2 * rounding))
    note = f"sums over all {len(present)} rows at {len(places)} of them."
    return Proof(off, note=note, numbers={"rows": len(places)}, spread=spread)


def _log_integral(shape: str, d: int) -> float:
    """Return the logarithm of the integral of a kernel of unit width over d-dimensional space, in polar coordinates."""
    surface = math.log(2.0) + 0.5 * d * math.log(math.pi) - float(special.gammaln(0.5 * d))
    if shape in ("gaussian", "exponential"):
        power = (
            (0.5 * d - 1) * math.log(2) + float(special.gammaln(0.5 * d))
            if shape == "gaussian"
            else float(special.gammaln(d))
        )
        return surface + power
    # Substituting v = u^d gives a bounded integrand.
    found, error = integrate.quad(
        lambda v: float(SHAPES[shape](np.asarray(v ** (1 / d)))) / d, 0.0, 1.0, epsabs=0.0, epsrel=1e-12
    )
    if error > CONSTANT * found:
        raise ValueError("the integral of the kernel is not certain")
    return surface + math.log(found)
