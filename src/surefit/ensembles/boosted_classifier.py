from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NOTHING, Rule, check_labels, check_params, one_of, read_weights
from surefit.ensembles.boosted_columns import read_columns
from surefit.ensembles.boosted_training import Targets, Watched, fit_boosting, watches
from surefit.ensembles.boosted_trees import RULES, BoostedTreesMixin
from surefit.losses import ExponentialLoss, Logistic
from surefit.problems.labels import weights_by_class
from surefit.solvers.boosting.losses import CrossEntropy

_CLASS_WEIGHT = NOTHING | one_of("balanced") | Rule("a dict of class weights", lambda v: isinstance(v, dict))


class HistGradientBoostingClassifier(
    BoostedTreesMixin, CertifiedMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    r"""Gradient boosting classifier: a sum of small trees, each a Newton step on binned columns.

    .. math::

        f(x) = f_0 + \nu \sum_m h_m(x), \qquad
        h_m = -\frac{G}{H + \lambda} \text{ on each leaf}, \quad G = \sum s_i \varphi'(y_i, f_i), \; H = \sum s_i \varphi''(y_i, f_i),

    with cross-entropy :math:`\varphi` (one score for two classes, otherwise one per class). Splits maximize the
    decrease of the second-order loss over all bins, by histograms.

    Hypothesis class: sums of trees. Loss: cross-entropy or exponential. Optimizer: greedy Newton steps.

    Guarantee: the value of every leaf is the step :math:`-\nu G / (H + \lambda)` of its rows, the stated loss is that
    of the model, and monotone columns are monotone everywhere (theory: :ref:`boosted-trees`). The certificate makes no
    claim about other sums of trees.

    Dask collections and Parquet paths are accepted. Cuts and histograms are exactly those of all rows, because
    gradients are summed as integers. The values of leaves are rounded sums over the partitions and agree with a fit in
    memory within rounding errors. The result is bitwise identical for any number of workers. ``scoring`` must be
    'loss', and early stopping holds each row out with probability ``validation_fraction``.

    Parameters
    ----------
    loss : {'log_loss', 'exponential'}, default='log_loss'
        Cross-entropy; or, for two classes, the exponential loss of AdaBoost.
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
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes.
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
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefit import HistGradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=20).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9, model.verify(X[::2], y[::2])["boosted_trees.leaves"].ok
    (True, True)
    """

    classes_: np.ndarray

    _rules = {**RULES, "loss": one_of("log_loss", "exponential"), "class_weight": _CLASS_WEIGHT}

    def __init__(
        self,
        loss="log_loss",
        *,
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
        class_weight=None,
        n_jobs=None,
        max_time=None,
    ):
        self.loss = loss
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
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Fit the trees, with ``sample_weight`` as frequency weights. Returns the estimator.

        ``X_val`` and ``y_val`` are used for early stopping instead of held-out rows.
        """
        check_params(self)
        again = self.warm_start and hasattr(self, "_trees")
        X, given = read_columns(self, X, y, reset=not again)
        check_labels(given)
        classes, codes = np.unique(given, return_inverse=True)
        if again and not np.array_equal(classes, self.classes_):
            raise InvalidData(
                f"{type(self).__name__}: warm_start needs the classes of the previous fit, {self.classes_.tolist()}."
            )
        if len(classes) < 2:
            raise InvalidData(
                f"{type(self).__name__}: y must have at least two classes; got one class only, {classes.tolist()[0]!r}."
            )
        self.classes_ = classes
        sample_weight = read_weights(self, sample_weight, len(X))
        try:
            self._class_factors = weights_by_class(self.class_weight, classes, given, sample_weight)
        except ValueError as error:
            raise InvalidParameter(type(self).__name__, "class_weight", str(error), self.class_weight) from None
        if self.loss == "exponential" and len(classes) > 2:
            raise InvalidParameter(type(self).__name__, "loss", "'log_loss' for more than two classes", self.loss)
        y01 = codes.astype(np.float64)
        term: Any = CrossEntropy(len(classes)) if len(classes) > 2 else Logistic()
        if self.loss == "exponential":
            y01, term = 2 * y01 - 1, ExponentialLoss()
        y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
        weights = self._class_factors[codes]
        if sample_weight is not None:
            weights = sample_weight * weights
        del codes  # its memory is free for the fit
        targets = Targets(y01, y, given, sample_weight, weights, term, self.loss, 0.0)
        return fit_boosting(self, X, targets, self._watched(X_val, y_val, sample_weight_val))

    def _watched(self, X_val, y_val, sample_weight_val) -> Watched | None:
        if not watches(self, X_val, y_val):
            return None
        X = read_columns(self, X_val, reset=False)
        labels = np.asarray(y_val)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        if len(X) != len(labels) or np.any(self.classes_[codes] != labels):
            raise InvalidData(
                f"{type(self).__name__}: y_val must have one label of the training classes for each row of X_val."
            )
        s = read_weights(self, sample_weight_val, len(X))
        y = 2.0 * codes - 1 if self.loss == "exponential" else codes.astype(np.float64)
        return Watched(X, y, labels, np.ones(len(X)) if s is None else s)

    def decision_function(self, X) -> np.ndarray:
        """Return one score per row for two classes (the log-odds for cross-entropy), one per row and class for more."""
        return self._shaped(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Return the most probable class; ties go to the first class."""
        scores = self._scores(X)
        return self.classes_[(scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)]

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class."""
        return self._probabilities(self._scores(X))

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield ``decision_function`` after each round."""
        for scores in self._staged_scores(X):
            yield self._shaped(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict`` after each round."""
        for scores in self._staged_scores(X):
            yield self.classes_[(scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)]

    def staged_predict_proba(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict_proba`` after each round."""
        for scores in self._staged_scores(X):
            yield self._probabilities(scores)

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[0] if len(scores) == 1 else scores.T

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if len(scores) == 1:
            f = scores[0] if self.loss == "log_loss" else 2 * scores[0]
            scores = np.stack([np.zeros_like(f), f])
        weights = np.exp(scores - scores.max(axis=0))
        return (weights / weights.sum(axis=0)).T
