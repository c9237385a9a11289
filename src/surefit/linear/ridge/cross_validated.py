from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.routing import route, router_of, score_params
from surefit.core.rows import take_values
from surefit.core.validation import ANYTHING, ARRAY, BOOLEAN, COUNT, NOTHING, POSITIVE, SCORING, check_params, one_of
from surefit.linear.cross_validation import require_weight
from surefit.linear.least_squares.training import SeveralTargetsMixin, Targets, read_targets, record, solve_each
from surefit.solvers.least_squares import Basis, Path, leave_one_out, solve


class RidgeCV(CertifiedMixin, SeveralTargetsMixin, BaseEstimator):
    r"""Ridge regression whose penalty is chosen by leave-one-out, generalized or k-fold cross-validation.

    .. math::

        \hat\alpha = \arg\min_\alpha \frac1S \sum_i s_i \left( \frac{y_i - f_\alpha(x_i)}{1 - h_i(\alpha)} \right)^2 ,

    with the leverage :math:`h_i` of row :math:`i`. The terms are the exact leave-one-out errors of :class:`Ridge`,
    computed for all penalties from one eigendecomposition.

    Hypothesis class: affine functions. Loss: squared. Optimizer: one eigendecomposition, or one fit per fold.

    Guarantee: the fit at ``alpha_`` has the gap of :class:`Ridge`, and the leave-one-out errors are those of n separate
    fits, up to rounding (theory: :ref:`least-squares-gap`). These errors estimate the error on new rows; they are not
    bounds.

    Parameters
    ----------
    alphas : array of positive numbers, or one, default=(0.1, 1.0, 10.0)
        Penalties to choose from.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is not penalized.
    scoring : str, callable or None, default=None
        Score to maximize; None means the negative mean squared error.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn; None means leave-one-out cross-validation without refitting.
    gcv_mode : {None, "auto", "svd", "eigen"}, default=None
        Accepted for compatibility with scikit-learn; the smaller eigenproblem is solved.
    store_cv_results : bool, default=False
        Whether to store ``cv_results_``.
    alpha_per_target : bool, default=False
        Whether to choose one penalty per target (leave-one-out only).
    criterion : {"loo", "gcv"}, default="loo"
        Criterion if ``cv`` and ``scoring`` are None: the exact leave-one-out error, or generalized cross-validation,
        which replaces each leverage by the mean leverage.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        Chosen penalty; ties go to the larger one.
    best_score_ : float or ndarray of shape (n_targets,)
        Score of the chosen penalty.
    scores_ : ndarray of shape (n_alphas,) or (n_alphas, n_targets)
        Scores of all penalties; higher is better.
    degrees_of_freedom_ : ndarray of shape (n_alphas,)
        Effective degrees of freedom, including the intercept; only if ``cv`` is None.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared leave-one-out errors, or predictions if ``scoring`` is given; with ``store_cv_results`` only.
    coef_, intercept_, dual_gap_, certificate_, n_features_in_, feature_names_in_
        As in :class:`Ridge`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import RidgeCV
    >>> X, y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), np.array([-4.1, -1.9, 0.1, 2.0, 3.9])
    >>> model = RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, y)
    >>> model.alpha_
    0.01
    """

    _rules = {
        "alphas": POSITIVE | ARRAY,
        "fit_intercept": BOOLEAN,
        "scoring": SCORING,
        "cv": NOTHING | COUNT | ANYTHING,
        "gcv_mode": NOTHING | one_of("auto", "svd", "eigen"),
        "store_cv_results": BOOLEAN,
        "alpha_per_target": BOOLEAN,
        "criterion": one_of("loo", "gcv"),
    }

    def __init__(
        self,
        alphas=(0.1, 1.0, 10.0),
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        gcv_mode=None,
        store_cv_results=False,
        alpha_per_target=False,
        criterion="loo",
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.criterion = criterion

    def fit(self, X, y, sample_weight=None, **params):
        """Choose the penalty and fit; an integer weight is equivalent to repeating the row. Returns the estimator.

        With metadata routing, ``params`` are passed to ``scoring`` and ``cv``.
        """
        check_params(self)
        routed = route(self, "fit", params, sample_weight=sample_weight)
        data = read_targets(self, X, y, sample_weight, flat=True)
        return self._fit(data, score_params(routed, data.weights), routed.splitter.split)

    def get_metadata_routing(self):
        """Return the metadata routing to the scorer and the splitter."""
        scorer = None if self.scoring is None else get_scorer(self.scoring)  # the default score is not a scorer
        return router_of(self, own=True, scorer=(scorer, {"fit": "score"}), splitter=(self.cv, {"fit": "split"}))

    def _fit(self, data: Targets, scored_by: dict, split_by: dict):
        alphas = np.ravel(np.asarray(self.alphas, dtype=np.float64))
        least = (
            0.0 if self.cv is not None else np.nextafter(0.0, 1.0)
        )  # leave-one-out errors divide by one minus the leverage
        if not len(alphas) or not np.all((alphas >= least) & np.isfinite(alphas)):
            raise InvalidParameter("RidgeCV", "alphas", f"finite numbers {'>=' if least == 0 else '>'} 0", self.alphas)
        if self.cv is not None and (self.store_cv_results or self.alpha_per_target):
            raise InvalidParameter(
                "RidgeCV",
                "cv",
                "None with store_cv_results or alpha_per_target (both belong to leave-one-out)",
                self.cv,
            )
        basis = None
        if self.cv is not None:
            scores = _fold_scores(self, data, alphas, scored_by, split_by)
        else:
            scores, basis = _loo_scores(self, data, alphas, scored_by)
        if not self.alpha_per_target:
            scores = scores.mean(axis=1, keepdims=True)
        order = np.argsort(-alphas, kind="stable")
        best = order[np.argmax(scores[order], axis=0)]
        chosen = alphas[best]
        single = len(chosen) == 1
        self.alpha_ = float(chosen[0]) if single else chosen
        top = scores[best, np.arange(len(best))]
        self.best_score_ = float(top[0]) if single else top
        self.scores_ = scores[:, 0] if single else scores
        spread = np.broadcast_to(chosen, data.Y.shape[1]).copy()
        found = solve_each(data, spread, self.fit_intercept, False, basis=basis)
        record(self, found, data, "alpha_", claims=("linear.chosen",))
        return self


def _loo_scores(estimator: RidgeCV, data: Targets, alphas: np.ndarray, params: dict) -> tuple[np.ndarray, Basis]:
    """Return the score of each penalty (row) and target (column), and the decomposition of the data."""
    scored = estimator.scoring is not None
    path: Path = leave_one_out(
        data.X,
        data.Y,
        data.weights,
        alphas,
        centered=estimator.fit_intercept,
        keep=scored or estimator.store_cv_results,
    )
    estimator.degrees_of_freedom_ = path.degrees_of_freedom
    if estimator.store_cv_results:
        assert path.predictions is not None
        kept = path.predictions if scored else (data.Y[:, :, None] - path.predictions) ** 2
        estimator.cv_results_ = kept[:, 0] if data.single and not data.column else kept
    if not scored:
        return -(path.squared if estimator.criterion == "loo" else path.gcv), path.basis
    assert path.predictions is not None
    score = get_scorer(estimator.scoring)
    parts = range(len(alphas))
    return np.array([_scores(estimator, score, data.Y, path.predictions[:, :, a], params) for a in parts]), path.basis


def _scores(estimator: RidgeCV, score: Any, Y: np.ndarray, predicted: np.ndarray, params: dict) -> list[float]:
    """Return one score per target if each target has its own penalty, else the scorer's joint score of all targets."""
    empty, several = np.zeros((len(Y), 1)), Y.shape[1] > 1
    if several and not estimator.alpha_per_target:
        return [score(_Given(predicted), empty, Y, **params)]
    return [score(_Given(predicted[:, k]), empty, Y[:, k], **params) for k in range(Y.shape[1])]


class _Given(BaseEstimator):
    """Regressor that returns given predictions, for scorers that require an estimator."""

    _estimator_type = "regressor"

    def __init__(self, values):
        self.values = values

    def predict(self, X):
        """Return the given predictions."""
        return self.values


def _fold_scores(estimator: RidgeCV, data: Targets, alphas: np.ndarray, scored_by: dict, split_by: dict) -> np.ndarray:
    """Return the mean score of each penalty over the folds; all folds have equal weight, as in scikit-learn."""
    if hasattr(estimator, "degrees_of_freedom_"):
        del estimator.degrees_of_freedom_  # left by an earlier fit
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
    score = None if estimator.scoring is None else get_scorer(estimator.scoring)
    folds = list(check_cv(estimator.cv).split(X, data.y, **split_by))
    found = np.zeros((len(alphas), data.Y.shape[1] if score is None else 1))
    for train, test in folds:
        require_weight(estimator, data.weights, train, test)
        s = None if data.weights is None else data.weights[train]
        tested = None if data.weights is None else data.weights[test]
        for a, alpha in enumerate(alphas):
            fit = solve(X[train], data.Y[train], s, float(alpha), centered=estimator.fit_intercept)
            predicted = np.asarray(X[test] @ fit.coef) + fit.offset
            if score is None:
                found[a] -= np.average((data.Y[test] - predicted) ** 2, axis=0, weights=tested)
                continue
            found[a] += _scores(estimator, score, data.Y[test], predicted, take_values(scored_by, test, len(data.Y)))
    return found / len(folds)
