r"""What a linear discriminant claims: its rule is best for its scatter matrices, and no direction was missed.

With :math:`\delta_k = m_k - \bar m` and a rule :math:`w_k`, the residuals :math:`\rho_k = \delta_k - W w_k` give exactly

.. math:: \max_u \sum_k p_k (2 u_k^\top \delta_k - u_k^\top W u_k) = \operatorname{tr}(W^{-1}B)
    = \sum_k p_k (2 w_k^\top \delta_k - w_k^\top W w_k) + \sum_k p_k \rho_k^\top W^{-1} \rho_k ,

and the last term is at most :math:`\sum_k p_k \|D^{-1}\rho_k\|^2 / \lambda_{\min}(D^{-1}WD^{-1})` for any positive diagonal D
(theory: ``rayleigh-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import gamma
from surefit.core.claims import Claim
from surefit.solvers.discriminant_axes import Axes, Within

#: Wanted accuracy of the criterion, relative.
WANTED = 1e-6


class Evidence(NamedTuple):
    """A fitted rule and the matrices it is about."""

    within: Within
    lowest: float  # least eigenvalue of the scaled W; of what was kept, if ``kept`` is less than all
    kept: int  # dimensions in which W was inverted
    priors: np.ndarray  # (k,) weights of the criterion
    targets: np.ndarray  # (k, d) delta
    rule: np.ndarray  # (k, d) w
    between: np.ndarray | None  # (d, d), or None: the matrix of ``targets`` and ``priors``
    axes: Axes | None  # those that ``transform`` uses
    following: float | None  # the next smaller eigenvalue
    rounding: float  # relative error of sums of products
    means: np.ndarray  # (k, d) of the classes: far from the origin they have few digits


def rounding_of(n: int, d: int) -> float:
    """Return a bound on the relative rounding of scatter matrices of n rows."""
    return gamma(min(n, 4096) + n // 4096 + d + 24)


def criterion(e: Evidence) -> float:
    r"""Return :math:`\sum_k p_k (2 w_k^\top \delta_k - w_k^\top W w_k)`, the value of the rule."""
    images = e.within.times(e.rule.T)
    return float(e.priors @ (2 * np.sum(e.rule * e.targets, axis=1) - np.sum(e.rule.T * images, axis=0)))


def claims(e: Evidence) -> list[Claim]:
    """Return the claims about rule and directions, the most important first."""
    everything = e.kept == e.rule.shape[1]
    found = [_gap(e) if everything else _restricted_gap(e)]
    if e.axes is not None and e.axes.vectors.shape[1] and everything:
        found.append(_directions(e, e.axes))
        found += _complete(e, e.axes)
    if not everything:
        found.append(
            Claim(
                "discriminant.discarded",
                "no_claim",
                f"Within classes the rows vary in {e.kept} of {e.rule.shape[1]} dimensions. Nothing is claimed about directions in "
                "the others, where the criterion has no maximum.",
            )
        )
    return found


def _gap(e: Evidence) -> Claim:
    scale = e.within.scale
    residual = (e.targets.T - e.within.times(e.rule.T)) / scale[:, None]
    size = np.linalg.norm(e.targets / scale, axis=1) + len(scale) * np.linalg.norm(e.rule * scale, axis=1)
    lengths = np.linalg.norm(residual, axis=0) + e.rounding * size
    gap = float(e.priors @ lengths**2) / e.lowest if e.lowest > 0 else math.inf
    value = criterion(e)
    return Claim(
        "discriminant.gap",
        "optimality",
        f"The rule attains {value:.6g} of Fisher's criterion, within {gap:.3g} of the largest possible value.",
        value=gap,
        limit=WANTED * max(value, 0.0) + np.finfo(float).tiny,
        numbers={"criterion": value},
    )


def _restricted_gap(e: Evidence) -> Claim:
    V = e.axes.vectors if e.axes is not None else np.zeros((e.rule.shape[1], 0))
    inner = V.T @ e.within.times(V)
    residual = V.T @ (e.targets.T - e.within.times(e.rule.T))
    size = np.linalg.norm(e.targets @ V, axis=1) + np.linalg.norm(V.T @ e.rule.T, axis=0)
    lowest = 1.0 - float(np.linalg.norm(inner - np.eye(len(inner))))
    lengths = np.linalg.norm(residual, axis=0) + e.rounding * size
    gap = float(e.priors @ lengths**2) / lowest if lowest > 0 else math.inf
    value = criterion(e)
    return Claim(
        "discriminant.restricted_gap",
        "optimality",
        f"Among rules in the span of scalings_, this one attains {value:.6g} of Fisher's criterion, within {gap:.3g} of the "
        "largest possible value.",
        value=gap,
        limit=WANTED * max(value, 0.0) + np.finfo(float).tiny,
        numbers={"criterion": value},
    )


def _between_times(e: Evidence, V: np.ndarray) -> np.ndarray:
    return e.between @ V if e.between is not None else (e.targets.T * e.priors) @ (e.targets @ V)


def _directions(e: Evidence, axes: Axes) -> Claim:
    V, scale = axes.vectors, e.within.scale
    inside, outside = e.within.times(V), _between_times(e, V)
    norms = np.sum(V * inside, axis=0)
    values = np.sum(V * outside, axis=0) / norms
    residual = np.linalg.norm((outside - inside * values) / scale[:, None], axis=0)
    size = (abs(values) + float(np.max(axes.values))) * len(scale) * np.linalg.norm(V * scale[:, None], axis=0)
    worst = float(np.max((residual + e.rounding * size) / np.sqrt(norms)))
    distance = worst / math.sqrt(e.lowest) if e.lowest > 0 else math.inf
    return Claim(
        "discriminant.directions",
        "optimality",
        f"Each of the {V.shape[1]} ratios of scatter between to scatter within classes is within {distance:.3g} of an eigenvalue.",
        value=distance,
        limit=WANTED * float(np.max(np.abs(values))) + np.finfo(float).tiny,
        numbers={"ratios": [float(v) for v in values]},
    )


def _complete(e: Evidence, axes: Axes) -> list[Claim]:
    last, following = float(axes.values[-1]), e.following
    if following is None or last - following <= 1e-6 * abs(float(axes.values[0])):
        return []
    threshold = (last + following) / 2
    if (last - following) / 2 * e.lowest <= _rounding_of_pencil(e, threshold):
        return []
    return [
        Claim(
            "discriminant.complete",
            "optimality",
            f"Exactly {len(axes.values)} eigenvalues exceed {threshold:.6g}: no better direction was missed.",
            value=0.0,
            limit=0.0,
            numbers={"threshold": threshold, "count": len(axes.values)},
        )
    ]


def _rounding_of_pencil(e: Evidence, threshold: float) -> float:
    """Return how far rounding of means and products may move an eigenvalue of ``B - threshold W``, in scaled columns."""
    scale, d = e.within.scale, e.means.shape[1]
    location = gamma(len(e.means) + 16) * float(np.linalg.norm(np.max(np.abs(e.means), axis=0) / scale))
    size = float(np.max(np.linalg.norm(e.targets / scale, axis=1), initial=0.0))
    return 8 * location * (size + location) + e.rounding * d * (size**2 + abs(threshold))


def moments_claim() -> Claim:
    """Return the claim that means, priors and offsets are those of the rows."""
    return Claim(
        "discriminant.moments",
        "data_fact",
        "Class means, priors and offsets are those of the rows, to 1e-8 (means in standard deviations).",
        value=1e-8,
        limit=1e-8,
    )
