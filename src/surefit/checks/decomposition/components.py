r"""Checks of principal components: the captured variance, and how much more other directions could capture.

The proofs use the images :math:`S V^\top` of the directions under the covariance matrix, and an upper bound on the
variance orthogonal to them (theory: ``eigen-residual``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.decomposition.outside import Outside, Rows, by_chance, by_products, rows_about_mean, too_dear
from surefit.checks.eigen import Spectrum, product_over_rows, spectrum
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, refused, shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data


class Found(NamedTuple):
    """Proved bounds for the certified directions, each with its rounding."""

    residual: AtMost
    defect: AtMost
    mean: AtMost
    captured: AtLeast
    total: AtMost
    gap: AtMost
    least: AtLeast  # the smallest eigenvalue of the covariance restricted to the directions
    outside: Outside


def _best(claim: Claim) -> str:
    z = claim.numbers
    share = 100 * z["captured"] / z["total"] if z["total"] > 0 else 100.0
    return (
        f"No {z['directions']} directions capture more variance than these by more than {claim.value:.3g}{_surely(claim)}; "
        f"these capture at least {share:.6g} % of {z['total']:.6g}."
    )


def _counted(claim: Claim) -> str:
    z = claim.numbers
    words = f"{z['directions']} eigenvalues of the covariance matrix are at least {claim.value:.6g}, all others at most {z['rest']:.6g}"
    return words + _surely(claim) + (": none was missed." if claim.value > z["rest"] else ".")


def _surely(claim: Claim) -> str:
    return f" (with confidence {claim.confidence})" if "delta" in claim.numbers else ""


@claim("eigen.gap", kind="optimality", side="upper", theory="eigen-residual", partitioned=True, says=_best)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that no equal number of directions captures more variance than these by more than ``value``."""
    found, count = examine(certificate, data), len(certificate.model["components_"])
    wanted = certificate.problem.get("n_components")
    if isinstance(wanted, int) and wanted != count:
        return refused(f"there are {count} directions instead of {wanted}")
    numbers = {"directions": count, "captured": found.captured, "total": found.total, **_chance(found.outside)}
    tol = certificate.problem.get("tol")  # present for models of other libraries only
    limit = None if tol is None else float(tol) * found.total.value
    slack = 0.0 if tol is None else 2 * float(tol) * found.total.spread
    note = f"the best directions capture at most {found.gap.value:.3g} more."
    return Proof(found.gap.value, _level(found.outside), note, numbers, limit, found.gap.spread, slack)


@claim("eigen.residual", kind="optimality", side="upper", theory="eigen-residual", partitioned=True,
       says="Each explained variance is within {value:.3g} of an eigenvalue of the covariance matrix.")  # fmt: skip
def residual(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that every explained variance is within ``value`` of an eigenvalue of the covariance matrix."""
    bound = examine(certificate, data).residual
    return Proof(bound.value, note="residuals recomputed.", spread=bound.spread)


@claim("eigen.orthonormal", kind="feasibility", side="upper", theory="eigen-residual", partitioned=True,
       says="The directions are orthonormal up to {value:.3g} (Frobenius norm of V V' - I).")  # fmt: skip
def orthonormal(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the directions are orthonormal up to ``value``."""
    bound = examine(certificate, data).defect
    return Proof(bound.value, note="products of the directions recomputed.", spread=bound.spread)


@claim("eigen.mean", kind="data_fact", side="upper", theory="eigen-residual", partitioned=True,
       says="The mean that transform subtracts is that of the rows, up to {value:.3g} in each column.")  # fmt: skip
def mean(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the stored mean is that of the rows up to ``value``."""
    bound = examine(certificate, data).mean
    return Proof(bound.value, note="mean of the rows recomputed.", spread=bound.spread)


@claim(
    "eigen.complete",
    kind="optimality",
    side="lower",
    theory="eigen-residual",
    partitioned=True,
    says=_counted,
    low=-math.inf,
)
def complete(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that as many eigenvalues as directions are at least ``value``, and all others at most ``rest``."""
    found, count = examine(certificate, data), len(certificate.model["components_"])
    rest = AtMost(found.outside.most, found.outside.spread)
    numbers = {"directions": count, "rest": rest, **_chance(found.outside)}
    return Proof(
        found.least.value, _level(found.outside), "by Courant and Fischer.", numbers, spread=found.least.spread
    )


def _chance(outside: Outside) -> dict[str, float]:
    return {"delta": outside.delta} if outside.delta else {}


def _level(outside: Outside) -> str:
    return "recomputed" if outside.delta else "enclosed"


@shared
def examine(certificate: Certificate, data: Data) -> Found:
    """Return the proved bounds for the certified directions, which the claims share."""
    n, d = data.X.shape
    V, variances, stored = (
        np.asarray(certificate.model[name], dtype=np.float64)
        for name in ("components_", "explained_variance_", "mean_")
    )
    q = len(V)
    if V.shape != (q, d) or variances.shape != (q,) or stored.shape != (d,) or n < 2:
        raise ValueError("components_, explained_variance_ and mean_ must have one entry per direction and column")
    if not all(np.all(np.isfinite(array)) for array in (V, variances, stored)):
        raise ValueError("components_, explained_variance_ and mean_ must be finite")
    if n < d and isinstance(data.X, PartitionedRows):
        raise ValueError("rows in partitions must be at least as many as the columns")
    rows = rows_about_mean(data.X)
    off = (gamma(d + 4) * (float(np.sum(V * V)) + q)) * (1 + gamma(q + 8))
    defect = float(np.linalg.norm(V @ V.T - np.eye(q))) * (1 + gamma(q * q + 4)) + off
    if not defect < 0.5:
        raise ValueError("components_ must be orthonormal but for rounding")
    product = None if too_dear(certificate, rows, q) else product_over_rows(rows.X, None, rows.mean, by_rows=n < d)
    by_columns = product is not None and n >= d
    images = product[0] @ V.T / (n - 1) if by_columns else rows.times_covariance(V.T)  # type: ignore[index]
    rounding = rows.rounding * (1 + defect)
    lengths = np.linalg.norm(images - V.T * variances, axis=0) * (1 + gamma(d + 4)) + 4 * UNIT * np.abs(variances)
    worst = float(np.max(lengths, initial=0.0))
    A = V @ images
    inside = spectrum((A + A.T) / 2, math.sqrt(max(q, 1)) * (rounding + gamma(d + 4) * rows.total) * (1 + defect))
    least = float(inside.values[-1]) if q else 0.0
    trace, trace_off = inside.largest_sum(q)
    outside = by_chance(rows, V) if product is None else by_products(rows, V, defect, *product)
    return Found(
        residual=AtMost((worst + rounding) / (1 - defect) * (1 + gamma(8)), rounding + gamma(d + 8) * worst),
        defect=AtMost(defect, off),
        mean=_near(stored, rows),
        captured=AtLeast((trace - trace_off) / (1 + defect), trace_off + defect * trace),
        total=AtMost(rows.total, 2 * rows.g * rows.total),
        gap=_gap(rows, V, images, A, inside, defect, outside),
        least=AtLeast(max(least - inside.radius, 0.0) / (1 + defect), inside.radius + 2 * off * abs(least)),
        outside=outside,
    )


def _near(stored: np.ndarray, rows: Rows) -> AtMost:
    apart = np.abs(stored - rows.mean)
    off = float(np.max(rows.mean_off + 2 * UNIT * apart, initial=0.0))
    return AtMost(float(np.max(apart, initial=0.0)) + off, off)


def _gap(rows: Rows, V: Any, images: Any, A: Any, inside: Spectrum, defect: float, outside: Outside) -> AtMost:
    """Bound the variance that the best directions capture beyond ``V``."""
    q = len(V)
    if outside.whole is not None:
        best, best_off = outside.whole.largest_sum(q)
        captured, off = inside.largest_sum(q)
        off = best_off + off + 2 * defect * abs(captured)  # the directions span the same space as orthonormal ones
        return AtMost(max(best - captured, 0.0) + off, off)
    off = math.sqrt(q) * (rows.rounding + gamma(q + 8) * rows.total) * (1 + defect)
    length = float(np.linalg.norm(images - V.T @ A)) * (1 + gamma(64))
    values = inside.values

    def bound(length: float, radius: float, most: float) -> float:
        length, own = length * (1 + 2 * defect), np.maximum(values - radius, 0.0) / (1 + defect)
        first = math.sqrt(q) * length + float(np.sum(np.maximum(most - own, 0.0)))
        second = length**2 / float(own[-1] - most) if own[-1] > most else math.inf
        return min(first, second) * (1 + gamma(q + 8))

    near = bound(length + off, inside.radius, outside.most)
    # bound that another evaluation may find
    far = bound(length + 3 * off, 3 * inside.radius, outside.most + 2 * outside.spread)
    return AtMost(near, far - near)
