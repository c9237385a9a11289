"""Trees as figures, as text and as Graphviz source, with scikit-learn's options."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import tree as theirs

from surefit.export.twins import is_ours, to_sklearn
from surefit.solvers.trees.flat import LEAF, THRESHOLD


def plot_tree(decision_tree: Any, **options: Any) -> list:
    """Draw a fitted tree with matplotlib; ``options`` are those of ``sklearn.tree.plot_tree``.

    Names of columns and classes come from the tree unless they are given. See :class:`TreeDisplay` for trees with categorical splits.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of surefit or of scikit-learn.
    **options
        Options of scikit-learn's function: ``max_depth``, ``feature_names``, ``class_names``, ``filled``, ``ax``, ...

    Returns
    -------
    list
        The annotations of the figure, one per node.

    Examples
    --------
    >>> import surefit
    >>> model = surefit.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> len(surefit.plot_tree(model)) >= 3
    True
    """
    return theirs.plot_tree(to_sklearn(decision_tree), **_named(decision_tree, options))


def export_graphviz(decision_tree: Any, out_file: Any = None, **options: Any) -> str | None:
    """Return a fitted tree in the DOT language; ``options`` are those of ``sklearn.tree.export_graphviz``.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of surefit or of scikit-learn.
    out_file : file, str or None, default=None
        File to write; None: return the text.
    **options
        Options of scikit-learn's function: ``feature_names``, ``class_names``, ``filled``, ``rounded``, ...

    Returns
    -------
    str or None
        The text, if ``out_file`` is None.

    Examples
    --------
    >>> import surefit
    >>> model = surefit.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 2.0])
    >>> surefit.export_graphviz(model).partition("{")[0].strip()
    'digraph Tree'
    """
    return theirs.export_graphviz(to_sklearn(decision_tree), out_file, **_named(decision_tree, options))


def export_text(decision_tree: Any, **options: Any) -> str:
    """Return a fitted tree as indented text; ``options`` are those of ``sklearn.tree.export_text``.

    A tree with categorical splits, or with classes of several targets, is printed by its own method, which supports
    only ``decimals``.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of surefit or of scikit-learn.
    **options
        Options of scikit-learn's function: ``feature_names``, ``class_names``, ``max_depth``, ``spacing``, ``decimals``, ``show_weights``.

    Returns
    -------
    str
        One line per branch.

    Examples
    --------
    >>> import surefit
    >>> model = surefit.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> print(surefit.export_text(model, feature_names=["x"]))
    |--- x <= 0.50
    |   |--- class: a
    |--- x >  0.50
    |   |--- class: b
    <BLANKLINE>
    """
    if is_ours(decision_tree) and _is_beyond(decision_tree):
        return decision_tree.export_text(**options)
    return theirs.export_text(to_sklearn(decision_tree), **_named(decision_tree, options))


def _is_beyond(tree: Any) -> bool:
    """Return whether scikit-learn cannot print the tree, which has categorical splits or classes of several targets."""
    several = tree.tree_.n_outputs > 1 and hasattr(tree, "classes_")
    return several or not np.isin(tree.tree_.kind, (LEAF, THRESHOLD)).all()


def _named(tree: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with the column names of the training data unless others are given."""
    known = getattr(tree, "feature_names_in_", None)
    return options if known is None else {"feature_names": list(known), **options}
