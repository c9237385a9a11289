from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.outputs import require_dense
from surefit.core.validation import check_params, one_of, read_weights
from surefit.ensembles.forest_ensemble import RULES, Agreement, ForestMixin, read_outputs
from surefit.ensembles.forest_grow import Sample
from surefit.ensembles.forest_training import fit_forest
from surefit.trees.parameters import current_criterion


class RandomForestRegressor(CertifiedMixin, CallbackSupportMixin, ForestMixin, RegressorMixin, BaseEstimator):
    r"""Random forest regressor: mean prediction of trees grown on bootstrap samples with random columns.

    .. math:: \bar h(x) = \frac1M \sum_m h_m(x), \qquad
        (\bar h - y)^2 = \frac1M \sum_m (h_m - y)^2 - \frac1M \sum_m (h_m - \bar h)^2 .

    Hypothesis class: means of trees. Loss: the criterion, node by node. Optimizer: greedy splits.

    Guarantee: the value of every leaf is the mean (or median) of its drawn rows. With ``oob_score`` the certificate
    also states the out-of-bag error (theory: :ref:`bootstrap-votes`).

    Draws do not depend on the order of the rows, and an integer weight is equivalent to repeating the row. For rows in
    partitions, draws depend on the indices of the rows.

    Parameters
    ----------
    n_estimators : int >= 1, default=100
        Number of trees.
    criterion : {'squared_error', 'absolute_error', 'poisson'}, default='squared_error'
        Impurity that splits reduce.
    max_depth : int >= 1 or None, default=None
        Maximum depth of a tree; None means no limit.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Smallest number (or fraction) of rows of a node that may be split.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Smallest number (or fraction) of rows in a leaf.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Smallest fraction of the weight in a leaf.
    max_features : 'sqrt', 'log2', int, float or None, default=1.0
        Number of columns considered for a split.
    max_leaf_nodes : int >= 2 or None, default=None
        Maximum number of leaves of a tree; nodes with the largest decrease of the impurity are split first.
    min_impurity_decrease : float >= 0, default=0.0
        Smallest impurity decrease of a split, weighted by the fraction of the rows in the node.
    bootstrap : bool, default=True
        Whether to draw rows with replacement for each tree.
    oob_score : bool or callable, default=False
        Whether to evaluate the trees on their out-of-bag rows, which gives an estimate of the error.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws of rows and columns, which do not depend on the order of the rows.
    verbose : int, default=0
        If nonzero, print one line per member.
    warm_start : bool, default=False
        Whether to add trees to the previous fit.
    ccp_alpha : float >= 0, default=0.0
        Complexity parameter of the minimal cost-complexity pruning of each tree.
    max_samples : int, float or None, default=None
        Number of draws for each tree, or (float > 0) their ratio to the number of rows. None means the number of rows
        (with integer weights, their sum).
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Monotonicity constraints: 1 increasing, -1 decreasing, 0 none.
    subset : {'split', 'tree'}, default='split'
        Whether ``max_features`` columns are drawn for each split, or once per tree.
    max_bins : int from 2 to 255 or None, default=255
        Number of bins per column; columns with more values are cut at quantiles. None means that all cuts are
        considered.
    categorical_features : list of column numbers or names, mask, "from_dtype" or None, default=None
        Categorical columns, with numbers or text as values; "from_dtype" uses the columns of a pandas or polars table
        with categorical or text dtype. A split sends one set of categories left and the others right. A row with a
        category that was not seen at a node is predicted by the value of that node.
    delta : float in (0, 1), default=0.05
        Not used by regressors; the bounds apply to majority votes.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the trees so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets, the columns of ``y``; ``predict`` has one column per target if there are several.
    trees_ : list of FlatTree
        The trees as arrays.
    estimators_ : list
        The trees as estimators.
    estimators_samples_ : list of ndarray
        Indices of the rows on which each tree was grown, repeated as often as they were drawn.
    tree_seeds_ : ndarray
        Seed of each tree, which determines its draws of rows and columns.
    drawn_by_index_ : bool
        Whether draws depend on the index of a row and the path of a node, as they do for rows in partitions.
    tree_starts_, tree_feature_, tree_threshold_, tree_left_, tree_right_, tree_missing_left_, tree_value_
        All trees, concatenated.
    categories_, category_labels_ : dict
        Values of each categorical column (codes for text), and the text labels of the codes 0, 1, ...
    is_categorical_, tree_kind_, tree_set_start_, tree_words_, tree_n_codes_
        Categorical columns, kinds of the nodes, and their sets of categories as bits.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of the impurity due to each column, averaged over the trees.
    oob_score_, oob_prediction_
        With ``oob_score``: the score, and the means over the trees for which a row is out of bag (not for rows in partitions).
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.35, model.verify(X, y)["forest.leaves"].ok
    (True, True)
    """

    _rules = {**RULES, "criterion": one_of("squared_error", "absolute_error", "poisson")}

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        subset="split",
        max_bins=255,
        categorical_features=None,
        delta=0.05,
        max_time=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = current_criterion(criterion)
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.subset = subset
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.delta = delta
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the trees, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        X, y = self._read_training(X, y, y_numeric=True)
        require_dense(self, y)
        y = read_outputs(np.asarray(y, dtype=np.float64))
        self.n_outputs_ = y.shape[1] if y.ndim == 2 else 1
        if self.criterion == "poisson" and (y.min() < 0 or np.min(y.sum(axis=0)) <= 0):
            raise InvalidData("RandomForestRegressor: criterion='poisson' needs y >= 0 with a positive sum.")
        weights = read_weights(self, sample_weight, X.shape[0])
        return fit_forest(self, Sample(X, y, weights, None, 0, self.categories_), y)

    def predict(self, X) -> np.ndarray:
        """Return the mean prediction of the trees, with one column per target if there are several."""
        values = self._mean_values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def agreement(self, X, y=None) -> Agreement:
        """Return the correlations of the trees' predictions and, given targets, the negative error of each tree."""
        said = self._predictions(X)
        scores = None if y is None else -np.mean(((said - np.asarray(y)) ** 2).reshape(len(said), -1), axis=1)
        said = said.reshape(len(said), -1)
        spread = said.std(axis=1)
        centered = said - said.mean(axis=1, keepdims=True)
        scale = np.outer(spread, spread) * said.shape[1]
        pairwise = np.divide(centered @ centered.T, scale, out=np.ones_like(scale), where=scale > 0)
        m = len(said)
        mean = float((pairwise.sum() - np.trace(pairwise)) / (m * (m - 1))) if m > 1 else 1.0
        return Agreement(pairwise, mean, scores)

    def ambiguity(self, X, y) -> tuple[float, float, float]:
        """Return the mean squared error of the forest, the mean error of its trees, and the variance of the trees."""
        said, y = self._predictions(X), np.asarray(y, dtype=np.float64)
        mean = said.mean(axis=0)
        return float(np.mean((mean - y) ** 2)), float(np.mean((said - y) ** 2)), float(np.mean((said - mean) ** 2))

    @property
    def estimators_(self) -> list:
        """The trees as estimators."""
        from surefit.trees.regressor import DecisionTreeRegressor

        return self._as_estimators(
            DecisionTreeRegressor, ("n_features_in_", "n_outputs_", "categories_", "category_labels_")
        )

    def _predictions(self, X) -> np.ndarray:
        leaves = self.apply(X)
        found = np.array([tree.values[leaves[:, t]] for t, tree in enumerate(self.trees_)])
        return found[:, :, 0] if found.shape[2] == 1 else found
