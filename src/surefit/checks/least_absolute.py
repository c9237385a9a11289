r"""Checks least absolute deviations by its dual linear programme.

.. math::

    P(w, b) = \sum_i s_i |y_i - x_i^\top w - b| \;\ge\; \nu^\top y
    \quad\text{for all } |\nu_i| \le s_i,\ X^\top \nu = 0,\ \sum_i \nu_i = 0 .

A stored :math:`\nu` meets the equations up to rounding only. The checker removes from it what the columns explain, shrinks it into
the box again, and reports the level ``recomputed``: an equality cannot be met exactly in floats (theory: ``least-absolute-gap``).
"""

import math

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, block_sum, times
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ROUNDING = 1e-11  # of the size of the terms: what the equality constraints may be off by


@checker("least_absolute.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of absolute residuals exceeds its minimum by at most value."""
    X, y = data.X, data.target
    w, b = certificate.model["coef_"], float(certificate.model["intercept_"])
    s = np.ones(len(y)) if data.weights is None else data.weights
    nu = np.asarray(claim.witness["dual"], dtype=np.float64)
    if nu.shape != y.shape or not np.all(np.isfinite(nu)):
        raise CertificateError("least_absolute.gap: the dual point must have one finite number a row.", claim.name)
    fitted = times(X, w)
    objective = block_sum(s * np.abs(y - fitted.mid - b)) + 4 * UNIT * block_sum(s * (np.abs(y) + fitted.rad + abs(b)))
    Z = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if certificate.problem["fit_intercept"]:
        Z = np.column_stack([Z - (s @ Z) / math.fsum(s), np.ones(len(y))])
    nu = _inside(nu, s)
    norms = np.sqrt((Z**2).sum(axis=0))
    Z = Z / np.where(norms > 0, norms, 1.0)
    size = float(np.linalg.norm(s)) + 1e-300
    for _ in range(2):
        nu = nu - Z @ np.linalg.lstsq(Z, nu, rcond=None)[0]
    excess = float(np.max(np.divide(np.abs(nu), s, out=np.zeros(len(s)), where=s > 0), initial=1.0))
    outside = float(np.max(np.abs(nu[s == 0]), initial=0.0))
    off = float(np.max(np.abs(Z.T @ nu), initial=0.0))
    if off > ROUNDING * size or outside > ROUNDING * size:
        raise CertificateError("least_absolute.gap: the dual point is not orthogonal to the columns.", claim.name)
    centre = np.average(y, weights=s) if certificate.problem["fit_intercept"] else 0.0
    bound = block_sum(nu * (y - centre)) / max(excess, 1.0)
    gap = max(objective - bound, 0.0)
    ok = gap <= claim.value + ROUNDING * (objective + size * float(np.linalg.norm(y - centre)))
    return Finding(
        claim.name, claim.value, gap, ok, "recomputed", f"a dual point proves that the minimum is {bound:.6g} at least."
    )


def _inside(nu: np.ndarray, s: np.ndarray) -> np.ndarray:
    return np.clip(nu, -s, s)
