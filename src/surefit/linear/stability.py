"""Bounds on the distance of each prediction of penalized least squares from that of the exact optimum."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg, sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import InvalidParameter
from surefit.core.stability import PredictionStability
from surefit.linear.score_stability import as_rows, score_stability

MODELS = "a fitted lasso, elastic net, logistic regression or support vector machine of surefit"


def prediction_stability(model, X, y, X_new=None, sample_weight=None) -> PredictionStability:
    r"""Bound the distance of each prediction from that of the exact optimum.

    The certificate is verified first; with its proved gap :math:`g`, the features :math:`A` that may be non-zero in
    some solution, and :math:`H = X_c^\top S X_c / \sum s + \beta F` restricted to :math:`A`,

    .. math:: |f(x) - f^*(x)| \le \sqrt{2 g \; x_c^\top H^{-1} x_c} + |b - b(w)|,

    where :math:`b(w)` is the best intercept for the coefficients. If :math:`H` is singular, the bound of a new row is
    infinite. Training rows always have the bound :math:`\sqrt{2 g \sum s / s_i}` as well (theory:
    :ref:`prediction-stability`).

    Parameters
    ----------
    model : fitted Lasso, ElasticNet, LassoCV, ElasticNetCV, LogisticRegression, LinearSVC, LinearSVR, SVC or SVR
        The model. For classifiers the bounds refer to scores, and the label of a row is not certified if its score can
        be 0.
    X, y, sample_weight
        Training data of the model.
    X_new : array of shape (n_rows, n_features), optional
        Rows to predict; the default is the training rows.

    Returns
    -------
    PredictionStability
        ``scores``, ``bounds`` and ``labels_at_risk(threshold)``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import Lasso, prediction_stability
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Lasso(alpha=0.1, tol=1e-8).fit(X, y)
    >>> bool(prediction_stability(model, X, y).largest < 1.0)
    True
    """
    certificate: Certificate | None = getattr(model, "certificate_", None)
    if certificate is not None and hasattr(model, "prediction_stability"):
        return model.prediction_stability(X, y, X_new, sample_weight)
    names = [] if certificate is None else [claim.name for claim in certificate.claims]
    squares = certificate is not None and certificate.problem.get("loss") == "squared_error"
    if certificate is None or ("linear.inactive" if squares else "linear.gap") not in names:
        raise InvalidParameter("prediction_stability", "model", MODELS, type(model).__name__)
    if not squares:
        return score_stability(model, X, y, X_new, sample_weight)
    if np.ndim(model.coef_) == 2:
        raise InvalidParameter("prediction_stability", "model", "a model with one target", type(model).__name__)
    findings = certificate.verify(X, y, sample_weight=sample_weight)
    gap = findings["linear.gap"].proved
    train, target = as_rows(X), np.asarray(y, dtype=np.float64).ravel()
    s = np.ones(train.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = math.fsum(s)
    free = certificate.problem["fit_intercept"]
    means = np.asarray(s @ train).ravel() / total if free else np.zeros(train.shape[1])
    residual = target - train @ model.coef_ - model.intercept_
    offset = abs(math.fsum(s * residual) / total) if free else 0.0

    candidates = np.flatnonzero(~model.inactive_)
    rows = train if X_new is None else as_rows(X_new)
    scores = np.asarray(rows @ model.coef_).ravel() + model.intercept_
    bounds = _ellipsoid_bounds(train, s / total, means, candidates, certificate, rows, gap) + offset
    if X_new is None:
        with np.errstate(divide="ignore"):
            bounds = np.minimum(bounds, np.sqrt(2 * gap * total / s))
    return PredictionStability(scores, bounds)


def _factors(certificate, n_features: int) -> np.ndarray:
    factors = certificate.problem["penalty"]["factors"]
    return np.ones(n_features) if factors is None else np.asarray(factors, dtype=np.float64)


def _dense(X, columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    part = X[:, columns]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
    return part - means[columns]


def _ellipsoid_bounds(X, shares, means, candidates, certificate, rows, gap) -> np.ndarray:
    """Return ``sqrt(2 gap x' H^-1 x)`` for each row; infinite if H is singular."""
    if len(candidates) == 0:
        return np.zeros(rows.shape[0])
    if len(candidates) > X.shape[0] and certificate.problem["penalty"]["l2"] == 0:
        return np.full(rows.shape[0], np.inf)
    centered = _dense(X, candidates, means)
    factors = _factors(certificate, X.shape[1])[candidates]
    H = (centered * shares[:, None]).T @ centered + certificate.problem["penalty"]["l2"] * np.diag(factors)
    scale = np.sqrt(np.diag(H))
    if not np.all(scale > 0):
        return np.full(rows.shape[0], np.inf)
    smallest = linalg.eigvalsh(H / np.outer(scale, scale), subset_by_index=[0, 0])[0]
    if smallest <= 1e-10 * len(candidates):  # too close to singular for a bound that is valid in floating point
        return np.full(rows.shape[0], np.inf)
    factor = linalg.cholesky(H / np.outer(scale, scale), lower=True)
    whitened = linalg.solve_triangular(factor, (_dense(rows, candidates, means) / scale).T, lower=True)
    return np.sqrt(2 * gap * np.sum(whitened**2, axis=0)) * (1 + 1e-6)
