import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import BaseEstimator

from surefit.core.claims import Claim
from surefit.core.errors import SurefitError
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, check_params, read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.training import READ, usable_target
from surefit.problems import pose
from surefit.problems.stated_gap import StatedGapMixin


class LeastAbsoluteDeviations(CertifiedMixin, StatedGapMixin, LinearRegressorMixin, BaseEstimator):
    r"""Median regression: a linear model that minimizes the sum of absolute residuals.

    .. math::

        P(w, b) = \sum_i s_i |y_i - x_i^\top w - b| .

    Hypothesis class: affine functions. Loss: absolute. Optimizer: the dual linear program, by the simplex method. Under
    Laplace noise the coefficients maximize the likelihood.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_``, proved by a dual point in the certificate (theory:
    :ref:`least-absolute-gap`). The minimizer need not be unique, so compare solvers by their objectives.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    scale_ : float
        Maximum-likelihood scale of Laplace noise: the objective divided by the sum of the weights.
    dual_ : ndarray of shape (n_rows,)
        Dual point: the weighted sign of each residual, or a value between both signs if the residual is zero.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    An outlier changes the mean but not the median:

    >>> import numpy as np
    >>> from surefit import LeastAbsoluteDeviations
    >>> X, y = np.ones((3, 1)), np.array([0.0, 0.0, 1000.0])
    >>> model = LeastAbsoluteDeviations().fit(X, y)
    >>> print(model.predict(X))
    [0. 0. 0.]
    >>> model.verify(X, y)["linear.gap"].ok
    True
    """

    _rules = {"fit_intercept": BOOLEAN}

    def __init__(self, *, fit_intercept=True):
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, **READ)
        y = usable_target("LeastAbsoluteDeviations", y)
        weights = read_weights(self, sample_weight, X.shape[0])
        s = np.ones(len(y)) if weights is None else weights
        w, b, self.dual_ = _solve(X, y, s, self.fit_intercept)
        self.coef_, self.intercept_ = w, b
        self.scale_ = float(s @ np.abs(y - np.asarray(X @ w).ravel() - b)) / float(s.sum())
        witness = {"dual_0": np.divide(-self.dual_, s, out=np.zeros(len(s)), where=s > 0)}
        self._issue(
            "A",
            [Claim("linear.gap", witness=witness)],
            problem=pose(self, X, y, weights),
            model=("coef_", "intercept_"),
            sample=(X, y, weights),
            run={"solver": "dual simplex", "reason": "converged"},
        )
        return self


def _solve(X, y, s, fit_intercept: bool) -> tuple[np.ndarray, float, np.ndarray]:
    """Solve ``max nu'y, |nu| <= s, X'nu = 0``; the multipliers of the equations are the coefficients.

    Columns are scaled (dense ones are also centered), and rows of weight zero are dropped, so the tolerances of the
    linear program do not depend on the units.
    """
    d, used = X.shape[1], s > 0
    dense = not sparse.issparse(X)
    mean, center = np.zeros(d), 0.0
    if fit_intercept:
        center = float(np.median(y[used]))
        if dense:
            mean = np.average(np.asarray(X, dtype=np.float64), axis=0, weights=s)
    Z = X - mean if dense else X.tocsc().astype(np.float64)
    Z = Z[used] if dense else Z.tocsr()[used].tocsc()
    scale = np.sqrt(np.asarray((Z * Z if dense else Z.multiply(Z)).mean(axis=0)).ravel())
    scale[scale == 0] = 1.0
    spread = float(np.max(np.abs(y[used] - center), initial=0.0)) or 1.0
    A = Z.T / scale[:, None] if dense else sparse.diags_array(1 / scale) @ Z.T
    if fit_intercept:
        ones = np.ones((1, int(used.sum())))
        A = np.vstack([A, ones]) if dense else sparse.vstack([A, sparse.csr_array(ones)])
    heaviest = float(s.max())
    share = s[used] / heaviest
    tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for presolve in (
        True,
        False,
    ):  # with weights from 1e-20 to 1e20, presolve may call the program infeasible, though zero is feasible
        found = linprog(
            -(y[used] - center) / spread,
            A_eq=A,
            b_eq=np.zeros(A.shape[0]),
            bounds=np.column_stack([-share, share]),
            method="highs-ds",
            options={**tolerances, "presolve": presolve},
        )
        if found.status == 0:
            break
    if found.status != 0:
        raise SurefitError(
            f"LeastAbsoluteDeviations: the linear program was not solved ({found.message}); scale the features."
        )
    solution = -np.asarray(found.eqlin.marginals) * spread
    w = solution[:d] / scale
    b = (solution[d] if fit_intercept else 0.0) + center - float(mean @ w)
    nu = np.zeros(len(y))
    nu[used] = found.x * heaviest
    return w, float(b), nu
