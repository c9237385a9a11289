r"""Checks of discriminants whose within-class scatter is singular.

Let V span the retained directions, :math:`M = V^\top W V`, :math:`a_k = V^\top \delta_k`. For any coordinates
:math:`c_k` the best rule in the span attains at most :math:`\sum_k p_k (2 c_k^\top a_k - c_k^\top M c_k + \|a_k - M
c_k\|^2 / \lambda_{\min}(M))`; a rule :math:`w_k = V c_k + e_k` attains :math:`2 e_k^\top (\delta_k - W V c_k) -
e_k^\top W e_k` more than the first two terms.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.discriminants.class_sums import members_of
from surefit.checks.discriminants.linear import WANTED, bound
from surefit.checks.discriminants.pencil import targets_of
from surefit.checks.discriminants.scatter import blocks, class_scatter, over_classes
from surefit.checks.eigen import rows_at_once, weights_of
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import Part, count_parts
from surefit.core.sample import Data


@bound("discriminant.restricted_gap", kind="stationarity",
       says="Among rules in the span of scalings_, none exceeds the Fisher criterion of this one by more than {value:.3g}.")  # fmt: skip
def restricted_gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the gap within the span of the directions, from the rows."""
    found, V = class_scatter(certificate, data, False), certificate.model["scalings_"]
    priors, targets, rule = targets_of(certificate, found)
    d, q = V.shape
    if d != data.X.shape[1] or not np.all(np.isfinite(V)) or q == 0:
        return refused("scalings_ has no directions, or not of these rows")
    c = np.linalg.lstsq(V, rule.T)[0]
    rest = rule.T - V @ c
    span, classes, n, size = Span(V, rule, c, rest), certificate.problem["classes"], data.X.shape[0], rows_at_once(d)
    known = (found.means, found.mean_radii, float(found.totals.sum()))
    inner, images, off, sizes = over_classes(data, classes, _products, span, *known)
    # All products involve rows, V and the rule: their rounding is relative to the sizes of the terms.
    blocks_added = n // size + len(classes) * count_parts(data.X)
    share = gamma(d + min(size, n) + blocks_added + 16)
    inner_rad, image_rad = share * sizes[0], share * math.sqrt(sizes[0] * sizes[1])
    lowest = 1.0 - float(np.linalg.norm(inner - np.eye(q))) - inner_rad
    if lowest <= 4 * inner_rad:
        return refused("the directions in scalings_ do not have unit scatter within classes")
    mean_rad = 2 * float(np.max(np.linalg.norm(found.mean_radii @ np.abs(V), axis=1)))
    lengths = np.linalg.norm(V.T @ targets.T - images, axis=0)
    radii = image_rad + mean_rad + gamma(d + 8) * np.linalg.norm(np.abs(V).T @ np.abs(targets.T), axis=0)
    lost = np.abs(2 * np.sum(rest * targets.T, axis=0) - off)
    reach = gamma(d + 16) * np.sum(np.abs(rest * targets.T), axis=0) + share * sizes[1] * float(np.any(rest))
    value = float(priors @ ((lengths + radii) ** 2 / lowest + lost + reach)) * (1 + 64 * UNIT)
    worse = float(priors @ ((lengths + 3 * radii) ** 2 / (lowest - 2 * inner_rad) + lost + 3 * reach)) * (
        1 + 256 * UNIT
    )
    criterion = float(priors @ np.sum((V.T @ targets.T) * c, axis=0))
    limit = WANTED * max(criterion, 0.0) + np.finfo(float).tiny
    terms = float(priors @ np.sum((np.abs(V).T @ np.abs(targets.T)) * np.abs(c), axis=0))
    bounded: dict[str, Any] = {"limit": limit, "limit_spread": WANTED * gamma(2 * d + 16) * terms + 8 * UNIT * limit}
    return Proof(value, "enclosed", "residuals in the span recomputed.", spread=worse - value, **bounded)


class Span(NamedTuple):
    """Directions, the rule, its coordinates in their span, and its residual."""

    V: np.ndarray
    rule: np.ndarray
    c: np.ndarray
    rest: np.ndarray


def _products(
    part: Part, codes: np.ndarray, span: Span, means: np.ndarray, radii: np.ndarray, total: float
) -> tuple[np.ndarray, ...]:
    """Return products of the centered rows along the directions and the rule, and the sizes of their terms."""
    (V, rule, c, rest), s = span, weights_of(part)
    q = V.shape[1]
    inner, images, off, sizes = np.zeros((q, q)), np.zeros((q, len(rule))), np.zeros(len(rule)), np.zeros(2)
    for mean, radius, rows in zip(means, radii, members_of(part, codes, len(means)), strict=True):
        for block, piece in blocks(part.X, rows):
            centered = np.sqrt(s[piece] / total)[:, None] * (block - mean)
            seen, beyond = centered @ V, centered @ rest
            inner += seen.T @ seen
            images += seen.T @ (centered @ rule.T)
            off += np.sum(beyond * (2 * (seen @ c) + beyond), axis=0)
            known = np.abs(centered) + np.sqrt(s[piece] / total)[:, None] * radius
            sizes += [float(np.sum((known @ np.abs(V)) ** 2)), float(np.sum((known @ np.abs(rule.T)) ** 2))]
    return inner, images, off, sizes
