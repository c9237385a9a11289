from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.outputs import one_or_several, require_dense
from surefit.core.validation import check_params, one_of
from surefit.trees.base import TreeMixin, pruning_path
from surefit.trees.categories import read_table
from surefit.trees.fit import fit_tree
from surefit.trees.parameters import RULES, current_criterion


class DecisionTreeRegressor(TreeMixin, CertifiedMixin, RegressorMixin, BaseEstimator):
    r"""Decision tree regressor with axis-parallel splits, grown greedily and optionally pruned.

    .. math::

        Q(s) = \sum_{x_i \le s} w_i (y_i - \bar y_1)^2 + \sum_{x_i > s} w_i (y_i - \bar y_2)^2
             = Q - \frac{W_1 W_2}{W} (\bar y_1 - \bar y_2)^2

    Hypothesis class: trees whose nodes test one column. Loss: squared error, absolute error, or Poisson deviance.
    Optimizer: the best split of each node; ties go to the lowest column, then the lowest threshold. A value equal to
    the threshold goes left. For several targets (the columns of ``y``) the impurity is the mean over the targets.

    Guarantee: every split is the best of its node, the gains sum to the total, and a cost-complexity pruning is optimal
    among all prunings of the grown tree (theory: :ref:`pruning`). The certificate makes no claim about other trees.

    Partitioned rows (Dask collections, Parquet paths) are cut at candidate thresholds: all cuts of columns with at most
    255 values, and bin edges of other columns. The certificate then compares every split with the candidates (see
    :doc:`/scaling`).

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Squared deviation from the mean, absolute deviation from the median, or half the Poisson deviance (for y >= 0).
    splitter : {"best", "random"}, default="best"
        How to choose splits: "random" uses the best of one random cut per column.
    max_depth : int >= 1 or None, default=None
        Maximum depth.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Smallest number (or fraction) of rows of a node that may be split.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Smallest number (or fraction) of rows on each side of a split.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Smallest fraction of the total weight on each side of a split.
    max_features : int, float in (0, 1], "sqrt", "log2" or None, default=None
        Number of columns considered per node, drawn at random for each node; None means all.
    random_state : int, RandomState, Generator or None, default=None
        Seed for ``max_features``, ``splitter="random"`` and validation rows. Otherwise the fit is deterministic.
    max_leaf_nodes : int >= 2 or None, default=None
        Maximum number of leaves; nodes are split in decreasing order of the weighted gain.
    min_impurity_decrease : float >= 0, default=0.0
        Smallest value of the gain of a split times the node's fraction of the weight, as in scikit-learn.
    ccp_alpha : float >= 0, default=0.0
        Penalty per leaf for pruning, in units of the impurity, as in scikit-learn; ignored if ``pruning`` is given.
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Monotonicity constraint of the prediction in each column.
    min_gain : float >= 0, default=0.0
        Smallest gain of a split, independent of the size of its node.
    max_bins : int from 2 to 255 or None, default=None
        Number of bins with about equally many rows per column, whose edges are the only thresholds. None means that all
        cuts are considered.
    thresholds : list of numbers, list of such lists (one per column), or None, default=None
        The only allowed thresholds, declared before seeing the data.
    categorical_features : list of column numbers or names, mask, "from_dtype" or None, default=None
        Categorical columns, with numbers or text as values; "from_dtype" uses the columns of a pandas or polars table
        with categorical or text dtype. A row with a category that was not seen at a node stays at that node.
    categorical_split : {"subset", "multiway"}, default="subset"
        One set of categories against the others, or one branch per category. In the latter case a column is used at
        most once on a path.
    pruning : {"cost_complexity", "reduced_error"} or None, default=None
        How to prune inside ``fit``: "cost_complexity" minimizes the training loss plus alpha times the number of
        leaves, with alpha chosen by cross-validation; "reduced_error" turns nodes into leaves while this lowers the
        squared error on held-out rows.
    cv : int >= 2, splitter or pairs of rows, default=10
        Folds of the cross-validation that chooses alpha. An integer k uses every k-th row in the order of the rows.
    standard_errors : float >= 0, default=1.0
        Choose the smallest tree whose cross-validated risk is within this many standard errors of the minimum; 0
        chooses the minimum.
    validation_fraction : float in (0, 1), default=0.25
        Fraction of rows held out by "reduced_error".
    allow_zero_gain : bool, default=False
        Whether "reduced_error" also prunes nodes that do not change the error, which gives a smaller tree.
    delta : float in (0, 1), default=0.05
        Failure probability of the risk bound for ``thresholds``.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets, the columns of ``y``.
    tree_ : FlatTree
        The nodes as arrays, parents before children, also under scikit-learn's names.
    pruning_alpha_ : float
        Penalty per leaf of the pruning: ``ccp_alpha``, or as chosen by cross-validation; 0 without cost-complexity
        pruning.
    pruning_ : CostComplexity, ReducedError or None
        Details of the pruning: alphas, risks, leaves and cross-validated risks, or the rounds of reduced-error pruning.
    categories_ : dict
        Values of each categorical column (codes for text).
    category_labels_ : dict
        Text labels of the codes 0, 1, ... of a column.
    max_features_ : int
        Number of columns considered per node.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the total decrease of the impurity due to each column.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import DecisionTreeRegressor
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 0.0, 2.0, 3.0])
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, y)
    >>> float(model.tree_.threshold[0]), model.predict(X)
    (2.5, array([0. , 0. , 2.5, 2.5]))
    >>> model.verify(X, y)["tree.splits"].ok
    True
    """

    _rules = {**RULES, "criterion": one_of("squared_error", "absolute_error", "poisson")}

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        min_gain=0.0,
        max_bins=None,
        thresholds=None,
        categorical_features=None,
        categorical_split="subset",
        pruning=None,
        cv=10,
        standard_errors=1.0,
        validation_fraction=0.25,
        allow_zero_gain=False,
        delta=0.05,
    ):
        self.criterion = current_criterion(criterion)
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.min_gain = min_gain
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.pruning = pruning
        self.cv = cv
        self.standard_errors = standard_errors
        self.validation_fraction = validation_fraction
        self.allow_zero_gain = allow_zero_gain
        self.delta = delta

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow and prune the tree, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        table = X
        X, y = read_table(self, X, y, y_numeric=True, multi_output=True)
        require_dense(self, y)
        y = one_or_several(np.asarray(y, dtype=np.float64))
        self.n_outputs_ = y.shape[1] if y.ndim == 2 else 1
        if self.criterion == "poisson" and (y.min() < 0 or np.min(y.sum(axis=0)) <= 0):
            raise InvalidData(
                "DecisionTreeRegressor: criterion='poisson' needs y >= 0 with a positive sum; "
                f"the least is {y.min():.6g}, the sum {np.min(y.sum(axis=0)):.6g}. Use 'squared_error'."
            )
        return fit_tree(self, X, table, y, y, sample_weight, None, 0)

    def predict(self, X, check_input=True) -> np.ndarray:
        """Return the value of the leaf of each row, with one column per target if there are several."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Return ``ccp_alphas``, ``impurities`` and ``n_leaves`` of the nested cost-complexity prunings."""
        return pruning_path(self, X, y, sample_weight)
