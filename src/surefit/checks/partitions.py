"""Counts and means of cells, re-derived from the rows and the cells they were put into."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-9


@checker("partition.training_error")
def training_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Recount the errors of the rule and of the best rule on the same cells; both must be the claimed share."""
    present, weights = _taking_part(data)
    labels, cells = data.target[present], claim.witness["cells"]
    total = math.fsum(weights)
    if not _one_cell_a_row(cells, labels, claim.witness["labels"]):
        return Finding(
            claim.name, claim.value, 1.0, False, "recomputed", "The cells are not one a row with one label a cell."
        )
    given = _as_read(claim.witness["labels"])
    wrong = math.fsum(weights[labels != given[cells]]) / total
    _, codes = np.unique(labels, return_inverse=True)
    table = np.zeros((int(cells.max()) + 1, int(codes.max()) + 1))
    np.add.at(table, (cells, codes), weights)
    best = math.fsum(table.sum(axis=1) - table.max(axis=1)) / total
    ok = abs(wrong - claim.value) <= ROUNDING and wrong <= best + ROUNDING
    message = f"Recounted: this rule {wrong:.6g}, the best on these cells {best:.6g}."
    return Finding(claim.name, claim.value, wrong, ok, "recomputed", message)


@checker("partition.squares")
def squares(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Recompute the sum of squares of the rule and of the cells' means."""
    present, weights = _taking_part(data)
    y, cells, means = data.target[present], claim.witness["cells"], claim.witness["means"]
    if not _one_cell_a_row(cells, y, means):
        return Finding(
            claim.name, claim.value, math.inf, False, "recomputed", "The cells are not one a row with one mean a cell."
        )
    found = math.fsum(weights * (y - means[cells]) ** 2)
    # Moving the value of a cell from its mean by e costs its weight times e squared: the sum of those is the distance to the best.
    sums = np.zeros(len(means))
    np.add.at(sums, cells, weights * (y - means[cells]))
    mass = np.bincount(cells, weights, minlength=len(means))
    excess = math.fsum(sums[mass > 0] ** 2 / mass[mass > 0])
    scale = max(math.fsum(weights * y * y), 1e-300)
    ok = abs(found - claim.value) <= ROUNDING * scale and excess <= ROUNDING * scale
    message = f"Recomputed {found:.6g}, at most {excess:.2g} above the best on these cells."
    return Finding(claim.name, claim.value, found, ok, "recomputed", message)


def _taking_part(data: Data) -> tuple[np.ndarray, np.ndarray]:
    n = len(data.target)
    weights = np.ones(n) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    present = np.flatnonzero(weights > 0)
    return present, weights[present]


def _one_cell_a_row(cells, rows, values) -> bool:
    return cells.shape == (len(rows),) and int(cells.min()) >= 0 and int(cells.max()) < len(values)


def _as_read(labels: np.ndarray) -> np.ndarray:
    return labels.astype(np.float64) if labels.dtype.kind in "biuf" else labels
