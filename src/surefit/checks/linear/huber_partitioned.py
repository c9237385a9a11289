"""Duality gap of Huber regression with a fitted scale over rows in partitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import BLOCK, UNIT, upper_sum
from surefit.checks.gap import Gap, Penalty
from surefit.checks.gap.partitioned import prove_partitioned
from surefit.checks.gap.passes import How, local
from surefit.checks.gap.theorem import row_duals
from surefit.checks.judge import shared
from surefit.checks.linear.huber import SCALINGS, BallSums, at_scale, ball_sums, with_scale
from surefit.checks.linear.partitioned import Column, columns_of
from surefit.checks.linear.targets import ROUNDING
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows, weights_in
from surefit.core.sample import Data, read_target


@shared
def proved(certificate: Certificate, data: Data) -> tuple[Gap, Penalty]:
    """Bound P - min P over coefficients, intercepts and scales; dual variables are scaled into their ball."""
    rows, scale = data.X, float(certificate.model["scale_"])
    (column,), (penalty,) = columns_of(at_scale(certificate), rows)
    witness = next((claim.witness.get("dual_0") for claim in certificate.claims if claim.name == "linear.gap"), None)
    if witness is not None and np.shape(witness) != (rows.shape[0],):
        raise ValueError(f"the dual point must have {rows.shape[0]} numbers, one per row")
    sliced = () if witness is None else (np.asarray(witness, dtype=np.float64),)
    depth = 2 + math.ceil(math.log2(max(len(rows.lengths), 1)))
    up, total, factor = 1 + 2 * depth * UNIT, rows.total_weight, 1.0
    ball = total * scale * scale * (1 - 16 * UNIT)
    for _ in range(SCALINGS):
        proof = prove_partitioned(rows, column, penalty, How(), witness, factor)
        found = rows.map_reduce(_sums, column, proof.how, proof.shrink, sliced=sliced) * up
        sums, apart = BallSums(*found[:3].tolist()), float(found[3])
        if sums.largest <= ball:
            break
        factor *= math.sqrt(ball / sums.largest) * (1 - 1e-12)
    sums = sums._replace(least=sums.least / up**2)
    terms = min(rows.shape[0], BLOCK) + depth
    return with_scale(proof.gap, sums, apart, total, scale, terms, sums.largest <= ball), penalty


def _sums(part: Part, column: Column, how: How, shrink: tuple[float, float], witness: Any = None) -> np.ndarray:
    own = local(part, column, how, witness)
    g, g_rad, _ = row_duals(own.terms, own.point.c, shrink)
    apart = upper_sum(own.point.c * (np.abs(own.z.mid - own.point.y) + own.z.rad)) * 16 * UNIT * column.loss.high
    return np.array([*ball_sums(weights_in(part), g, g_rad), apart])


def null_objective(certificate: Certificate, data: Data) -> tuple[float, ...]:
    """Return twice the weighted spread of the targets, its rounding, and the effect of rounding of the scores."""
    rows: PartitionedRows = data.X
    total, level = rows.total_weight, 0.0
    if certificate.problem["fit_intercept"]:
        level = float(rows.map_reduce(_about, 0.0)[0]) / total
    null = 2 * math.sqrt(total * float(rows.map_reduce(_about, level)[1]))
    size = 1 + max(abs(rows.smallest_target), abs(rows.largest_target))
    floor = 4 * certificate.problem["epsilon"] * ROUNDING * size * total
    return null, (64 + 4 * len(rows.lengths)) * UNIT * null, floor


def _about(part: Part, level: float) -> np.ndarray:
    s, y = weights_in(part), np.asarray(read_target(part.y), dtype=np.float64) - level
    return np.array([math.fsum(s * y), math.fsum(s * y**2)])
