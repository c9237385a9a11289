from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NOTHING, check_params, read_data, read_weights
from surefit.ensembles.bagging_ensemble import READ, RULES, BaggingMixin
from surefit.ensembles.bagging_training import fit_bagging
from surefit.ensembles.forest_grow import Sample
from surefit.ensembles.members import ESTIMATOR


class BaggingRegressor(BaggingMixin, CertifiedMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    r"""Bagging regressor: mean of the predictions of regressors fitted to bootstrap samples.

    .. math:: \bar h(x) = \frac1M \sum_m h_m(x), \qquad
        (\bar h - y)^2 = \frac1M \sum_m (h_m - y)^2 - \frac1M \sum_m (h_m - \bar h)^2 .

    Hypothesis class: means of the base regressors. Loss: that of the base regressor. Optimizer: that of the base
    regressor, on every bootstrap sample.

    Guarantee: the certificate proves that the draws follow from the seeds. With ``oob_score`` it also states the
    out-of-bag error (theory: :ref:`bootstrap-votes`).

    Parameters
    ----------
    estimator : regressor or None, default=None
        Base regressor; None means :class:`DecisionTreeRegressor`.
    n_estimators : int >= 1, default=10
        Number of members.
    max_samples : int, float or None, default=None
        Number of draws for each member, or their fraction of the rows. None means the number of rows (with integer
        weights, their sum).
    max_features : int or float in (0, 1], default=1.0
        Number of columns per member, or a fraction of them.
    bootstrap : bool, default=True
        Whether to draw rows with replacement.
    bootstrap_features : bool, default=False
        Whether to draw columns with replacement.
    oob_score : bool, default=False
        Whether to evaluate the members on their out-of-bag rows.
    warm_start : bool, default=False
        Whether to add members to the previous fit.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the members. The draws do not depend on the order of the rows.
    verbose : int, default=0
        If nonzero, print one line per member.
    delta : float in (0, 1), default=0.05
        Not used by regressors; the bounds apply to majority votes.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the members so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimators_features_ : list of ndarray
        Columns of each member.
    estimators_samples_ : list of ndarray
        Indices of the rows to which each member was fitted, repeated as often as they were drawn.
    tree_seeds_ : ndarray
        Seeds of the draws.
    oob_score_, oob_prediction_
        With ``oob_score``: the score, and the means over the members for which a row is out of bag.
    certificate_ : Certificate
        Claims with evidence; ``verify(X, y)`` re-derives them.
    estimator_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import BaggingRegressor, Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(Ridge(alpha=0.1), n_estimators=20, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.4, model.verify(X, y)["forest.draws"].level
    (True, 'exact')
    """

    _rules = {**RULES, "estimator": NOTHING | ESTIMATOR, "bootstrap_features": BOOLEAN, "oob_score": BOOLEAN}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        delta=0.05,
        max_time=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.delta = delta
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the members, with ``sample_weight`` as frequency weights and metadata ``fit_params``. Returns the estimator."""
        check_params(self)
        params = self._routed("fit", fit_params)
        X, y = read_data(self, X, y, y_numeric=True, **READ)
        y = np.asarray(y, dtype=np.float64)
        sample = Sample(X, y, read_weights(self, sample_weight, X.shape[0]), None, 0)
        return fit_bagging(self, self._base(), sample, y, y, params)

    def _base(self):
        if self.estimator is not None:
            return self.estimator
        from surefit.trees.regressor import DecisionTreeRegressor

        return DecisionTreeRegressor()

    def predict(self, X, **params) -> np.ndarray:
        """Return the mean prediction of the members; ``params`` are metadata for them."""
        return self._predictions(self._rows(X), self._routed("predict", params)).mean(axis=0)[:, 0]

    def _member_predictions(self, member, X: np.ndarray, params: dict) -> np.ndarray:
        return np.asarray(member.predict(X, **params), dtype=np.float64).reshape(-1, 1)
