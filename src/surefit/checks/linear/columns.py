"""Problems of a linear model, one per target or class, in the form of the gap theorem."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.gap import Dual, Penalty, Piecewise, Point, loss_of, operator_of, penalty_of, prove
from surefit.checks.gap import rows as row_loops
from surefit.checks.gap.dual_points import given_rows
from surefit.checks.gap.operators import operator_on, with_constant
from surefit.checks.judge import shared
from surefit.checks.linear import huber, huber_partitioned, partitioned, softmax, softmax_partitioned
from surefit.checks.linear.targets import ROUNDING, constant_objective, row_targets
from surefit.core.centering import center, moved_intercept
from surefit.core.certificate import Certificate
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data


class Columns(NamedTuple):
    """All problems of a model, which share the loss and the operator."""

    operator: Any
    loss: Any
    penalties: list[Penalty]
    points: list[Point]
    duals: list[Dual]


@shared
def columns_of(certificate: Certificate, data: Data) -> Columns:
    """Return the problems of a certificate."""
    if certificate.problem["loss"] == "huber_scale":
        certificate = huber.at_scale(certificate)
    return _columns(certificate, data)


@shared
def gaps(certificate: Certificate, data: Data) -> list[Any]:
    """Return the proved bounds for every problem, or for all of them together (multinomial)."""
    if isinstance(data.X, PartitionedRows):
        if certificate.problem["loss"] == "softmax":
            return [softmax_partitioned.proved(certificate, data).gap]
        if certificate.problem["loss"] == "huber_scale":
            return [huber_partitioned.proved(certificate, data)[0]]
        return [proof.gap for _, _, proof, _ in partitioned.proved(certificate, data)]
    if certificate.problem["loss"] == "softmax":
        return [softmax.prove_softmax(certificate, data)]
    found = columns_of(certificate, data)
    parts = list(zip(found.penalties, found.points, found.duals, strict=True))
    if certificate.problem["loss"] == "huber_scale":
        ((penalty, point, dual),), scale = parts, float(certificate.model["scale_"])
        return [huber.prove_huber(found.operator, found.loss, penalty, point, dual, data, scale)]
    quick = [prove(found.operator, found.loss, *part) for part in parts]
    return quick if _sufficient(certificate, quick) else [prove(found.operator, found.loss, *p, False) for p in parts]


def _sufficient(certificate: Certificate, found: list[Any]) -> bool:
    """Return whether the bounds imply the stated gap and objective; other proofs, as on partitions, may have been sharper."""
    up = 1 + len(found) * UNIT
    for claim in certificate.claims:
        if claim.name == "linear.gap" and claim.value == claim.value:  # NaN while a fit states it
            if sum(gap.value for gap in found) * up > claim.value:
                return False
            return bool(sum(gap.objective for gap in found) * up <= claim.numbers.get("objective", np.inf))
    return True


def penalties_of(certificate: Certificate, data: Data) -> list[Penalty]:
    """Return the penalty of each result of :func:`gaps`."""
    if isinstance(data.X, PartitionedRows):
        if certificate.problem["loss"] == "softmax":
            return [softmax_partitioned.setting_of(certificate, data.X)[1]]
        if certificate.problem["loss"] == "huber_scale":
            return [huber_partitioned.proved(certificate, data)[1]]
        return partitioned.columns_of(certificate, data.X)[1]
    if certificate.problem["loss"] == "softmax":
        return [softmax.model_of(certificate, data).penalty]
    return columns_of(certificate, data).penalties


def _columns(certificate: Certificate, data: Data) -> Columns:
    problem, X, loss = certificate.problem, data.X, loss_of(certificate.problem)
    n, d = X.shape
    targets, weights = targets_of(certificate, data)
    W = _finite(certificate.model["coef_"]).reshape(-1, d)
    b = _finite(certificate.model["intercept_"]).ravel()
    b = b if len(b) == len(W) else np.broadcast_to(b, (len(W),))
    if len(W) != len(targets):
        raise ValueError(f"{len(targets)} targets need {len(targets)} rows of coefficients; there are {len(W)}")
    c = weights * problem["strength"]
    free = bool(problem["fit_intercept"])
    if not free and b.any():
        raise ValueError("the model has an intercept, but its problem has none")
    own = problem["penalty"]
    factors = own["factors"]
    if problem.get("penalize_intercept"):  # the intercept becomes the coefficient of an additional column
        X, W, b, free, d = with_constant(X), np.column_stack([W, b]), np.zeros(len(W)), False, d + 1
        factors = None if factors is None else [*factors, 1.0]
    shift = center(X) if free else None
    parts = [_point(loss, t, c, w, float(offset), shift, free) for t, w, offset in zip(targets, W, b, strict=True)]
    if data.offset is not None:
        parts = [part._replace(offset=_known(data.offset, n)) for part in parts]
    alphas = own["alphas"] if "alphas" in own else [1.0] * len(targets)  # one penalty per target
    base = penalty_of(own, d, factors)
    penalties = [base if a == 1.0 else base.scaled(a) for a in alphas]
    if own.get("ball") is not None:
        penalties = _in_ball(base, W, Fraction(own["ball"]) ** 2)
    operator = operator_on(certificate, data) if X is data.X and shift is None else operator_of(X, shift)
    duals = _duals(certificate, n, len(targets))
    witness = _witness(certificate)
    for k, part in enumerate(parts):
        if f"point_{k}" in witness:
            duals[k] = duals[k]._replace(scores=_scores_at(operator, witness[f"point_{k}"], part))
        if f"step_{k}" in witness:
            step = _scores_at(operator, witness[f"step_{k}"], part)
            given = given_rows(witness, k)
            duals[k] = duals[k]._replace(step=step, barrier=float(witness["barriers"][k]), given=given)
    return Columns(operator, loss, penalties, parts, duals)


def _in_ball(base: Penalty, W: np.ndarray, radius: Fraction) -> list[Penalty]:
    """Split a constraint on all targets: the first target gets all the slack, the others none, for any multiplier."""
    sizes = [-base._replace(radius=0.0).slack(w) for w in W]
    return [base._replace(radius=radius - sum(sizes[1:]) if k == 0 else size) for k, size in enumerate(sizes)]


def targets_of(certificate: Certificate, data: Data) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the targets (-1 and 1 for labels) and the weights of the rows."""
    return row_targets(certificate.problem, data.X.shape[0], data.target, data.weights)


def _point(loss: Any, y: Any, c: Any, w: Any, b: float, shift: Any, free: bool) -> Point:
    """Shift columns and targets that are far from the origin; the intercept absorbs the shifts, rounded once."""
    level = None
    if free and isinstance(loss, Piecewise) and not loss.margin:
        level = center(y[:, None])
    if shift is None and level is None:
        return Point(y, c, w, b, free)
    middle = np.append(np.zeros(len(w)) if shift is None else shift, 0.0 if level is None else -level[0])
    moved = moved_intercept(b, middle, np.append(w, 1.0))
    return Point(y if level is None else y - level[0], c, w, moved, free, 2 * UNIT * abs(moved))


def _known(offset: Any, n: int) -> np.ndarray:
    offset = _finite(offset)
    if offset.shape != (n,):
        raise ValueError(f"there must be {n} offsets, one per row")
    return offset


def _witness(certificate: Certificate) -> dict[str, np.ndarray]:
    return next((claim.witness for claim in certificate.claims if claim.name == "linear.gap"), {})


def _scores_at(operator: Any, given: Any, point: Point) -> Enclosed:
    """Enclose the scores of another point, whose derivatives give a valid dual point."""
    at = _finite(given)
    if at.shape != (len(point.w) + 1,):
        raise ValueError(f"another point must have {len(point.w) + 1} numbers")
    b = float(at[-1]) if operator.shift is None else moved_intercept(float(at[-1]), operator.shift, at[:-1])
    found = operator.times(at[:-1])
    return Enclosed(found.mid + b, found.rad + 4 * UNIT * (np.abs(found.mid) + abs(b)))


def _duals(certificate: Certificate, n: int, columns: int) -> list[Dual]:
    witness = _witness(certificate)
    multiplier = certificate.model.get("multiplier_")
    duals = []
    for k in range(columns):
        dual = witness.get(f"dual_{k}")
        if dual is not None and (np.shape(dual) != (n,) or dual.dtype.kind != "f"):
            raise ValueError(f"the dual point must have {n} numbers, one per row")
        width = float(witness["widths"][k]) if "widths" in witness else 0.0
        duals.append(Dual(dual, width if width > 0 else 0.0, None if multiplier is None else float(multiplier)))
    return duals


def _finite(array: Any) -> np.ndarray:
    array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a coefficient is not a finite number")
    return array


def null_of(certificate: Certificate, data: Data) -> tuple[float, ...]:
    """Return the result of :func:`null_objective` for any loss."""
    if isinstance(data.X, PartitionedRows):
        own = {"softmax": softmax_partitioned, "huber_scale": huber_partitioned}
        return own.get(certificate.problem["loss"], partitioned).null_objective(certificate, data)
    if certificate.problem["loss"] == "huber_scale":
        null = huber.null_objective(data, bool(certificate.problem["fit_intercept"]))
        size = 1 + float(np.max(np.abs(np.asarray(data.target, dtype=np.float64)), initial=0.0))
        weight = float(data.X.shape[0]) if data.weights is None else upper_sum(data.weights)
        return null, 64 * UNIT * null, 4 * certificate.problem["epsilon"] * ROUNDING * size * weight
    if certificate.problem["loss"] != "softmax":
        return null_objective(columns_of(certificate, data))
    model = softmax.model_of(certificate, data)
    null = softmax.best_constants(model.c @ model.Y, model.free)
    return null, 64 * UNIT * null, ROUNDING**2 * upper_sum(model.c)


def null_objective(columns: Columns) -> tuple[float, ...]:
    """Return the objective of the best constants, its rounding, and the effect of rounding of the scores."""
    found = [
        constant_objective(columns.loss, *_merged(p.y, p.c), p.intercept)
        if p.offset is None
        else constant_objective(columns.loss, p.y, p.c, p.intercept, p.offset)
        for p in columns.points
    ]
    return tuple(sum(column) for column in zip(*found, strict=True))


def _merged(y: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels merged into two rows with the total weights, which have the same loss without coefficients."""
    if abs(y[0]) != 1.0 or not (np.abs(y) == 1.0).all():
        return y, c
    up, down = row_loops.side_sums(c * y)
    return np.array([-1.0, 1.0]), np.array([-down, up])
