"""Evaluation of a network from its weights, and exchange of a sigmoid for its counterpart with other limits."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.solvers.networks.activations import ACTIVATIONS, activation_named


def network_output(X, coefs, intercepts, activation: str = "standard") -> np.ndarray:
    r"""Return :math:`\psi(x) = c_0 + \sum_i c_i \sigma(a_{i0} + \langle a_i, x \rangle)`, or its multi-layer form.

    Parameters
    ----------
    X : array of shape (n, d)
        Points.
    coefs, intercepts : lists of arrays
        Weights of shape (units below, units above) and biases, layer by layer; the last layer is linear.
    activation : str, default='standard'
        Any activation of the catalog, including 'threshold' and 'step'.

    Returns
    -------
    ndarray of shape (n, outputs)

    Examples
    --------
    The XOR problem with two threshold units (class 1 above 1/2, otherwise class 0):

    >>> import numpy as np
    >>> from surefit import network_output
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> coefs = [np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0], [-1.0]])]
    >>> psi = network_output(X, coefs, [np.array([-0.5, -1.5]), np.zeros(1)], "step")
    >>> (psi > 0.5).astype(int).ravel()
    array([0, 1, 1, 0])
    """
    sigma = activation_named(activation)
    values = np.asarray(X, dtype=np.float64)
    last = len(coefs) - 1
    for k, (matrix, bias) in enumerate(zip(coefs, intercepts, strict=True)):
        sums = values @ np.asarray(matrix, dtype=np.float64) + np.asarray(bias, dtype=np.float64)
        values = sums
        if k < last:
            values = np.empty_like(sums)
            sigma.value(sums, values)
    return values


def exchange_sigmoid(coefs, intercepts, activation: str) -> tuple[list[np.ndarray], list[np.ndarray], str]:
    r"""Return weights for which the counterpart sigmoid gives the same network.

    With :math:`\sigma^* = (\sigma + 1)/2`, a layer :math:`b + W^\top \sigma` equals
    :math:`(b - W^\top 1) + 2 W^\top \sigma^*`, and :math:`b + W^\top \sigma^*` equals
    :math:`(b + W^\top 1 / 2) + \tfrac12 W^\top \sigma`. Every layer above a hidden one is changed.

    Parameters
    ----------
    coefs, intercepts : lists of arrays
        Weights and biases, layer by layer.
    activation : str
        'standard', 'arctan', 'gaussian', 'threshold', or one of their counterparts 'logistic', 'cauchy_cdf',
        'normal_cdf', 'step'.

    Returns
    -------
    coefs, intercepts, activation
        Parameters of the same function.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import exchange_sigmoid
    >>> coefs, intercepts, name = exchange_sigmoid([np.eye(2), np.array([[3.0], [1.0]])], [np.zeros(2), np.ones(1)], "standard")
    >>> name, coefs[1].ravel(), intercepts[1]
    ('logistic', array([6., 2.]), array([-3.]))
    """
    twin = activation_named(activation).twin
    if twin is None:
        pairs = ", ".join(name for name, entry in ACTIVATIONS.items() if entry.twin)
        raise InvalidParameter("exchange_sigmoid", "activation", f"one of {pairs}", activation)
    to_unit_interval = twin in ("logistic", "cauchy_cdf", "normal_cdf", "step")
    new_coefs, new_intercepts = [np.array(coefs[0], dtype=np.float64)], [np.array(intercepts[0], dtype=np.float64)]
    for matrix, bias in zip(coefs[1:], intercepts[1:], strict=True):
        matrix, bias = np.asarray(matrix, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        total = matrix.sum(axis=0)
        new_coefs.append(2 * matrix if to_unit_interval else matrix / 2)
        new_intercepts.append(bias - total if to_unit_interval else bias + total / 2)
    return new_coefs, new_intercepts, twin
