r"""Duality gap of multinomial logistic regression: rows of the simplex as dual points, with all rounding errors.

.. math:: P(W, b) = \sum_i c_i\left[\ln\sum_k e^{f_{ik}} - f_{i,y_i}\right] + \sum_k \Omega(w_k) .

Any rows :math:`Q_i` of the simplex, with :math:`\sum_i c_i (Y - Q)_{ik} = 0` for every class if intercepts are free,
prove a bound. The loss part of the gap is :math:`\sum_i c_i\,\mathrm{KL}(Q_i\|P_i)` (theory: ``fenchel-gap``). A
reference class has no coefficients.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum
from surefit.checks.gap import operator_of, penalty_of
from surefit.checks.gap.operators import with_constant
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.theorem import BOX
from surefit.checks.kernels.softmax import divergence, indicators, log_probabilities, simplex_moves, with_column_sums
from surefit.checks.linear.softmax_free import free_point
from surefit.core.centering import center, moved_intercept
from surefit.core.certificate import Certificate
from surefit.core.sample import Data
from surefit.problems.labels import class_codes


class Softmax(NamedTuple):
    """Proved bounds for the coefficients of all classes."""

    value: float  # upper bound on P - min P, including rounding
    spread: float
    objective: float  # upper bound on P
    objective_spread: float
    dual: np.ndarray  # probabilities of the dual point, (rows, classes)
    dual_rad: np.ndarray
    z: Enclosed  # scores, one column per class
    c: np.ndarray
    box: float = math.inf
    met: bool = False  # the dual point is exactly orthogonal to every column that is not excluded


class Model(NamedTuple):
    """Coefficients of all classes and their problem."""

    operator: Any
    penalty: Penalty
    W: np.ndarray
    b: np.ndarray
    b_rad: np.ndarray
    Y: np.ndarray  # indicators of the classes, (rows, classes)
    c: np.ndarray
    used: list[int]  # classes that have coefficients
    free: bool  # whether intercepts are


def model_of(certificate: Certificate, data: Data) -> Model:
    """Read the problem and the coefficients of a certificate."""
    problem, X = certificate.problem, data.X
    n, d = X.shape
    codes, K = class_codes(data.target, problem["classes"]), len(problem["classes"])
    W = np.asarray(certificate.model["coef_"], dtype=np.float64).reshape(-1, d)
    b = np.broadcast_to(np.asarray(certificate.model["intercept_"], dtype=np.float64), (len(W),))
    if len(W) != K or not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise ValueError(f"{K} classes need {K} rows of finite coefficients")
    free, reference = bool(problem["fit_intercept"]), problem.get("reference")
    if not free and np.any(b):
        raise ValueError("the model has intercepts, but its problem has none")
    if reference is not None and (np.any(W[reference]) or b[reference] != 0):
        raise ValueError("the reference class has coefficients")
    if problem.get("penalize_intercept"):  # the intercept becomes the coefficient of an additional column
        X, W, b, free, d = with_constant(X), np.column_stack([W, b]), np.zeros(K), False, d + 1
    s = np.ones(n) if data.weights is None else data.weights
    c = s * np.asarray(problem["class_weights"])[codes] * problem["strength"]
    shift, b_rad = center(X) if free else None, np.zeros(K)
    if shift is not None:
        b = np.array([moved_intercept(float(offset), shift, w) for offset, w in zip(b, W, strict=True)])
        b_rad = 2 * UNIT * np.abs(b)
    penalty = penalty_of(problem["penalty"], d, problem["penalty"].get("factors"))
    used = [k for k in range(K) if k != reference]
    return Model(operator_of(X, shift), penalty, W, b, b_rad, indicators(codes, K), c, used, free)


def prove_softmax(certificate: Certificate, data: Data) -> Softmax:
    """Bound P - min P at the coefficients of a certificate; the classes share one penalty."""
    m = model_of(certificate, data)
    products = [m.operator.times(w) for w in m.W]
    F = Enclosed(
        np.column_stack([p.mid for p in products]), np.column_stack([p.rad for p in products]) + m.b_rad[None, :]
    )
    log_p, off = log_probabilities(F, m.b)
    penalty, box, found = m.penalty, math.inf, None
    exact = np.zeros(m.W.shape[1], dtype=bool)
    point = (
        free_point(m.operator, penalty, m.Y, np.exp(log_p), off, m.c, m.used, m.free) if penalty.free.any() else None
    )
    if point is not None:
        exact = penalty.free
    else:
        if penalty.free.any():  # only coefficients in a box are considered
            box = BOX
            size = math.sqrt(upper_sum(m.c * (1.0 + np.max(np.abs(F.mid + m.b), axis=1) ** 2)))
            with np.errstate(divide="ignore"):
                largest = np.maximum(BOX * size / m.operator.norms(m.c), 2 * np.max(np.abs(m.W), axis=0))
            penalty = penalty.boxed(largest)
        Q = with_column_sums(np.exp(log_p), m.Y, m.c) if m.free else np.exp(log_p)
        moved = simplex_moves(Q, m.Y, m.c, m.free)
        point = None if moved is None else (Q, moved, np.zeros_like(Q))
    if point is not None:
        found = _dual_terms(m, penalty, exact, *point)
    objective, rest = objective_of(m.penalty, m.W, *loss_sums(m.Y, m.c, log_p, off))
    z = Enclosed(F.mid + m.b, F.rad + 2 * UNIT * (np.abs(F.mid) + np.abs(m.b)))
    trivial = Softmax(objective, rest, objective, rest, np.exp(log_p), np.ones_like(log_p), z, m.c)
    if found is None:
        return trivial
    Q, moved, terms = found
    total = divergence(m.c, Q, moved, log_p, off).plus(terms)
    if not total.value + 2.5 * total.spread <= objective:  # no loss is negative, so the objective bounds the gap too
        return trivial._replace(dual=Q, dual_rad=moved)
    met = bool(np.all(exact | penalty.excluded))
    return Softmax(total.value, total.spread, objective, rest, Q, moved, z, m.c, box, met)


def loss_sums(Y: np.ndarray, c: np.ndarray, log_p: np.ndarray, off: np.ndarray) -> tuple[float, float]:
    """Return an upper bound on the sum of the losses as computed, and on the effect of rounding of the scores."""
    return upper_sum(c * np.maximum(-np.sum(Y * log_p, axis=1), 0.0)), upper_sum(c * off[:, 0])


def objective_of(penalty: Penalty, W: np.ndarray, losses: float, off: float) -> tuple[float, float]:
    """Return an upper bound on the objective, and its rounding."""
    rounding = off + 8 * UNIT * losses
    size = upper_sum(np.concatenate([penalty.value(w) for w in W])) * (1 + 8 * UNIT)
    objective = (losses + rounding + size) * (1 + 8 * UNIT)
    return objective, 3 * rounding + 16 * UNIT * objective


def _dual_terms(
    m: Model, penalty: Penalty, exact: Any, Q: Any, moved: Any, slip: Any
) -> tuple[np.ndarray, np.ndarray, Bound] | None:
    """Return a feasible dual point, its radius, and an upper bound on the penalty's Fenchel-Young terms."""
    parts = []
    for k in m.used if not np.all(exact | penalty.excluded) else []:
        rad = m.c * (moved[:, k] + 4 * UNIT * (m.Y[:, k] + Q[:, k]))
        v, radii = m.operator.transposed(m.c * (m.Y[:, k] - Q[:, k]), np.array([rad, 3 * rad + m.c * slip[:, k]]))
        parts.append((np.where(exact, 0.0, v), np.where(exact, 0.0, radii)))
    if not parts and any(np.any(m.W[k][penalty.excluded]) for k in m.used):
        return None
    scale, terms = penalty_terms(penalty, m.W[m.used], parts)
    return *toward_labels(Q, moved, m.Y, scale), terms


def penalty_terms(penalty: Penalty, W: np.ndarray, parts: list[tuple[Any, Any]]) -> tuple[float, Bound]:
    """Return the factor that makes products with the columns feasible, and an upper bound on the penalty's terms."""
    scale = min((penalty.shrink(v, radii[0]) for v, radii in parts), default=1.0)
    value, widest = 0.0, 0.0
    for w, (v, radii) in zip(W, parts, strict=False):
        value += upper_sum(penalty.upper(w, scale * v, (scale * radii[0] + 4 * UNIT * np.abs(v)) * (1 + 4 * UNIT)))
        widest += upper_sum(penalty.upper(w, scale * v, 2 * radii[1] + 8 * UNIT * np.abs(v) + (1 - scale) * radii[1]))
    slack = 16 * (len(W) + 1) * UNIT
    return scale, Bound(value * (1 + slack), max(widest - value, 0.0) + slack * value)


def toward_labels(Q: np.ndarray, moved: np.ndarray, Y: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``Y - scale (Y - Q)``, which are again rows of the simplex, and their radius."""
    return (Q, moved) if scale == 1.0 else (Y - scale * (Y - Q), moved + 4 * UNIT)


def certain(found: Softmax, value: float, times: int = 1) -> np.ndarray:
    """Return which rows have the label of the exact optimum, by the strong convexity of the negative entropy."""
    z, Q, at = found.z, found.dual, np.arange(len(found.dual))
    first = z.mid.argmax(axis=1)
    others = z.mid + times * z.rad
    others[at, first] = -math.inf
    sure = z.mid[at, first] - times * z.rad[at, first] > others.max(axis=1)
    rest = Q.copy()
    rest[at, first] = -math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        radius = np.sqrt(2 * value / found.c) * (1 + 8 * UNIT)
    lead = Q[at, first] - rest.max(axis=1) - 2 * times * found.dual_rad.max(axis=1) - 8 * UNIT
    return (found.c > 0) & sure & (lead > radius)


def best_constants(counts: np.ndarray, free: bool) -> float:
    """Return the objective of the best constant probabilities: the class frequencies if intercepts are free."""
    total = float(counts.sum())
    if not free:
        return total * math.log(len(counts))
    used = counts > 0
    return float(np.sum(counts[used] * np.log(total / counts[used])))
