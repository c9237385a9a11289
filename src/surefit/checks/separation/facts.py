r"""Checks of facts about labeled data: separating directions, proofs that none exist, margin bounds, and columns.

A labeled row is :math:`a_i = t_i (x_i, 1)`, without the 1 if the hyperplane must pass through the origin. Exactly one
of three cases holds (theory: ``gordan``):

- *strict*: some :math:`v = (w, b)` has :math:`a_i^\top v > 0` for all i;
- *weak*: no such direction exists, but some :math:`v` has :math:`a_i^\top v \ge 0` for all i and :math:`> 0` for one;
- *overlap*: every :math:`v` with :math:`a_i^\top v \ge 0` for all i has :math:`a_i^\top v = 0` for all i.

Directions are proved by their signs on every row; their absence is proved by positive combinations that vanish.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from surefit.checks.judge import AtMost, Proof, claim, no_claim, refused, shared
from surefit.checks.separation import combinations, margins
from surefit.core import integers
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data
from surefit.core.text import counted
from surefit.problems.separation import named_labels

fact = partial(claim, kind="data_fact", side="exact", theory="gordan", about="these rows and labels")
SHOWN = 5  # columns listed in a sentence

no_claim("separation.undecided",
         "Whether there is separation was not decided: a proof would exceed the limits of size or time.",
         about="these rows and labels")  # fmt: skip


@fact("separation.direction", says="A hyperplane has all {value:.0f} rows strictly on their side.")
def direction(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that all rows lie strictly on their side."""
    signs, level = _signs(certificate, stated, data)
    wrong = int(np.sum(signs <= 0))
    if wrong:
        return refused(f"{counted(wrong, 'row does', 'rows do')} not lie strictly on their side")
    return Proof(float(len(signs)), level, "every row lies strictly on its side.")


@fact("separation.weak_direction",
      says="A hyperplane has no row on the wrong side and {value:.0f} of {rows} rows strictly on their own.")  # fmt: skip
def weak_direction(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that no row lies on the wrong side and at least one lies strictly on its own."""
    signs, level = _signs(certificate, stated, data)
    wrong, strict = int(np.sum(signs < 0)), int(np.sum(signs > 0))
    if wrong or not strict:
        return refused(f"{wrong} rows lie beyond the hyperplane, {strict} strictly on their side")
    return Proof(float(strict), level, f"{strict} rows lie strictly on their side.", {"rows": len(signs)})


@fact("separation.farkas", says="No hyperplane has all rows strictly on their side: {value:.0f} rows prove it.")
def farkas(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that a positive combination of rows vanishes, so that no direction separates them strictly."""
    found = _combination(certificate, stated, data)
    if not found.residual <= 0:
        return refused(
            f"the combination does not vanish (length {found.residual:.3g} per unit of weight); a small remainder bounds "
            "the margin but does not prove that there is none"
        )
    k = len(stated.witness["rows"])
    return Proof(float(k), found.level, f"a positive combination of {k} rows vanishes.")


@fact("separation.overlap",
      says="No hyperplane separates even weakly, so logistic regression has a finite estimate: {value:.0f} rows prove it.")  # fmt: skip
def overlap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the rows of a vanishing combination span all rows, so that no direction separates even weakly."""
    found, intercept = _combination(certificate, stated, data), certificate.problem["intercept"]
    null, dimension = stated.witness.get("null"), data.X.shape[1] + int(intercept)
    idle = combinations.annihilates(data.X, null, intercept) if null is not None else 0
    if not found.residual <= 0 or dimension - found.spanned - idle > 0:
        return refused("the rows of the combination are not shown to span the space of all rows")
    k = len(stated.witness["rows"])
    return Proof(float(k), found.level, f"{k} rows of a vanishing combination span the space of all rows.")


@fact("separation.margin_bracket", kind="optimality", side="lower", low=-np.inf, infinite=True, theory="margin-bracket",
      says="The widest margin of a hyperplane is between {value:.9g} and {up:.9g}.")  # fmt: skip
def bracket(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin from below by a hyperplane and from above by row weights."""
    t, witness = labels(certificate, data), stated.witness
    w, b, rows, alpha = witness["w"], witness["b"].ravel(), witness["rows"], np.zeros(len(t))
    fits = w.shape == (data.X.shape[1],) and len(b) == 1 and rows.dtype.kind in "iu" and rows.ndim == 1
    if not fits or len(rows) == 0 or rows.min() < 0 or rows.max() >= len(t) or witness["alpha"].shape != rows.shape:
        return refused("the witness does not fit these data")
    if b[0] and not certificate.problem["intercept"]:
        return refused("a hyperplane through the origin has no intercept")
    alpha[rows] = witness["alpha"]
    low = margins.margin_of(data.X, t, w, float(b[0]))
    up = margins.hull_distance(data.X, t, alpha, certificate.problem["intercept"])
    spreads = [bound.up - bound.down if np.isfinite(bound).all() else 0.0 for bound in (low, up)]
    note = f"{low.down:.6g} <= maximal margin <= {up.up:.6g}."
    return Proof(low.down, "enclosed", note, {"up": AtMost(up.up, spreads[1])}, spread=spreads[0])


@fact("separation.radius", side="upper", says="No row is longer than R = {value:.6g}.")
def radius(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the length of the rows."""
    R = margins.radius_of(data.X)
    return Proof(R.up, "enclosed", f"max |x| <= {R.up:.6g}.", spread=R.up - R.down)


def _alone(stated: Claim) -> str:
    parts = [(stated.witness[kind].tolist(), kind) for kind in ("strict", "weak")]
    return "; ".join(f"{_listed(columns)} alone separates {kind}ly" for columns, kind in parts if columns) + "."


def _listed(columns: list[int]) -> str:
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return ", ".join(f"column {j}" for j in columns[:SHOWN]) + more


@fact("separation.columns", says=_alone)
def columns_alone(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that each listed column separates by itself, strictly or weakly as listed."""
    t, intercept = labels(certificate, data), certificate.problem["intercept"]
    listed = [(int(j), kind) for kind in ("strict", "weak") for j in stated.witness[kind].tolist()]
    for j, kind in listed:
        if not 0 <= j < data.X.shape[1] or _kind_alone(data.X[:, [j]], t, intercept) != kind:
            return refused(f"column {j} does not separate as stated")
    return Proof(float(len(listed)), "exact", "each listed column separates by itself.")


def _kind_alone(column: Any, t: np.ndarray, intercept: bool) -> str:
    """Return how one column separates the classes, by the ranges of their values (without an intercept, by signs)."""
    x = np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
    gaps = [(x[t > 0], x[t < 0]), (x[t < 0], x[t > 0])] if intercept else [(x * t, np.zeros(1)), (np.zeros(1), x * t)]
    if any(above.min() > below.max() for above, below in gaps):
        return "strict"
    varies = bool(np.any(x != x[0])) if intercept else bool(np.any(x * t != x[0] * t[0]))
    return "weak" if varies and any(above.min() >= below.max() for above, below in gaps) else ""


def _together(stated: Claim) -> str:
    return f"{_listed(stated.witness['columns'].tolist())} together separate {'strictly' if stated.numbers['strict'] else 'weakly'}."


@fact("separation.column_set", says=_together)
def column_set(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the listed columns together separate the classes."""
    columns = stated.witness["columns"]
    outside = np.setdiff1d(np.arange(data.X.shape[1]), columns)
    v = np.asarray(integers.vector(stated.witness["v"]), dtype=object)
    signs, level = _signs(certificate, stated, data)
    strict = bool(np.all(signs > 0))
    if np.any(signs < 0) or not np.any(signs > 0) or np.any(v[outside] != 0):
        return refused("the listed columns do not separate")
    return Proof(float(len(columns)), level, f"{len(columns)} columns suffice.", {"strict": strict})


@fact("separation.one_class", says="All {value:.0f} rows have the same label: there is nothing to separate.")
def one_class(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that all rows have the same label."""
    y = named_labels(data.target)
    other = int(np.sum(y != y[0]))
    return refused(f"{other} rows have another label") if other else Proof(float(len(y)), "exact", "labels recounted.")


@shared
def labels(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the labels as +1 and -1."""
    y, problem = named_labels(data.target), certificate.problem
    t = (y == problem["positive"]).astype(np.float64) - (y == problem["negative"]).astype(np.float64)
    if not np.all(t):
        raise CertificateError(
            f"{certificate.estimator}: row {int(np.argmin(np.abs(t)))} has a label that is neither "
            f"{problem['positive']!r} nor {problem['negative']!r}; the certificate is not about these labels."
        )
    return t


def _signs(certificate: Certificate, stated: Claim, data: Data) -> tuple[np.ndarray, str]:
    v, intercept = integers.vector(stated.witness["v"]), certificate.problem["intercept"]
    if len(v) != data.X.shape[1] + int(intercept):
        return np.full(data.X.shape[0], -1), "exact"  # not a direction: every row counts as wrong
    signs, level = integers.signs(data.X, v, intercept)
    return signs * labels(certificate, data), level


def _combination(certificate: Certificate, stated: Claim, data: Data) -> combinations.Combination:
    t, intercept = labels(certificate, data), certificate.problem["intercept"]
    return combinations.prove_combination(data.X, t, intercept, stated.witness["rows"], stated.witness.get("weights"))
