"""Checks of counts and means of cells, recomputed from the rows.

Cubic cells are computed from their side length. The cells of another partitioner are stored as a witness and compared
with those of the model, if it is available.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import AtMost, Proof, claim, shared
from surefit.checks.labels import label_codes, row_weights
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.distinct import unique_rows
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

fact = partial(claim, side="upper", theory="consistency")


class Cells(NamedTuple):
    """Rows of positive weight, with their weights and cells."""

    rows: np.ndarray
    weights: np.ndarray
    cell: np.ndarray
    n_cells: int
    mass: np.ndarray  # weight of each cell

    @property
    def ratio(self) -> float:
        """Relative rounding of sums over the rows of a cell."""
        return gamma(len(self.rows) + 8)


@shared
def _cells(certificate: Certificate, data: Data) -> Cells:
    model, side = certificate.model, certificate.problem["side"]
    weights = row_weights(data)
    rows = np.flatnonzero(weights > 0)
    if side is not None:
        keys = np.floor(np.asarray(data.X, dtype=np.float64)[rows] / side) + 0.0
        known, cell = unique_rows(keys, return_inverse=True)
        cell = cell.reshape(-1)
        if not np.array_equal(model["cell_keys_"], known):
            raise CertificateError(f"{certificate.estimator}: cell_keys_ are not the cubes of the training rows.")
    else:
        cell = np.asarray(certificate.claims[0].witness["cells"])
        if cell.shape != rows.shape or cell.dtype.kind not in "iu" or cell.min() < 0:
            raise CertificateError(f"{certificate.estimator}: the witness must name one cell per row.")
        if certificate.subject is not None and not np.array_equal(certificate.subject.apply(data.X)[rows], cell):
            raise CertificateError(f"{certificate.estimator}: the partition does not give the cells of the witness.")
    count = len(model["cell_keys_"])
    mass = np.bincount(cell, weights[rows], minlength=count)
    if len(mass) != count or not np.all(mass > 0) or int(model["n_cells_"]) != count:
        raise CertificateError(f"{certificate.estimator}: every cell must have a training row.")
    return Cells(rows, weights[rows], cell, count, mass)


def _table(certificate: Certificate, data: Data, cells: Cells) -> np.ndarray:
    """Return the weight of each class in each cell."""
    codes, K = label_codes(certificate, data)
    flat = np.bincount(cells.cell * K + codes[cells.rows], cells.weights, minlength=cells.n_cells * K)
    return flat.reshape(cells.n_cells, K)


@fact("partition.training_error", kind="optimality", high=1.0,
      says="The training error is {value:.4g}; of all rules that are constant on the {cells} cells none has one smaller by more than "
      "{excess:.1g}.")  # fmt: skip
def training_error(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the errors of the rule and of the best rule on the same cells."""
    cells, shares = _cells(certificate, data), np.asarray(certificate.model["cell_shares_"])
    table, codes = _table(certificate, data, cells), label_codes(certificate, data)[0][cells.rows]
    if shares.shape != table.shape or not np.all(np.isfinite(shares)):
        raise ValueError("cell_shares_ must have one share per cell and class")
    total = math.fsum(cells.weights)
    lost = math.fsum(cells.weights[np.argmax(shares, axis=1)[cells.cell] != codes])
    best = math.fsum((table.sum(axis=1) - table.max(axis=1)).tolist())
    whole = bool(np.all(cells.weights == np.rint(cells.weights))) and total < 2.0**52
    doubt = 0.0 if whole else 4 * cells.ratio
    numbers = {"cells": cells.n_cells, "excess": AtMost(max(lost - best, 0.0) / total * (1 + 8 * UNIT) + doubt, doubt)}
    note = f"this rule misclassifies {lost:.6g} of {total:.6g}, the best on these cells {best:.6g}."
    share = _quotient_up(lost, total) if whole else lost / total * (1 + 8 * UNIT)
    return Proof(min(share, 1.0), "exact" if whole else "enclosed", note, numbers)


def _quotient_up(part: float, total: float) -> float:
    """Return the smallest float that is not less than the quotient."""
    found = part / total
    return found if Fraction(found) * Fraction(total) >= Fraction(part) else math.nextafter(found, math.inf)


@fact("partition.shares", kind="data_fact",
      says="Counts and class shares of the cells, and of all rows, are those of the training rows, up to {value:.1g}.")  # fmt: skip
def shares(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare stored counts and shares with those of the rows."""
    cells, model = _cells(certificate, data), certificate.model
    table = _table(certificate, data, cells)
    pairs = [
        (model["cell_shares_"], table / cells.mass[:, None]),
        (model["cell_counts_"] / cells.mass, np.ones(cells.n_cells)),
        (model["_prior"], table.sum(axis=0) / table.sum()),
    ]
    return _compared(pairs, 4 * cells.ratio)


@fact("partition.squares", kind="optimality",
      says="The sum of squares is {value:.6g}; of all functions that are constant on the {cells} cells none has one smaller by more than "
      "{excess:.1g}.")  # fmt: skip
def squares(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the excess of the sum of squares: a cell's weight times the squared distance of its value from its mean."""
    cells, means = _cells(certificate, data), np.asarray(certificate.model["cell_means_"])
    off = np.asarray(data.target, dtype=np.float64)[cells.rows] - means[cells.cell]
    found = math.fsum(cells.weights * off**2)
    sums = np.bincount(cells.cell, cells.weights * off, minlength=cells.n_cells)
    sizes = np.bincount(cells.cell, cells.weights * np.abs(off), minlength=cells.n_cells)
    high = math.fsum((np.abs(sums) + cells.ratio * sizes) ** 2 / cells.mass) * (1 + 4 * cells.ratio)
    low = math.fsum(sums**2 / cells.mass)
    doubt, spread = 8 * UNIT * found, high - low + 4 * cells.ratio * high
    numbers = {"cells": cells.n_cells, "excess": AtMost(high, spread)}
    return Proof(found + doubt, note=f"at most {high:.2g} above the best.", numbers=numbers, spread=doubt)


@fact("partition.means", kind="data_fact",
      says="Counts and means of the cells, and of all rows, are those of the training rows, up to {value:.1g}.")  # fmt: skip
def means(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare stored counts and means with those of the rows."""
    cells, model = _cells(certificate, data), certificate.model
    y = np.asarray(data.target, dtype=np.float64)[cells.rows]
    center = float(np.median(y))
    off, scale = y - center, 1 + float(np.max(np.abs(y)))
    own = np.bincount(cells.cell, cells.weights * off, minlength=cells.n_cells) / cells.mass
    mean = math.fsum(cells.weights * off) / math.fsum(cells.weights)
    pairs = [
        (model["cell_means_"] - center, own),
        (model["cell_counts_"] / cells.mass, np.ones(cells.n_cells)),
        (np.reshape(model["mean_"], ()) - center, np.asarray(mean)),
    ]
    return _compared(pairs, 4 * cells.ratio * float(np.max(np.abs(off))) + 4 * cells.ratio + 8 * UNIT * scale)


def _compared(pairs: list[tuple[np.ndarray, np.ndarray]], doubt: float) -> Proof:
    if any(np.shape(stored) != np.shape(own) for stored, own in pairs):
        raise ValueError("the cells of the model are not those of the rows")
    worst = float(np.max([np.max(np.abs(np.asarray(stored) - own)) for stored, own in pairs]))  # NaN stays NaN
    return Proof(worst + doubt, note="recomputed from the rows.", spread=doubt)
