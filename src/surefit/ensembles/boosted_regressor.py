from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import FRACTION, NOTHING, Rule, check_params, one_of, read_weights
from surefit.ensembles.boosted_columns import read_columns
from surefit.ensembles.boosted_training import Targets, Watched, fit_boosting, watches
from surefit.ensembles.boosted_trees import RULES, BoostedTreesMixin
from surefit.losses import Absolute, Huber, Squared
from surefit.solvers.boosting.losses import GammaDeviance, Pinball, PoissonDeviance

_TERMS = {"squared_error": Squared, "absolute_error": Absolute, "poisson": PoissonDeviance, "gamma": GammaDeviance}
_TERM = Rule(
    "a loss of surefit.losses: Squared(), Absolute() or Huber(delta)", lambda v: type(v) in (Squared, Absolute, Huber)
)


class HistGradientBoostingRegressor(
    BoostedTreesMixin, CertifiedMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator
):
    r"""Gradient boosting regressor: a sum of small trees, each a Newton step on binned columns.

    .. math::

        f(x) = f_0 + \nu \sum_m h_m(x), \qquad
        h_m = -\frac{G}{H + \lambda} \text{ on each leaf}, \quad G = \sum s_i \varphi'(y_i, f_i), \; H = \sum s_i \varphi''(y_i, f_i).

    With absolute error and quantile loss, the value of a leaf is the median or quantile of its residuals. For Poisson
    and gamma losses, the mean is :math:`e^f`.

    Hypothesis class: sums of trees. Loss: see ``loss``. Optimizer: greedy Newton steps.

    Guarantee: the value of every leaf is the step :math:`-\nu G / (H + \lambda)` of its rows, the stated loss is that
    of the model, and monotone columns are monotone everywhere (theory: :ref:`boosted-trees`). The certificate makes no
    claim about other sums of trees.

    Dask collections and Parquet paths are accepted. Cuts and histograms are exactly those of all rows, because
    gradients are summed as integers. The values of leaves are rounded sums over the partitions and agree with a fit in
    memory within rounding errors. The result is bitwise identical for any number of workers. ``scoring`` must be
    'loss', and early stopping holds each row out with probability ``validation_fraction``.

    Parameters
    ----------
    loss : str or loss term, default='squared_error'
        'squared_error', 'absolute_error', 'quantile', 'poisson', 'gamma', or ``surefit.losses.Huber(delta)``.
    quantile : float in [0, 1] or None, default=None
        The quantile, with ``loss='quantile'``.
    learning_rate : float > 0, default=0.1
        Shrinkage :math:`\nu` of each tree.
    max_iter : int >= 1, default=100
        Maximum number of rounds.
    max_leaf_nodes : int >= 2 or None, default=31
        Maximum number of leaves of a tree; the leaf with the largest gain is split first.
    max_depth : int >= 1 or None, default=None
        Maximum depth of a tree.
    min_samples_leaf : int >= 1, default=20
        Smallest number of rows (not weight) in a leaf.
    l2_regularization : float >= 0, default=0
        Regularization parameter :math:`\lambda`.
    max_features : float in (0, 1], default=1.0
        Fraction of the columns that a split may use, drawn for each split.
    max_bins : int from 2 to 255, default=255
        Number of bins per column; one more bin is for missing values.
    categorical_features : 'from_dtype', array or None, default='from_dtype'
        Categorical columns: those of categories, or of text other than numbers, in a pandas or polars table; or a mask,
        indices or names. The best subset of categories goes left; unseen categories are treated as missing.
    monotonic_cst : array, dict or None, default=None
        For each column 1, 0 or -1: scores must not decrease, are unconstrained, or must not increase.
    interaction_cst : {'pairwise', 'no_interactions'}, list of sets, or None, default=None
        Columns that may occur together on a path of a tree.
    warm_start : bool, default=False
        Whether to add rounds to the previous fit.
    early_stopping : 'auto' or bool, default='auto'
        Whether to stop when the score no longer improves; 'auto' does so with more than 10 000 rows.
    scoring : 'loss', str, callable or None, default='loss'
        Score that is monitored.
    validation_fraction : float, int or None, default=0.1
        Fraction or number of rows held out for validation; None means that the training rows are monitored.
    n_iter_no_change : int >= 1, default=10
        Number of rounds without progress before stopping.
    tol : float >= 0, default=1e-7
        Smallest increase that counts as progress.
    verbose : int, default=0
        If nonzero, print one line per round.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the held-out rows and of ``max_features``.
    n_jobs : int or None, default=None
        Number of threads for binning, histograms and prediction. The result does not depend on it.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the rounds so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    training_losses_ : ndarray of shape (rounds + 1,)
        Mean loss on the training rows before each round, and after the last.
    train_score_, validation_score_ : ndarray
        With early stopping: the monitored scores, starting before the first round.
    n_iter_, n_trees_per_iteration_, do_early_stopping_, is_categorical_
        As in scikit-learn.
    baseline_ : ndarray
        Initial scores.
    tree_starts_, tree_feature_, tree_bin_, tree_missing_left_, tree_left_, tree_right_, tree_subset_, tree_value_
        All trees, concatenated; a row goes left if its bin is at most ``tree_bin_``. ``bin_cuts_`` contains the cuts.
    certificate_ : Certificate
        Claims with evidence; ``verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = HistGradientBoostingRegressor(max_iter=50).fit(X, y)
    >>> model.training_losses_[-1] < model.training_losses_[0] / 3, model.verify(X, y)["boosted_trees.leaves"].ok
    (np.True_, True)
    """

    _rules = {**RULES, "loss": one_of(*_TERMS, "quantile") | _TERM, "quantile": NOTHING | FRACTION}

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        n_jobs=None,
        max_time=None,
    ):
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Fit the trees, with ``sample_weight`` as frequency weights. Returns the estimator.

        ``X_val`` and ``y_val`` are used for early stopping instead of held-out rows.
        """
        check_params(self)
        again = self.warm_start and hasattr(self, "_trees")
        X, y = read_columns(self, X, y, reset=not again)
        y = np.asarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            raise InvalidData(f"{type(self).__name__}: y contains NaN or infinity; remove the rows.")
        sample_weight = read_weights(self, sample_weight, len(X))
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        term, name, parameter = self._term()
        self._check_targets(y[weights > 0])
        targets = Targets(y, y, y, sample_weight, weights, term, name, parameter)
        return fit_boosting(self, X, targets, self._watched(X_val, y_val, sample_weight_val))

    def _watched(self, X_val, y_val, sample_weight_val) -> Watched | None:
        if not watches(self, X_val, y_val):
            return None
        X, y = read_columns(self, X_val, reset=False), np.asarray(y_val, dtype=np.float64)
        if len(X) != len(y):
            raise InvalidData(f"{type(self).__name__}: X_val has {len(X)} rows and y_val {len(y)}.")
        s = read_weights(self, sample_weight_val, len(X))
        return Watched(X, y, y, np.ones(len(X)) if s is None else s)

    def _term(self):
        if self.loss == "quantile":
            if self.quantile is None:
                raise InvalidParameter(
                    type(self).__name__, "quantile", "a number from 0 to 1 with loss='quantile'", None
                )
            return Pinball(float(self.quantile)), "quantile", float(self.quantile)
        if isinstance(self.loss, str):
            return _TERMS[self.loss](), self.loss, 0.0
        names = {Squared: "squared_error", Absolute: "absolute_error", Huber: "huber"}
        delta = float(getattr(self.loss, "delta", 0.0))
        return (Huber(delta) if type(self.loss) is Huber else self.loss), names[type(self.loss)], delta

    def _check_targets(self, y: np.ndarray) -> None:
        who = type(self).__name__
        if self.loss == "poisson" and (y.min() < 0 or y.sum() <= 0):
            raise InvalidData(
                f"{who}: loss='poisson' requires non-negative y and sum(y) > 0; the smallest y is {y.min()}."
            )
        if self.loss == "gamma" and y.min() <= 0:
            raise InvalidData(f"{who}: loss='gamma' requires strictly positive y; the smallest y is {y.min()}.")

    def predict(self, X) -> np.ndarray:
        """Return the prediction of each row."""
        return self._means(self._scores(X)[0])

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict`` after each round."""
        for scores in self._staged_scores(X):
            yield self._means(scores[0].copy())

    def _means(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(scores) if self.loss in ("poisson", "gamma") else scores
