from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import GridSearchCV as Grid
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.model_selection import RandomizedSearchCV as Draws

from surefit.core.validation import ANYTHING, COUNT, RANDOM_STATE
from surefit.selection.search_estimator import RULES, SearchMixin
from surefit.selection.search_statement import draws_claim

#: Default search: the penalty of a logistic regression.
DEFAULT = {"C": (0.01, 0.1, 1.0, 10.0, 100.0)}


class GridSearchCV(SearchMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Grid search with cross-validation and a risk bound that accounts for the number of candidates.

    .. math:: \bar p \le \mathrm{kfold}(\hat q_{\text{best}}, \delta / J)

    for the best of J candidates. Hypothesis class, loss and optimizer are those of the estimator; the search is scikit-learn's.

    Guarantee: for a classifier scored by accuracy, ``risk_bound_`` is at least the mean risk of the chosen candidate's
    fold models with probability at least ``confidence``, although the candidate was chosen as the best of J. With a
    single split, it bounds the risk of the model fitted on the training part (theory: :ref:`k-fold`,
    :ref:`vc-inequality`). Stratified folds, scikit-learn's default, give a slightly larger bound, which the certificate
    states (theory: :ref:`stratified-folds`). ``best_score_`` alone is optimistic.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Estimator to fit. None is ``LogisticRegression()``.
    param_grid : dict, list of dicts or None, default=None
        Values by parameter name. None: five values of ``C``.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn.
    confidence : float, default=0.95
        Confidence of the bound.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare: without them, equal rows on both sides of a fold prevent a claim.

    Attributes
    ----------
    best_estimator_, best_index_, best_params_, best_score_, cv_results_, multimetric_, n_splits_, refit_time_, scorer_
        As in scikit-learn.
    risk_bound_ : float
        The risk bound; NaN if nothing can be claimed.
    ledger_ : list of (str, float)
        The division of delta among the statements.
    fold_models_ : list
        Models of the chosen candidate, one per fold, that ``verify`` evaluates again; empty if nothing is claimed.
    split_seed_, fold_rows_
        For partitioned data, the seed of the folds and the tested rows of each fold (:doc:`/scaling`).
    estimator_, classes_, certificate_, n_features_in_, feature_names_in_
        As in :class:`Certified`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import ShuffleSplit
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefit import GridSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, cv=ShuffleSplit(1, random_state=0))
    >>> search = search.fit(X, y)
    >>> print(search.certificate_.claims[0].statement)
    probability of error of the chosen candidate, fitted on the training part <= 0.03492 with confidence 0.95, after
    comparing 4 candidates, if the rows are independent draws from one distribution and the tested rows were not used for training or
    for choosing columns or models
    """

    _rules = {**RULES, "param_grid": ANYTHING}

    def __init__(
        self,
        estimator=None,
        param_grid=None,
        *,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
        confidence=0.95,
        assume=(),
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.confidence = confidence
        self.assume = assume

    def _candidates(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(DEFAULT if self.param_grid is None else self.param_grid))

    def _build(self, splits: list) -> Any:
        return Grid(
            self._base(), DEFAULT if self.param_grid is None else self.param_grid, scoring=self.scoring, n_jobs=self.n_jobs,
            refit=self.refit, cv=splits, verbose=self.verbose, pre_dispatch=self.pre_dispatch, error_score=self.error_score,
            return_train_score=self.return_train_score,
        )  # fmt: skip


class RandomizedSearchCV(SearchMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Randomized search with cross-validation and a risk bound that accounts for the number of candidates.

    .. math:: P(\text{no draw among the best } q) = (1 - q)^r

    for r independent draws; otherwise as for :class:`GridSearchCV`.

    Guarantee: that of :class:`GridSearchCV`; in addition, one of the draws is among the best fraction of the search
    space, which the certificate states. Delta is divided between the two statements (theory: :ref:`k-fold`).

    Parameters
    ----------
    estimator : estimator or None, default=None
        Estimator to fit. None is ``LogisticRegression()``.
    param_distributions : dict, list of dicts or None, default=None
        Lists or distributions (``scipy.stats``) by parameter name. None: five values of ``C``.
    n_iter : int, default=10
        Number of draws.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    confidence : float, default=0.95
        Joint confidence of both statements.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare.

    Attributes
    ----------
    best_estimator_, best_index_, best_params_, best_score_, cv_results_, multimetric_, n_splits_, refit_time_, scorer_
        As in scikit-learn.
    risk_bound_, ledger_, fold_models_, estimator_, classes_, certificate_, n_features_in_, feature_names_in_
        As in :class:`GridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefit import RandomizedSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = RandomizedSearchCV(KNeighborsClassifier(), {"n_neighbors": range(1, 30)}, n_iter=20, random_state=0).fit(X, y)
    >>> round(search.certificate_["selection.random_draws"].value, 3)
    0.168
    """

    _rules = {**RULES, "param_distributions": ANYTHING, "n_iter": COUNT, "random_state": RANDOM_STATE}

    def __init__(
        self,
        estimator=None,
        param_distributions=None,
        *,
        n_iter=10,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=None,
        error_score=np.nan,
        return_train_score=False,
        confidence=0.95,
        assume=(),
    ):
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.confidence = confidence
        self.assume = assume

    def _space(self) -> tuple[Any, int]:
        """Return the search space and the number of draws."""
        return (
            (DEFAULT, min(self.n_iter, 5))
            if self.param_distributions is None
            else (self.param_distributions, self.n_iter)
        )

    def _candidates(self) -> list[dict[str, Any]]:
        return list(ParameterSampler(*self._space(), random_state=self.random_state))

    def _build(self, splits: list) -> Any:
        space, n_iter = self._space()
        return Draws(
            self._base(), space, n_iter=n_iter, scoring=self.scoring, n_jobs=self.n_jobs, refit=self.refit, cv=splits,
            verbose=self.verbose, pre_dispatch=self.pre_dispatch, random_state=self.random_state,
            error_score=self.error_score, return_train_score=self.return_train_score,
        )  # fmt: skip

    def _share(self) -> float:
        return (1.0 - self.confidence) / 2

    def _claims(self, X, y, splits, splitter, groups, params, given):
        return self._with_draws(*super()._claims(X, y, splits, splitter, groups, params, given))

    def _with_draws(self, claims, ledger):
        share = self._share()
        draws = len(self.cv_results_["params"])
        return [*claims, draws_claim(draws, share)], [*ledger, (f"rank of the best of {draws} draws", share)]
