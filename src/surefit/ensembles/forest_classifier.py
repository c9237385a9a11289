from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.outputs import ClassListsMixin, logarithms, read_classes, require_dense
from surefit.core.validation import NOTHING, Rule, check_labels, check_params, one_of, read_weights
from surefit.ensembles.forest_ensemble import RULES, Agreement, ForestMixin, chosen_classes, read_outputs
from surefit.ensembles.forest_grow import Sample
from surefit.ensembles.forest_training import fit_forest
from surefit.problems.labels import class_factors

_CLASS_WEIGHT = (
    NOTHING
    | one_of("balanced", "balanced_subsample")
    | Rule("a dict of class weights, or a list of them", lambda v: isinstance(v, (dict, list)))
)


class RandomForestClassifier(
    ClassListsMixin, CertifiedMixin, CallbackSupportMixin, ForestMixin, ClassifierMixin, BaseEstimator
):
    r"""Random forest classifier: mean class probabilities of trees grown on bootstrap samples with random columns.

    .. math:: \hat y(x) = \arg\max_k \frac1M \sum_m \hat p_m(k \mid x).

    Hypothesis class: means of trees. Loss: the criterion, node by node. Optimizer: greedy splits.

    Guarantee: the value of every leaf is the vector of class fractions of its drawn rows. With ``oob_score`` the
    certificate also states the out-of-bag error and, for independent rows, two bounds on the error of the majority vote
    on new data (theory: :ref:`bootstrap-votes`).

    Draws do not depend on the order of the rows, and an integer weight is equivalent to repeating the row. For rows in
    partitions, draws depend on the indices of the rows.

    Parameters
    ----------
    n_estimators : int >= 1, default=100
        Number of trees.
    criterion : {'gini', 'entropy', 'log_loss', 'misclassification'}, default='gini'
        Impurity that splits reduce.
    max_depth : int >= 1 or None, default=None
        Maximum depth of a tree; None means no limit.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Smallest number (or fraction) of rows of a node that may be split.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Smallest number (or fraction) of rows in a leaf.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Smallest fraction of the weight in a leaf.
    max_features : 'sqrt', 'log2', int, float or None, default='sqrt'
        Number of columns considered for a split.
    max_leaf_nodes : int >= 2 or None, default=None
        Maximum number of leaves of a tree; nodes with the largest decrease of the impurity are split first.
    min_impurity_decrease : float >= 0, default=0.0
        Smallest impurity decrease of a split, weighted by the fraction of the rows in the node.
    bootstrap : bool, default=True
        Whether to draw rows with replacement for each tree.
    oob_score : bool or callable, default=False
        Whether to evaluate the trees on their out-of-bag rows, which gives an estimate of the error and two bounds.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws of rows and columns, which do not depend on the order of the rows.
    verbose : int, default=0
        If nonzero, print one line per member.
    warm_start : bool, default=False
        Whether to add trees to the previous fit.
    class_weight : dict, list of dict, 'balanced', 'balanced_subsample' or None, default=None
        Weights of the classes (for several targets, one dictionary per target); 'balanced_subsample' balances the draws
        of each tree.
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
        Failure probability of the bounds on the error of the vote.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the trees so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
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
    oob_score_, oob_decision_function_
        With ``oob_score``: the score, and the means over the trees for which a row is out of bag (not for rows in partitions).
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_outputs_ : int
        Number of targets, the columns of ``y``; with several, ``classes_`` and ``n_classes_`` are lists.
    class_values_, class_counts_ : ndarray
        Labels of all targets, concatenated, and the number of labels of each target.
    n_features_in_, feature_names_in_, classes_, n_classes_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9, model.verify(X, y)["forest.out_of_bag"].ok
    (True, True)
    """

    _rules = {
        **RULES,
        "criterion": one_of("gini", "entropy", "log_loss", "misclassification"),
        "class_weight": _CLASS_WEIGHT,
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
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
        self.criterion = criterion
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
        self.class_weight = class_weight
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
        X, given = self._read_training(X, y)
        require_dense(self, given)
        given = read_outputs(given)
        check_labels(given)
        self.classes_, codes, self.n_classes_ = read_classes(given)
        self.n_outputs_ = given.shape[1] if given.ndim == 2 else 1
        sample_weight = read_weights(self, sample_weight, X.shape[0])
        factors: np.ndarray | str | None = None
        if self.class_weight == "balanced_subsample" and self.bootstrap:
            factors = "balanced_subsample"
        elif self.class_weight is not None:
            asked = "balanced" if self.class_weight == "balanced_subsample" else self.class_weight
            try:
                factors = np.array(class_factors(asked, given, sample_weight))
            except ValueError as error:
                raise InvalidParameter(type(self).__name__, "class_weight", str(error), self.class_weight) from None
        y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
        sample = Sample(X, codes.astype(np.int64), sample_weight, factors, self.n_classes_, self.categories_)
        return fit_forest(self, sample, y)

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest mean probability, for each target; ties go to the first class."""
        return self._class_labels(self._mean_values(X))

    def predict_proba(self, X):
        """Return the mean class probabilities of the trees; for several targets, a list with one array per target."""
        return self._class_shares(self._mean_values(X))

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return logarithms(self.predict_proba(X))

    def vote(self, X) -> np.ndarray:
        """Return the class predicted by most trees, to which the bounds apply; ties go to the first class."""
        values = np.zeros((self._rows(X).shape[0], self.trees_[0].values.shape[1]))
        leaves = self.apply(X)
        for t, tree in enumerate(self.trees_):
            values += chosen_classes(tree)[leaves[:, t]]
        return self._class_labels(values)

    def agreement(self, X, y=None) -> Agreement:
        """Return the fraction of rows on which pairs of trees agree and, given labels, the accuracy of each tree."""
        said = self._predictions(X)
        pairwise = np.mean(np.all(said[:, None] == said[None], axis=3), axis=2)
        m = len(said)
        mean = float((pairwise.sum() - m) / (m * (m - 1))) if m > 1 else 1.0
        y = None if y is None else np.asarray(y).reshape(said.shape[1:])
        scores = None if y is None else np.mean(np.all(said == y, axis=2), axis=1)
        return Agreement(pairwise, mean, scores)

    @property
    def estimators_(self) -> list:
        """The trees as estimators."""
        from surefit.trees.classifier import DecisionTreeClassifier

        fitted = ("classes_", "n_classes_", "n_features_in_", "n_outputs_", "categories_", "category_labels_")
        return self._as_estimators(DecisionTreeClassifier, fitted)

    def _predictions(self, X) -> np.ndarray:
        """Return the labels that the trees predict, (trees, rows, targets)."""
        leaves = self.apply(X)
        found = [self._class_labels(tree.values)[leaves[:, t]] for t, tree in enumerate(self.trees_)]
        return np.array(found).reshape(len(found), len(leaves), -1)
