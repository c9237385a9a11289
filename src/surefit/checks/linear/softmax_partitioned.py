"""Duality gap of multinomial logistic regression over rows in partitions, summed in passes over the partitions.

Every partition recomputes its probabilities from the coefficients. One offset per class, which all rows share, corrects
the column sums, and a constant row that is mixed in corrects the remaining rounding errors.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, length, upper_sum
from surefit.checks.gap import Dense, penalty_of
from surefit.checks.gap.operators import TINY, with_constant
from surefit.checks.gap.passes import sums_and_maxima
from surefit.checks.gap.penalties import Penalty
from surefit.checks.judge import shared
from surefit.checks.kernels.softmax import (
    column_sums,
    constant_row,
    divergences,
    indicators,
    log_probabilities,
    mixed_moves,
    row_moves,
)
from surefit.checks.linear.softmax import (
    Softmax,
    best_constants,
    certain,
    loss_sums,
    objective_of,
    penalty_terms,
    toward_labels,
)
from surefit.checks.linear.targets import ROUNDING
from surefit.core.centering import center, moved_intercept
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data, read_target
from surefit.problems.labels import class_codes

OFFSETS = 6  # passes that search for offsets with the right column sums


class Setting(NamedTuple):
    """Coefficients and the data that a partition needs to rebuild its rows of the problem."""

    problem: dict[str, Any]
    W: np.ndarray
    b: np.ndarray  # of the shifted columns
    b_rad: np.ndarray
    free: bool
    shift: np.ndarray | None  # subtracted from the columns


class How(NamedTuple):
    """Rule for the dual point of each row: offsets of the scores, a constant row, and a factor toward the labels."""

    offset: np.ndarray
    constant: tuple[float, np.ndarray] | None = None
    scale: float = 1.0


class Local(NamedTuple):
    """Rows of a partition in the form of the problem."""

    operator: Dense
    Y: np.ndarray
    c: np.ndarray
    z: Enclosed
    log_p: np.ndarray
    off: np.ndarray
    Q: np.ndarray
    moved: np.ndarray


class Proved(NamedTuple):
    """The bound, and the values that further claims need for new passes over the rows."""

    gap: Softmax
    setting: Setting
    how: How | None


def setting_of(certificate: Certificate, rows: PartitionedRows) -> tuple[Setting, Penalty]:
    """Read the coefficients and the penalty of a certificate."""
    problem, d = certificate.problem, rows.shape[1]
    K, free = len(problem["classes"]), bool(problem["fit_intercept"])
    W = np.asarray(certificate.model["coef_"], dtype=np.float64).reshape(-1, d)
    b = np.broadcast_to(np.asarray(certificate.model["intercept_"], dtype=np.float64), (len(W),))
    if len(W) != K or not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise ValueError(f"{K} classes need {K} rows of finite coefficients")
    if problem.get("reference") is not None:
        raise ValueError("a reference class is proved in memory only")
    if not free and np.any(b):
        raise ValueError("the model has intercepts, but its problem has none")
    if problem.get("penalize_intercept"):  # the intercept becomes the coefficient of an additional column
        W, b, free, d = np.column_stack([W, b]), np.zeros(K), False, d + 1
    shift, b_rad = center(rows.sample[:, :d]) if free else None, np.zeros(K)
    if shift is not None:
        b = np.array([moved_intercept(float(offset), shift, w) for offset, w in zip(b, W, strict=True)])
        b_rad = 2 * UNIT * np.abs(b)
    penalty = penalty_of(problem["penalty"], d, problem["penalty"].get("factors"))
    if penalty.free.any():
        raise ValueError("unpenalized columns of a softmax are proved in memory only")
    return Setting(problem, W, b, b_rad, free, shift), penalty


def local(part: Part, setting: Setting, how: How) -> Local:
    """Return scores, probabilities and the dual point of the rows of a partition."""
    codes, K = class_codes(read_target(part.y), setting.problem["classes"]), len(setting.W)
    c = np.ones(len(codes)) if part.weights is None else part.weights
    c = c * np.asarray(setting.problem["class_weights"])[codes] * setting.problem["strength"]
    X = with_constant(part.X) if setting.problem.get("penalize_intercept") else part.X
    operator, Y = Dense(X, setting.shift), indicators(codes, K)
    products = [operator.times(w) for w in setting.W]
    F = Enclosed(np.column_stack([p.mid for p in products]), np.column_stack([p.rad for p in products]) + setting.b_rad)
    log_p, off = log_probabilities(F, setting.b)
    Q = np.exp(log_p + how.offset)
    Q = Q / Q.sum(axis=1, keepdims=True)
    moved = row_moves(Q)
    if how.constant is not None:
        moved = mixed_moves(Q, moved, *how.constant)
    z = Enclosed(F.mid + setting.b, F.rad + 2 * UNIT * (np.abs(F.mid) + np.abs(setting.b)))
    return Local(operator, Y, c, z, log_p, off, *toward_labels(Q, moved, Y, how.scale))


@shared
def proved(certificate: Certificate, data: Data) -> Proved:
    """Bound P - min P at the coefficients of a certificate, over all partitions."""
    rows = data.X
    setting, penalty = setting_of(certificate, rows)
    depth = 2 + math.ceil(math.log2(max(len(rows.lengths), 1)))
    up = 1 + 2 * depth * UNIT
    how = _with_right_sums(rows, setting, depth) if setting.free else How(np.zeros(len(setting.W)))
    if how is None:
        sums = rows.map_reduce(_terms, setting, How(np.zeros(len(setting.W)))).tolist()
        objective, rest = objective_of(penalty, setting.W, sums[2] * up, sums[3] * up)
        return Proved(_softmax(objective, rest, objective, rest), setting, None)
    scale, terms = penalty_terms(penalty, setting.W, _products(rows, setting, how, depth))
    how = how._replace(scale=scale)
    near, far, losses, off = (total * up for total in rows.map_reduce(_terms, setting, how).tolist())
    objective, rest = objective_of(penalty, setting.W, losses, off)
    total = Bound(near, far - near + 64 * UNIT * near).plus(terms)
    if not total.value + 2.5 * total.spread <= objective:  # no loss is negative, so the objective bounds the gap too
        return Proved(_softmax(objective, rest, objective, rest), setting, None)
    found = _softmax(total.value, total.spread, objective, rest)
    return Proved(found._replace(met=bool(np.all(penalty.excluded))), setting, how)


def _softmax(value: float, spread: float, objective: float, rest: float) -> Softmax:
    none = np.zeros((0, 0))  # arrays with one entry per row stay in the partitions
    return Softmax(value, spread, objective, rest, none, none, Enclosed(none, none), np.zeros(0))


def _with_right_sums(rows: PartitionedRows, setting: Setting, depth: int) -> How | None:
    """Return offsets with nearly the right column sums, and a constant row for the remainder; None if there is none."""
    offset, best = np.zeros(len(setting.W)), None
    for _ in range(OFFSETS):
        (lacking, noise, sums, goal, M), total = rows.map_reduce(_column_sums, setting, How(offset))
        if best is None or np.max(np.abs(lacking)) < np.max(np.abs(best[1])):
            best = offset, lacking, noise, sums, goal
        else:
            break
        if np.max(np.abs(lacking)) <= 8 * UNIT * total:
            break
        offset = offset + np.linalg.pinv(np.diag(sums) - M, rcond=1e-13, hermitian=True) @ lacking
    assert best is not None
    offset, lacking, noise, sums, goal = best
    noise = (noise + (depth + 4) * UNIT * (sums + goal)) * (1 + 4 * depth * UNIT)  # sums over partitions
    constant = constant_row(lacking, noise, sums, float(total) * (1 - 4 * depth * UNIT))
    return None if constant is None else How(offset, constant)


def _column_sums(part: Part, setting: Setting, how: How) -> tuple[Any, float]:
    own = local(part, setting, how)
    sums = column_sums(own.Q, own.Y, own.c, own.moved)
    weighted = own.Q * own.c[:, None]
    return (*sums, own.c @ own.Y, weighted.T @ own.Q), math.fsum(own.c)


def _products(rows: PartitionedRows, setting: Setting, how: How, depth: int) -> list[tuple[Any, Any]]:
    """Enclose the products of the columns with the dual point of each class, for this and for another evaluation."""
    sums, most = rows.map_reduce(_correlations, setting, how, combine=sums_and_maxima)
    (mids, sizes, squares, lengths), k = sums, gamma(int(most[0]) + depth + 4)
    norms = np.sqrt(squares + rows.shape[0] * TINY) * (1 + gamma(int(most[0]) + depth + 8))
    lengths, tiny = np.sqrt(lengths) * (1 + (depth + 8) * UNIT), rows.shape[0] * TINY
    found = []
    for mid, size, rad in zip(mids, sizes, lengths, strict=True):
        found.append((mid, np.array([(size * k + times * rad * norms) * (1 + 4 * k) + tiny for times in (1, 3)])))
    return found


def _correlations(part: Part, setting: Setting, how: How) -> tuple[Any, np.ndarray]:
    own = local(part, setting, how)
    mids, sizes, lengths, squares = [], [], [], np.zeros(0)
    for k in range(len(setting.W)):
        mid, size, squares = own.operator._by_columns(own.c * (own.Y[:, k] - own.Q[:, k]))
        mids.append(mid)
        sizes.append(size)
        lengths.append(length(own.c * (own.moved[:, k] + 4 * UNIT * (own.Y[:, k] + own.Q[:, k]))) ** 2)
    sums = np.array(mids), np.array(sizes), squares, np.array(lengths) * (1 + 4 * UNIT)
    return sums, np.array([own.operator.column_terms])


def _terms(part: Part, setting: Setting, how: How) -> np.ndarray:
    """Return the divergences for this and for another evaluation, the losses, and the effect of rounding on them."""
    own = local(part, setting, how)
    near, far = (
        upper_sum(own.c * np.sum(divergences(own.Q, times * own.moved, own.log_p, times * own.off), axis=1))
        * (1 + 64 * UNIT)
        for times in (1, 3)
    )
    return np.array([near, far, *loss_sums(own.Y, own.c, own.log_p, own.off)])


def uncertain_labels(certificate: Certificate, data: Data) -> list[int]:
    """Count the rows whose label is not certain, for this gap and for that of another evaluation."""
    one = proved(certificate, data)
    if one.how is None:
        return [data.X.shape[0]] * 2
    return [
        data.X.map_reduce(_uncertain, one.setting, one.how, one.gap, one.gap.value + times * one.gap.spread, 1 + times)
        for times in (0, 3)
    ]


def _uncertain(part: Part, setting: Setting, how: How, gap: Softmax, value: float, times: int) -> int:
    own = local(part, setting, how)
    found = gap._replace(dual=own.Q, dual_rad=own.moved, z=own.z, c=own.c)
    return int(np.sum(~certain(found, value, times)))


def null_objective(certificate: Certificate, data: Data) -> tuple[float, ...]:
    """Return the objective of the best constants, its rounding, and the effect of rounding of the scores."""
    problem, rows = certificate.problem, data.X
    assert rows.counts is not None
    counts = rows.counts * np.asarray(problem["class_weights"]) * problem["strength"]
    free = bool(problem["fit_intercept"]) and not problem.get("penalize_intercept")
    null = best_constants(counts, free)
    return null, 64 * UNIT * null, ROUNDING**2 * upper_sum(counts)
