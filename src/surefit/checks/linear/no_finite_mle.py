r"""Checks that a logistic likelihood has no maximum: a direction along which it keeps increasing.

Along coefficients :math:`V` (one line per class), the log-likelihood of row :math:`i` of class :math:`k` keeps
increasing if :math:`\tilde x_i^\top(V_k - V_l) \ge 0` for all :math:`l`, strictly for one :math:`l`. If it decreases
for no row and increases for some row, every finite estimate can be improved (theory: ``separation-and-mle``). Signs are
computed exactly.
"""

from __future__ import annotations

import numpy as np

from surefit.checks.judge import Proof, claim, no_claim, refused
from surefit.checks.linear.columns import gaps
from surefit.core import integers
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import class_codes

LONGEST = 20_000  # digits of an integer in a witness


@claim(
    "logistic.no_finite_mle",
    kind="data_fact",
    side="exact",
    theory="separation-and-mle",
    says="No finite maximum-likelihood estimate exists: along separation_ {value:.0f} comparisons of rows with "
    "other classes keep improving and none gets worse; a maximum needs 0.",
)
def no_finite_mle(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that no row of positive weight is on the wrong side of the direction, and some row is on its own."""
    problem, V = certificate.problem, np.asarray(stated.witness["V"])
    free, K = bool(problem["fit_intercept"]), len(problem["classes"])
    if problem["penalty"]["l1"] != 0 or problem["penalty"]["l2"] != 0:
        return refused("with a penalty there is an optimum")
    if V.shape != (K, data.X.shape[1] + free) or V.dtype.kind not in "fU" or V.dtype.itemsize > 4 * LONGEST:
        return refused(f"the direction must have {K} lines of {data.X.shape[1] + free} numbers")
    if V.dtype.kind == "f" and not np.all(np.isfinite(V)):
        return refused("the direction has an entry that is not a number")
    directions = [integers.vector(line) for line in _common_scale(V)]
    codes = class_codes(data.target, problem["classes"])
    counted = np.asarray(problem["class_weights"])[codes] * (1.0 if data.weights is None else data.weights) > 0
    wrong, strict, level = 0, 0, "exact"
    for k, own in enumerate(directions):
        rows = np.flatnonzero((codes == k) & counted)
        for other, theirs in enumerate(directions):
            if other == k or len(rows) == 0:
                continue
            v = [a - b for a, b in zip(own, theirs, strict=True)]
            signs, how = integers.signs(data.X[rows], v, free)
            level = "enclosed" if how == "enclosed" else level
            wrong, strict = wrong + int(np.sum(signs < 0)), strict + int(np.sum(signs > 0))
    if strict == 0 or wrong > 0:
        return refused(f"{strict} comparisons improve along the direction, {wrong} get worse")
    return Proof(float(strict), level, "signs found along the direction.", limit=0.0)


no_claim(
    "logistic.averaged",
    "The coefficients are means over the folds of a cross-validation; nothing is claimed about their distance from an optimum.",
)


@claim(
    "logistic.finite_mle",
    kind="data_fact",
    side="upper",
    theory="separation-and-mle",
    says=lambda c: (
        "A finite maximum-likelihood estimate exists: positive multiples of all rows cancel, so none is separated."
        if c.value == 0
        else f"Whether a finite maximum-likelihood estimate exists is not proved: {c.value:.0f} rows may be separated."
    ),
)
def finite_mle(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the rows whose coefficient in a vanishing combination is not proved to be positive."""
    (found,) = gaps(certificate, data)
    n = data.X.shape[0]
    shares = np.abs(found.dual) - 3 * found.dual_rad if found.met else np.zeros(n)
    if shares.ndim == 2:  # of a row with every other class
        shares = shares.min(axis=1)
    counted = np.ones(n, dtype=bool) if data.weights is None else data.weights > 0
    return Proof(float(np.sum(~(shares > 0) & counted)), note="a combination of the rows that vanishes.")


def _common_scale(V: np.ndarray) -> list[np.ndarray]:
    """Return the lines as integers on one common scale: floats share a power of two, strings are already integers."""
    if V.dtype.kind == "U":
        return list(V)
    whole = integers.integers(V.ravel())[0]
    return list(np.array([str(entry) for entry in whole]).reshape(V.shape))
