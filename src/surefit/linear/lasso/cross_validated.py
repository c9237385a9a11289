from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.errors import SurefitError
from surefit.core.estimator import CertifiedMixin
from surefit.core.routing import route, router_of
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    COUNT,
    FRACTION,
    N_JOBS,
    POSITIVE,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.cross_validation import Folds, folds_of_rows, path_errors, require_weight
from surefit.linear.lasso.path import enet_path, lasso_path
from surefit.linear.lasso.training import READ, RULES, make_penalty, read_factors, record, usable_target
from surefit.operators import as_design
from surefit.problems.composed import InactiveMixin
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.coordinate_descent import solve

_CV_RULES = {
    **RULES,
    "eps": POSITIVE,
    "alphas": COUNT | ARRAY,
    "cv": ANYTHING,
    "verbose": ANYTHING,
    "n_jobs": N_JOBS,
    "rule": one_of("min", "1se"),
}


class _PathCV(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, InactiveMixin, LinearRegressorMixin, BaseEstimator):
    """Base class of ``LassoCV`` and ``ElasticNetCV``."""

    def _fit(self, X, y, sample_weight, params: dict, ratios: list[float]):
        X, y = read_data(self, X, y, **READ)
        y = usable_target(type(self).__name__, y)
        weights = read_weights(self, sample_weight, X.shape[0])
        routed = route(self, "fit", params, sample_weight=sample_weight)
        splits = list(check_cv(self.cv).split(X, y, **routed.splitter.split))
        require_weight(self, weights, *(train for train, _ in splits))
        return self._choose(X, y, weights, folds_of_rows(as_design(X), y, weights, splits, self.fit_intercept), ratios)

    def _choose(self, X, y, weights, folds: Folds, ratios: list[float], finish=lambda solution: solution):
        """Choose alpha by cross-validation and fit all rows; ``finish`` sets the intercept of compressed rows."""
        factors = read_factors(self, X.shape[1])
        reporter = progress_reporter(self, X, y)
        with Budget(self.max_iter, self.max_time, reporter) as budget, threads_instead_of_blas():
            results = [path_errors(self, folds, l1_ratio=ratio, factors=factors, budget=budget) for ratio in ratios]
            usable = [(i, result) for i, result in enumerate(results) if len(result.alphas)]
            if not usable:
                if budget.stopped is Reason.INTERRUPTED:
                    raise KeyboardInterrupt
                raise SurefitError(
                    f"{type(self).__name__}: the fit ended before the first alpha was compared on all folds, so there is none to choose; "
                    "increase max_time or max_iter, or use fewer folds or alphas."
                )
            best, chosen = min(usable, key=lambda pair: pair[1].means[pair[1].choose("min")])
            index = chosen.choose(self.rule)
            self.alpha_, self.l1_ratio_ = float(chosen.alphas[index]), float(ratios[best])
            # the final fit is short compared with the folds, so their time limit does not apply to it
            final = Budget(self.max_iter)
            penalty = make_penalty(self.alpha_, self.l1_ratio_, self.positive, factors)
            solution = finish(solve(folds.whole, penalty, tol=self.tol, budget=final))
        if reporter is not None:
            reporter.finish()
        several = len(ratios) > 1
        own_grids = several and COUNT.allows(self.alphas)  # explicit alphas are the same for every l1 ratio
        self.alphas_ = np.array([r.alphas for r in results]) if own_grids else results[0].alphas
        self.mse_path_ = np.array([r.errors for r in results]) if several else results[0].errors
        self.standard_error_ = float(chosen.standard_errors[index])
        self.mse_ = float(chosen.means[index])
        record(self, solution, X, y, weights, factors, alpha=self.alpha_, l1_ratio=self.l1_ratio_)
        return self

    def get_metadata_routing(self):
        """Return the metadata routing to the splitter."""
        return router_of(self, own=True, splitter=(self.cv, {"fit": "split"}))


class LassoCV(_PathCV):
    r"""Lasso whose penalty weight is chosen by cross-validation along a path.

    The paths of all folds are solved to the same relative gap as the final model, so the choice does not depend on
    where the solver stops.

    Hypothesis class: affine functions. Loss: squared. Optimizer: coordinate descent along paths, one per fold.

    Guarantee: that of :class:`Lasso` for the final fit at ``alpha_`` (theory: :ref:`fenchel-gap`). The cross-validation
    error is an estimate, not a bound.

    Parameters
    ----------
    eps : float > 0, default=1e-3
        Smallest alpha of the path, as a fraction of the smallest alpha at which all coefficients are zero.
    alphas : int or array, default=100
        Number of alphas, or the alphas themselves.
    fit_intercept : bool, default=True
        Whether to fit an unpenalized intercept.
    precompute, copy_X, random_state, selection
        Accepted for compatibility with scikit-learn; they have no effect.
    verbose : int, default=False
        If nonzero, print one line per check of the gap.
    max_iter : int >= 1, default=1000
        Maximum number of passes per solution.
    tol : float >= 0, default=1e-6
        Relative duality gap of every solution.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn (5 by default).
    n_jobs : int or None, default=None
        Number of threads over the folds; the result is bitwise identical for any number.
    positive : bool, default=False
        Whether to require non-negative coefficients.
    rule : {"min", "1se"}, default="min"
        Choose the alpha with the smallest mean error, or the largest alpha within one standard error of it (a sparser
        model).
    penalty_factors : array of shape (n_features,) or None, default=None
        Per-feature penalty factors; 0 leaves a feature unpenalized, infinity excludes it.
    max_time : float > 0 or None, default=None
        Time limit of the cross-validation in seconds; the alphas solved on every fold by then are compared. Ctrl-C has
        the same effect.

    Attributes
    ----------
    alpha_ : float
        Chosen alpha.
    alphas_ : ndarray of shape (n_alphas,)
        Alphas that were compared, in decreasing order.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared test error of each alpha on each fold.
    mse_, standard_error_ : float
        Mean test error at ``alpha_`` and its standard error over the folds.
    coef_, intercept_, dual_gap_, inactive_, certificate_, history_, n_iter_, n_features_in_, feature_names_in_
        Attributes of the final fit, as for :class:`Lasso`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> best, sparser = LassoCV().fit(X, y), LassoCV(rule="1se").fit(X, y)
    >>> bool(sparser.alpha_ > best.alpha_), bool((sparser.coef_ != 0).sum() <= (best.coef_ != 0).sum())
    (True, True)
    """

    _rules = _CV_RULES
    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-6,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
        rule="min",
        penalty_factors=None,
        max_time=None,
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.penalty_factors = penalty_factors
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **params):
        """Choose ``alpha_`` by cross-validation and fit the lasso on all rows; ``params`` are routed to ``cv``. Returns the estimator."""
        check_params(self)
        return self._fit(X, y, sample_weight, params, [1.0])


class ElasticNetCV(_PathCV):
    r"""Elastic net with its penalty weight (and, if several are given, its l1 ratio) chosen by cross-validation.

    Hypothesis class: affine functions. Loss: squared. Optimizer: coordinate descent along paths, one per fold.

    Guarantee: that of :class:`ElasticNet` for the final fit (theory: :ref:`fenchel-gap`). The cross-validation error is
    an estimate, not a bound.

    Parameters
    ----------
    l1_ratio : float or list of float in [0, 1], default=0.5
        Share of the l1 norm in the penalty, or several values to choose from. The value 0 requires explicit ``alphas``.
    eps, alphas, fit_intercept, precompute, max_iter, tol, cv, copy_X, verbose, n_jobs, positive, random_state, selection
        As for :class:`LassoCV`.
    rule, penalty_factors, max_time
        As for :class:`LassoCV`.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        Chosen alpha and l1 ratio.
    alphas_, mse_path_, mse_, standard_error_
        As for :class:`LassoCV`; with several l1 ratios ``mse_path_`` has one more leading axis, and so has ``alphas_``
        if the parameter ``alphas`` is a number.
    coef_, intercept_, dual_gap_, inactive_, certificate_, history_, n_iter_, n_features_in_, feature_names_in_
        Attributes of the final fit, as for :class:`ElasticNet`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 0.9, 1.0], alphas=20).fit(X, y)
    >>> model.mse_path_.shape
    (3, 20, 5)
    """

    _rules = {**_CV_RULES, "l1_ratio": FRACTION | ARRAY}
    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-6,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
        rule="min",
        penalty_factors=None,
        max_time=None,
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.penalty_factors = penalty_factors
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **params):
        """Choose ``alpha_`` (and ``l1_ratio_``) by cross-validation and fit on all rows; ``params`` are routed to ``cv``."""
        check_params(self)
        return self._fit(X, y, sample_weight, params, [float(ratio) for ratio in np.atleast_1d(self.l1_ratio)])
