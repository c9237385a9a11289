"""Theorems with their statement, the page with the proof, and their numerical value on a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.options import Options
from surefit.studies.prepare import prepare
from surefit.tables import Table, TableEncoder, did_you_mean

CONFIDENCE = 0.95


class Rows(NamedTuple):
    """Table as input of a theorem: standardized features, the target, and the class names."""

    X: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]


class Theorem(NamedTuple):
    """Name and statement of a theorem, the anchor of its page, and its evaluation on given rows."""

    name: str
    title: str
    statement: str
    anchor: str
    number: Callable[[Rows], str]


def _separability(rows: Rows) -> str:
    from surefit.separation.separability import separability

    _require_two(rows)
    report = separability(rows.X, rows.y)
    if not report.separable:
        return "No hyperplane has all rows strictly on their sides; a proof is attached to the report of surefit.separability."
    return f"A hyperplane separates the classes; the widest margin is {report.margin:.4g} (standardized features)."


def _novikoff(rows: Rows) -> str:
    from surefit.perceptrons.novikoff import novikoff_bound
    from surefit.separation.separability import separability

    _require_two(rows)
    report = separability(rows.X, rows.y)
    if not report.separable or report.margin is None:
        return "The classes are not linearly separable, so the theorem does not apply: the perceptron never stops updating."
    return (
        f"Margin {report.margin:.4g}, radius {report.radius:.4g}: the perceptron makes at most "
        f"{novikoff_bound(report.radius, report.margin):.0f} updates on these rows, in any order."
    )


def _gap(rows: Rows) -> str:
    from surefit.linear.lasso.lasso import Lasso
    from surefit.linear.logistic.classifier import LogisticRegression

    model = LogisticRegression() if rows.classes else Lasso(alpha=0.01)
    y = rows.y if rows.classes else (rows.y - rows.y.mean()) / (rows.y.std() or 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = model.fit(rows.X, y).certificate_
    gap = next(claim for claim in certificate.claims if claim.name.endswith("gap"))
    return f"{type(model).__name__} on these rows: {gap.statement}"


def _hoeffding(rows: Rows) -> str:
    from surefit.bounds import hoeffding

    n = len(rows.y)
    return f"With {n} test rows, the observed error rate is within {hoeffding(n=n, delta=1 - CONFIDENCE).radius:.4g} of the true one."


def _clopper_pearson(rows: Rows) -> str:
    from surefit.bounds import clopper_pearson

    n = len(rows.y) // 5
    return f"A fifth of these rows ({n}) as test part without a single error would prove an error below {clopper_pearson(0, n):.4g}."


def _vc(rows: Rows) -> str:
    from surefit.bounds import vc

    n, d = rows.X.shape
    radius = vc(d + 1, n=n, delta=1 - CONFIDENCE).radius
    empty = " That is vacuous: rates never differ by more than 1." if radius >= 1 else ""
    return f"Halfspaces of {d} features have VC dimension {d + 1}; with {n} rows the two rates differ by at most {radius:.4g}.{empty}"


def _rademacher(rows: Rows) -> str:
    from surefit.bounds import linear_ball_closed_form

    value = linear_ball_closed_form(rows.X, radius=1.0)
    return f"Linear functions with weights of norm at most 1 have complexity at most {value:.4g} on these rows."


def _conformal(rows: Rows) -> str:
    from surefit.bounds import conformal_rank

    m = max(len(rows.y) // 5, 1)
    rank = conformal_rank(m, 0.1)
    if rank > m:
        return f"A fifth of these rows ({m}) is too few to calibrate intervals of coverage 0.9."
    return f"A fifth of these rows ({m}) calibrates: the score of rank {rank} gives intervals of coverage at least 0.9."


def _require_two(rows: Rows) -> None:
    if len(rows.classes) != 2:
        raise InvalidData("This theorem is about two classes; choose a --target with two of them.")


THEOREMS = {
    theorem.name: theorem
    for theorem in (
        Theorem(
            "novikoff",
            "Novikoff's theorem",
            "On rows of norm at most R that some direction separates with margin g, the perceptron makes at most (R / "
            "g)^2 updates.",
            "novikoff",
            _novikoff,
        ),
        Theorem(
            "gordan",
            "Gordan's theorem of alternatives",
            "Either a hyperplane has all rows strictly on their sides, or a non-negative combination of the signed "
            "rows vanishes; never both.",
            "gordan",
            _separability,
        ),
        Theorem(
            "fenchel-gap",
            "The duality gap bounds the distance to the optimum",
            "For every weight vector w and every dual point u, P(w) - min P <= P(w) - D(u).",
            "fenchel-gap",
            _gap,
        ),
        Theorem(
            "hoeffding",
            "Hoeffding's inequality",
            "The mean of n independent losses in [0, 1] differs from its expectation by at most sqrt(ln(2/d) / (2n)) "
            "with probability at least 1 - d.",
            "concentration",
            _hoeffding,
        ),
        Theorem(
            "clopper-pearson",
            "Clopper and Pearson's bound",
            "After k errors on n independent test rows, the error probability is at most the largest p with P(Bin(n, "
            "p) <= k) >= d, with probability at least 1 - d.",
            "concentration",
            _clopper_pearson,
        ),
        Theorem(
            "vc",
            "The inequality of Vapnik and Chervonenkis",
            "Simultaneously for all classifiers of VC dimension h, error rate on the sample and error probability "
            "differ by at most sqrt(32 / n * ln(8 s(n) / d)) with probability at least 1 - d, where the growth "
            "function s(n) is at most (e n / h)^h.",
            "vc-inequality",
            _vc,
        ),
        Theorem(
            "rademacher",
            "Rademacher complexity of linear functions",
            "The complexity of {x -> <w, x> : |w| <= L} on m rows is at most L sqrt(sum |x_i|^2) / m; it bounds the "
            "generalization gap of Lipschitz losses.",
            "rademacher",
            _rademacher,
        ),
        Theorem(
            "conformal",
            "Split conformal prediction",
            "If m calibration rows and a new row are exchangeable, the score of the new row is at most the ceil((m + "
            "1)(1 - a))-th smallest one with probability at least 1 - a.",
            "conformal",
            _conformal,
        ),
    )
}


def find_theorem(name: str) -> Theorem:
    """Return the theorem with this name; raise ``InvalidData`` with a suggestion if there is none."""
    if name not in THEOREMS:
        hint = did_you_mean(name, list(THEOREMS)).replace("the columns are", "there are").replace("'", "")
        raise InvalidData(f"There is no theorem {name!r}{hint}")
    return THEOREMS[name]


def rows_for(table: Table, target: str | None) -> Rows:
    """Return a table as standardized features and target."""
    prepared = prepare(table, Options(target=target))
    X = TableEncoder(prepared.kinds).fit(prepared.table).transform(prepared.table)
    return Rows(X, prepared.target.y, prepared.target.classes)
