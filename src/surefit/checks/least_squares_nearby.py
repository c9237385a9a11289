r"""Checks least squares on data too large to factor: how much better coefficients that are not far away can be.

The objective :math:`P` is convex, so a step :math:`u` from the certified coefficients lowers it by at most
:math:`2 g^\top u \le 2 \|D^{-1} g\| \|D u\|`, half the slope being :math:`-g = -\tilde X^\top S r` and :math:`D` the lengths of the
columns of :math:`\sqrt S \tilde X`. No factor is needed, and nothing is said of steps longer than the stated reach (theory:
``least-squares-gap``).
"""

import math

import numpy as np
from scipy import sparse

from surefit.checks import enclosure
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import Enclosed, gamma, upper_sum
from surefit.checks.least_squares import slopes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("least_squares.nearby")
def check_nearby(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No coefficients within reach have an objective more than value smaller."""
    X, problem, reach = data.X, certificate.problem, claim.numbers["reach"]
    s = np.ones(X.shape[0]) if data.weights is None else data.weights
    Y, W = data.target.reshape(X.shape[0], -1), np.atleast_2d(certificate.model["coef_"])
    b = np.broadcast_to(np.ravel(certificate.model["intercept_"]), len(W))
    if any(problem["alpha"]) or problem["positive"] or not sparse.issparse(X):
        return Finding(claim.name, claim.value, math.inf, False, "enclosed", "the claim is about sparse least squares.")
    lengths = np.sqrt(np.asarray(X.multiply(X).T @ s).ravel()) * (1 - gamma(X.shape[0] + 8))
    if problem["fit_intercept"]:
        lengths = np.append(lengths, math.sqrt(math.fsum(s)) * (1 - gamma(8)))
    seen = lengths > 0  # an empty column has no slope
    middle = proved = 0.0
    for y, w, offset in zip(Y.T, W, b, strict=True):
        fitted = enclosure.times(X, w)
        rad = fitted.rad + gamma(4) * (np.abs(y) + np.abs(fitted.mid) + abs(offset))
        g = slopes(problem, data, Enclosed((y - fitted.mid) - offset, rad), w, float(offset), s, 0.0, True)
        factor = 2 * reach * math.sqrt(upper_sum(s * y * y)) * (1 + gamma(16))
        middle += factor * float(np.linalg.norm(g.mid[seen] / lengths[seen]))
        proved += factor * math.sqrt(upper_sum((g.magnitude[seen] / lengths[seen]) ** 2)) * (1 + gamma(16))
    ok = bool(middle - claim.value <= proved - middle)
    return Finding(claim.name, claim.value, proved if ok else middle, ok, "enclosed", "slopes recomputed.")
