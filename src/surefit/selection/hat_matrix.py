"""Hat matrix of a linear smoother."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter

#: Estimators whose predictions are linear in y for fixed values of these parameters.
SMOOTHERS: dict[str, dict[str, str]] = {
    "BayesianLinearRegression": {},
    "GaussianProcessRegressor": {"kernel": "kernel_", "optimizer": ""},
    "KNeighborsRegressor": {},
    "KernelRidge": {"alpha": "multiplier_", "radius": ""},
    "KernelRidgeCV": {"alphas": "alpha_"},
    "LinearRegression": {},
    "NystroemRidge": {},
    "Regressogram": {},
    "Ridge": {"alpha": "multiplier_", "radius": ""},
    "RidgeCV": {"alphas": "alpha_"},
    "SmoothingSpline": {"lam": "lam_"},
}


def hat_matrix(model, X, *, at=None, sample_weight=None) -> np.ndarray:
    r"""Return the matrix H with :math:`\hat y = H y` of a model whose fitted values are linear in the targets.

    Its trace is the effective number of degrees of freedom, and its diagonal contains the leverages; changing :math:`y_i` by :math:`\Delta`
    changes the fitted values by :math:`\Delta H_{\cdot i}`. Guarantee: columns are fits to unit targets by the estimator itself, so H
    describes the model for any solver.

    Parameters
    ----------
    model : estimator or pipeline
        ``LinearRegression``, ``Ridge``, ``RidgeCV``, ``KernelRidge``, ``KernelRidgeCV``, ``NystroemRidge``, ``SmoothingSpline``,
        ``GaussianProcessRegressor``, ``BayesianLinearRegression``, ``KNeighborsRegressor``, ``Regressogram``, or a pipeline of
        transformers that ends with one. If it is fitted, the choices of ``fit`` (a penalty, a kernel) are kept. If
        ``fit`` chooses the penalty, the model must be fitted.
    X : array of shape (n, d)
        Training inputs.
    at : array of shape (m, d) or None, default=None
        Points of prediction; None: ``X``.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the training rows.

    Returns
    -------
    ndarray of shape (m, n)

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import LinearRegression, hat_matrix
    >>> H = hat_matrix(LinearRegression(), np.arange(-5.0, 6.0)[:, None])
    >>> round(float(np.trace(H)), 9), round(float(np.abs(H[:, 5]).max()), 4)
    (2.0, 0.0909)
    """
    X = np.asarray(X, dtype=np.float64)
    n = len(X)
    if n == 0:
        raise InvalidData("hat_matrix: X has no rows.")
    at = X if at is None else np.asarray(at, dtype=np.float64)
    fixed = _fixed(model)
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    if isinstance(fixed, Pipeline) and options:
        options = {f"{fixed.steps[-1][0]}__sample_weight": sample_weight}
    columns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # warnings about unit targets are irrelevant to the user
        for unit in np.eye(n):  # ):  # one target at a time: estimators may share quantities between targets
            fitted = clone(fixed).fit(X, unit, **options)
            columns.append(np.asarray(fitted.predict(at), dtype=np.float64).ravel())
    return np.column_stack(columns)


def _fixed(model: Any) -> Any:
    """Return a copy of the model with all data-dependent choices fixed."""
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], _fixed(model.steps[-1][1]))])
    name = type(model).__name__
    if name not in SMOOTHERS:
        words = f"a linear smoother ({', '.join(SMOOTHERS)}); its predictions must be linear in y"
        raise InvalidParameter("hat_matrix", "model", words, model)
    if getattr(model, "positive", False):
        raise InvalidParameter("hat_matrix", "model", "a model without positive=True (it is not linear in y)", model)
    copy = clone(model)
    chosen: dict[str, Any] = {}
    for parameter, attribute in SMOOTHERS[name].items():
        if not attribute:
            chosen[parameter] = None
        elif hasattr(model, attribute):
            value = getattr(model, attribute)
            chosen[parameter] = [value] if parameter == "alphas" else value
    open_choice = (name.endswith("CV") and not chosen) or (
        isinstance(getattr(model, "lam", None), str) and "lam" not in chosen
    )
    if open_choice or (getattr(model, "radius", None) is not None and "alpha" not in chosen):
        raise InvalidParameter("hat_matrix", "model", "fitted, because its penalty is chosen by fit", model)
    return copy.set_params(**chosen)
