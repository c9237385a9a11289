r"""Decision between strict, weak and no separation: candidates from floats, proofs in exact integer arithmetic.

The first question is whether some :math:`v` has :math:`a_i^\top v > 0` for all i. If not, a positive combination of
some rows (a *face*) vanishes, and every :math:`v` with :math:`a_i^\top v \ge 0` for all i is zero on them. If the face
spans all rows, as it does for data in general position, the classes overlap. Otherwise, the second question is whether
some :math:`v` has all :math:`a_i^\top v \ge 0`, not all zero. Floating-point solvers suggest candidates (``hints.py``,
``cone.py``). If the candidates are wrong, exact arithmetic decides whether some :math:`v` is zero on the face and
positive outside its span. Each answer is a direction, or raises the rank of the face.
"""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget
from surefit.core.integers import rank_at_least
from surefit.separation.cone import FLAT, independent_rows, shortest_sum
from surefit.separation.exact import primitive, solve_nonnegative
from surefit.separation.hints import search
from surefit.separation.lifted import Lifted, lift, on_face
from surefit.separation.proofs import proof_of
from surefit.separation.signed_rows import SignedRows, direction_from_floats, shortened

EXACT_COLUMNS = 40  # up to this many columns, a vanishing combination is computed in integers at once
FACE_COLUMNS = 1000  # above this many columns or entries, weak separation is undecided unless it is ruled out at once
FACE_CELLS = 5e7


class Decision(NamedTuple):
    """Status with its proof: a ``direction`` up to a positive factor, or integer ``weights`` of ``rows``."""

    status: str  # "strict", "weak", "overlap", "not strict" (weak or overlap) or "undecided"
    direction: list[int] = []
    rows: list[int] | None = None
    weights: list[int] | None = None  # None with rows: the enclosed proof needs no weights
    null: list[list[int]] | None = None


class Reply(NamedTuple):
    """Answer to one question: a direction, or rows with weights that prove that there is none."""

    direction: list[int] | None
    rows: list[int]
    weights: list[int]


def decide(rows: SignedRows, budget: Budget) -> Decision:
    """Decide which of the three cases holds, as far as the budget and the size limits of exact arithmetic allow."""
    space = lift(rows.X, rows.t, rows.intercept)
    hint = search(space.A, budget)
    if hint is None:
        return Decision("undecided")
    direction = direction_from_floats(rows, *space.back(hint.v))
    if np.all(rows.signs(direction) > 0):
        return Decision("strict", direction)
    p = rows.dimension
    if p > EXACT_COLUMNS and _proved_by_floats(rows, hint.support):
        return Decision("overlap", rows=hint.support.tolist())
    reply = ask(rows, hint.close if hint.separates else hint.support, budget)
    if reply is None:
        return Decision("undecided")
    if reply.direction is not None:
        return Decision("strict", shortened(rows, reply.direction))
    return _second_question(rows, space, reply, budget)


def _second_question(rows: SignedRows, space: Lifted, first: Reply, budget: Budget) -> Decision:
    """Decide between weak separation and overlap, by the cone of the rows or else face by face."""
    known = Decision("not strict", rows=first.rows, weights=first.weights)
    if rank_at_least(rows.lifted(first.rows).rows) == rows.dimension:
        return known._replace(status="overlap")
    if rows.dimension > FACE_COLUMNS or rows.dimension * len(rows.t) > FACE_CELLS:
        return known
    A = space.A.toarray() if sparse.issparse(space.A) else space.A
    kernel = independent_rows(A)
    powers = np.frexp(space.norms[kernel])[1]  # g is a combination with powers of two as weights: exact in integers too
    g = np.ldexp(space.norms[kernel], -powers) @ A[kernel]
    hint = shortest_sum(A, g, budget) if len(kernel) else None
    if hint is not None and hint.rho is None:
        shares = [1 << int(max(powers, default=0) - power) for power in powers]
        spanning = positive_weights(rows, kernel.tolist(), shares, hint.carriers.tolist(), budget)
        null = [] if spanning is None else _idle_directions(rows, kernel.tolist())
        if null is not None and spanning is not None:
            return Decision("overlap", rows=spanning[0], weights=spanning[1], null=null or None)
    if hint is not None and hint.rho is not None:
        scores = A @ hint.rho
        flat = np.flatnonzero(scores <= FLAT)
        level = flat[independent_rows(A[flat])] if len(flat) else flat
        positive = np.flatnonzero(scores > FLAT)
        start = positive[np.argsort(scores[positive], kind="stable")[: rows.dimension + 1 - len(level)]]
        reply = ask(rows, start, budget, level.tolist())
        if reply is not None and reply.direction is not None:
            return known._replace(status="weak", direction=shortened(rows, reply.direction))
    return _walk(rows, A, first, budget)


def _walk(rows: SignedRows, A: np.ndarray, first: Reply, budget: Budget) -> Decision:
    """Extend the first face by exact tests until the status is decided; floats only suggest candidates."""
    face, weights, rank = first.rows, first.weights, -1
    while True:
        known = Decision("not strict", rows=face, weights=weights)
        before, rank = rank, rank_at_least(rows.lifted(face).rows)
        if rank == rows.dimension:
            return known._replace(status="overlap")
        if rank <= before:
            return known
        reduced, others = on_face(A, face)
        if len(others):
            hint = search(reduced, budget)
            if hint is None:
                return known
            start = others[hint.close[: rows.dimension + 1 - rank] if hint.separates else hint.support]
        else:  # no row is outside the span of the face up to rounding; decide exactly
            null = _idle_directions(rows, face)
            if null is not None:
                return known._replace(status="overlap", null=null)
            start = np.array(
                sorted({int(np.flatnonzero(s)[0]) for s in map(rows.signs, rows.null_space(face)) if s.any()})
            )
        reply = ask(rows, start, budget, face)
        if reply is None:
            return known
        if reply.direction is not None:
            return known._replace(status="weak", direction=shortened(rows, reply.direction))
        face = sorted({*face, *reply.rows})
        combined = positive_weights(rows, face, [1] * len(face), face, budget)
        if combined is None:
            return known
        weights = combined[1]


def _idle_directions(rows: SignedRows, spanning: list[int]) -> list[list[int]] | None:
    """Return a basis of the directions that vanish on the given rows; None unless they vanish on all rows."""
    null = rows.null_space(spanning)
    return null if not any(rows.signs(v).any() for v in null) else None


def ask(rows: SignedRows, start, budget: Budget, face: list[int] | None = None) -> Reply | None:
    """Find, in exact arithmetic, a direction that is positive on all rows, or rows that rule it out.

    With a face, the direction must be zero on its rows and may be zero on other rows. The problem is solved for few
    rows, and its direction is tested on all rows. Misclassified rows are added until there are none. Return None if the
    budget is exhausted.
    """
    strict, face, asked = face is None, face or [], [int(i) for i in start]
    while True:
        chosen = [*face, *asked]
        lifted = rows.lifted(chosen)
        columns = [[*row, int(i >= len(face))] for i, row in enumerate(lifted.rows)]
        answer = solve_nonnegative(columns, [0] * len(lifted.columns) + [1], len(face), budget)
        if answer is None:
            return None
        if answer.direction is None:
            used = [i for i in range(len(face), len(chosen)) if answer.weights[i] > 0]
            return Reply(None, [chosen[i] for i in used], [answer.weights[i] for i in used])
        v = rows.in_data_coordinates(answer.direction[:-1], lifted)
        sign = rows.signs(v)
        wrong = np.setdiff1d(np.flatnonzero(sign <= 0 if strict else sign < 0), chosen)
        if len(wrong) == 0:
            return Reply(v, [], [])
        asked += rows.worst(v, wrong, max(4, len(v) // 2))


def positive_weights(
    rows: SignedRows, kernel: list[int], shares: list[int], carriers: list[int], budget: Budget
) -> tuple[list[int], list[int]] | None:
    """Find a vanishing combination: a positive multiple of ``shares`` on ``kernel``, weights >= 0 on ``carriers``.

    Return the rows with a positive weight, and their weights; None if there is no such combination or if the budget is
    exhausted.
    """
    chosen = sorted({*kernel, *carriers})
    place = {row: k for k, row in enumerate(chosen)}
    lifted = rows.lifted(chosen).rows
    rhs = [-sum(map(mul, shares, column)) for column in zip(*(lifted[place[i]] for i in kernel), strict=True)]
    # An additional unknown, fixed at 1 by its own equation, returns the common denominator.
    columns = [*([*lifted[place[i]], 0] for i in carriers), [0] * len(rhs) + [1]]
    answer = solve_nonnegative(columns, [*rhs, 1], 0, budget)
    if answer is None or answer.direction is not None:
        return None
    *beta, one = answer.weights
    weights = [0] * len(chosen)
    for i, share in zip(kernel, shares, strict=True):
        weights[place[i]] += one * share
    for i, weight in zip(carriers, beta, strict=True):
        weights[place[i]] += weight
    used = [k for k in range(len(chosen)) if weights[k] > 0]
    return [chosen[k] for k in used], primitive([weights[k] for k in used])


def _proved_by_floats(rows: SignedRows, support: np.ndarray) -> bool:
    if len(support) != rows.dimension + 1:
        return False
    return not proof_of(rows, "separation.overlap", {"rows": support}).refusal
