from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.outputs import ClassListsMixin, logarithms, one_or_several, read_classes, require_dense
from surefit.core.validation import NOTHING, Rule, check_labels, check_params, one_of
from surefit.problems.labels import class_factors
from surefit.trees.base import TreeMixin, pruning_path
from surefit.trees.categories import read_table
from surefit.trees.fit import fit_tree
from surefit.trees.parameters import RULES

CLASS_WEIGHT = (
    NOTHING
    | one_of("balanced")
    | Rule("a dict of class weights, or a list of them", lambda v: isinstance(v, (dict, list)))
)


class DecisionTreeClassifier(ClassListsMixin, TreeMixin, CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Decision tree classifier with axis-parallel splits, grown greedily and optionally pruned.

    .. math::

        \mathrm{Gain}(S, \text{split}) = \psi(S) - \sum_v \frac{W(S_v)}{W(S)} \psi(S_v), \qquad
        \psi = 1 - \sum_l p_l^2, \quad -\sum_l p_l \log_2 p_l, \quad\text{or}\quad 1 - \max_l p_l

    Hypothesis class: trees whose nodes test one column. Loss: the weighted impurity of the leaves. Optimizer: the best
    split of each node; ties go to the lowest column, then the lowest threshold. A value equal to the threshold goes
    left. For several targets (the columns of ``y``, such as 0-1 indicators of multiple labels) the impurity is the mean
    over the targets.

    Guarantee: every split is the best of its node, the gains sum to the total, and a cost-complexity pruning is optimal
    among all prunings of the grown tree (theory: :ref:`pruning`). The certificate makes no claim about other trees; see
    :func:`surefit.optimal_tree` for tiny problems.

    Partitioned rows (Dask collections, Parquet paths) are cut at candidate thresholds: all cuts of columns with at most
    255 values, and bin edges of other columns. The certificate then compares every split with the candidates (see
    :doc:`/scaling`).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity :math:`\psi`; "log_loss" is a synonym of "entropy".
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
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, multiplied by those of the rows. For several targets, one dictionary per target; their
        weights are multiplied.
    ccp_alpha : float >= 0, default=0.0
        Penalty per leaf for pruning, in units of the impurity, as in scikit-learn; ignored if ``pruning`` is given.
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Monotonicity constraint of the prediction (of the second of two classes) in each column.
    min_gain : float >= 0, default=0.0
        Smallest gain of a split, independent of the size of its node.
    max_bins : int from 2 to 255 or None, default=None
        Number of bins with about equally many rows per column, whose edges are the only thresholds. None means that all
        cuts are considered.
    thresholds : list of numbers, list of such lists (one per column), or None, default=None
        The only allowed thresholds, declared before seeing the data; they allow a bound on the risk of the tree.
    categorical_features : list of column numbers or names, mask, "from_dtype" or None, default=None
        Categorical columns, with numbers or text as values; "from_dtype" uses the columns of a pandas or polars table
        with categorical or text dtype. A row with a category that was not seen at a node stays at that node.
    categorical_split : {"subset", "multiway"}, default="subset"
        One set of categories against the others, or one branch per category. In the latter case a column is used at
        most once on a path.
    pruning : {"cost_complexity", "reduced_error"} or None, default=None
        How to prune inside ``fit``: "cost_complexity" minimizes the training error plus alpha times the number of
        leaves, with alpha chosen by cross-validation; "reduced_error" turns nodes into leaves while this lowers the
        error on held-out rows.
    cv : int >= 2, splitter or pairs of rows, default=10
        Folds of the cross-validation that chooses alpha. An integer k uses every k-th row of each class in the order of
        the rows.
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
    classes_ : ndarray, or list of ndarray
        The labels, sorted; one array per target if there are several.
    n_classes_ : int, or list of int
        Number of labels.
    n_outputs_ : int
        Number of targets, the columns of ``y``.
    class_values_, class_counts_ : ndarray
        Labels of all targets, concatenated, and the number of labels of each target.
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
    >>> from surefit import DecisionTreeClassifier
    >>> from surefit.data import load_or_table
    >>> X, y = load_or_table()
    >>> model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    >>> print(model.export_text(decimals=1))
    |--- x0 <= 0.5
    |   |--- x1 <= 0.5
    |   |   |--- class: 0
    |   |--- x1 > 0.5
    |   |   |--- class: 1
    |--- x0 > 0.5
    |   |--- class: 1
    >>> model.gain_audit()["gain"].round(6)
    array([0.316689, 1.      ])
    >>> model.verify(X, y)["tree.splits"].ok
    True
    """

    _rules = {
        **RULES,
        "criterion": one_of("gini", "entropy", "log_loss", "misclassification"),
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
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
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
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
        X, y = read_table(self, X, y, multi_output=True)
        require_dense(self, y)
        y = one_or_several(y)
        check_labels(y)
        self.classes_, codes, self.n_classes_ = read_classes(y)
        self.n_outputs_ = y.shape[1] if y.ndim == 2 else 1
        constrained = self.monotonic_cst is not None and np.any(self.monotonic_cst)
        if constrained and self.n_outputs_ == 1 and self.n_classes_ > 2:
            raise InvalidParameter(
                "DecisionTreeClassifier", "monotonic_cst", "None for more than two classes", self.monotonic_cst
            )
        try:
            factors = class_factors(self.class_weight, y)
        except ValueError as error:
            raise InvalidParameter("DecisionTreeClassifier", "class_weight", str(error), self.class_weight) from None
        weights = None if factors is None else np.array(factors)
        given = y.astype(np.float64) if y.dtype.kind in "biuf" else y
        return fit_tree(self, X, table, codes, given, sample_weight, weights, self.n_classes_)

    def predict(self, X, check_input=True) -> np.ndarray:
        """Return the most frequent label in the leaf of each row, for each target; ties go to the first class."""
        nodes, shares = self.apply(X), self.tree_.values
        few = len(nodes) < len(shares)
        return self._class_labels(shares[nodes]) if few else self._class_labels(shares)[nodes]

    def predict_proba(self, X, check_input=True):
        """Return the class fractions in the leaf of each row; for several targets, a list with one array per target."""
        return self._class_shares(self._values(X))

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return logarithms(self.predict_proba(X))

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Return ``ccp_alphas``, ``impurities`` and ``n_leaves`` of the nested cost-complexity prunings."""
        return pruning_path(self, X, y, sample_weight)
