import math

import numpy as np
from sklearn.base import BaseEstimator

from surefit.bases.base import BasisMixin
from surefit.core.errors import InvalidParameter
from surefit.core.validation import ARRAY, COUNT, POSITIVE


def waves(X: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return cosine and sine of every column times every angular frequency, column by column."""
    angles = X[:, :, None] * frequencies
    return np.stack([np.cos(angles), np.sin(angles)], axis=3).reshape(len(X), -1)


class FourierBasis(BasisMixin, BaseEstimator):
    r"""Sines and cosines of a known period.

    .. math:: \phi(x) = \big( \cos(2\pi k x / P),\ \sin(2\pi k x / P) \big)_{k = 1 \dots K} \quad\text{for each column.}

    Guarantee: on n > 2K equally spaced rows over one period, the features are orthogonal with squared norm n/2; optimality is that of the
    model on these features (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    n_frequencies : int >= 1, default=3
        Number of frequencies :math:`K`.
    period : float > 0, default=1.0
        Period :math:`P`.

    Attributes
    ----------
    n_output_features_ : int
        Number of features; there is no constant feature, because models have an intercept.
    certificate_ : Certificate
        States that the map does not depend on the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import FourierBasis
    >>> phi = FourierBasis(n_frequencies=1).fit_transform(np.arange(4)[:, None] / 4)
    >>> (phi.T @ phi).round(12) + 0.0
    array([[2., 0.],
           [0., 2.]])
    """

    _rules = {"n_frequencies": COUNT, "period": POSITIVE}

    def __init__(self, n_frequencies=3, *, period=1.0):
        self.n_frequencies = n_frequencies
        self.period = period

    def _features(self, X):
        return waves(X, 2 * math.pi * np.arange(1, self.n_frequencies + 1) / self.period)

    def _names(self, columns):
        return [
            f"{f}({k}*2pi*{c}/P)" for c in columns for k in range(1, self.n_frequencies + 1) for f in ("cos", "sin")
        ]


class PeriodicBasis(BasisMixin, BaseEstimator):
    r"""Sines and cosines of given angular frequencies.

    .. math:: \phi(x) = \big( \cos(\omega_j x),\ \sin(\omega_j x) \big)_j \quad\text{for each column.}

    Guarantee: with one frequency, every wave of that frequency, with any phase, is a linear combination of the features; optimality is
    that of the model on these features (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    frequencies : array of positive numbers, default=(1.0,)
        Angular frequencies :math:`\omega_j`.

    Attributes
    ----------
    n_output_features_ : int
        Number of features; there is no constant feature, because models have an intercept.
    certificate_ : Certificate
        States that the map does not depend on the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import PeriodicBasis
    >>> PeriodicBasis([2.0]).fit([[0.5]]).get_feature_names_out()
    array(['cos(2*x0)', 'sin(2*x0)'], dtype=object)
    """

    _rules = {"frequencies": ARRAY}
    _numbers = ("frequencies_",)

    def __init__(self, frequencies=(1.0,)):
        self.frequencies = frequencies

    def _place(self, X):
        self.frequencies_ = np.ravel(np.asarray(self.frequencies, dtype=np.float64))
        if not len(self.frequencies_) or not np.all((self.frequencies_ > 0) & np.isfinite(self.frequencies_)):
            raise InvalidParameter("PeriodicBasis", "frequencies", "finite numbers > 0", self.frequencies)

    def _features(self, X):
        return waves(X, self.frequencies_)

    def _names(self, columns):
        return [f"{f}({w:g}*{c})" for c in columns for w in self.frequencies_ for f in ("cos", "sin")]
