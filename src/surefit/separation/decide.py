r"""Decides strict, weak or no separation, with a proof: hints from floats, answers from integers.

The search walks down faces. First question: is there :math:`v` with :math:`a_i^\top v > 0` for all i? If not, some rows (a
*face*) have a positive combination that vanishes, and every :math:`v` with :math:`a_i^\top v \ge 0` is zero on them. Next
question: is there :math:`v`, zero on the face, positive on the rows outside its span? And so on, until a direction is found
(strict at the first question, weak later) or the face spans all rows (overlap). Each question raises the rank of the face
by at least one; on data in general position the first question settles everything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.combinations import prove_combination
from surefit.checks.integers import rank_at_least
from surefit.core.budget import Budget
from surefit.separation.exact import primitive, solve_nonnegative
from surefit.separation.hints import search
from surefit.separation.lifted import Lifted, lift, on_face
from surefit.separation.signed_rows import SignedRows, direction_from_floats, shortened

EXACT_COLUMNS = 40  # up to this many columns a vanishing combination is written down in integers at once
FACE_COLUMNS = 2000  # beyond this many columns faces are not pursued
IDLE = 200  # directions that vanish on all rows (redundant columns) before the rank is left unproved


class Decision(NamedTuple):
    """What was proved. ``direction`` (empty: none) is meant up to a positive factor; ``weights`` are integers on ``rows``."""

    status: str  # "strict", "weak", "overlap"; "not strict" (weak or overlap, not known which); "undecided"
    direction: list[int] = []
    rows: list[int] | None = None
    weights: list[int] | None = None  # None with rows: the enclosed proof needs no weights
    null: list[list[int]] | None = None


class Reply(NamedTuple):
    """Answer to one question: a direction, or rows that rule it out with their weights."""

    direction: list[int] | None
    rows: list[int]
    weights: list[int]


def decide(rows: SignedRows, budget: Budget) -> Decision:
    """Settle which of the three cases holds, as far as the budget and the size limits of exact arithmetic allow."""
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
    reply = ask(rows, hint.close if hint.separates else hint.support, [], budget)
    if reply is None:
        return Decision("undecided")
    if reply.direction is not None:
        return Decision("strict", shortened(rows, reply.direction))
    return _walk(rows, space, reply, budget)


def _walk(rows: SignedRows, space: Lifted, first: Reply, budget: Budget) -> Decision:
    """Go on from the first face: weak or overlap."""
    face, weights, rank = first.rows, first.weights, -1
    while True:
        known = Decision("not strict", rows=face, weights=weights)
        before, rank = rank, rank_at_least(rows.lifted(face).rows)
        if rank == rows.dimension:
            return known._replace(status="overlap")
        if rank <= before or rows.dimension > FACE_COLUMNS:
            return known
        start, null = _outside(rows, space, face, rank, budget)
        if start is None:
            return known if null is None else known._replace(status="overlap", null=null)
        reply = ask(rows, start, face, budget)
        if reply is None:
            return known
        if reply.direction is not None:
            return known._replace(status="weak", direction=shortened(rows, reply.direction))
        face = sorted({*face, *reply.rows})
        combined = positive_weights(rows, face, budget)
        if combined is None:
            return known
        weights = combined


def _outside(rows: SignedRows, space: Lifted, face: list[int], rank: int, budget: Budget):
    """Rows outside the span of the face that the next question should start from; or None and the proof that all are in it."""
    A = space.A.toarray() if sparse.issparse(space.A) else space.A
    reduced, others = on_face(A, face)
    if len(others):
        hint = search(reduced, budget)
        if hint is None:
            return None, None
        return others[hint.close[: rows.dimension + 1 - rank] if hint.separates else hint.support], None
    if rows.dimension - rank > IDLE:
        return None, None
    null = rows.null_space(face)  # floats see no row outside; integers have the last word
    outside = [int(i) for v in null for i in np.flatnonzero(rows.signs(v))[:1]]
    return (sorted(set(outside)), None) if outside else (None, null)


def ask(rows: SignedRows, start, face: list[int], budget: Budget) -> Reply | None:
    """Ask exactly for a direction that is zero on ``face`` and positive elsewhere, or for rows that rule it out.

    The question is put to few rows; a direction is then tried on all rows, and the rows it gets wrong join the question.
    With a face, rows may stay at zero: those in its span must. None if it would take too long.
    """
    asked = [int(i) for i in start]
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
        wrong = np.setdiff1d(np.flatnonzero(sign < 0 if face else sign <= 0), chosen)
        if len(wrong) == 0:
            return Reply(v, [], [])
        asked += rows.worst(v, wrong, max(4, len(v) // 2))


def positive_weights(rows: SignedRows, face: list[int], budget: Budget) -> list[int] | None:
    """Positive integers on all rows of the face whose combination vanishes: 1 + beta with beta >= 0."""
    lifted = rows.lifted(face)
    rhs = [-sum(column) for column in zip(*lifted.rows, strict=True)]
    # One more unknown, held at 1 by an equation of its own, carries the denominator out of the answer.
    columns = [*([*row, 0] for row in lifted.rows), [0] * len(rhs) + [1]]
    answer = solve_nonnegative(columns, [*rhs, 1], 0, budget)
    if answer is None or answer.direction is not None:
        return None
    *beta, one = answer.weights
    return primitive([one + b for b in beta])


def _proved_by_floats(rows: SignedRows, support: np.ndarray) -> bool:
    if len(support) != rows.dimension + 1:
        return False
    return prove_combination(rows.X, rows.t, rows.intercept, support, None).residual == 0
