from __future__ import annotations

from surefit.ensembles.forest_regressor import RandomForestRegressor


class ExtraTreesRegressor(RandomForestRegressor):
    r"""Extremely randomized trees for regression: mean prediction of trees with random cuts.

    .. math:: \hat y(x) = \frac1M \sum_m h_m(x).

    Each node draws ``max_features`` columns and one random cut of each, and uses the cut with the largest decrease of
    the impurity. Trees are grown on all rows unless ``bootstrap`` is set.

    Hypothesis class: means of trees. Loss: the criterion, node by node. Optimizer: the best of a few random cuts.

    Guarantee: the value of every leaf is the mean (or median) of its rows. With ``bootstrap`` and ``oob_score``, the
    guarantees of :class:`RandomForestRegressor` hold too (theory: :ref:`bootstrap-votes`).

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
    bootstrap : bool, default=False
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
        with categorical or text dtype. A split sends one set of categories left: the best set, not a random one. A row
        with a category that was not seen at a node is predicted by the value of that node.
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
        With ``oob_score``: the score, and the means over the trees for which a row is out of bag; of rows in partitions the score only.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, model.verify(X, y)["forest.leaves"].ok
    (True, True)
    """

    _random_cuts = True

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
        bootstrap=False,
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
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            subset=subset,
            max_bins=max_bins,
            categorical_features=categorical_features,
            delta=delta,
            max_time=max_time,
        )
