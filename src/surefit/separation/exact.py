r"""Exact solution of linear feasibility problems with integers of any length, by fraction-free pivoting.

The problem is to find :math:`\beta` with :math:`\sum_j \beta_j c_j = r` and :math:`\beta_j \ge 0` for all j that are
not free. If there is none, Farkas' lemma gives a :math:`y` with :math:`y^\top c_j \ge 0` (:math:`= 0` for free j) and
:math:`y^\top r < 0`, which is returned instead. A dual simplex method with zero costs starts from the columns that a
floating-point solver suggests. A correct suggestion requires one elimination; a wrong one requires more pivots but
never gives a wrong answer. Bland's rule guarantees termination.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from surefit.core.budget import Budget

WORK = 20e6  # approximate limit on long-integer products, weighted by length, for one exact answer


class Answer(NamedTuple):
    """Weights (numerators over a common positive denominator) or, if there are none, a direction."""

    weights: list[int]
    direction: list[int] | None


class Tableau:
    """``basic = rhs - table . nonbasic``, all integers over one positive denominator; a pivot exchanges two variables.

    Variable j >= 0 is the weight of column j; variable -1 - i is the slack of equation i, which must be zero in a
    solution.
    """

    def __init__(self, columns: list[list[int]], rhs: list[int]):
        self.rows = [[*entries, r] for *entries, r in zip(*columns, rhs, strict=True)]
        self.basic = [-1 - i for i in range(len(rhs))]
        self.nonbasic = list(range(len(columns)))
        self.denominator = 1
        self.work = 0.0

    def pivot(self, r: int, c: int) -> None:
        """Exchange the basic variable of row ``r`` with the nonbasic variable of column ``c`` (Bareiss's algorithm)."""
        rows, old = self.rows, self.denominator
        pivot_row, p = rows[r], rows[r][c]
        sign = 1 if p > 0 else -1
        for i, row in enumerate(rows):
            if i == r:
                continue
            f = row[c]
            if f:
                new = [(p * x - f * y) // old for x, y in zip(row, pivot_row, strict=True)]
            else:
                new = [p * x // old for x in row] if p != old else row
            new[c] = -f
            rows[i] = [-x for x in new] if sign < 0 else new
        pivot_row = [*pivot_row[:c], old, *pivot_row[c + 1 :]]
        rows[r] = [-x for x in pivot_row] if sign < 0 else pivot_row
        self.denominator = abs(p)
        self.basic[r], self.nonbasic[c] = self.nonbasic[c], self.basic[r]
        self.work += len(rows) * len(pivot_row) * (1 + (p.bit_length() / 512) ** 1.6)

    def combination(self, r: int, sign: int) -> list[int]:
        """Return the multipliers of the original equations that give ``sign`` times row ``r``."""
        y = [0] * len(self.rows)
        for c, variable in enumerate(self.nonbasic):
            if variable < 0:
                y[-1 - variable] = sign * self.rows[r][c]
        if self.basic[r] < 0:
            y[-1 - self.basic[r]] = sign * self.denominator
        return y


def solve_nonnegative(
    columns: list[list[int]], rhs: list[int], free: int = 0, budget: Budget | None = None, work: float = WORK
) -> Answer | None:
    """Solve the problem of this module; the first ``free`` columns may have weights of any sign.

    Columns are tried in the order given. Return None if the budget is exhausted.

    Examples
    --------
    >>> from surefit.separation.exact import solve_nonnegative
    >>> solve_nonnegative([[1, 1], [-2, 1]], [0, 1])  # weights 2/3 and 1/3
    Answer(weights=[2, 1], direction=None)
    >>> solve_nonnegative([[1, 1], [2, 1]], [0, 1])  # none: y = (1, -1) has y'c = (0, 1) and y'r = -1
    Answer(weights=[], direction=[1, -1])
    """
    tableau = Tableau(columns, rhs)
    budget = budget or Budget()

    def spent() -> bool:
        return tableau.work > work or budget.spent() is not None

    # Slacks leave the basis first: each equation gets its own column, unless it is redundant or contradictory.
    for j in range(len(columns)):
        c = tableau.nonbasic.index(j)
        r = next((i for i, b in enumerate(tableau.basic) if b < 0 and tableau.rows[i][c]), None)
        if r is not None:
            tableau.pivot(r, c)
        if spent():
            return None
    for r, variable in enumerate(tableau.basic):
        if variable < 0 and tableau.rows[r][-1]:
            return Answer([], tableau.combination(r, -1 if tableau.rows[r][-1] > 0 else 1))

    pivots = 0
    while True:
        negative = [r for r, b in enumerate(tableau.basic) if b >= free and tableau.rows[r][-1] < 0]
        if not negative:
            break
        greedy = pivots < 2 * len(rhs)  # the steepest row and column first, then Bland's rule, which cannot cycle
        r = min((tableau.rows[r][-1] if greedy else tableau.basic[r], r) for r in negative)[1]
        row = tableau.rows[r]
        entering = [c for c, b in enumerate(tableau.nonbasic) if b >= free and row[c] < 0]
        if not entering:
            return Answer([], tableau.combination(r, 1))
        c = min((row[c] if greedy else tableau.nonbasic[c], c) for c in entering)[1]
        tableau.pivot(r, c)
        pivots += 1
        if spent():
            return None
    weights = [0] * len(columns)
    for r, variable in enumerate(tableau.basic):
        if variable >= 0:
            weights[variable] = tableau.rows[r][-1]
    return Answer(primitive(weights), None)


def null_space(rows: list[list[int]], p: int) -> list[list[int]]:
    """Return independent integer vectors that span ``{v : row . v = 0 for all rows}``; ``p`` is their length."""
    columns = [[row[j] for row in rows] for j in range(p)]
    tableau = Tableau(columns, [0] * len(rows))
    for j in range(p):
        c = tableau.nonbasic.index(j)
        r = next((i for i, b in enumerate(tableau.basic) if b < 0 and tableau.rows[i][c]), None)
        if r is not None:
            tableau.pivot(r, c)
    vectors = []
    for c, j in enumerate(tableau.nonbasic):
        if j >= 0:  # basic = -table . nonbasic: set this variable to the denominator, the other free ones to zero
            v = [0] * p
            v[j] = tableau.denominator
            for r, b in enumerate(tableau.basic):
                if b >= 0:
                    v[b] = -tableau.rows[r][c]
            vectors.append(primitive(v))
    return vectors


def primitive(v: list[int]) -> list[int]:
    """Divide by the greatest common divisor."""
    g = gcd(*v) if v else 0
    return [entry // g for entry in v] if g > 1 else v
