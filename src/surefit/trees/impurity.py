"""Impurity of class counts, and entropy and mutual information of columns in bits or nats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import xlogy

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_weights

UNITS = {"bits": math.log(2), "nats": 1.0}


def entropy(weights, *, unit: str = "bits"):
    r"""Return the entropy :math:`-\sum_l p_l \log p_l` of a distribution given by probabilities or counts.

    By convention :math:`0 \log 0 = 0`. Guarantee: the result is between 0 (a single value) and the logarithm of the
    number of values (equal probabilities).

    Parameters
    ----------
    weights : array of shape (..., n_values)
        Probabilities or counts >= 0; each distribution along the last axis is normalized.
    unit : {"bits", "nats"}, default="bits"
        Base-2 or natural logarithm.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from surefit import entropy
    >>> entropy([0.5, 0.5]), round(entropy([9, 1]), 6), entropy([3, 0])
    (1.0, 0.468996, 0.0)
    >>> round(entropy([1, 1], unit="nats"), 6)
    0.693147
    """
    p = _shares("entropy", weights)
    return _plain(-np.sum(xlogy(p, p), axis=-1) / _unit("entropy", unit) + 0.0)


def gini(weights):
    r"""Return the Gini impurity :math:`1 - \sum_l p_l^2`, the probability that the labels of two draws differ.

    Parameters
    ----------
    weights : array of shape (..., n_classes)
        Probabilities or counts.

    Examples
    --------
    >>> from surefit import gini
    >>> gini([0.5, 0.5]), round(gini([5, 1]), 6)
    (0.5, 0.277778)
    """
    p = _shares("gini", weights)
    return _plain(np.sum(p * (1 - p), axis=-1))


def misclassification(weights):
    r"""Return the misclassification impurity :math:`1 - \max_l p_l`: the error of the most frequent class.

    Parameters
    ----------
    weights : array of shape (..., n_classes)
        Probabilities or counts.

    Examples
    --------
    >>> from surefit import misclassification
    >>> misclassification([300, 100]), misclassification([0.5, 0.5])
    (0.25, 0.5)
    """
    p = _shares("misclassification", weights)
    return _plain(1 - np.max(p, axis=-1))


def conditional_entropy(y, given=None, *, unit: str = "bits", sample_weight=None) -> float:
    r"""Return the conditional entropy of y given another column, :math:`H(Y | X) = \sum_x P(x) H(Y | X = x)`.

    Parameters
    ----------
    y : array of shape (n,), or of shape (n_values, n_classes)
        Labels; or, without ``given``, a table of counts or probabilities with one row per value of X.
    given : array of shape (n,) or None, default=None
        The column to condition on.
    unit : {"bits", "nats"}, default="bits"
        Unit of the result.
    sample_weight : array of shape (n,) or None, default=None
        Frequency weights.

    Examples
    --------
    >>> from surefit import conditional_entropy
    >>> round(conditional_entropy([1, 1, 1, 1, 1, 0], given=[1, 1, 1, 1, 0, 0]), 6)
    0.333333
    >>> conditional_entropy([[4, 0], [1, 1]], unit="bits") == conditional_entropy([1, 1, 1, 1, 1, 0], given=[1, 1, 1, 1, 0, 0])
    True
    """
    table = contingency_table("conditional_entropy", given, y, sample_weight) if given is not None else y
    table = _table("conditional_entropy", table)
    kept = table[table.sum(axis=1) > 0]
    return float(kept.sum(axis=1) / kept.sum() @ np.atleast_1d(entropy(kept, unit=unit)))


def mutual_information(x, y=None, *, unit: str = "bits", sample_weight=None) -> float:
    r"""Return the mutual information of two columns, :math:`I(X; Y) = H(Y) - H(Y | X) = H(X) - H(X | Y)`.

    The mutual information is the information gain of a split with one branch per value. Guarantee: it is symmetric,
    non-negative, and zero only if the columns are independent in the table.

    Parameters
    ----------
    x : array of shape (n,), or of shape (n_values, n_classes)
        A column; or, without ``y``, a table of counts or probabilities.
    y : array of shape (n,) or None, default=None
        The other column.
    unit : {"bits", "nats"}, default="bits"
        Unit of the result.
    sample_weight : array of shape (n,) or None, default=None
        Frequency weights.

    Examples
    --------
    >>> from surefit import mutual_information
    >>> x, y = [1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 0]
    >>> round(mutual_information(x, y), 6), round(mutual_information(y, x), 6)
    (0.190875, 0.190875)
    """
    table = contingency_table("mutual_information", x, y, sample_weight) if y is not None else x
    table = _table("mutual_information", table)
    joint = table / table.sum()
    outer = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    terms = xlogy(joint, np.divide(joint, outer, out=np.ones_like(joint), where=joint > 0))
    return max(0.0, math.fsum(terms.ravel()) / _unit("mutual_information", unit))


def contingency_table(who: str, x, y, sample_weight=None) -> np.ndarray:
    """Return the weight of each pair of values, one row per value of x."""
    x, y = (np.asarray(v).ravel() for v in (x, y))
    if len(x) != len(y) or len(x) == 0:
        raise InvalidData(f"{who}: expected two columns of the same length; got {len(x)} and {len(y)} values.")
    weights = read_weights(who, sample_weight, len(x))
    rows, row_codes = np.unique(x, return_inverse=True)
    columns, column_codes = np.unique(y, return_inverse=True)
    table = np.zeros((len(rows), len(columns)))
    np.add.at(table, (row_codes, column_codes), 1.0 if weights is None else weights)
    return table


def _shares(who: str, weights: Any) -> np.ndarray:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim == 0 or w.size == 0 or not np.all(np.isfinite(w)) or np.any(w < 0) or np.any(w.sum(axis=-1) <= 0):
        raise InvalidData(f"{who}: probabilities or counts must be numbers >= 0 with a positive sum; got {weights!r}.")
    return w / w.sum(axis=-1, keepdims=True)


def _table(who: str, table: Any) -> np.ndarray:
    found = np.asarray(table, dtype=np.float64)
    if found.ndim != 2 or not np.all(np.isfinite(found)) or np.any(found < 0) or found.sum() <= 0:
        raise InvalidData(f"{who}: a table of counts must have two dimensions and numbers >= 0; got {table!r}.")
    return found


def _unit(who: str, unit: str) -> float:
    if unit not in UNITS:
        raise InvalidParameter(who, "unit", "'bits' or 'nats'", unit)
    return UNITS[unit]


def _plain(value):
    return float(value) if np.ndim(value) == 0 else value
