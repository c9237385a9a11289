from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.threads import one_blas_thread
from surefit.core.validation import BOOLEAN, COUNT, NOTHING, POSITIVE, Rule, check_params, one_of
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, KernelSumMixin, gram_of
from surefit.kernel_machines.kernel_null_space import NULL_SPACE, free_values, place_null_space
from surefit.kernels import resolve
from surefit.losses import curvature
from surefit.problems.composed import ComposedMixin, read_rows
from surefit.problems.kernels import kernel_in
from surefit.problems.stated_gap import StatedGapMixin
from surefit.problems.terms import loss_term
from surefit.solvers.barrier import minimize_kernel


@contextmanager
def _definite(who: str, kernel: Any) -> Iterator[None]:
    """Raise ``InvalidParameter`` if a Newton step fails because the kernel is indefinite."""
    try:
        yield
    except np.linalg.LinAlgError:
        wanted = "positive semidefinite on these rows (otherwise the objective has no minimum)"
        raise InvalidParameter(who, "kernel", wanted, kernel) from None


class KernelModel(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, ComposedMixin, KernelSumMixin, BaseEstimator):
    r"""Kernel model with any convex loss.

    .. math:: P(f, p) = \frac1S \sum_i s_i k_i\, \ell(y_i, f(x_i) + p(x_i)) + \tfrac\alpha2 \|f\|^2, \quad
        f = \sum_j \beta_j k(x_j, \cdot),

    with sample weights :math:`s_i`, :math:`S = \sum_i s_i`, and class weights :math:`k_i`. The function :math:`p` is
    not penalized: a constant, a polynomial, or a combination of user-supplied functions. The model is a regressor for
    losses of numerical targets and a classifier for losses of labels. Several classes are fitted one against the rest.
    Hypothesis class: the reproducing kernel Hilbert space of the kernel, plus the unpenalized functions; by the
    representer theorem the minimizer has the form above (theory: :ref:`representer`). Loss: given by ``loss``.
    Optimizer: an interior-point method whose time grows with the cube of the number of rows.

    Guarantee: :math:`P(f, p) - \min P \le` ``dual_gap_`` over all functions of the kernel's space and all unpenalized
    functions (theory: :ref:`fenchel-gap`), if the kernel is positive semidefinite.

    Parameters
    ----------
    loss : str or a loss of ``surefit.losses``, default="squared_error"
        As in :class:`LinearModel`.
    kernel : str, kernel of ``surefit.kernels`` or function, default="rbf"
        The kernel.
    alpha : float > 0, default=0.01
        Weight of the squared norm.
    gamma : "scale", "auto" or float > 0, default="scale"
        Factor of the kernels "rbf", "poly", "sigmoid" and "laplacian".
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        Whether to fit an unpenalized constant. Polynomials of ``null_space`` always include it.
    null_space : {"constant", "linear"}, int >= 0, callable, transformer or None, default=None
        Functions that are not penalized: polynomials of the columns up to a total degree ("constant" is 0, "linear" is
        1), or the output of a function or transformer, one column per function. They must be linearly independent on
        the rows.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, for losses of labels.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning`` that states the gap.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_rows,), or (1 or n_classes, n_rows) for labels
        Coefficients :math:`\beta`.
    intercept_ : float, or ndarray of shape (1 or n_classes,) for labels
        Intercept: the coefficient of the constant.
    null_coef_ : ndarray of shape (n_functions,), or (1 or n_classes, n_functions) for labels
        Coefficients of the unpenalized functions other than the constant. For polynomials, these are the coefficients
        of the monomials of ``X - null_center_``, ordered by degree.
    null_center_ : ndarray of shape (n_features,)
        Weighted means of the columns; only with polynomials of degree 1 or more.
    null_space_ : callable or transformer
        The function or the fitted transformer, if ``null_space`` is one.
    X_fit_, kernel_
        Training rows, and the kernel with its parameters.
    classes_, n_iter_, history_, dual_gap_, objective_, certificate_, n_features_in_, feature_names_in_
        As in :class:`LinearModel`.

    Examples
    --------
    A quantile of a smooth function, in the space of a Gaussian kernel:

    >>> import numpy as np
    >>> from surefit import KernelModel
    >>> from surefit.losses import Pinball
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * (-1.0) ** np.arange(40)
    >>> model = KernelModel(loss=Pinball(0.9), kernel="rbf", alpha=0.001).fit(x, y)
    >>> bool(np.mean(y <= model.predict(x) + 1e-3) >= 0.85), model.certificate_["kernel_model.gap"].holds
    (True, True)

    A support vector machine with an unpenalized linear function; the kernel part fits only deviations from linearity.

    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> svm = KernelModel("hinge", "rbf", alpha=1.0, null_space="linear").fit(X, [0, 0, 1, 1])
    >>> bool(np.all(np.abs(svm.dual_coef_) < 0.01)), bool(svm.null_coef_[0, 0] > 0.99), svm.predict(X).tolist()
    (True, True, [0, 0, 1, 1])
    """

    dual_coef_: np.ndarray
    intercept_: Any
    null_coef_: np.ndarray
    _rules = {
        **{name: rule for name, rule in KERNEL_RULES.items() if name != "kernel_params"},
        "gamma": one_of("scale", "auto") | POSITIVE,
        "loss": Rule("a loss", lambda v: True),
        "alpha": POSITIVE,
        "fit_intercept": BOOLEAN,
        "null_space": NULL_SPACE,
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
        "tol": Rule("a finite number >= 0", lambda v: v == 0 or POSITIVE.allows(v)),
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        loss="squared_error",
        kernel="rbf",
        *,
        alpha=0.01,
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        null_space=None,
        class_weight=None,
        tol=1e-6,
        max_iter=1000,
        max_time=None,
    ):
        self.loss = loss
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.null_space = null_space
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        who = type(self).__name__
        loss = loss_term(self.loss, who)
        if isinstance(self.kernel, str):
            resolve(self.kernel, gamma=1.0, who=who)  # raises an error for an unknown name
        rows, problem = read_rows(self, X, y, sample_weight, None)
        self.kernel_ = kernel_in(self.get_params(deep=False), rows.X, rows.weights, who)
        K = gram_of(who, self.kernel_, rows.X)
        K = 0.5 * (K + K.T)
        T = self._free_functions(rows)
        reporter = progress_reporter(self, rows.X, rows.y)
        strength, options = problem["penalty"]["l2"], {"intercept": problem["fit_intercept"], "tol": problem["tol"]}
        options["free"] = T
        with Budget(self.max_iter, self.max_time, reporter) as budget, one_blas_thread(), _definite(who, self.kernel):
            results = [minimize_kernel(K, t, rows.c, loss, strength, **options, budget=budget) for t in rows.targets]
        if reporter is not None:
            reporter.finish()
        self.X_fit_ = rows.X
        B, p = np.array([r.coef for r in results]), np.array([r.intercept for r in results])
        b, others = (p[:, 0], p[:, 1:]) if problem["fit_intercept"] else (np.zeros(len(p)), p)
        if rows.classes is not None:
            self.classes_, self.dual_coef_, self.intercept_, self.null_coef_ = rows.classes, B, b, others
        else:
            self.dual_coef_, self.intercept_, self.null_coef_ = B[0], float(b[0]), others[0]
        self.n_iter_ = max(r.n_iter for r in results)
        self.history_ = np.array([row for r in results for row in r.history], dtype=np.float64).reshape(-1, 3)
        keep = type(loss) not in curvature.classes
        late: list[Reason] = [r.reason for r in results if r.reason is not Reason.CONVERGED] or [Reason.CONVERGED]
        self._issue(
            "A",
            [Claim("kernel_model.gap", witness={f"dual_{k}": r.dual for k, r in enumerate(results)} if keep else {})],
            problem=problem,
            model=(
                "dual_coef_",
                "intercept_",
                "null_coef_",
                *(["null_center_"] if hasattr(self, "null_center_") else []),
            ),
            sample=(rows.X, rows.y, rows.weights),
            run={"solver": "interior-point method", "reason": str(late[0]), "passes": int(self.n_iter_)},
        )
        gap, limit = sum(r.gap for r in results), problem["tol"] * sum(r.null_objective for r in results)
        warn_unless_converged(who, late[0], gap, limit)
        return self

    def _free_functions(self, rows) -> np.ndarray:
        """Return the values of the unpenalized functions, the constant first; zeros for rows of weight zero."""
        used = np.flatnonzero(rows.c > 0)
        values = place_null_space(self, rows.X, self.kernel_, used, rows.c[used])
        T = np.zeros((len(rows.c), values.shape[1]))
        T[used] = values
        return T

    def _scores(self, X) -> np.ndarray:
        X = self._read_rows(X)
        scores = self._sums(X, np.atleast_2d(self.dual_coef_).T) + self.intercept_
        if self.null_coef_.size:
            scores = scores + free_values(self, X, np.atleast_2d(self.null_coef_).T)
        return scores.ravel() if scores.shape[1] == 1 else scores
