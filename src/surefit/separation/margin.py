r"""Two-sided bounds on the maximal margin of labeled data, and the maximal-margin hyperplane."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE
from surefit.separation.hull import NearestPoint, nearest_point, polished
from surefit.separation.proofs import proof_of
from surefit.separation.reading import read_labeled
from surefit.separation.signed_rows import SignedRows


class MarginBracket(NamedTuple):
    r"""Proved bounds ``low <= gamma* <= up`` on the maximal margin, with their witnesses.

    Attributes
    ----------
    low, up : float
        The bounds; rounding is accounted for. ``low <= 0`` if ``(w, b)`` does not separate.
    w : ndarray of shape (n_columns,)
    b : float
        The hyperplane whose margin is ``low``.
    alpha : ndarray of shape (n_rows,)
        The hull weights that prove ``up``; only their proportions within a class matter.
    """

    low: float
    up: float
    w: np.ndarray
    b: float
    alpha: np.ndarray

    @property
    def width(self) -> float:
        """``up - low``, rounded up."""
        return math.nextafter(self.up - self.low, math.inf)

    @property
    def relative_width(self) -> float:
        """``(up - low) / up``, or zero if both bounds are zero."""
        return self.width / self.up if self.up > 0 else 0.0 if self.low == 0 else math.inf


class MaximalMargin(NamedTuple):
    """Maximal-margin hyperplane, scaled so that the nearest rows have ``t (w'x + b) = 1``.

    Attributes
    ----------
    w, b
        Hyperplane; ``|w| = 1 / margin``.
    alpha : ndarray of shape (n_rows,)
        Multipliers of the hard-margin support vector machine: ``w = sum_i alpha_i t_i x_i`` up to the width of the
        bracket.
    bracket : MarginBracket
        Proved bounds on the margin.
    reason : Reason
        Why the solver stopped.
    n_iter : int
        Number of iterations of the solver.
    """

    w: np.ndarray
    b: float
    alpha: np.ndarray
    bracket: MarginBracket
    reason: Reason
    n_iter: int


def margin_bracket(X, y, w=None, b: float | None = 0.0, alpha=None, intercept: bool = True) -> MarginBracket:
    r"""Bound the maximal margin from both sides by any hyperplane and any weights.

    .. math::

        \min_i \frac{t_i (x_i^\top w + b)}{\|w\|} \;\le\; \gamma^* \;\le\;
        \tfrac12 \Bigl\| \frac{\sum_+ \alpha_i x_i}{\sum_+ \alpha_i} - \frac{\sum_- \alpha_i x_i}{\sum_- \alpha_i} \Bigr\| ,

    and without an intercept :math:`\gamma^* \le \| \sum_i \alpha_i t_i x_i \| / \sum_i \alpha_i`. The mistake counts of a
    perceptron are such weights.

    Guarantee: both bounds hold for the data as stored, rounding included, for any ``w`` and ``alpha``
    (theory: :ref:`margin-bracket`).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
        Two classes; the greater label is the positive one.
    w : array-like of shape (n_columns,), optional
        Normal vector of a hyperplane; by default the difference of the hull points with weights ``alpha``.
    b : float or None, default=0.0
        Intercept of the hyperplane. If it is None, or if ``w`` is not given, the best intercept for ``w`` is used. Must
        be 0 with ``intercept=False``.
    alpha : array-like of shape (n_rows,), optional
        Weights >= 0; by default equal for all rows of a class. If all weights of a class are zero, equal weights are
        used.
    intercept : bool, default=True
        Whether hyperplanes have an intercept.

    Returns
    -------
    MarginBracket

    Examples
    --------
    >>> from surefit import margin_bracket
    >>> X, y = [[0, 0], [0, 0.5], [1, 0.5], [1, 0]], [1, 1, 1, -1]
    >>> bracket = margin_bracket(X, y, w=[-0.5, 1], b=0.25, alpha=[2, 0, 8, 10])
    >>> print(f"{bracket.low:.9f} {bracket.up:.9f}")  # both 0.5 / (2 sqrt(1.25))
    0.223606798 0.223606798
    """
    who = "margin_bracket"
    data = read_labeled(who, X, y)
    if not BOOLEAN.allows(intercept):
        raise InvalidParameter(who, "intercept", BOOLEAN.words, intercept)
    require_both_classes(who, data.classes, intercept)
    rows = SignedRows(data.X, data.t, bool(intercept))
    n, d = rows.X.shape
    if alpha is None:
        alpha = np.zeros(n)
    alpha = _vector(who, "alpha", alpha, n, "one weight >= 0 per row")
    if np.any(alpha < 0):
        raise InvalidParameter(who, "alpha", "weights >= 0", float(alpha.min()))
    alpha = _spread(rows, alpha)
    if w is None:
        w, b = hull_point(rows, alpha), None
    w = _vector(who, "w", w, d, "one finite number per column")
    if b is not None and not (np.ndim(b) == 0 and math.isfinite(b)):
        raise InvalidParameter(who, "b", "a finite number or None", b)
    if not intercept and b:
        raise InvalidParameter(who, "b", "0 when intercept=False", b)
    return bracket_of(rows, w, best_offset(rows, w) if b is None else float(b), alpha)


def maximal_margin(
    X, y, intercept: bool = True, *, tol: float = 1e-6, max_iter: int = 1000, max_time: float | None = None
) -> MaximalMargin:
    r"""Find the maximal-margin hyperplane, with bounds on its margin.

    .. math:: \gamma^* = \max_{w, b} \min_i \frac{t_i (x_i^\top w + b)}{\|w\|}
                       = \tfrac12 \operatorname{dist}(\operatorname{hull} X_+, \operatorname{hull} X_-) .

    Guarantee: ``bracket.low <= gamma* <= bracket.up`` in any case, and ``up - low <= tol * up`` (up to rounding) if the
    reason is ``converged`` (theory: :ref:`margin-bracket`).

    Parameters
    ----------
    X, y, intercept
        As for :func:`margin_bracket`.
    tol : float >= 0, default=1e-6
        Relative width of the bracket at which the solver stops.
    max_iter : int >= 1, default=1000
        Largest number of iterations; each iteration computes one product with X.
    max_time : float > 0, optional
        Time limit in seconds.

    Returns
    -------
    MaximalMargin

    Raises
    ------
    InvalidData
        If no separating hyperplane was found; :func:`surefit.separability` proves whether there is one.

    Examples
    --------
    >>> from surefit import maximal_margin
    >>> best = maximal_margin([[1.0], [3.0]], [-1, 1])
    >>> best.w, best.b, best.alpha
    (array([1.]), -2.0, array([0.5, 0.5]))
    """
    who = "maximal_margin"
    rules = (("intercept", BOOLEAN, intercept), ("tol", NON_NEGATIVE, tol), ("max_iter", COUNT, max_iter))
    for name, rule, value in (*rules, ("max_time", POSITIVE | NOTHING, max_time)):
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)
    data = read_labeled(who, X, y)
    require_both_classes(who, data.classes, intercept)
    rows = SignedRows(data.X, data.t, bool(intercept))
    with Budget(max_iter=max_iter, max_time=max_time) as budget:
        best = widest(rows, hull_point(rows, _spread(rows, np.zeros(len(data.t)))), tol, budget)
    if best is None:
        raise InvalidData(f"{who}: no separating hyperplane was found; separability(X, y) proves whether there is one.")
    return best


def widest(
    rows: SignedRows, start: np.ndarray, tol: float, budget: Budget, work: float = math.inf
) -> MaximalMargin | None:
    """Find the maximal margin from the direction ``start``; None if neither it nor the solver's direction separates."""
    found: NearestPoint = nearest_point(rows, start, tol=tol, budget=budget, work=work)
    directions = [found.z, polished(rows, found), start]
    w = max(directions, key=lambda w: _margin(rows, w))
    b = best_offset(rows, w)
    functional = float(np.min(rows.t * (np.asarray(rows.X @ w).ravel() + b)))
    length = float(found.z @ found.z)
    if not (functional > 0 and length >= np.finfo(np.float64).tiny):  # the multipliers would overflow
        return None
    w, b = w / functional, b / functional
    multipliers = found.alpha * ((1 + int(rows.intercept)) / length)
    bracket = bracket_of(rows, w, b, found.alpha)
    if not bracket.low > 0:
        return None
    reason = Reason.CONVERGED if bracket.relative_width <= tol else found.reason
    return MaximalMargin(w, b, multipliers, bracket, reason, found.n_iter)


def bracket_of(rows: SignedRows, w: np.ndarray, b: float, alpha: np.ndarray) -> MarginBracket:
    """Return the bracket proved by a hyperplane and hull weights."""
    support = np.flatnonzero(alpha)
    witness = {"w": w, "b": np.array([b]), "rows": support, "alpha": alpha[support]}
    proof = proof_of(rows, "separation.margin_bracket", witness)
    return MarginBracket(proof.value, proof.numbers["up"].value, w, b, alpha)


def _margin(rows: SignedRows, w: np.ndarray) -> float:
    """Return the margin along ``w`` without error bounds, or minus infinity for zero; used to choose a direction."""
    largest = float(np.max(np.abs(w), initial=0.0))
    if not 0.0 < largest < math.inf:
        return -math.inf
    w = w / largest
    scores = rows.t * (np.asarray(rows.X @ w, dtype=np.float64).ravel() + best_offset(rows, w))
    return float(np.min(scores)) / math.sqrt(float(w @ w))


def hull_point(rows: SignedRows, alpha: np.ndarray) -> np.ndarray:
    """Return the difference of the hull points of the classes; without an intercept, the hull point of ``t x``."""
    groups = [rows.t > 0, rows.t < 0] if rows.intercept else [np.ones(len(rows.t), dtype=bool)]
    share = np.zeros(len(alpha))
    for group in groups:
        share[group] = alpha[group] / alpha[group].sum()
    return np.asarray((rows.t * share) @ rows.X, dtype=np.float64).ravel()


def best_offset(rows: SignedRows, w: np.ndarray) -> float:
    """Return the intercept halfway between the classes along ``w``; zero if there is no intercept."""
    if not rows.intercept:
        return 0.0
    scores = np.asarray(rows.X @ w, dtype=np.float64).ravel()
    return float(-(np.min(scores[rows.t > 0]) / 2 + np.max(scores[rows.t < 0]) / 2))


def require_both_classes(who: str, classes: tuple, intercept: bool) -> None:
    """Raise ``InvalidData`` for a single class with an intercept, because the margin is then unbounded."""
    if intercept and len(classes) < 2:
        raise InvalidData(
            f"{who}: y must have two classes; got {classes[0]!r} only, so the margin has no bound. "
            "Pass rows of both classes, or intercept=False."
        )


def _spread(rows: SignedRows, alpha: np.ndarray) -> np.ndarray:
    """Assign equal weights to a class whose weights are all zero."""
    alpha = alpha.copy()
    for group in [rows.t > 0, rows.t < 0] if rows.intercept else [np.ones(len(alpha), dtype=bool)]:
        if not np.any(alpha[group]):
            alpha[group] = 1.0
    return alpha


def _vector(who: str, name: str, values, size: int, words: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64).ravel()
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise InvalidParameter(who, name, f"{words} ({size})", f"shape {array.shape}")
    return array
