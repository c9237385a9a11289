r"""Checks of quadratic discriminants from the rows: the class densities maximize the Gaussian likelihood.

For a precision :math:`TT^\top` and the covariance :math:`C` of :math:`n` rows, the log-likelihood is below the largest
possible one by exactly :math:`\tfrac n2 (\operatorname{tr} E - \ln\det(I + E))`, :math:`E = T^\top C T - I`, plus
:math:`\tfrac n2 \|T^\top (m - \bar x)\|^2` for a mean :math:`m`. If variances are at their floor, only the positive
part of that block of :math:`E` counts. :math:`T^\top C T` is computed from the products of the rows if their rounding
errors are negligible. Otherwise it is computed from the whitened rows, which takes a second pass but does not square the condition
number (theory: ``gaussian-likelihood-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.discriminants.class_sums import members_of
from surefit.checks.discriminants.pencil import own_covariance, powers_of_two
from surefit.checks.discriminants.scatter import ClassScatter, blocks, class_scatter, over_classes
from surefit.checks.eigen import rows_at_once, weights_of
from surefit.checks.enclosure import frobenius, gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import Part, count_parts
from surefit.core.sample import Data
from surefit.problems.labels import names_of


class Seen(NamedTuple):
    """A covariance in the coordinates of the model, ``T' C T``, known up to ``radius`` in the Frobenius norm."""

    matrix: np.ndarray
    radius: float


class Gap(NamedTuple):
    """Gap of a class including rounding, a bound on what another evaluation may find, and whether the covariance is accurate enough."""

    value: float
    worse: float
    negligible: bool


class Whitened(NamedTuple):
    """Products of the whitened rows of each class, sums of squares of the centered rows, and depths of summation."""

    products: np.ndarray  # (k, d, d)
    squares: np.ndarray  # (k, d)
    depths: list[int]


def _sentence(stated: Claim) -> str:
    if not math.isfinite(stated.value):
        return "The smallest variances of a class are lost in rounding, so nothing is claimed; scale the columns of X, or raise tol."
    shrunk = "of the Gaussian densities with the shrunk covariances, in divergence"
    what = shrunk if stated.numbers["shrunk"] else "of any Gaussian densities"
    return f"The log-likelihood of the rows is within {stated.value:.3g} of the largest {what}."


@claim(
    "quadratic.likelihood",
    kind="optimality",
    side="upper",
    infinite=True,
    partitioned=True,
    theory="gaussian-likelihood-gap",
    says=_sentence,
)
def likelihood(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the distance of the log-likelihood from that of the best Gaussian densities (in divergence if shrunk)."""
    problem = certificate.problem
    by_matrix = problem["shrinkage"] == "auto" or problem["covariance"] == "given"
    found = class_scatter(certificate, data, problem["covariance"] != "given")
    trouble = _trouble(certificate, found, data.X.shape[1])
    if trouble:
        return refused(trouble)
    axes = _axes(certificate)
    if by_matrix:
        gaps = [_class_gap(certificate, found, k, T, _by_matrix(certificate, data, found, k, T)) for k, T in axes]
    else:
        gaps = [_class_gap(certificate, found, k, T, _by_products(certificate, found, k, T)) for k, T in axes]
        if not all(gap.negligible for gap in gaps):
            whitened = _whitened(certificate, data, found)
            gaps = [_class_gap(certificate, found, k, T, _by_rows(certificate, found, k, T, whitened)) for k, T in axes]
    value, worse = sum(gap.value for gap in gaps), sum(gap.worse for gap in gaps)
    shrunk = bool(by_matrix or problem["shrinkage"] or problem.get("reg_param", 0.0))
    limit = 1e-6 * float(found.counts.sum())
    own, level = {"shrunk": shrunk}, "recomputed" if by_matrix else "enclosed"
    if not math.isfinite(worse):
        return Proof(math.inf, level, "the smallest variances are lost in rounding.", own, limit=limit)
    return Proof(value, level, "covariances, means and priors recomputed.", own, limit=limit, spread=worse - value)


def _trouble(certificate: Certificate, found: ClassScatter, d: int) -> str:
    """Return why axes, variances, priors or labels are invalid; an empty string if they are valid."""
    model, problem, K = certificate.model, certificate.problem, len(found.totals)
    if model["rotations_"].shape != (K, d, d) or model["scalings_"].shape != (K, d) or model["means_"].shape != (K, d):
        return "there must be one mean, one set of axes and one variance per axis for each class"
    if not np.isfinite(model["rotations_"]).all() or not np.isfinite(model["scalings_"]).all():
        return "axes and variances must be finite"
    least = float(model["scalings_"].min(initial=math.inf))
    if not least > 0 or least < problem["floor"]:
        return "a variance is below its floor"
    if "priors_" in model and np.asarray(model["priors_"]).tolist() != list(problem["priors"]):
        return "priors_ are not those of the classes"
    if "classes_" in model and names_of(model["classes_"]) != problem["classes"]:
        return "classes_ are not the sorted labels"
    return ""


def _class_gap(certificate: Certificate, found: ClassScatter, k: int, T: np.ndarray, seen: Seen) -> Gap:
    """Return the gap of one class, whose axes are divided by the standard deviations along them."""
    model, total = certificate.model, float(found.totals[k])
    rotation, raised, d = model["rotations_"][k], model["scalings_"][k] == certificate.problem["floor"], len(T)
    one = np.eye(d)
    tilt = frobenius(rotation.T @ rotation - one) + gamma(4 * d + 8) * d
    if tilt >= 0.5:
        return Gap(math.inf, math.inf, True)
    E = seen.matrix - one
    if raised.any():
        E[np.ix_(raised, raised)] = _positive_part(E[np.ix_(raised, raised)])
    error, slack = frobenius(E), seen.radius + gamma(8) * d
    shift, radius = np.abs(model["means_"][k] - found.means[k]), found.mean_radii[k]
    # Axes that are not exactly orthogonal change the determinant, and let the precision exceed one over the floor.
    loose = total / 2 * (2 * int(np.count_nonzero(raised)) * tilt + math.sqrt(d) * tilt / (1 - tilt))
    results, sizes = [], np.abs(T)
    for times in (1, 3):
        seen_shift = (shift + times * radius) @ sizes
        away = total / 2 * float(seen_shift @ seen_shift)
        results.append((_divergence(error + times * slack, total) + away + times * loose) * (1 + gamma(4 * d + 64)))
    return Gap(results[0], results[1], _divergence(error + slack, total) - _divergence(error, total) <= loose)


def _axes(certificate: Certificate) -> list[tuple[int, np.ndarray]]:
    """Return the index of each class, and its axes divided by its standard deviations along them."""
    roots = np.sqrt(certificate.model["scalings_"])
    return [(k, rotation / roots[k]) for k, rotation in enumerate(certificate.model["rotations_"])]


def _by_products(certificate: Certificate, found: ClassScatter, k: int, T: np.ndarray) -> Seen:
    r"""Return the covariance of a class from the products of its rows, including shrinkage.

    The error of the entry (i, j) is at most a multiple of :math:`s_i s_j`, with :math:`s_i` the length of column i about
    the pilot. Seen along the axes, it is at most the same multiple of :math:`\||T|^\top s\|^2` in the Frobenius norm.
    """
    total, scale = float(found.totals[k]), found.scale
    d, wide, C = len(T), T * scale[:, None], found.products[k] / total
    reach, length = found.lengths[k] @ np.abs(wide), frobenius(found.lengths[k] * scale)
    share, added = _drawn(certificate, float(C.diagonal() @ scale**2) / d)
    off = (certificate.problem["shrinkage"] or 0.0) * found.share * length**2 / total / d  # of the mean variance
    covariance = share * (wide.T @ C @ wide)
    radius = share * (found.share + gamma(2 * d + 16)) * float(reach @ reach) / total
    if off or added:
        covariance += added * (T.T @ T)
        radius += (off + added * gamma(2 * d + 16)) * frobenius(np.abs(T).T @ np.abs(T))
    return Seen(covariance, radius * (1 + gamma(4 * d + 64)))


def _whitened(certificate: Certificate, data: Data, found: ClassScatter) -> Whitened:
    """Return the products of the whitened rows of all classes, in one pass."""
    model, d = certificate.model, data.X.shape[1]
    axes = np.asarray(model["rotations_"]) / np.sqrt(np.asarray(model["scalings_"]))[:, None, :]
    products, squares = over_classes(data, certificate.problem["classes"], _whitened_products, found.means, axes)
    size = rows_at_once(d)
    return Whitened(
        products, squares, [min(size, n) + n // size + count_parts(data.X) + 7 for n in found.counts.tolist()]
    )


def _whitened_products(
    part: Part, codes: np.ndarray, means: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    products, squares, s = np.zeros_like(axes), np.zeros_like(means), weights_of(part)
    for k, rows in enumerate(members_of(part, codes, len(means))):
        for block, piece in blocks(part.X, rows):
            centered = block - means[k]
            if part.weights is not None:
                centered *= np.sqrt(s[piece])[:, None]
            whitened = centered @ axes[k]
            products[k] += whitened.T @ whitened
            squares[k] += np.einsum("ij,ij->j", centered, centered)
    return products, squares


def _by_rows(certificate: Certificate, found: ClassScatter, k: int, T: np.ndarray, whitened: Whitened) -> Seen:
    """Return the covariance of the whitened rows of a class, including shrinkage."""
    total, d = float(found.totals[k]), len(T)
    product, squares, depth = whitened.products[k], whitened.squares[k], whitened.depths[k]
    spread = float(np.sum(squares))
    sizes = d * float(squares @ np.sum(T * T, axis=1)) * (1 + gamma(depth + d))  # of |x||T|, by Cauchy-Schwarz
    length, off = math.sqrt(float(np.trace(product))), gamma(d + 8) * math.sqrt(sizes)
    moved = total * float(np.sum((np.abs(T).T @ found.mean_radii[k]) ** 2))  # the mean itself is rounded
    radius = (2 * off * length + off**2 + gamma(depth) * length**2 + moved) / total
    share, added = _drawn(certificate, spread / total / d)
    inner = T.T @ T
    radius = share * radius + added * gamma(depth + 2 * d) * frobenius(np.abs(T).T @ np.abs(T))
    return Seen(share * product / total + added * inner, radius * (1 + gamma(64)))


def _drawn(certificate: Certificate, mean_variance: float) -> tuple[float, float]:
    """Return the factor of the covariance and the constant added to its diagonal."""
    shrinkage, ridge_share = certificate.problem["shrinkage"], certificate.problem.get("reg_param", 0.0)
    if shrinkage:
        return 1 - shrinkage, shrinkage * mean_variance
    return 1 - ridge_share, ridge_share


def _by_matrix(certificate: Certificate, data: Data, found: ClassScatter, k: int, T: np.ndarray) -> Seen:
    """Return a covariance that is not a multiple of that of the rows, in columns scaled to its diagonal."""
    C, radius = own_covariance(certificate, data, found, k)
    further, d = powers_of_two(C), len(T)
    C, radius = C / further / further[:, None], radius / float(np.min(further)) ** 2
    T = T * (found.scale * further)[:, None]
    size = float(np.max(np.sum(np.abs(T) @ np.abs(T).T, axis=1))) * (1 + gamma(4 * d))
    return Seen(T.T @ C @ T, size * (radius + gamma(2 * d + 8) * frobenius(C) * d))


def _positive_part(E: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(E)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _divergence(error: float, total: float) -> float:
    r"""Bound :math:`\tfrac n2(\operatorname{tr}E - \ln\det(I+E))` for :math:`\|E\|_F \le` ``error``."""
    return total / 2 * error**2 / (2 * (1 - error)) if error < 1 else math.inf
