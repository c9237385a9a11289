"""Validation of indices in a loaded model that compiled code uses without checks: nodes, columns and sparse rows.

In a damaged or forged file, a child of a node may lie outside its tree; a prediction would then read invalid memory or
never end. Therefore every tree and every sparse matrix of a model is checked before the model is returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.solvers.boosting.gradient import Tree
from surefit.solvers.trees import FlatTree
from surefit.solvers.trees.flat import LEAF, MULTIWAY, SUBSET, THRESHOLD

WORDS = 8  # words of 32 bits for the categories of a boosted tree


def require_sound(model: Any) -> None:
    """Raise ``ValueError`` if a tree or a sparse matrix inside ``model`` contains an invalid index."""
    seen: set[int] = set()
    open_: list[tuple[Any, int]] = [(model, 0)]
    while open_:
        value, width = open_.pop()
        if id(value) in seen or isinstance(value, (np.ndarray, str, bytes, int, float, type(None))):
            continue
        seen.add(id(value))
        if isinstance(value, FlatTree):
            _require_tree(value, width)
        elif isinstance(value, Tree):
            _require_boosted_tree(value, width)
        elif sparse.issparse(value):
            if hasattr(value, "check_format"):
                value.check_format(full_check=True)
        elif isinstance(value, dict):
            open_ += [(part, width) for part in value.values()]
        elif isinstance(value, (list, tuple)):
            open_ += [(part, width) for part in value]
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            own = value.__dict__.get("n_features_in_", width)
            open_ += [(part, own if isinstance(own, int) else width) for part in value.__dict__.values()]


def _require(sound: bool, what: str) -> None:
    if not sound:
        raise ValueError(f"a tree in it {what}")


def _require_nodes(tree: Any, names: tuple[str, ...]) -> int:
    arrays = [getattr(tree, name) for name in names]
    count = len(arrays[0]) if isinstance(arrays[0], np.ndarray) and arrays[0].ndim else 0
    _require(count > 0, "has no nodes")
    _require(all(isinstance(a, np.ndarray) and a.ndim and len(a) == count for a in arrays), "has incomplete nodes")
    whole = (getattr(tree, name).dtype.kind in "iu" for name in ("feature", "left", "right"))
    _require(all(whole), "has fractions for numbers of nodes")
    return count


def _require_children(children: np.ndarray, parents: np.ndarray, count: int) -> None:
    _require(bool(np.all((children > parents) & (children < count))), "has a node whose child does not follow it")


def _require_columns(features: np.ndarray, width: int) -> None:
    _require(bool(np.all((features >= 0) & (features < width))), "asks for a column that does not exist")


def _require_tree(tree: FlatTree, width: int) -> None:
    count = _require_nodes(tree, ("kind", "feature", "threshold", "left", "right", "missing_left", "start", "values"))
    _require(bool(np.isin(tree.kind, (LEAF, THRESHOLD, SUBSET, MULTIWAY)).all()), "has a node of an unknown kind")
    _require(bool(np.all(tree.feature[tree.kind == LEAF] < 0)), "has a leaf with a cut")
    inner = np.flatnonzero(tree.kind != LEAF)
    _require_columns(tree.feature[inner], width)
    two = np.flatnonzero((tree.kind == THRESHOLD) | (tree.kind == SUBSET))
    for children in (tree.left, tree.right):
        _require_children(children[two], two, count)
    _require_categories(tree, count)


def _require_categories(tree: FlatTree, count: int) -> None:
    codes = int(tree.n_codes)
    sizes = {SUBSET: (tree.words, 2 * ((codes + 63) // 64)), MULTIWAY: (tree.branches, codes)}
    for kind, (stored, size) in sizes.items():
        nodes = np.flatnonzero(tree.kind == kind)
        starts = tree.start[nodes].astype(np.int64)
        _require(bool(np.all((starts >= 0) & (starts + size <= len(stored)))), "has categories that are not stored")
        if kind == MULTIWAY:
            for node, start in zip(nodes.tolist(), starts.tolist(), strict=True):
                taken = tree.branches[start : start + size]
                _require_children(taken[taken >= 0], np.asarray(node), count)


def _require_boosted_tree(tree: Tree, width: int) -> None:
    count = _require_nodes(tree, ("feature", "bin", "missing_left", "left", "right", "subset", "value"))
    _require(tree.subset.shape == (count, WORDS), "has categories that are not stored")
    inner = np.flatnonzero(tree.feature >= 0)
    _require_columns(tree.feature[inner], width)
    for children in (tree.left, tree.right):
        _require_children(children[inner], inner, count)
