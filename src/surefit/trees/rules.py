"""Trees as text: rules in disjunctive normal form per class, or indented lines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.solvers.trees import FlatTree
from surefit.solvers.trees.flat import LEAF, MULTIWAY, THRESHOLD


class Condition(NamedTuple):
    """Condition on one column: ``low < x <= high`` or one of ``values``, and whether a missing value passes."""

    column: int
    name: str
    low: float
    high: float
    values: tuple | None  # categories, numbers or text; None for numbers
    missing: bool

    def passes(self, X: np.ndarray) -> np.ndarray:
        """Return whether each row satisfies the condition."""
        if self.values is not None and any(isinstance(v, str) for v in self.values):
            column = X[:, self.column].tolist()
            absent = [v is None or v != v for v in column]
            return np.array(
                [self.missing if gone else str(v) in self.values for v, gone in zip(column, absent, strict=True)]
            )
        x = np.asarray(X[:, self.column], dtype=np.float64)
        with np.errstate(invalid="ignore"):
            inside = np.isin(x, self.values) if self.values is not None else (x > self.low) & (x <= self.high)
        return np.where(np.isnan(x), self.missing, inside)

    def __str__(self) -> str:
        if self.values is not None:
            words = f"{self.name} = {_shown(self.values[0])}" if len(self.values) == 1 else ""
            words = words or f"{self.name} in {{{', '.join(map(_shown, self.values))}}}"
        elif self.low == -np.inf and self.high == np.inf:
            words = f"{self.name} not missing"
        elif self.low == -np.inf:
            words = f"{self.name} <= {_number(self.high)}"
        elif self.high == np.inf:
            words = f"{self.name} > {_number(self.low)}"
        else:
            words = f"{_number(self.low)} < {self.name} <= {_number(self.high)}"
        return words


class Clause(NamedTuple):
    """Conjunction of the tests on the path to one leaf."""

    leaf: int
    tests: tuple[Condition, ...]
    prediction: Any
    weight: float

    def holds(self, X) -> np.ndarray:
        """Return whether all tests pass, for each row of ``X``."""
        X = np.asarray(X)
        passed = np.ones(len(X), dtype=bool)
        for test in self.tests:
            passed &= test.passes(X)
        return passed

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests)) or "always"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _shown(value) -> str:
    return value if isinstance(value, str) else _number(value)


def clauses(tree: FlatTree, names: list[str], categories: dict[int, np.ndarray], classes) -> list[Clause]:
    """Return the clauses of all leaves, from left to right."""
    found: list[Clause] = []
    stack: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while stack:
        node, tests = stack.pop()
        if tree.kind[node] == LEAF:
            estimate, weight = prediction_of(tree, node, classes), float(tree.weight[node])
            found.append(Clause(node, tuple(tests[j] for j in sorted(tests)), estimate, weight))
            continue
        j = int(tree.feature[node])
        for child in reversed(tree.children(node).tolist()):
            old = tests.get(j, _start(j, names, categories))
            stack.append((child, {**tests, j: _narrowed(tree, node, child, old, categories)}))
    return found


def _start(j: int, names: list[str], categories) -> Condition:
    values = tuple(categories[j].tolist()) if j in categories else None
    return Condition(j, names[j], -np.inf, np.inf, values, True)


def _narrowed(tree: FlatTree, node: int, child: int, test: Condition, categories) -> Condition:
    first = child == tree.left[node]
    if tree.kind[node] == THRESHOLD:
        t, missing = float(tree.threshold[node]), test.missing and bool(tree.missing_left[node]) == first
        if first:
            return test._replace(high=min(test.high, t), missing=missing)
        return test._replace(low=max(test.low, t), missing=missing)
    codes = _codes(tree, node, child)
    known = categories[test.column]
    values = tuple(v for c, v in enumerate(known.tolist()) if c in codes and v in (test.values or ()))
    return test._replace(values=values, missing=test.missing and tree.n_codes - 1 in codes)


def _codes(tree: FlatTree, node: int, child: int) -> set[int]:
    """Return the category codes that go from ``node`` to ``child``; the last code stands for missing values."""
    if tree.kind[node] == MULTIWAY:
        table = tree.branches[tree.start[node] : tree.start[node] + tree.n_codes]
        return set(np.flatnonzero(table == child).tolist())
    left, right = tree.category_sets(node)
    return set((left if child == tree.left[node] else right).tolist())


def rules_text(found: list[Clause]) -> str:
    """Return the clauses by prediction, joined by OR."""
    groups: dict[str, list[str]] = {}
    for clause in found:
        key = _number(clause.prediction) if isinstance(clause.prediction, float) else str(clause.prediction)
        groups.setdefault(key, []).append(str(clause))
    ordered = sorted(groups) if not all(isinstance(clause.prediction, float) for clause in found) else list(groups)
    return "\n".join(f"{key} if " + "\n  or ".join(f"({text})" for text in groups[key]) for key in ordered)


def tree_text(tree: FlatTree, names: list[str], categories, classes, decimals: int = 2) -> str:
    """Return the tree as indented lines."""
    lines, stack = [], [(0, 0, "")]
    while stack:
        node, depth, words = stack.pop()
        indent = "|   " * (depth - 1) + "|--- " if depth else ""
        if words:
            lines.append(indent + words)
        if tree.kind[node] == LEAF:
            lines.append("|   " * depth + "|--- " + _leaf_text(tree, node, classes, decimals))
            continue
        for child in reversed(tree.children(node).tolist()):
            stack.append((child, depth + 1, branch_text(tree, node, child, names, categories, decimals)))
    return "\n".join(lines)


def branch_text(tree: FlatTree, node: int, child: int, names: list[str], categories, decimals: int = 2) -> str:
    """Return the text of the branch from a node to its child."""
    j, first = int(tree.feature[node]), child == tree.left[node]
    if tree.kind[node] == THRESHOLD:
        return f"{names[j]} {'<=' if first else '>'} {tree.threshold[node]:.{decimals}f}"
    codes = sorted(_codes(tree, node, child))
    known = categories[j]
    return f"{names[j]} in {{{', '.join('missing' if c >= len(known) else _shown(known[c]) for c in codes)}}}"


def prediction_of(tree: FlatTree, node: int, classes) -> Any:
    """Return the value or label of a node; for several targets, a tuple."""
    found = []
    for o, part in enumerate(tree.by_output(tree.values[[node]])):
        known = classes[o] if tree.widths and classes is not None else classes
        found.append(part[0, 0] if known is None else known[int(np.argmax(part))])
    return tuple(found) if tree.widths else found[0]


def prediction_text(tree: FlatTree, node: int, classes, form: str) -> str:
    """Return the prediction of a node as text, with numbers in the format ``form`` and several targets in brackets."""
    found = prediction_of(tree, node, classes)
    words = [format(each, form) if classes is None else str(each) for each in (found if tree.widths else (found,))]
    return f"[{', '.join(words)}]" if tree.widths else words[0]


def _leaf_text(tree: FlatTree, node: int, classes, decimals: int) -> str:
    return f"{'value' if classes is None else 'class'}: {prediction_text(tree, node, classes, f'.{decimals}f')}"
