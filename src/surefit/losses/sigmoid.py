"""The logistic sigmoid and its derivatives, computed without overflow."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from surefit.core.errors import InvalidParameter


def sigmoid(z):
    r"""Return the logistic sigmoid :math:`\sigma(z) = 1 / (1 + e^{-z})`, elementwise.

    :math:`\sigma(-z) = 1 - \sigma(z)`, :math:`\sigma(0) = 1/2`; in double precision, :math:`\sigma(z)` is exactly 1 for
    z above about 37.

    Parameters
    ----------
    z : float or array
        Scores.

    Examples
    --------
    >>> from surefit import sigmoid
    >>> sigmoid(0.0), sigmoid(40.0), sigmoid([-1.0, 1.0]).round(4)
    (0.5, 1.0, array([0.2689, 0.7311]))
    """
    return _plain(expit(np.asarray(z, dtype=np.float64)))


def sigmoid_derivative(z, order: int = 1):
    r"""Return a derivative of the logistic sigmoid, elementwise.

    :math:`\sigma' = \sigma(1 - \sigma) \in (0, \tfrac14]` and :math:`\sigma'' = \sigma(1 - \sigma)(1 - 2\sigma)`. The first is the
    curvature of the logistic loss, so the loss of one row has curvature at most :math:`\tfrac14 \|x\|^2`.

    Parameters
    ----------
    z : float or array
        Scores.
    order : {1, 2}, default=1Order of the derivative.

    Examples
    --------
    >>> from surefit import sigmoid_derivative
    >>> sigmoid_derivative(0.0), sigmoid_derivative(0.0, order=2)
    (0.25, 0.0)
    """
    if order not in (1, 2):
        raise InvalidParameter("sigmoid_derivative", "order", "1 or 2", order)
    z = np.asarray(z, dtype=np.float64)
    first = expit(z) * expit(-z)
    return _plain(first if order == 1 else 0.0 - first * np.tanh(z / 2))


def _plain(value: np.ndarray):
    return float(value) if value.ndim == 0 else value
