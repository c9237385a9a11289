from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from surefit.bounds import theory_lambda
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ARRAY, BOOLEAN, NOTHING, POSITIVE, check_params, one_of
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, read_kernel_targets
from surefit.kernel_machines.kernel_null_space import NULL_SPACE
from surefit.kernel_machines.kernel_ridge_training import FreePartMixin, posed_squares, record
from surefit.kernels import Kernel
from surefit.problems.kernel_ridge import null_degree
from surefit.solvers.kernel import squares as solver
from surefit.solvers.kernel.squares import Coefficients

GRID = np.geomspace(1e-6, 1e3, 55)  # penalties in units of the mean of k(x, x)


class KernelRidgeCV(CertifiedMixin, FreePartMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge regression whose penalty is chosen by exact leave-one-out or generalized cross-validation.

    .. math::

        \hat\alpha = \arg\min_\alpha \frac1{\sum_i s_i} \sum_i s_i
            \left( \frac{y_i - f_\alpha(x_i) - p_\alpha(x_i)}{1 - h_i(\alpha)} \right)^2 ,

    with the leverage :math:`h_i` of row :math:`i`. The terms are the errors of n separate fits of :class:`KernelRidge`,
    computed for all penalties from one eigendecomposition of the Gram matrix.

    Hypothesis class: functions of the kernel's space. Loss: squared. Optimizer: one eigendecomposition.

    Guarantee: the fit at ``alpha_`` has the gap of :class:`KernelRidge`, and the leave-one-out error is that of n
    separate fits, up to rounding (theory: :ref:`kernel-ridge-gap`). The leave-one-out error estimates the error on new
    rows; it is not a bound.

    Parameters
    ----------
    alphas : array of positive numbers, one, or None, default=None
        Penalties to choose from; None means 55 values from 1e-6 to 1e3 times the mean of k(x, x).
    kernel, gamma, degree, coef0, kernel_params, fit_intercept, null_space
        As in :class:`KernelRidge`.
    criterion : {"loo", "gcv"}, default="loo"
        Exact leave-one-out error, or generalized cross-validation, which replaces each leverage by the mean leverage.
    alpha_per_target : bool, default=False
        Whether to choose one penalty per target.
    store_cv_results : bool, default=False
        Whether to store ``cv_results_``.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        Chosen penalty; ties go to the larger one.
    alphas_ : ndarray of shape (n_alphas,)
        Penalties that were compared.
    scores_, best_score_
        Negative criterion of all penalties (one column per target with ``alpha_per_target``), and of the chosen one.
    degrees_of_freedom_ : ndarray of shape (n_alphas,)
        Trace of the hat matrix, including the intercept and other unpenalized functions.
    theory_alpha_ : float
        Penalty implied by the norm-based risk bound at confidence 0.95,
        :math:`n \cdot \frac{8 r^2}{\sqrt n} \bigl(1 + \tfrac12 \sqrt{\ln(20)/2}\bigr)` without an intercept and
        :math:`n \cdot \frac{24 r^2}{\sqrt n} \bigl(1 + \tfrac38 \sqrt{\ln(20)/2}\bigr)` with one,
        :math:`r^2 = \max_i k(x_i, x_i)`. This heuristic shrinks too much and is reported for comparison. NaN if there
        are unpenalized functions besides the constant.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared leave-one-out errors, NaN for rows of weight zero; only with ``store_cv_results``.
    null_coef_, null_center_, null_space_
        As in :class:`KernelRidge`.
    dual_coef_, intercept_, X_fit_, kernel_, dual_gap_, objective_, rkhs_norm_, certificate_, n_features_in_, feature_names_in_
        As in :class:`KernelRidge`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import KernelRidgeCV
    >>> X = np.linspace(0, 1, 12)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.cos(40 * X[:, 0])
    >>> model = KernelRidgeCV([1e-3, 1e-1, 10.0], kernel="rbf", gamma=10.0).fit(X, y)
    >>> model.alpha_, model.degrees_of_freedom_.round(2)
    (0.1, array([7.88, 5.04, 0.88]))
    """

    _rules = {
        **KERNEL_RULES,
        "alphas": NOTHING | POSITIVE | ARRAY,
        "fit_intercept": BOOLEAN,
        "criterion": one_of("loo", "gcv"),
        "alpha_per_target": BOOLEAN,
        "store_cv_results": BOOLEAN,
        "null_space": NULL_SPACE,
    }

    def __init__(
        self,
        alphas=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=False,
        criterion="loo",
        alpha_per_target=False,
        store_cv_results=False,
        null_space=None,
    ):
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.criterion = criterion
        self.alpha_per_target = alpha_per_target
        self.store_cv_results = store_cv_results
        self.null_space = null_space

    def fit(self, X, y, sample_weight=None):
        """Choose the penalty and fit; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        data = read_kernel_targets(self, X, y, sample_weight)
        _require_kernel(data.kernel)
        posed = posed_squares(self, data)
        rows, s, K, Y, n = posed.rows, posed.s, posed.K, posed.Y, float(posed.s.sum())
        self.alphas_ = _grid(self.alphas, K, s)
        self.theory_alpha_ = _theory(K, n, posed.T.shape[1], null_degree(self.get_params(deep=False)))
        spectrum = solver.decompose(K, Y, s, posed.free)
        left = [solver.leave_one_out(spectrum, float(alpha)) for alpha in self.alphas_]
        self.degrees_of_freedom_ = np.array([path.degrees_of_freedom for path in left])
        with np.errstate(over="ignore"):
            loo = np.array([s / n @ path.errors**2 for path in left])
        plain = np.array([path.residual_squares.sum(axis=0) for path in left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = 1 - self.degrees_of_freedom_[:, None] / n
            gcv = np.where(share > 0, plain / n / share**2, np.inf)
        scores = -np.where(np.isfinite(loo), loo, np.inf) if self.criterion == "loo" else -gcv
        if self.store_cv_results:
            kept = np.full((*data.Y.shape, len(self.alphas_)), np.nan)
            kept[rows] = np.stack([path.errors**2 for path in left], axis=-1)
            self.cv_results_ = kept[:, 0] if data.single else kept
        scores = scores if self.alpha_per_target else scores.mean(axis=1, keepdims=True)
        order = np.argsort(-self.alphas_, kind="stable")
        best = order[np.argmax(scores[order], axis=0)]
        chosen, top = self.alphas_[best], scores[best, np.arange(len(best))]
        single = len(chosen) == 1
        self.alpha_ = float(chosen[0]) if single else chosen
        self.best_score_ = float(top[0]) if single else top
        self.scores_ = scores[:, 0] if single else scores
        places = np.broadcast_to(best, (Y.shape[1],))
        alphas = self.alphas_[places]
        c, b = np.empty_like(Y), np.empty((posed.T.shape[1], Y.shape[1]))
        for alpha in np.unique(alphas):
            same = np.flatnonzero(alphas == alpha)
            part = spectrum._replace(along=spectrum.along[:, same])
            c[:, same], b[:, same] = solver.refined(K, Y[:, same], part, float(alpha))
        error = float(np.mean(loo[places, np.arange(Y.shape[1])]))
        more = [Claim("kernel_ridge.leave_one_out")] if math.isfinite(error) else []
        return record(self, data, posed, Coefficients(c, b), ("alpha_",), more)


def _require_kernel(kernel: Kernel) -> None:
    if kernel.positive_semidefinite is False:
        raise InvalidParameter(
            "KernelRidgeCV", "kernel", "a positive semidefinite kernel (otherwise leverages are not defined)", kernel
        )


def _theory(K: np.ndarray, n: float, free: int, degree: int | None) -> float:
    """Return the penalty of the norm-based bound, or NaN if there are unpenalized functions besides the constant."""
    if free > 1 or (free and degree is None):
        return math.nan
    return n * theory_lambda(math.sqrt(float(np.max(K.diagonal()))) or 1.0, max(1, round(n)), offset=free == 1)


def _grid(alphas, K: np.ndarray, s: np.ndarray) -> np.ndarray:
    if alphas is None:
        return GRID * (float(np.average(K.diagonal(), weights=s)) or 1.0)
    try:
        grid = np.ravel(np.asarray(alphas, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.zeros(0)
    if not len(grid) or not np.all((grid > 0) & np.isfinite(grid)):
        raise InvalidParameter("KernelRidgeCV", "alphas", "finite numbers > 0", alphas)
    return grid
