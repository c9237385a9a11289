"""Claims of linear models and their checkers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap import (
    certain_labels,
    coefficient_distance,
    largest_score_distance,
    least_multiplier,
    loss_of,
    zero_in_every_solution,
)
from surefit.checks.gap.squared_loops import weight_range
from surefit.checks.judge import AtLeast, AtMost, Proof, claim
from surefit.checks.linear import partitioned, softmax_partitioned
from surefit.checks.linear.columns import columns_of, gaps, null_of, penalties_of
from surefit.checks.linear.softmax import Softmax, certain
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data

register(
    Entry(
        "linear.chosen",
        "estimate",
        "none",
        "The penalty was chosen by its cross-validation score, which estimates the error on new rows and is not a bound.",
    )
)


@claim(
    "linear.gap",
    partitioned=True,
    kind="optimality",
    side="upper",
    infinite=True,
    theory="fenchel-gap",
    says=lambda c: (
        f"The objective {c.numbers['objective']:.6g} is within {c.value:.3g} of the smallest possible one{_over(c)}."
    ),
)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound P - min P over all problems; the limit is ``tol`` times the objective of the best constants."""
    found = gaps(certificate, data)
    value, spread = sum(g.value for g in found), sum(g.spread for g in found)
    objective, rounding = sum(g.objective for g in found), sum(g.objective_spread for g in found)
    null, off, floor = null_of(certificate, data)
    tol = certificate.problem["tol"]
    limit = None if tol is None else tol * null + floor
    limit = limit if limit is None or math.isfinite(limit) else None  # rounding can have any effect on such targets
    return Proof(
        value * (1 + len(found) * UNIT),
        note=f"P - min P <= {value:.3g} by a dual point.",
        numbers={
            "objective": AtMost(objective * (1 + len(found) * UNIT), rounding),
            "box": AtLeast(min(g.box for g in found)),
        },
        limit=limit,
        spread=spread,
        limit_spread=0.0 if limit is None else min(tol * off + 1e-6 * floor, 0.2 * limit),
    )


@claim(
    "linear.distance",
    partitioned=True,
    kind="optimality",
    side="upper",
    infinite=True,
    theory="prediction-stability",
    says="The coefficients are within {value:.3g} of those of the exact optimum (Euclidean distance).",
)
def distance(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the distance of each coefficient vector from its optimum by the strong convexity of the penalty."""
    pairs = list(zip(gaps(certificate, data), penalties_of(certificate, data), strict=True))
    value = max(coefficient_distance(g.value, p) for g, p in pairs)
    wide = max(coefficient_distance(g.value + 3 * g.spread, p) for g, p in pairs)
    return Proof(value, note="from the gap and strong convexity.", spread=_apart(value, wide))


@claim(
    "linear.stability",
    partitioned=True,
    kind="uncertainty",
    side="upper",
    infinite=True,
    theory="prediction-stability",
    says="No prediction on the training rows is farther than {value:.3g} from that of the exact optimum.",
)
def stability(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the distance of training predictions from the optimal ones by the strong convexity of the squared error."""
    least, loss, value, wide = _least_weight(certificate, data), loss_of(certificate.problem), 0.0, 0.0
    for g in gaps(certificate, data):
        value = max(value, largest_score_distance(g.value, loss, least))
        wide = max(wide, largest_score_distance(g.value + 3 * g.spread, loss, least))
    return Proof(value, note="from the gap and strong convexity.", spread=_apart(value, wide))


@claim(
    "linear.inactive",
    partitioned=True,
    kind="optimality",
    side="upper",
    theory="gap-safe",
    says=lambda c: f"{len(c.numbers['zero'])} of {c.numbers['features']} features are zero in every exact solution.",
)
def inactive(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the listed features are zero in all solutions; ``value`` counts the other features."""
    d, loss = data.X.shape[1], loss_of(certificate.problem)
    zero = np.ones(d, dtype=bool)
    for g, penalty, norms, w in _with_norms(certificate, data):
        if penalty.radius is not None:  # use a lower bound on the multiplier at the optimum
            penalty = penalty.scaled(least_multiplier(g.value, loss, penalty, g.least, norms))
        zero &= zero_in_every_solution(g.value, loss, penalty, g.correlations, norms)[:d] & (w[:d] == 0)
    proved = np.flatnonzero(zero).tolist()
    listed = stated.numbers.get("zero", proved)
    if listed != proved and isinstance(listed, list) and all(type(j) is int for j in listed):
        if listed == sorted(set(listed) & set(proved)):
            proved = listed  # listing fewer features than proved is a weaker statement
    note = f"{len(proved)} features are zero."
    return Proof(float(d - len(proved)), note=note, numbers={"features": d, "zero": proved})


@claim(
    "linear.labels",
    partitioned=True,
    kind="uncertainty",
    side="upper",
    theory="prediction-stability",
    says=lambda c: f"At most {c.value:.0f} of {c.numbers['rows']} training labels could differ at the exact optimum.",
)
def labels(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the training rows of a logistic fit whose label at the exact optimum is not certain."""
    (g,) = gaps(certificate, data)
    own = softmax_partitioned if isinstance(g, Softmax) else partitioned
    counts = own.uncertain_labels(certificate, data) if isinstance(data.X, PartitionedRows) else []
    for times in () if counts else (0, 3):
        value = g.value + times * g.spread
        if isinstance(g, Softmax):
            sure = certain(g, value, 1 + times)
        else:
            (point,) = columns_of(certificate, data).points
            sure = certain_labels(g._replace(value=value), point.y, point.c, 4 * UNIT if times else 0.0)
        counts.append(int(np.sum(~sure)))
    spread, numbers = (counts[1] - counts[0]) / 2.5, {"rows": data.X.shape[0]}
    return Proof(float(counts[0]), note="from the gap and entropy.", numbers=numbers, spread=spread)


@claim(
    "linear.feasible",
    partitioned=True,
    kind="feasibility",
    side="upper",
    theory="fenchel-gap",
    says="The coefficients violate their constraints by at most {value:.3g}.",
)
def feasible(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Measure the largest violation of signs, exclusions and the radius by the coefficients."""
    worst, penalties = 0.0, penalties_of(certificate, data)
    for w, penalty in zip(_coefficients(certificate, data), penalties, strict=True):
        if penalty.positive:
            worst = max(worst, float(np.max(-w, initial=0.0)))
        worst = max(worst, float(np.max(np.abs(w[penalty.excluded]), initial=0.0)))
        if penalty.radius is not None:
            worst = max(worst, float(-penalty.slack(w)))
    return Proof(worst, "exact", note="constraints evaluated.", limit=0.0)


def _least_weight(certificate: Certificate, data: Data) -> float:
    """Return the smallest positive weight of a row, whose score has the largest distance."""
    if isinstance(data.X, PartitionedRows):
        return partitioned.smallest_weight(certificate, data)
    return float(weight_range(columns_of(certificate, data).points[0].c)[1])


def _coefficients(certificate: Certificate, data: Data) -> list[np.ndarray]:
    if isinstance(data.X, PartitionedRows):
        return [column.w for column in partitioned.columns_of(certificate, data.X)[0]]
    return [point.w for point in columns_of(certificate, data).points]


def _with_norms(certificate: Certificate, data: Data) -> list[tuple[Any, Any, np.ndarray, np.ndarray]]:
    """Return the gap, penalty, weighted column norms and coefficients of every problem."""
    if isinstance(data.X, PartitionedRows):
        found = partitioned.proved(certificate, data)
        return [(proof.gap, penalty, proof.norms, column.w) for column, penalty, proof, _ in found]
    columns = columns_of(certificate, data)
    parts = zip(gaps(certificate, data), columns.penalties, columns.points, strict=True)
    return [
        (gap, penalty, columns.operator.norms(point.c) if gap.norms is None else gap.norms, point.w)
        for gap, penalty, point in parts
    ]


def _over(claim: Claim) -> str:
    box = claim.numbers["box"]
    return (
        ""
        if math.isinf(box)
        else f" over coefficients up to {box:g} times the scale of the data (columns are dependent)"
    )


def _apart(value: float, wide: float) -> float:
    return (wide - value) / 2.5 if math.isfinite(wide) and math.isfinite(value) else 0.0
