r"""Bounds on :math:`P - \min P` for a model of another library, by its own dual point or by a reference solution.

For a reference solution :math:`v` with gap :math:`g_v`, :math:`P(w) - P(v) \le P(w) - \min P \le P(w) - P(v) + g_v`, an
interval of width :math:`g_v` (theory: ``audit``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from surefit.checks.enclosure import UNIT
from surefit.checks.judge import AtLeast, AtMost
from surefit.core.claims import Claim

ELSEWHERE = 3  # multiple of the rounding error by which another evaluation may differ


class Sums:
    """Sums over the problems of one solution; ``parts`` contains the proved results for each problem."""

    parts: list[Any]

    @property
    def gap(self) -> float:
        """Upper bound on P - min P."""
        return float(sum(part.value for part in self.parts)) * (1 + len(self.parts) * UNIT)

    @property
    def spread(self) -> float:
        """Rounding in the gap."""
        return float(sum(part.spread for part in self.parts)) + 2 * len(self.parts) * UNIT * self.gap

    @property
    def objective(self) -> float:
        """Upper bound on P; P is at least this value minus twice its rounding error."""
        return float(sum(part.objective for part in self.parts)) * (1 + len(self.parts) * UNIT)

    @property
    def rounding(self) -> float:
        """Rounding in the objective."""
        return float(sum(part.objective_spread for part in self.parts)) + 2 * len(self.parts) * UNIT * self.objective

    @property
    def box(self) -> float:
        """Largest coefficients considered, as a multiple of the scale of the data."""
        return float(min(part.box for part in self.parts))


class Excess(NamedTuple):
    """Proved lower and upper bounds on P - min P at the model."""

    least: float
    most: float
    spread: float
    box: float
    numbers: dict[str, Any]  # numbers of the claim about the gap


def excess(own: Sums, best: Sums) -> Excess:
    """Bound P - min P at ``own`` from both sides, with the smaller of two upper bounds."""
    objective = AtMost(own.objective, own.rounding)
    by_dual = Excess(0.0, own.gap, own.spread, own.box, {"objective": objective, "at_least": AtLeast(0.0)})
    if own is best:
        return by_dual
    least = max((own.objective - 2 * own.rounding - best.objective) * (1 - 4 * UNIT), 0.0)
    most = max(own.objective - best.objective + 2 * best.rounding, 0.0) + best.gap
    spread = own.rounding + 3 * best.rounding + best.spread + 4 * UNIT * own.objective
    by_reference = Excess(0.0, (most + 2 * UNIT * own.objective) * (1 + 4 * UNIT), spread, best.box, {})
    # a bound over a box is a weaker statement, so a bound without a box is preferred
    found = min(by_dual, by_reference, key=lambda e: (math.isfinite(e.box), e.most + 2.5 * e.spread))
    at_least = AtLeast(least, own.rounding + best.rounding if least else 0.0)
    return found._replace(least=least, numbers={"objective": objective, "at_least": at_least})


def within(claim: Claim) -> str:
    """Return the sentence that states how far the objective is from its minimum."""
    z = claim.numbers
    if z["at_least"] > 0.1 * claim.value:
        return f"The objective {z['objective']:.6g} is between {z['at_least']:.4g} and {claim.value:.4g} above the smallest possible one."
    return f"The objective {z['objective']:.6g} is within {claim.value:.3g} of the smallest possible one{over(claim)}."


def over(claim: Claim) -> str:
    """Return the phrase that states which coefficients are considered; empty if all are."""
    box = claim.numbers.get("box", math.inf)
    return "" if math.isinf(box) else f" over coefficients up to {box:g} times the scale of the data"


def kept(claim: Claim) -> str:
    """Return the sentence that states how many labels are those of the exact optimum."""
    n, count = claim.numbers["rows"], int(claim.value)
    limit = ", or of its limit where coefficients diverge" if claim.numbers.get("unpenalized") else ""
    return f"{n - count} of {n} training labels are those of the exact optimum{limit}; {count} could change."
