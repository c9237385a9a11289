from __future__ import annotations

from surefit.core.validation import FRACTION, NON_NEGATIVE
from surefit.linear.lasso.path import enet_path
from surefit.linear.multi_task.training import RULES, MultiTaskRegressor


class MultiTaskElasticNet(MultiTaskRegressor):
    r"""Elastic net for several targets with a common support.

    .. math::

        P(W, b) = \frac{1}{2n} \|Y - X W^\top - 1 b^\top\|_F^2 + \alpha \rho \sum_j \|W_{\cdot j}\|_2
        + \tfrac{\alpha (1 - \rho)}{2} \|W\|_F^2

    with one row of coefficients per target and one column :math:`W_{\cdot j}` per feature: a feature is used for all
    targets or for none.

    Hypothesis class: affine functions with a common support. Loss: squared error. Optimizer: block coordinate descent.

    Guarantee: :math:`P(W, b) - \min P \le` ``dual_gap_`` (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the penalty.
    l1_ratio : float from 0 to 1, default=0.5
        Share :math:`\rho` of the penalty that selects features.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    copy_X, random_state, selection
        Accepted for compatibility with scikit-learn; X is never changed, and the solver is deterministic.
    max_iter : int >= 1, default=1000
        Maximum number of passes over all features; if it is reached, ``fit`` issues a ``ConvergenceWarning``.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Intercepts.
    sparse_coef_ : sparse array of shape (n_targets, n_features)
        The coefficients.
    dual_gap_ : float
        Proved bound on the distance of the objective from its minimum.
    n_iter_ : int
        Number of passes over all features.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, pass number and gap, each time the gap was computed.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MultiTaskElasticNet
    >>> X, y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([[3.0, 4], [3, 4], [-3, -4], [-3, -4]])
    >>> MultiTaskElasticNet(alpha=2.0, l1_ratio=0.5).fit(X, y).coef_.round(6).tolist()
    [[1.2, 0.0], [1.6, 0.0]]
    """

    path = staticmethod(enet_path)

    _rules = {**RULES, "alpha": NON_NEGATIVE, "l1_ratio": FRACTION}

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-6,
        warm_start=False,
        random_state=None,
        selection="cyclic",
        max_time=None,
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.max_time = max_time
