"""Conversion between an intercept and a constant column, and between a threshold and a sign."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import POSITIVE


def augment(X, constant: float = 1.0):
    r"""Append a constant column, so that :math:`\langle w, x\rangle + b = \langle (w, b / c), (x, c)\rangle`.

    A model without intercept on the augmented rows penalizes the intercept (``Ridge``, ``LogisticRegression``, ``SVC`` with
    ``fit_intercept=False``); norms and margins there are those of the augmented space, :math:`\|(x, c)\|^2 = \|x\|^2 + c^2`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows.
    constant : float > 0, default=1.0
        Value c of the column; a larger one reduces the penalty on the intercept.

    Examples
    --------
    >>> from surefit import augment, split_augmented
    >>> augment([[2.0], [3.0]], 2.0)
    array([[2., 2.],
           [3., 2.]])
    >>> split_augmented([0.5, 3.0], 2.0)
    (array([0.5]), 6.0)
    """
    if not POSITIVE.allows(constant):
        raise InvalidParameter("augment", "constant", POSITIVE.words, constant)
    if sparse.issparse(X):
        return sparse.hstack([X, np.full((X.shape[0], 1), float(constant))], format="csr")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise InvalidData(f"augment: X must have two dimensions; got {X.ndim}. Pass a single column as X[:, None].")
    return np.column_stack([X, np.full(len(X), float(constant))])


def split_augmented(weights, constant: float = 1.0):
    """Return the coefficients and intercept that correspond to weights on augmented rows.

    Parameters
    ----------
    weights : array of shape (d + 1,) or (k, d + 1)
        Weights, with that of the constant column last.
    constant : float > 0, default=1.0
        Value of the constant column.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import LinearRegression, augment, split_augmented
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])
    >>> plain, lifted = LinearRegression().fit(X, y), LinearRegression(fit_intercept=False).fit(augment(X), y)
    >>> coef, intercept = split_augmented(lifted.coef_)
    >>> bool(np.allclose(coef, plain.coef_) and np.isclose(intercept, plain.intercept_))
    True
    """
    if not POSITIVE.allows(constant):
        raise InvalidParameter("split_augmented", "constant", POSITIVE.words, constant)
    weights = np.asarray(weights, dtype=np.float64)
    last = weights[..., -1] * float(constant)
    return weights[..., :-1].copy(), float(last) if last.ndim == 0 else last


def sign_intercept(intercept, threshold: float = 0.5):
    r"""Return the intercept of the sign classifier that equals a threshold classifier.

    .. math:: \langle c, x\rangle + c_0 > \tau \iff \langle c, x\rangle + (c_0 - \tau) > 0

    A regression on labels 0 and 1 predicts 1 above 1/2; on labels -1 and 1 it predicts 1 above 0.

    Examples
    --------
    >>> from surefit import sign_intercept
    >>> sign_intercept(0.75)
    0.25
    """
    found = np.asarray(intercept, dtype=np.float64) - float(threshold)
    return float(found) if found.ndim == 0 else found
