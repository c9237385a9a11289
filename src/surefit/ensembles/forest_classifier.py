from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NOTHING, Rule, check_params, one_of, read_data, read_weights
from surefit.ensembles.forest_base import READ, RULES, Agreement, ForestMixin
from surefit.ensembles.forest_fit import fit_forest
from surefit.ensembles.forest_grow import Sample

_CLASS_WEIGHT = NOTHING | one_of("balanced") | Rule("a dict of class weights", lambda v: isinstance(v, dict))


class RandomForestClassifier(CertifiedMixin, CallbackSupportMixin, ForestMixin, ClassifierMixin, BaseEstimator):
    r"""Mean of the class shares of many trees, each grown on a bootstrap draw with random columns.

    .. math:: \hat y(x) = \arg\max_k \frac1M \sum_m \hat p_m(k \mid x).

    Hypothesis class: means of trees. Loss: the criterion, node by node. Optimiser: greedy splits.

    Guarantee: every leaf holds the class shares of the drawn rows that reach it. With ``oob_score`` also the out-of-bag error, and
    two bounds on the error of the majority vote on new rows, for independent rows (theory: :ref:`bootstrap-votes`).

    Draws do not depend on the order of the rows, and an integer weight is the same as repeating the row.

    Parameters
    ----------
    n_estimators : int >= 1, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'misclassification'}, default='gini'
        What splits reduce.
    max_depth : int >= 1 or None, default=None
        Depth of a tree; None grows to the end.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Rows (or share of them) that a node needs to be split.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Rows (or share) in a leaf.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Share of the weight in a leaf.
    max_features : 'sqrt', 'log2', int, float or None, default='sqrt'
        Columns to choose from.
    max_leaf_nodes : int >= 2 or None, default=None
        Leaves of a tree; the best are split first.
    min_impurity_decrease : float >= 0, default=0.0
        Decrease that a split must bring, as a share of all rows.
    bootstrap : bool, default=True
        Draw rows with replacement for each tree.
    oob_score : bool or callable, default=False
        Ask the trees for the rows they have not drawn: an estimate of the error, and two bounds.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. The bits do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the draws of rows and columns. The order of the rows does not matter.
    verbose : int, default=0
        Accepted so that code written for scikit-learn runs.
    warm_start : bool, default=False
        Add trees to the last fit.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes.
    ccp_alpha : float >= 0, default=0.0
        Prune each tree by cost-complexity.
    max_samples : int, float or None, default=None
        Draws for each tree, or their share of the rows; None: as many as rows (as the total of integer weights).
    monotonic_cst : array of -1, 0, 1 or None, default=None
        Columns in which predictions must not rise or fall.
    subset : {'split', 'tree'}, default='split'
        Whether ``max_features`` columns are drawn for each split, or once for each tree.
    max_bins : int from 2 to 255 or None, default=255
        Bins of a column: cuts of columns with more values are at quantiles. None: all cuts.
    delta : float in (0, 1), default=0.05
        Failure probability of the bounds of the vote.
    max_time : float > 0 or None, default=None
        Seconds after which the trees so far are returned. Ctrl-C does the same.

    Attributes
    ----------
    trees_ : list of FlatTree
        The trees, as arrays.
    estimators_ : list
        The trees, as estimators.
    tree_seeds_ : ndarray
        Seed of each tree: draws of rows and columns follow from it.
    tree_starts_, tree_feature_, tree_threshold_, tree_left_, tree_right_, tree_missing_left_, tree_value_
        All trees, one after the other.
    feature_importances_ : ndarray of shape (n_features,)
        Mean share of each column in the decrease of the impurity.
    oob_score_, oob_decision_function_
        With ``oob_score``: the score, and the means over the trees that left a row out.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
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

    classes_: np.ndarray
    _own_bound = "oob_score=True"

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
        self.delta = delta
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the trees; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        X, given = read_data(self, X, y, **READ)
        check_classification_targets(given)
        self.classes_, codes = np.unique(given, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        sample_weight = read_weights(self, sample_weight, len(X))
        factors = None
        if self.class_weight is not None:
            try:
                factors = compute_class_weight(
                    self.class_weight, classes=self.classes_, y=given, sample_weight=sample_weight
                )
            except ValueError as error:
                raise InvalidParameter(type(self).__name__, "class_weight", str(error), self.class_weight) from None
        y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
        return fit_forest(self, Sample(X, codes.astype(np.int64), sample_weight, factors, self.n_classes_), y)

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest mean share; a tie goes to the class that comes first."""
        places = self._mean_values(X)[:, : getattr(self, "n_classes_", 1)].argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X) -> np.ndarray:
        """Return the mean over the trees of the class shares."""
        return self._mean_values(X)[:, : self.n_classes_]

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def vote(self, X) -> np.ndarray:
        """Return the class that most trees choose, of which the bounds speak; a tie goes to the class that comes first."""
        said = self._said(X)
        counts = np.stack([(said == k).sum(axis=0) for k in range(self.n_classes_)])
        return self.classes_[counts.argmax(axis=0)]

    def agreement(self, X, y=None) -> Agreement:
        """Return how often trees agree, two by two, and the accuracy of each if labels are given."""
        said = self._said(X)
        pairwise = np.mean(said[:, None] == said[None], axis=2)
        m = len(said)
        mean = float((pairwise.sum() - m) / (m * (m - 1))) if m > 1 else 1.0
        scores = None if y is None else np.mean(self.classes_[said] == np.asarray(y), axis=1)
        return Agreement(pairwise, mean, scores)

    @property
    def estimators_(self) -> list:
        """The trees as estimators."""
        from surefit.trees.classifier import DecisionTreeClassifier

        found = []
        for tree in self.trees_:
            member = DecisionTreeClassifier(criterion=self.criterion)
            member.tree_, member.classes_, member.n_classes_ = tree, self.classes_, self.n_classes_
            member.n_features_in_, member.categories_ = self.n_features_in_, {}
            found.append(member)
        return found

    def _said(self, X) -> np.ndarray:
        leaves = self.apply(X)
        return np.array([tree.value[leaves[:, t]].argmax(axis=1) for t, tree in enumerate(self.trees_)])
