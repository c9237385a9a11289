from __future__ import annotations

from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ARRAY, BOOLEAN, NOTHING, POSITIVE, check_params
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, read_kernel_targets
from surefit.kernel_machines.kernel_null_space import NULL_SPACE
from surefit.kernel_machines.kernel_ridge_training import (
    FreePartMixin,
    kept_inside,
    multiplier_of_radius,
    penalties,
    posed_squares,
    record,
    solve_targets,
)
from surefit.solvers.kernel import squares as solver


class KernelRidge(CertifiedMixin, FreePartMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge regression, with optional unpenalized functions.

    .. math:: P(f, p) = \sum_i s_i (y_i - f(x_i) - p(x_i))^2 + \alpha \|f\|_k^2 .

    Hypothesis class: :math:`\sum_j c_j k(x_j, \cdot)`, plus unpenalized functions :math:`p` if requested (an intercept,
    a polynomial, or user-supplied functions). By the representer theorem this form contains the minimizer over the
    kernel's space (theory: :ref:`representer`). Loss: squared. Optimizer: Cholesky factorization of
    :math:`K + \alpha S^{-1}`, refined in float64. At the optimum the residuals are
    :math:`y_i - f(x_i) - p(x_i) = \alpha c_i / s_i`, and :math:`c` is orthogonal to the values of the unpenalized
    functions.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{\text{gap} / \alpha}` (theory: :ref:`kernel-ridge-gap`).

    Parameters
    ----------
    alpha : float > 0 or array of shape (n_targets,), default=1
        Weight of the squared norm; an array has one weight per target.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="linear"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples. For a
        string kernel, X is a list of strings.
    gamma : float > 0 or None, default=None
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; None means 1 / n_features.
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Additional keyword arguments of a kernel function.
    fit_intercept : bool, default=False
        Whether to fit an intercept; it is never penalized.
    radius : float > 0 or None, default=None
        If given, ``alpha`` is ignored and the constrained form is solved: least squares subject to :math:`\|f\|_k \le`
        ``radius`` (over all targets together); the multiplier is ``multiplier_``.
    null_space : {"constant", "linear"}, int >= 0, callable, transformer or None, default=None
        Functions that are not penalized, besides the intercept: polynomials of the columns up to a total degree
        ("constant" is 0, "linear" is 1; the constant is always included), or the output of a function or transformer,
        one column per function. They must be linearly independent on the rows. With ``kernel=IntegratedBrownian()``,
        "linear" gives the cubic smoothing spline.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients :math:`c`.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept, the coefficient of the constant; 0 if no constant is fitted.
    null_coef_ : ndarray of shape (n_functions,) or (n_functions, n_targets)
        Coefficients of the unpenalized functions other than the constant. For polynomials, these are the coefficients
        of the monomials of ``X - null_center_``, ordered by degree.
    null_center_ : ndarray of shape (n_features,)
        Weighted means of the columns; only with polynomials of degree 1 or more.
    null_space_ : callable or transformer
        The function or the fitted transformer, if ``null_space`` is one.
    X_fit_ : ndarray or sparse matrix
        The training rows, or the kernel matrix if the kernel is precomputed.
    kernel_ : Kernel
        The kernel used.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`, all targets together. In the constrained form both refer to
        the sum of squares.
    rkhs_norm_ : float
        :math:`\|f\|_k`, all targets together.
    multiplier_ : float
        With ``radius``: the ``alpha`` for which the penalized problem has the same solution as the constrained one; 0
        if the constraint is inactive.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Two rows with the Gram matrix [[2, 1], [1, 2]]:

    >>> import numpy as np
    >>> from surefit import KernelRidge
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])
    >>> model = KernelRidge(alpha=1.0, kernel="precomputed").fit(K, y)
    >>> print(model.dual_coef_.round(12), round(model.objective_, 12), round(model.rkhs_norm_**2, 12))
    [ 0.375 -0.125] 0.375 0.21875
    >>> model.verify(K, y)["kernel_ridge.gap"].level
    'enclosed'
    """

    _rules = {
        **KERNEL_RULES,
        "alpha": POSITIVE | ARRAY,
        "fit_intercept": BOOLEAN,
        "radius": NOTHING | POSITIVE,
        "null_space": NULL_SPACE,
    }

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=False,
        radius=None,
        null_space=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.null_space = null_space

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        data = read_kernel_targets(self, X, y, sample_weight)
        alphas = penalties(self, data.Y.shape[1])
        squares = posed_squares(self, data)
        if self.radius is None:
            return record(self, data, squares, solve_targets(squares, alphas), (), [])
        spectrum = solver.decompose(squares.K, squares.Y, squares.s, squares.free)
        self.multiplier_ = multiplier_of_radius(spectrum, float(self.radius))
        found = solver.refined(squares.K, squares.Y, spectrum, self.multiplier_)
        return record(self, data, squares, kept_inside(squares, found, float(self.radius)), ("multiplier_",), [])
