r"""Decision whether a hyperplane separates two classes, with a proof in either case."""

from __future__ import annotations

import numpy as np

from surefit._version import __version__
from surefit.core.budget import Budget
from surefit.core.certificate import Certificate
from surefit.core.errors import InvalidParameter
from surefit.core.fingerprint import data_fingerprint
from surefit.core.validation import BOOLEAN, NON_NEGATIVE, NOTHING, POSITIVE
from surefit.problems import Given, derived
from surefit.separation import claims
from surefit.separation.columns import Responsible, responsible_columns
from surefit.separation.decide import Decision, decide
from surefit.separation.margin import MaximalMargin, widest
from surefit.separation.proofs import proof_of
from surefit.separation.reading import Labeled, read_labeled
from surefit.separation.report import SeparabilityReport
from surefit.separation.signed_rows import SignedRows, direction_from_floats, rounded

MARGIN_WORK = 1e10  # limit on the operations for the bracket of the maximal margin; a wider bracket is still valid
NO_COLUMNS = Responsible([], [], [], None)


def separability(
    X, y, intercept: bool = True, *, columns: bool = True, tol: float = 1e-6, max_time: float | None = None
) -> SeparabilityReport:
    r"""Decide whether a hyperplane separates two classes, and prove the answer.

    With :math:`t_i = \pm 1` and :math:`f(x) = x^\top w + b`, exactly one of these is true:

    - ``"strict"``: some :math:`(w, b)` has :math:`t_i f(x_i) > 0` for all i. The maximal margin is bracketed.
    - ``"weak"``: not strict, but some :math:`(w, b)` has :math:`t_i f(x_i) \ge 0` for all i and :math:`> 0` for one
      (quasi-complete separation).
    - ``"not separable"``: neither; :math:`t_i f(x_i) \ge 0` for all i only if all :math:`f(x_i) = 0`.

    In the first two cases, unpenalized logistic regression has no finite estimate; in the third case, it has one.

    Guarantee: the status is a theorem about the data as stored. A direction is checked on every row. The absence of one
    is proved by a positive combination :math:`\sum_i \alpha_i t_i (x_i, 1) = 0` that vanishes exactly. If the data are
    too large for a proof, the status is ``"undecided"``, or ``"not strict"`` if that much is proved. The certificate is
    issued after the independent checker has confirmed each claim (theory: :ref:`gordan`).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Numbers; names of columns are kept.
    y : array-like of shape (n_rows,)
        Labels of any kind with two classes; the greater label is the positive class. With an intercept, a single class
        gives the status ``"one class"``.
    intercept : bool, default=True
        Whether hyperplanes have an intercept.
    columns : bool, default=True
        Whether to search for columns that separate by themselves, or else for a small set that separates.
    tol : float >= 0, default=1e-6
        Relative width of the bracket of the maximal margin at which the solver stops.
    max_time : float > 0, optional
        Time limit in seconds; claims that are not proved by then are omitted.

    Returns
    -------
    SeparabilityReport

    Examples
    --------
    >>> from surefit import separability
    >>> report = separability([[1.0], [3.0]], [-1, 1])
    >>> report.status, report.level, float(report.w[0]), report.b
    ('strict', 'exact', 1.0, -2.0)
    >>> xor = separability([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1])
    >>> xor.status, xor.alpha
    ('not separable', array([0.25, 0.25, 0.25, 0.25]))
    >>> xor.verify([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1])["separation.overlap"].ok
    True
    """
    who = "separability"
    rules = (("intercept", BOOLEAN, intercept), ("columns", BOOLEAN, columns), ("tol", NON_NEGATIVE, tol))
    for name, rule, value in (*rules, ("max_time", POSITIVE | NOTHING, max_time)):
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)
    data = read_labeled(who, X, y)
    rows = SignedRows(data.X, data.t, bool(intercept))
    one_class = rows.intercept and len(data.classes) == 1
    margin, responsible = None, NO_COLUMNS
    with Budget(max_time=max_time) as budget:
        decision = Decision("one class") if one_class else decide(rows, budget)
        if decision.status == "strict":
            decision, margin = _with_widest_margin(rows, decision, tol, budget)
        if columns and decision.status in ("strict", "weak"):
            responsible = responsible_columns(rows, decision.status == "strict", budget)
    return _report(data, rows, decision, margin, responsible, budget, {"intercept": rows.intercept, "tol": float(tol)})


def _with_widest_margin(rows: SignedRows, decision: Decision, tol: float, budget: Budget):
    """Replace the direction of the decision by that of maximal margin, if it also separates."""
    start = rounded(decision.direction)[: rows.X.shape[1]]
    margin: MaximalMargin | None = widest(rows, start, tol, budget, MARGIN_WORK)
    if margin is None:
        return decision, None
    v = direction_from_floats(rows, margin.w, margin.b)
    return (decision._replace(direction=v) if np.all(rows.signs(v) > 0) else decision), margin


def _report(data: Labeled, rows: SignedRows, decision, margin, responsible, budget, params) -> SeparabilityReport:
    radius = proof_of(rows, "separation.radius").value
    draft = Certificate(
        grade="A",
        estimator="separability",
        params=params,
        problem=derived("separability", Given(params, data.raw.X, data.raw.y, None, {})) or {},
        model={},
        data=data_fingerprint(data.raw.X, data.raw.y),
        claims=tuple(claims.claims_of(rows, decision, margin, responsible)),
        run={"solver": "active set on a growing working set, then exact proof", "seconds": budget.seconds},
        version=__version__,
    )
    certificate, level = claims.confirmed(draft, data.raw)
    return SeparabilityReport.assembled(data, rows, decision, margin, responsible, radius, level, certificate)
