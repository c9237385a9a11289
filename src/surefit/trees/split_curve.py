"""All cuts of a column with their gains."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_weights
from surefit.trees.impurity import entropy, gini, misclassification, mutual_information

CRITERIA: dict[str, Callable] = {"entropy": entropy, "gini": gini, "misclassification": misclassification}
TIE = 1e-12  # relative difference of gains that is treated as a tie


class SplitCurve(NamedTuple):
    """Every cut of one column, in ascending order of the threshold."""

    thresholds: np.ndarray
    n_left: np.ndarray  # rows at or below the threshold
    impurity: np.ndarray  # weighted criterion: n1 psi(left) + n2 psi(right), or the sum of squares Q(s)
    unweighted: np.ndarray  # psi(left) + psi(right), which prefers extreme cuts
    gain: np.ndarray  # decrease of the mean impurity
    boundary: np.ndarray  # whether labels differ across the cut; only such cuts can be best
    criterion: str

    @property
    def best(self) -> int:
        """Index of the largest gain; ties go to the lowest threshold."""
        return int(np.argmax(self.gain >= self.gain.max() * (1 - TIE)))

    @property
    def best_threshold(self) -> float:
        """Threshold of the largest gain."""
        return float(self.thresholds[self.best])


def split_curve(x, y, *, criterion: str = "gini", unit: str = "bits", sample_weight=None) -> SplitCurve:
    r"""Return all cuts :math:`x \le s` of one column, with their weighted and unweighted criteria and their gains.

    .. math:: I(s) = n_1 \psi(p_1) + n_2 \psi(p_2), \qquad Q(s) = \sum_{x_i \le s} (y_i - \bar y_1)^2 + \sum_{x_i > s} (y_i - \bar y_2)^2

    Thresholds are midpoints of consecutive distinct values. Guarantee: for entropy and Gini the best cut is always a
    boundary between values with different labels, so other cuts can be skipped. For two classes with labels 0 and 1,
    :math:`I_{Gini} = 2 Q`.

    Parameters
    ----------
    x : array of shape (n,)
        The column.
    y : array of shape (n,)
        Labels, or numbers for ``criterion="squared_error"``.
    criterion : {"gini", "entropy", "misclassification", "squared_error"}, default="gini"
        Impurity :math:`\psi`, or the sum of squares Q.
    unit : {"bits", "nats"}, default="bits"
        Unit of the entropy.
    sample_weight : array of shape (n,) or None, default=None
        Frequency weights.

    Examples
    --------
    >>> from surefit import split_curve
    >>> curve = split_curve([10, 26, 40, 50, 100, 120], [0, 0, 0, 1, 1, 0], criterion="entropy")
    >>> curve.thresholds[curve.boundary], curve.gain.round(4), curve.best_threshold
    (array([ 45., 110.]), array([0.1092, 0.2516, 0.4591, 0.0441, 0.1092]), 45.0)
    """
    x, y, w = _read(x, y, sample_weight)
    if criterion not in (*CRITERIA, "squared_error"):
        raise InvalidParameter("split_curve", "criterion", f"one of {', '.join(CRITERIA)}, squared_error", criterion)
    order = np.argsort(x, kind="stable")
    x, y, w = x[order], y[order], w[order]
    ends = np.flatnonzero(x[1:] > x[:-1])
    if not len(ends):
        raise InvalidData("split_curve: the column is constant and cannot be split.")
    middle = (x[ends] + x[ends + 1]) / 2
    thresholds = np.where(middle < x[ends + 1], middle, x[ends])  # a midpoint must not round up to the larger value
    left_weight = np.cumsum(w)[ends]
    sides = np.stack([left_weight, w.sum() - left_weight])
    if criterion == "squared_error":
        means, root = _mean_squares(y.astype(np.float64), w, ends, sides)
    else:
        means, root = _class_impurities(y, w, ends, criterion, unit)
    impurity = np.sum(sides * means, axis=0)
    return SplitCurve(
        thresholds,
        ends + 1,
        impurity,
        means.sum(axis=0),
        np.maximum(root - impurity / w.sum(), 0.0),
        _boundaries(x, y, ends),
        criterion,
    )


def attribute_gains(
    X, y, *, criterion: str = "entropy", unit: str = "bits", categorical_features=(), sample_weight=None
) -> np.ndarray:
    """Return the gain of the best split of each column: a cut, or one branch per value of a categorical column.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows of a node.
    y : array of shape (n,)
        Labels (numbers for "squared_error").
    criterion, unit, sample_weight
        As for :func:`surefit.split_curve`.
    categorical_features : list of column numbers, default=()
        Columns to split into one branch per value; for "entropy" their gain is the mutual information with y.

    Examples
    --------
    >>> from surefit import attribute_gains
    >>> from surefit.data import load_or_table
    >>> attribute_gains(*load_or_table()).round(6)
    array([0.316689, 0.190875])
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise InvalidData(f"attribute_gains: X must have two dimensions; got {X.ndim}.")
    gains = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        if j in set(categorical_features):
            gains[j] = _branch_gain(X[:, j], y, criterion, unit, sample_weight)
        elif len(np.unique(X[:, j])) > 1:
            column = X[:, j].astype(np.float64)
            gains[j] = split_curve(column, y, criterion=criterion, unit=unit, sample_weight=sample_weight).gain.max()
    return gains


def _branch_gain(x, y, criterion: str, unit: str, sample_weight) -> float:
    if criterion == "entropy":
        return mutual_information(x, y, unit=unit, sample_weight=sample_weight)
    _, codes = np.unique(x, return_inverse=True)
    y, w = np.asarray(y), np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

    def total(rows: np.ndarray) -> float:
        if criterion == "squared_error":
            return float(w[rows] @ (y[rows] - np.average(y[rows], weights=w[rows])) ** 2)
        shares = [w[rows][y[rows] == label].sum() for label in np.unique(y)]
        return float(w[rows].sum() * CRITERIA[criterion](shares))

    parts = [np.flatnonzero((codes == k) & (w > 0)) for k in range(codes.max() + 1)]
    return (total(np.flatnonzero(w > 0)) - sum(total(rows) for rows in parts if len(rows))) / w.sum()


def _class_impurities(y, w, ends, criterion: str, unit: str) -> tuple[np.ndarray, float]:
    classes, codes = np.unique(y, return_inverse=True)
    weights = np.zeros((len(y), len(classes)))
    weights[np.arange(len(y)), codes] = w
    counts = np.cumsum(weights, axis=0)
    options = {"unit": unit} if criterion == "entropy" else {}
    sides = np.stack([counts[ends], np.maximum(counts[-1] - counts[ends], 0.0)])
    return CRITERIA[criterion](sides, **options), float(CRITERIA[criterion](counts[-1], **options))


def _mean_squares(y, w, ends, sides) -> tuple[np.ndarray, float]:
    y = y - np.average(y, weights=w)  # centering avoids cancellation in running sums
    first, second = np.cumsum(w * y)[ends], np.cumsum(w * y * y)[ends]
    total = float(w @ (y * y))
    squares = np.stack([second - first**2 / sides[0], total - second - (w @ y - first) ** 2 / sides[1]])
    return np.maximum(squares, 0.0) / sides, total / float(w.sum())


def _boundaries(x, y, ends) -> np.ndarray:
    """Return whether each cut separates labels; it does not if both neighboring groups are pure with the same label."""
    starts = np.concatenate([[0], ends + 1, [len(x)]])
    labels = [np.unique(y[a:b]) for a, b in pairwise(starts)]
    return np.array([len(a) > 1 or len(b) > 1 or a[0] != b[0] for a, b in pairwise(labels)])


def _read(x, y, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y)
    if x.ndim == 2 and x.shape[1] == 1:
        x = x[:, 0]
    if x.ndim != 1 or y.shape != x.shape or not np.all(np.isfinite(x)):
        raise InvalidData(
            f"split_curve: expected a column of finite numbers and as many labels; got shapes {x.shape} and {y.shape}."
        )
    w = read_weights("split_curve", sample_weight, len(x))
    w = np.ones(len(x)) if w is None else w
    return x[w > 0], y[w > 0], w[w > 0]
