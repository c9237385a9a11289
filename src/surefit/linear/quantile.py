from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ANYTHING, BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE, Rule, check_params
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.composed import fit_composed
from surefit.losses import Pinball
from surefit.problems.stated_gap import StatedGapMixin

SHARE = Rule("a number strictly between 0 and 1", lambda v: POSITIVE.allows(v) and v < 1)


class QuantileRegressor(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearRegressorMixin, BaseEstimator):
    r"""Linear model of a conditional quantile, with an l1 penalty.

    .. math::

        P(w, b) = \frac1S \sum_i s_i\, \ell_q(y_i, x_i^\top w + b) + \alpha \|w\|_1, \qquad
        \ell_q(y, z) = q (y - z)_+ + (1 - q)(z - y)_+ .

    Hypothesis class: affine functions. Loss: pinball. Optimizer: an interior-point method.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    quantile : float in (0, 1), default=0.5
        The quantile :math:`q`; 0.5 is the median.
    alpha : float >= 0, default=1.0
        Weight of the l1 norm.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    solver, solver_options
        Accepted for compatibility with scikit-learn; no effect.
    tol : float >= 0, default=1e-9
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning``.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap.

    Attributes
    ----------
    coef_, intercept_, n_iter_, history_, dual_gap_, certificate_, n_features_in_, feature_names_in_
        As in :class:`LinearModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import QuantileRegressor
    >>> X, y = np.zeros((5, 1)), np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    >>> model = QuantileRegressor(quantile=0.5).fit(X, y)
    >>> print(round(float(model.intercept_), 3))
    3.0
    >>> model.certificate_["linear.gap"].holds
    True
    """

    _rules = {
        "quantile": SHARE,
        "alpha": NON_NEGATIVE,
        "fit_intercept": BOOLEAN,
        "solver": ANYTHING,
        "solver_options": ANYTHING,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        *,
        quantile=0.5,
        alpha=1.0,
        fit_intercept=True,
        solver="highs",
        solver_options=None,
        tol=1e-9,
        max_iter=1000,
        max_time=None,
    ):
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_composed(self, X, y, sample_weight, Pinball(float(self.quantile)))
