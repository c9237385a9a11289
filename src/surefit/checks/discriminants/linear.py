r"""Checks of linear discriminants from the rows: the rule, the directions and their number.

For symmetric positive :math:`W`, rule :math:`w_k` and targets :math:`\delta_k`, the value of the rule is below that of
the best one by exactly :math:`\sum_k p_k \rho_k^\top W^{-1} \rho_k`, :math:`\rho_k = \delta_k - W w_k`. An eigenvalue
of the pair (B, W) is within :math:`\|Bv - \lambda Wv\|_{W^{-1}} / \|v\|_W` of :math:`\lambda`. As many eigenvalues
exceed :math:`\sigma` as :math:`B - \sigma W` has positive eigenvalues (Sylvester). All columns are scaled by powers of
two (theory: ``rayleigh-gap``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from surefit.checks.discriminants.pencil import Pencil, pencil, targets_of
from surefit.checks.discriminants.scatter import class_scatter
from surefit.checks.eigen import spectrum
from surefit.checks.enclosure import UNIT, frobenius, gamma, row_lengths
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, no_claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import names_of

#: Required relative accuracy of the criterion.
WANTED = 1e-6

bound = partial(claim, kind="optimality", side="upper", theory="rayleigh-gap", partitioned=True)

no_claim("discriminant.discarded",
        "The rows of each class do not vary in all directions. Nothing is claimed about the other directions, "
        "where Fisher's criterion has no unique maximum.")  # fmt: skip


def _gap_sentence(stated: Claim) -> str:
    if not math.isfinite(stated.value):
        return "The smallest within-class scatter is lost in rounding, so that no gap can be proved; scale the columns, or use shrinkage."
    return (
        f"The rule attains {stated.numbers['criterion']:.6g} of Fisher's criterion, within {stated.value:.3g} of the largest "
        "possible value."
    )


@bound("discriminant.gap", infinite=True, says=_gap_sentence)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the difference between the largest value of Fisher's criterion and that of the rule."""
    p = pencil(certificate, data)
    d, image = len(p.W), p.rule @ p.W
    lengths, sizes = row_lengths(p.targets - image), row_lengths(p.rule)
    radii = p.target_radii + (p.W_radius + gamma(d + 4) * frobenius(p.W)) * sizes
    criterion, rounding = _criterion(p, image, radii, sizes)
    own = {"criterion": AtLeast(criterion - rounding, rounding)}
    limit = WANTED * max(criterion, 0.0) + np.finfo(float).tiny
    bounded: dict[str, Any] = {"limit": float(limit), "limit_spread": WANTED * rounding + 8 * UNIT * limit}
    if p.lowest <= 0:
        return Proof(
            math.inf, p.level, "the within-class covariance is not provably positive definite.", own, **bounded
        )
    value = float(p.priors @ (lengths + radii) ** 2) / p.lowest * (1 + gamma(d + 16))
    worse = float(p.priors @ (lengths + 3 * radii) ** 2) / (p.lowest - p.lowest_spread) * (1 + gamma(4 * d + 64))
    return Proof(value, p.level, "residuals of the rule recomputed.", own, spread=worse - value, **bounded)


def _criterion(p: Pencil, image: np.ndarray, radii: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    r"""Return :math:`\sum_k p_k (2 w_k^\top \delta_k - w_k^\top W w_k)` and its rounding."""
    inner, square = p.rule * p.targets, (image * p.rule).sum(axis=1)
    value = float(p.priors @ (2 * inner.sum(axis=1) - square))
    size = float(p.priors @ (np.abs(inner).sum(axis=1) + np.abs(square) + sizes**2))
    return value, 4 * float(p.priors @ (sizes * radii)) + gamma(2 * len(p.W) + 16) * size


@bound("discriminant.directions", infinite=True,
       says="Each of the {count} ratios of scatter between to scatter within classes is within {value:.3g} of an eigenvalue; the "
       "directions have scatter 1 within classes, to within {unit:.3g}.")  # fmt: skip
def directions(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the distance of the ratio of scatters along each direction from an eigenvalue."""
    p = pencil(certificate, data)
    V = certificate.model["scalings_"][:, : certificate.problem["components"]] * p.scale[:, None]
    inside, outside, d = p.W @ V, p.B @ V, len(p.W)
    norms, lengths, within = (V * inside).sum(axis=0), row_lengths(V.T), frobenius(p.W)
    if V.shape[1] == 0 or not (norms > 0).all():
        return refused("scalings_ has a direction without scatter within classes")
    ratios = (V * outside).sum(axis=0) / norms
    residuals, sizes = row_lengths((outside - inside * ratios).T), np.abs(ratios)
    errors = p.B_radius + sizes * p.W_radius + gamma(d + 8) * (frobenius(p.B) + sizes * within)
    radii = errors * lengths
    off, known = np.abs(norms - 1.0), (p.W_radius + gamma(d + 8) * within) * lengths**2
    unit = AtMost(float((off + known).max()), float(known.max()))
    own, largest = {"count": int(V.shape[1]), "unit": unit}, float(sizes.max())
    limit = WANTED * largest + np.finfo(float).tiny
    rounding = WANTED * float((radii * lengths / norms).max()) + gamma(d + 16) * limit
    bounded: dict[str, Any] = {"limit": float(limit), "limit_spread": rounding}
    known = norms - known
    if p.lowest <= 0 or not (known > 0.5 * norms).all():
        return Proof(
            math.inf, p.level, "the within-class covariance is not provably positive definite.", own, **bounded
        )
    value = float(((residuals + radii) / np.sqrt(known)).max()) / math.sqrt(p.lowest) * (1 + gamma(d + 16))
    worse = float(((residuals + 3 * radii) / np.sqrt(2 * known - norms)).max())  # positive, as above
    worse = worse / math.sqrt(p.lowest - p.lowest_spread) * (1 + gamma(4 * d + 64))
    return Proof(value, p.level, "residuals of the directions recomputed.", own, spread=worse - value, **bounded)


@bound("discriminant.complete",
       says="{count} directions were found; at most {value:.0f} more eigenvalues exceed {threshold:.6g}.")  # fmt: skip
def complete(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the further eigenvalues that can exceed the threshold."""
    p, sigma = pencil(certificate, data), stated.numbers["threshold"]
    if not isinstance(sigma, float) or not math.isfinite(sigma):
        return refused("the threshold must be a number")
    radius = p.B_radius + abs(sigma) * p.W_radius
    radius += gamma(4) * (frobenius(p.B) + abs(sigma) * frobenius(p.W))
    whole = spectrum(p.B - sigma * p.W, radius)
    shown = min(certificate.problem["components"], certificate.model["scalings_"].shape[1])
    missed, at_worst = (
        max(0, int(np.count_nonzero(whole.values > -reach)) - shown) for reach in (whole.radius, 4 * whole.radius)
    )
    own = {"threshold": sigma, "count": int(shown)}
    note = f"{np.count_nonzero(whole.values > whole.radius)} eigenvalues are above the threshold."
    return Proof(float(missed), p.level, note, own, spread=(at_worst - missed) / 2)


@bound("discriminant.moments", kind="data_fact",
       says="Class means, priors and intercepts are those of the rows to within {value:.3g}: means relative to their size plus the "
       "standard deviation within classes, intercepts relative to the size of their terms.")  # fmt: skip
def moments(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Compare class means, priors and intercepts with those recomputed from the rows."""
    restricted = any(other.name == "discriminant.restricted_gap" for other in certificate.claims)
    found, model = class_scatter(certificate, data, not restricted), certificate.model
    classes = model["classes_"] if "classes_" in model else None
    if classes is not None and names_of(classes) != certificate.problem["classes"]:
        return refused("classes_ are not the sorted labels")
    away = np.abs(model["means_"] - found.means)
    # The scale is at most sqrt(2) times the deviation from the stored means, which exceeds that from the true ones by their distance.
    deviation = np.sqrt(np.maximum((0.7 * found.scale) ** 2 - away.max(axis=0) ** 2, 0.0))
    size = deviation + np.abs(found.means)
    if not (size > 0).all():
        return refused("a class mean is farther from that of the rows than their standard deviation")
    errors = [float((away / size).max())]
    rounding = float((found.mean_radii / size).max()) + 6 * UNIT
    priors = np.asarray(certificate.problem["priors"])
    if "priors_" in model:
        errors.append(float(np.abs(model["priors_"] - priors).max()))
    if not certificate.problem["given_priors"]:
        errors.append(float(np.abs(priors - found.totals / found.totals.sum()).max()))
    coef, intercept = model["coef_"], model["intercept_"]
    if len(coef) == 1:
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    for k in range(1, len(coef)):
        if priors[0] > 0 and priors[k] > 0:
            w = coef[k] - coef[0]
            products, odds = (w * (found.means[k] + found.means[0])).tolist(), math.log(priors[k] / priors[0])
            expected = -0.5 * math.fsum(products) + odds
            terms = 1.0 + math.fsum(map(abs, products)) + abs(odds)
            errors.append(abs(float(intercept[k] - intercept[0]) - expected) / terms)
            reach = math.fsum((np.abs(w) * (found.mean_radii[k] + found.mean_radii[0])).tolist()) / terms
            rounding = max(rounding, reach + 16 * UNIT)
    if not all(map(math.isfinite, errors)):
        return refused("means, priors or intercepts are not finite")
    rounding += gamma(len(found.totals) + 16)
    note = "means, priors and intercepts recomputed."
    return Proof(max(errors) + rounding, "enclosed", note, spread=rounding)


@bound("discriminant.plug_in", kind="estimate", side="digits", high=1.0,
       says="If the classes were Gaussian with these parameters, the error probability of the rule would be {value:.4g}.")  # fmt: skip
def plug_in(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Evaluate the error of the rule under its Gaussian model."""
    _, targets, rule = targets_of(certificate, class_scatter(certificate, data, True))
    distance = math.sqrt(max(math.fsum(rule[0] * targets[0]), 0.0))
    value = 0.5 * math.erfc(distance / math.sqrt(8))
    size = math.fsum(np.abs(rule[0] * targets[0]))
    spread = gamma(len(rule[0]) + 64) * (1 + size) * value
    return Proof(value, "recomputed", "normal distribution function of minus half the distance.", spread=spread)
