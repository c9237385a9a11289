from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    COUNT,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.ensembles.adaboost_regressor_training import READ, fit_rounds, weighted_medians
from surefit.ensembles.members import ESTIMATOR, SequenceMixin


class AdaBoostRegressor(SequenceMixin, CertifiedMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    r"""AdaBoost.R2: weighted median of regressors fitted to rows drawn with weights that increase with the residuals.

    .. math::

        \ell_{m,i} = L\Bigl(\frac{|y_i - h_m(x_i)|}{\max_j |y_j - h_m(x_j)|}\Bigr), \quad
        \varepsilon_m = \sum_i D_m(i) \ell_{m,i}, \quad \beta_m = \frac{\varepsilon_m}{1 - \varepsilon_m}, \quad
        D_{m+1}(i) \propto D_m(i)\, \beta_m^{\nu (1 - \ell_{m,i})}.

    Hypothesis class: weighted medians of the base regressors, with weights :math:`\alpha_m = \nu \ln (1 / \beta_m)`.
    Loss: ``loss`` of the relative errors. Optimizer: one member at a time; the run stops at a member with
    :math:`\varepsilon_m \ge 1/2`, which is dropped.

    Guarantee: the stated errors and weights follow from the predictions of the members (theory: :ref:`adaboost-r2`).
    The members have no claims beyond their own certificates, and the fit does not bound the error on new data.

    Draws do not depend on the order of the rows, and an integer weight is equivalent to repeating the row.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Base regressor. None means :class:`DecisionTreeRegressor` of depth 3.
    n_estimators : int >= 1, default=50
        Maximum number of rounds.
    learning_rate : float > 0, default=1.0
        Shrinkage :math:`\nu`.
    loss : {'linear', 'square', 'exponential'}, default='linear'
        Loss L of the relative errors: :math:`u`, :math:`u^2` or :math:`1 - e^{-u}`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the members.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the rounds so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimator_weights_ : ndarray
        Weights :math:`\alpha_m` of the members in the median; 1 for a member without errors.
    estimator_errors_ : ndarray
        Weighted losses :math:`\varepsilon_m` of the members.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importances of the members, weighted by ``estimator_weights_``.
    certificate_ : Certificate
        Claims with evidence; ``verify(X, y)`` re-derives them.
    estimator_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.4, model.verify(X, y)["adaboost_r2.rounds"].ok
    (True, True)
    """

    _rules = {
        "estimator": NOTHING | ESTIMATOR,
        "n_estimators": COUNT,
        "learning_rate": POSITIVE,
        "loss": one_of("linear", "square", "exponential"),
        "random_state": RANDOM_STATE,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        loss="linear",
        random_state=None,
        max_time=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Run the rounds, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, y_numeric=True, **READ)
        base = self.estimator
        if base is None:
            from surefit.trees.regressor import DecisionTreeRegressor

            base = DecisionTreeRegressor(max_depth=3)
        weights = read_weights(self, sample_weight, X.shape[0])
        return fit_rounds(self, base, X, np.asarray(y, dtype=np.float64), weights)

    def predict(self, X) -> np.ndarray:
        """Return the weighted median of the members' predictions, the lower one if it is not unique."""
        return weighted_medians(self._predictions(self._rows(X)), self.estimator_weights_)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict`` after each round."""
        said = self._predictions(self._rows(X))
        for m in range(1, len(said) + 1):
            yield weighted_medians(said[:m], self.estimator_weights_[:m])

    def staged_score(self, X, y, sample_weight=None) -> Iterator[float]:
        """Yield the coefficient of determination after each round."""
        from sklearn.metrics import r2_score

        for said in self.staged_predict(X):
            yield float(r2_score(y, said, sample_weight=sample_weight))

    def _answers_again(self, certificate, X) -> dict[str, np.ndarray]:
        """Return the predictions of the members in the format of the certificate."""
        return {"said": self._predictions(self._rows(X))}

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean importances of the members, weighted by ``estimator_weights_``."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(f"{type(self.estimators_[0]).__name__} has no feature_importances_.")
        parts = np.array([member.feature_importances_ for member in self.estimators_])
        return self.estimator_weights_ @ parts / self.estimator_weights_.sum()

    def _rows(self, X):
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    def _predictions(self, rows) -> np.ndarray:
        return np.array([np.asarray(member.predict(rows), dtype=np.float64).ravel() for member in self.estimators_])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator is None or get_tags(self.estimator).input_tags.sparse
        return tags
