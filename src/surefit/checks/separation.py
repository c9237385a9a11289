r"""Checks facts about labelled data: separating directions, proofs that there are none, margin brackets, columns.

A labelled row is :math:`a_i = t_i (x_i, 1)`, without the 1 if the hyperplane must pass through the origin. Exactly one of
three things is true of the rows (theory: ``gordan``):

- *strict*: some :math:`v = (w, b)` has :math:`a_i^\top v > 0` for all i;
- *weak*: none has, but some has :math:`a_i^\top v \ge 0` for all i and :math:`> 0` for one;
- *overlap*: every :math:`v` with :math:`a_i^\top v \ge 0` for all i has :math:`a_i^\top v = 0` for all i.

Directions are shown by their signs on every row, the absence of directions by positive combinations that vanish.
"""

import math

import numpy as np

from surefit.checks import combinations, integers, margin_bracket
from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError


@checker("separation.direction")
def check_direction(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """All rows lie strictly on their side."""
    signs, level = _signs(certificate, claim, data)
    wrong = int(np.sum(signs <= 0))
    message = (
        "every row lies strictly on its side." if wrong == 0 else f"{wrong} rows do not lie strictly on their side."
    )
    return Finding(claim.name, claim.value, float(wrong), wrong <= claim.value, level, message)


@checker("separation.weak_direction")
def check_weak_direction(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No row lies on the wrong side and at least one lies strictly on its own."""
    signs, level = _signs(certificate, claim, data)
    wrong, strict = int(np.sum(signs < 0)), int(np.sum(signs > 0))
    message = (
        f"{strict} rows lie strictly on their side, {int(np.sum(signs == 0))} on the hyperplane, {wrong} beyond it."
    )
    ok = wrong <= claim.value and strict > 0
    return Finding(claim.name, claim.value, float(wrong if strict else len(signs)), ok, level, message)


@checker("separation.farkas")
def check_farkas(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """A positive combination of rows vanishes, so no direction is strict on them."""
    found = _combination(certificate, claim, data)
    message = f"a positive combination of {len(claim.witness['rows'])} rows vanishes."
    if found.residual > 0:
        message = (
            f"the combination does not vanish (length {found.residual:.3g} per unit of weight); a small remainder bounds "
            "the margin but does not prove that there is none."
        )
    return Finding(claim.name, claim.value, found.residual, found.residual <= claim.value, found.level, message)


@checker("separation.overlap")
def check_overlap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The rows of a vanishing combination span all rows, so no direction is even weak."""
    found = _combination(certificate, claim, data)
    intercept = certificate.problem["intercept"]
    dimension = data.X.shape[1] + int(intercept)
    null = claim.witness.get("null")
    idle = combinations.annihilates(data.X, null, intercept) if null is not None else 0
    missing = float(dimension - found.spanned - idle) if found.residual == 0 else math.inf
    message = f"{len(claim.witness['rows'])} rows of a vanishing combination span the space of all rows."
    if missing > 0:
        message = "the rows of the combination are not shown to span the space of all rows."
    return Finding(claim.name, claim.value, missing, missing <= claim.value, found.level, message)


@checker("separation.margin_bracket")
def check_margin_bracket(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """``low <= maximal margin <= up``; value is the width of the bracket."""
    t = labels(certificate, data)
    w, b, rows = claim.witness["w"], float(claim.witness["b"].ravel()[0]), claim.witness["rows"]
    if len(w) != data.X.shape[1] or len(rows) == 0 or rows.min() < 0 or rows.max() >= len(t):
        return Finding(claim.name, claim.value, math.inf, False, "enclosed", "the witness does not fit these data.")
    alpha = np.zeros(len(t))
    alpha[rows] = claim.witness["alpha"]
    low = margin_bracket.margin_of(data.X, t, w, b)
    up = margin_bracket.hull_distance(data.X, t, alpha, certificate.problem["intercept"])
    claimed = claim.numbers["low"], claim.numbers["up"]
    # The claimed ends may differ from ours by rounding only: a claim inside the interval of our own rounding stands.
    ok = claimed[0] <= low.up and claimed[1] >= up.down and claimed[1] - claimed[0] <= claim.value
    message = f"{low.down:.6g} <= maximal margin <= {up.up:.6g}."
    return Finding(claim.name, claim.value, up.up - low.down, bool(ok), "enclosed", message)


@checker("separation.radius")
def check_radius(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No row is longer than value."""
    R = margin_bracket.radius_of(data.X)
    return Finding(claim.name, claim.value, R.up, R.down <= claim.value, "enclosed", f"max |x| <= {R.up:.6g}.")


@checker("separation.columns")
def check_columns(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each listed column separates by itself (strictly or weakly, as listed)."""
    t, intercept = labels(certificate, data), certificate.problem["intercept"]
    strict, weak = single_columns(data.X, t, intercept)
    wrong = [j for j in claim.witness["strict"].tolist() if j not in strict]
    wrong += [j for j in claim.witness["weak"].tolist() if j not in weak]
    message = "each listed column separates by itself." if not wrong else f"column {wrong[0]} does not separate so."
    return Finding(claim.name, claim.value, float(len(wrong)), len(wrong) <= claim.value, "exact", message)


@checker("separation.column_set")
def check_column_set(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The listed columns together separate."""
    columns = claim.witness["columns"]
    outside = np.setdiff1d(np.arange(data.X.shape[1]), columns)
    v = np.asarray(integers.vector(claim.witness["v"]), dtype=object)
    signs, level = _signs(certificate, claim, data)
    wrong = int(np.sum(signs < 0) + (np.sum(signs == 0) if claim.numbers["strict"] else not np.any(signs > 0)))
    wrong += int(np.sum(v[outside] != 0))
    message = f"{len(columns)} columns suffice." if wrong == 0 else "the listed columns do not separate."
    return Finding(claim.name, claim.value, float(wrong), wrong <= claim.value, level, message)


@checker("separation.one_class")
def check_one_class(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """All rows have the same label."""
    y = named_labels(data)
    other = int(np.sum(y != y[0]))
    return Finding(claim.name, claim.value, float(other), other <= claim.value, "exact", "labels recounted.")


def single_columns(X, t: np.ndarray, intercept: bool) -> tuple[list[int], list[int]]:
    """Columns that separate by themselves: strictly, and (others) weakly. Comparisons of floats are exact.

    With an intercept a column separates if the two classes overlap at most in one value; without, if its sign is the label's.
    """
    if intercept:
        ranges = [
            (_extreme(X[t > 0], "min"), _extreme(X[t < 0], "max")),
            (_extreme(X[t < 0], "min"), _extreme(X[t > 0], "max")),
        ]
        varies = _extreme(X, "max") > _extreme(X, "min")
        strict = np.logical_or(*(low > high for low, high in ranges))
        weak = np.logical_or(*(low >= high for low, high in ranges)) & varies & ~strict
    else:
        signed = X.multiply(t[:, None]).tocsc() if hasattr(X, "multiply") else X * t[:, None]
        low, high = _extreme(signed, "min"), _extreme(signed, "max")
        strict = (low > 0) | (high < 0)
        weak = ((low >= 0) | (high <= 0)) & (low != high) & ~strict
    return np.flatnonzero(strict).tolist(), np.flatnonzero(weak).tolist()


def labels(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the labels as +1 and -1."""
    if "t" not in data.memo:
        y, problem = named_labels(data), certificate.problem
        t = (y == problem["positive"]).astype(np.float64) - (y == problem["negative"]).astype(np.float64)
        if not np.all(t):
            raise CertificateError(
                f"{certificate.estimator}: row {int(np.argmin(np.abs(t)))} has a label that is neither "
                f"{problem['positive']!r} nor {problem['negative']!r}; the certificate is not about these labels."
            )
        data.memo["t"] = t
    return data.memo["t"]


def named_labels(data: Data) -> np.ndarray:
    """Labels as a certificate can name them in JSON: numbers, or texts."""
    y = np.asarray(data.y)
    return y if y.dtype.kind == "f" else y.astype(str)


def _extreme(X, which: str) -> np.ndarray:
    values = getattr(X, which)(axis=0)
    return values.toarray().ravel() if hasattr(values, "toarray") else np.asarray(values).ravel()


def _signs(certificate: Certificate, claim: Claim, data: Data) -> tuple[np.ndarray, str]:
    v, intercept = integers.vector(claim.witness["v"]), certificate.problem["intercept"]
    if len(v) != data.X.shape[1] + int(intercept):
        return np.full(data.X.shape[0], -1), "exact"  # no direction at all: every row counts as wrong
    signs, level = integers.signs(data.X, v, intercept)
    return signs * labels(certificate, data), level


def _combination(certificate: Certificate, claim: Claim, data: Data) -> combinations.Combination:
    t, intercept = labels(certificate, data), certificate.problem["intercept"]
    return combinations.prove_combination(data.X, t, intercept, claim.witness["rows"], claim.witness.get("weights"))
