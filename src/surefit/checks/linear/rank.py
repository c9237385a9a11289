"""Checks of the number of directions of the coefficients that the data determine."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from surefit.checks.gap.equalities import LARGEST, Frame, frame_of, rows_to_move
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.linear.columns import Columns, columns_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

INDEPENDENT = 1e-8  # a column counts if this share of its norm is new, far above what a frame can resolve


@claim(
    "linear.rank",
    kind="data_fact",
    side="upper",
    theory="least-squares-gap",
    says=lambda c: (
        f"The data determine at least {c.numbers['features'] - c.value:.0f} of {c.numbers['features']} directions"
        + (": the solution is unique." if c.value == 0 else ".")
    ),
)
def rank(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the number of undetermined directions: all columns minus those proved to be independent."""
    columns, d = columns_of(certificate, data), data.X.shape[1]
    free = columns.points[0].intercept
    if columns.operator.frame(np.arange(d), free, columns.points[0].c) is not None:
        missing = 0
    else:
        wanted = int(d - stated.value) + free if stated.value == stated.value and 0 <= stated.value <= d else None
        found = _independent(columns, d, free, wanted)
        if found is None:
            return refused("there are too many columns to prove their independence")
        missing = d + free - len(found.T)
    return Proof(float(missing), note=f"{d - missing} columns are independent.", numbers={"features": d})


def _independent(columns: Columns, d: int, free: bool, wanted: int | None) -> Frame | None:
    """Return a frame of the most independent columns: ``wanted`` of them, or all that are clearly independent."""
    D = columns.points[0].c
    every = np.flatnonzero(D > 0)
    few = rows_to_move(D, d + free)
    for rows in (every, few):
        if len(rows) * (d + free) > LARGEST:
            continue
        F = columns.operator.columns(np.arange(d), rows)
        F = np.column_stack([F, np.ones(len(rows))]) if free else F
        Z = np.sqrt(D[rows])[:, None] * F
        norms = np.linalg.norm(Z, axis=0)
        R, order = linalg.qr(Z / np.where(norms > 0, norms, 1.0), mode="r", pivoting=True, check_finite=False)
        diagonal = np.abs(np.diag(R))
        count = int(np.sum(diagonal > INDEPENDENT)) if wanted is None else min(wanted, len(diagonal))
        while count > 0:
            found = frame_of(F[:, np.sort(order[:count])], D, rows)
            if found is not None:
                return found
            count -= 1
    return None
