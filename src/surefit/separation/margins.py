r"""Margins of a linear rule on labeled rows: functional and geometric margins, distances, projections and slack."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from surefit.core import tables
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.integers import integers, signs
from surefit.core.validation import NON_NEGATIVE, read_data
from surefit.separation.reading import read_labeled
from surefit.separation.taxonomy import KINDS, conflicting, kinds_by_margin, kinds_by_multiplier


@dataclass(frozen=True, eq=False, repr=False)
class MarginReport:
    r"""Margins of :math:`f(x) = x^\top w + b` on rows with labels :math:`t_i = \pm 1`.

    Attributes
    ----------
    functional : ndarray
        :math:`t_i f(x_i)`.
    geometric : ndarray
        :math:`t_i f(x_i) / \|w\|`: the distance to the hyperplane, negative on the wrong side.
    distances : ndarray
        :math:`f(x_i) / \|w\|`: the distance, negative on the negative side.
    slack : ndarray
        :math:`\max(0, 1 - t_i f(x_i))`. The number of misclassified rows is at most the sum of the slack.
    kinds : ndarray of str
        ``"outside"``, ``"on margin"``, ``"inside"`` or ``"misclassified"`` (a zero score counts as an error).
    margin : float
        The smallest geometric margin; negative if some row is on the wrong side.
    nearest : int
        The first row that attains ``margin``.
    support : ndarray of int
        All rows that attain ``margin``, up to ``tol``.
    half_width, width : float
        :math:`1 / \|w\|` and :math:`2 / \|w\|`: the distance from the hyperplane to :math:`f = \pm 1`, and between
        these two hyperplanes.
    separates : bool
        Whether all rows are strictly on the correct side; signs are computed exactly.
    multiplier_kinds : ndarray of str or None
        With multipliers: ``"not support"``, ``"free"`` or ``"bound"``.
    conflicts : ndarray of int
        Rows whose multiplier contradicts their margin by more than ``tol``, so that the multipliers are not optimal.
    """

    functional: np.ndarray
    geometric: np.ndarray
    distances: np.ndarray
    slack: np.ndarray
    kinds: np.ndarray
    margin: float
    nearest: int
    support: np.ndarray
    half_width: float
    separates: bool
    multiplier_kinds: np.ndarray | None
    conflicts: np.ndarray

    @property
    def width(self) -> float:
        """Distance between the hyperplanes ``f = 1`` and ``f = -1``."""
        return 2 * self.half_width

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        n = len(self.kinds)
        counts = ", ".join(f"{int(np.sum(self.kinds == kind))} {kind}" for kind in KINDS)
        verdict = "every row is strictly on its side" if self.separates else "some row is not strictly on its side"
        lines = [
            ("margin", f"{self.margin:.6g}, at row {self.nearest}; {verdict}"),
            ("width", f"2 / |w| = {self.width:.6g}"),
            ("rows", counts),
            ("slack", f"{math.fsum(self.slack):.6g} in total, an upper bound on the number of mistakes"),
        ]
        if self.multiplier_kinds is not None:
            words = (
                f"{int(np.sum(self.multiplier_kinds == kind))} {kind}" for kind in np.unique(self.multiplier_kinds)
            )
            lines.append(("multipliers", f"{', '.join(words)}; {len(self.conflicts)} contradict their margin"))
        return f"Margins of {n} rows", ("fact", "value"), lines, ""


def margins(rule, X, y, *, alpha=None, C: float = math.inf, tol: float = 1e-6) -> MarginReport:
    r"""Return margins, distances, slack and kinds of labeled rows with respect to a linear rule.

    .. math:: \gamma_i = t_i f(x_i), \qquad \tilde\gamma_i = \gamma_i / \|w\|, \qquad \xi_i = \max(0, 1 - \gamma_i) .

    Guarantee: ``separates`` is decided exactly for the weights as stored; margins are floats with their usual rounding.

    Parameters
    ----------
    rule : fitted linear model, or pair (w, b)
        A model needs ``coef_`` and ``intercept_`` for two classes; ``classes_[1]`` is the positive class.
    X, y
        Rows and labels.
    alpha : array-like of shape (n_rows,), optional
        Multipliers of a soft- or hard-margin support vector machine, used to classify rows by multiplier as well.
    C : float > 0, default=inf
        Upper bound on the multipliers.
    tol : float >= 0, default=1e-6
        Tolerance for a functional margin to equal 1, and (relative to C) for a multiplier to equal 0 or C.

    Returns
    -------
    MarginReport

    Examples
    --------
    >>> from surefit import margins
    >>> X, y = [[0, 0], [0, 0.5], [1, 0.5], [1, 0]], [1, 1, 1, -1]
    >>> report = margins(([-2.0, 4.0], 1.0), X, y)
    >>> report.functional, report.separates
    (array([1., 3., 1., 1.]), True)
    >>> report.kinds.tolist()
    ['on margin', 'outside', 'on margin', 'on margin']
    """
    who = "margins"
    if not NON_NEGATIVE.allows(tol):
        raise InvalidParameter(who, "tol", NON_NEGATIVE.words, tol)
    w, b, classes = read_rule(who, rule)
    data = read_labeled(who, X, y)
    t = data.t if classes is None else _signed_by(who, classes, np.asarray(y).ravel())
    f = _scores(who, w, b, data.X)
    norm = _norm(w)
    functional = t * f
    exact = signs(data.X, integers(np.append(w, b))[0], True)[0] * t
    geometric = functional / norm
    nearest = int(np.argmin(geometric))
    reach = geometric[nearest] + tol * max(abs(geometric[nearest]), 1 / norm)
    by_multiplier, conflicts = None, np.empty(0, dtype=np.int64)
    if alpha is not None:
        by_multiplier = kinds_by_multiplier(who, alpha, C, len(t), tol)
        conflicts = conflicting(functional, by_multiplier, tol)
    return MarginReport(
        functional=functional,
        geometric=geometric,
        distances=f / norm,
        slack=np.maximum(0.0, 1.0 - functional),
        kinds=kinds_by_margin(functional, exact, tol),
        margin=float(geometric[nearest]),
        nearest=nearest,
        support=np.flatnonzero(geometric <= reach),
        half_width=1 / norm,
        separates=bool(np.all(exact > 0)),
        multiplier_kinds=by_multiplier,
        conflicts=conflicts,
    )


def distances(rule, X, *, feet: bool = False):
    r"""Return signed distances of rows from the hyperplane of a linear rule, and optionally their projections.

    .. math:: \frac{x^\top w + b}{\|w\|}, \qquad h = x - \frac{x^\top w + b}{\|w\|^2} \, w .

    Guarantee: exact formulas; nothing depends on the scale of :math:`(w, b)`.

    Parameters
    ----------
    rule : fitted linear model, or pair (w, b)
    X : array-like or sparse matrix of shape (n_rows, n_columns)
    feet : bool, default=False
        Also return the nearest point of the hyperplane to each row (dense).

    Returns
    -------
    ndarray of shape (n_rows,), or a pair with an ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> from surefit import distances
    >>> distances(([3.0, 4.0], -5.0), [[3.0, 4.0], [0.0, 0.0]], feet=True)
    (array([ 4., -1.]), array([[0.6, 0.8], [0.6, 0.8]]))
    """
    who = "distances"
    w, b, _ = read_rule(who, rule)
    reader = type(who, (BaseEstimator,), {})()
    X = read_data(reader, X, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32])
    f = _scores(who, w, b, X)
    norm = _norm(w)
    if not feet:
        return f / norm
    X = X.toarray() if sparse.issparse(X) else X
    return f / norm, X - np.outer(f / norm, w / norm)


def read_rule(who: str, rule) -> tuple[np.ndarray, float, np.ndarray | None]:
    """Return ``(w, b, classes)`` of a fitted linear model or of a pair; classes is None for a pair."""
    if isinstance(rule, tuple) and len(rule) == 2:
        w, b, classes = rule[0], rule[1], None
    elif hasattr(rule, "coef_") and hasattr(rule, "intercept_"):
        w, b, classes = rule.coef_, rule.intercept_, getattr(rule, "classes_", None)
    else:
        raise InvalidParameter(
            who, "rule", "a fitted linear model (with coef_ and intercept_) or a pair (w, b)", type(rule).__name__
        )
    w = w.toarray() if sparse.issparse(w) else w
    w, b = np.asarray(w, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if w.ndim == 2 and w.shape[0] != 1:
        raise InvalidParameter(who, "rule", "about two classes (one row of coefficients)", f"{w.shape[0]} rows")
    if w.size == 0 or b.size != 1 or not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
        raise InvalidParameter(who, "rule", "finite numbers w and one number b", f"{w.size} and {b.size} numbers")
    if not np.any(w):
        raise InvalidData(f"{who}: w must have an entry other than 0; w = 0 is not a hyperplane.")
    return w.ravel(), float(b.ravel()[0]), classes


def _signed_by(who: str, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    external = ~np.isin(y, classes)
    if external.any():
        row = int(np.argmax(external))
        raise InvalidData(f"{who}: row {row} has the label {y[row : row + 1].tolist()[0]!r}, unknown to the model.")
    return np.where(y == classes[-1], 1.0, -1.0)


def _scores(who: str, w: np.ndarray, b: float, X) -> np.ndarray:
    if X.shape[1] != len(w):
        raise InvalidData(
            f"{who}: X has {X.shape[1]} columns, the rule has {len(w)}; pass the columns it was fitted on."
        )
    return np.asarray(X @ w, dtype=np.float64).ravel() + b


def _norm(w: np.ndarray) -> float:
    largest = float(np.max(np.abs(w)))
    return largest * math.sqrt(math.fsum((w / largest) ** 2))
