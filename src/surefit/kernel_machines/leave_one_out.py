"""Exact leave-one-out error of a support vector classifier, which requires refits for support vectors only."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from surefit.core.errors import InvalidData


class LeaveOneOut(NamedTuple):
    """Prediction of each row by a machine fitted without that row."""

    predictions: np.ndarray
    wrong: np.ndarray  # (n,) bool
    n_refits: int

    @property
    def error(self) -> float:
        """Fraction of rows that are misclassified when left out."""
        return float(np.mean(self.wrong))


def svm_leave_one_out(model, X, y) -> LeaveOneOut:
    """Return the exact leave-one-out predictions of a fitted ``SVC`` or ``LinearSVC``.

    Guarantee: removing a row that is not a support vector does not change the optimum, so its prediction is that of the
    model. The model is refitted without each support vector (for ``LinearSVC``, without each row). The error is at most
    the fraction of support vectors, ``loo_error_bound_``. If one class remains, that class is predicted.

    Parameters
    ----------
    model : fitted SVC or LinearSVC
        The model, for two or more classes.
    X, y : arrays
        Training data of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SVC, svm_leave_one_out
    >>> from surefit.data import make_four_points
    >>> X, y, _ = make_four_points()
    >>> model = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(X, y)
    >>> svm_leave_one_out(model, X, y).error, model.loo_error_bound_
    (0.75, 0.75)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if len(X) != len(y) or len(y) < 2:
        raise InvalidData(
            f"svm_leave_one_out: expected at least two rows with one label each; got {len(X)} rows and {len(y)} labels."
        )
    support = model.support_ if hasattr(model, "support_") else np.arange(len(y))
    predictions: Any = np.array(model.predict(X))
    for row in support:
        kept = np.arange(len(y)) != row
        classes = np.unique(y[kept])
        if len(classes) == 1:
            predictions[row] = classes[0]
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the sign of the score does not need a small gap
            predictions[row] = clone(model).fit(X[kept], y[kept]).predict(X[row : row + 1])[0]
    return LeaveOneOut(predictions, predictions != y, len(support))
