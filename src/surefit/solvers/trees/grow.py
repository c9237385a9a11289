"""Tree growing: one loop for sorted and binned columns and for every target."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.threads import count_threads
from surefit.solvers.trees import flat
from surefit.solvers.trees.categories import (
    Mixed,
    Numbers,
    cut_categories,
    group_starts,
    is_category,
    lengthened,
    subset_rows,
)
from surefit.solvers.trees.data import (
    category_of,
    first_rows,
    is_constant,
    mark_left,
    missing_at,
    segment_of,
    split_first,
    split_others,
    threshold_at,
)
from surefit.solvers.trees.draws import AllColumns, column_at, cut_of, draws_of, n_considered
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.nodes import Rules, allocated, finished
from surefit.solvers.trees.presorted import Presorted
from surefit.solvers.trees.segments import ROW
from surefit.solvers.trees.subtrees import LEAST, Piece, grow_subtrees
from surefit.solvers.trees.targets import TIE, Classes, Limits, Sums, n_sums, prepare, summarize

_TYPES = (int, int, int, float, int, float, float, int, bool, bool, int)


def typed(rules: Rules) -> Rules:
    """Return the rules with the types for which the grower is compiled."""
    return Rules(*(kind(value) for kind, value in zip(_TYPES, rules, strict=True)))


def grow(data, n: int, target, rules: Rules, categories: np.ndarray, monotone: np.ndarray, n_jobs=None) -> FlatTree:
    """Grow a tree on the ``n`` rows of ``data``; see ``surefit.solvers.trees`` for the calling convention."""
    n_codes = int(categories.max(initial=0)) + 1
    rules = typed(rules)
    columns = Mixed(n_codes, categories, rules.multiway) if categories.any() else Numbers(n_codes)
    draws = draws_of(rules, len(categories))
    whole = Piece(0, n, 0, -np.inf, np.inf)
    apart = isinstance(draws, AllColumns) and isinstance(columns, Numbers) and isinstance(data, Presorted)
    apart &= isinstance(target, (Sums, Classes)) and rules.max_leaf_nodes == 0
    threads = count_threads(n_jobs) if apart and n * len(categories) >= LEAST else 1

    def run(piece: Piece, few: int):
        rows = piece.last - piece.first
        nodes, sums = allocated(rows, rules, piece.depth, n_sums(target))
        own = data._replace(left=np.empty_like(data.left)) if threads > 1 else data  # threads do not share cache lines
        count, *sets = _grow(own, piece, few, target, rules, columns, draws, monotone, nodes, sums)
        # the fields of a plain array are read faster than those of a record array
        return nodes.view(np.ndarray)[:count], sums[:count], *sets

    if threads > 1:
        nodes, sums = grow_subtrees(lambda piece, few: _copies(run(piece, few)), whole, len(categories), threads)
        return finished(nodes, sums, np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32), n_codes)
    nodes, sums, words, branches = run(whole, 0)
    return finished(nodes, sums, words.copy(), branches, n_codes)


def _copies(found) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes and sums of a subtree without the memory reserved for more."""
    return found[0].copy(), found[1].copy()


@compiled
def _grow(data, piece, few, target, rules, columns, draws, monotone, nodes, sums):
    n_codes = columns.n_codes
    n_words = (n_codes + 63) // 64
    words, branches = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)
    used_words, used_branches = 0, 0
    nodes[0].first, nodes[0].last, nodes[0].depth, nodes[0].low, nodes[0].high = piece
    root = nodes[0].left = 0 * nodes[0].first  # 0, with the type of a node index
    open_node(first_rows(data, piece.first, piece.last), target, rules, nodes, sums, root)
    count: Any = 1
    leaves: Any = 1
    if nodes[0].reason == flat.SPLIT:
        _search(data, target, rules, columns, draws, monotone, nodes, sums, root)
    open_nodes, top = np.empty(len(nodes) + 1, dtype=np.int64), 0
    open_nodes[0] = 0
    if nodes[0].reason == flat.SPLIT:
        top = 1
    while top > 0:
        chosen = top - 1
        if rules.max_leaf_nodes > 0:
            for i in range(top):
                if nodes[open_nodes[i]].decrease > nodes[open_nodes[chosen]].decrease:
                    chosen = i
        node = open_nodes[chosen]
        for i in range(chosen, top - 1):
            open_nodes[i] = open_nodes[i + 1]
        top -= 1
        parts: Any = nodes[node].place if nodes[node].kind == flat.MULTIWAY else np.int64(2)
        if rules.max_leaf_nodes > 0 and leaves + parts - 1 > rules.max_leaf_nodes:
            close_node(nodes, node, flat.LEAVES)
            continue
        leaves += parts - 1
        nodes[node].left, nodes[node].right = count, count + parts - 1
        if nodes[node].kind == flat.MULTIWAY:
            branches = lengthened(columns, branches, used_branches, n_codes)
            nodes[node].start = used_branches
            own = branches[used_branches : used_branches + n_codes]
            _split_multiway(columns, data, target, rules, nodes, sums, node, own)
            used_branches += n_codes
        else:
            if nodes[node].kind == flat.SUBSET:
                words = lengthened(columns, words, used_words, 2 * n_words)
                nodes[node].start = used_words
                used_words += 2 * n_words
            sets = words[used_words - 2 * n_words : used_words]
            _split_in_two(columns, data, target, rules, monotone, nodes, sums, node, sets)
        count += parts
        for child in range(count - 1, count - parts - 1, -1):
            if nodes[child].reason == flat.SPLIT and nodes[child].last - nodes[child].first <= few:
                close_node(nodes, child, flat.STOPPED)
            if nodes[child].reason == flat.SPLIT:
                _search(data, target, rules, columns, draws, monotone, nodes, sums, child)
            if nodes[child].reason == flat.SPLIT:
                open_nodes[top] = child
                top += 1
    return count, words[:used_words], branches[:used_branches]


@compiled
def close_node(nodes, node, reason):
    """Make a node a leaf."""
    nodes[node].reason = reason
    nodes[node].kind = flat.LEAF
    nodes[node].left, nodes[node].right = -1, -1


@compiled
def open_node(segment, target, rules, nodes, sums, node):
    """Summarize the rows of a node; decide whether it must be a leaf."""
    weight, spread, pure = summarize(target, segment, sums[node])
    nodes[node].weight, nodes[node].spread = weight, spread
    nodes[node].reason, nodes[node].decrease = flat.SPLIT, 0.0
    n = len(segment)
    if pure:
        close_node(nodes, node, flat.PURE)
    elif nodes[node].depth >= rules.max_depth:
        close_node(nodes, node, flat.DEPTH)
    elif n < rules.min_samples_split or n < 2 * rules.min_samples_leaf or weight < 2 * rules.min_weight_leaf:
        close_node(nodes, node, flat.FEW_ROWS)


@compiled
def _search(data, target, rules, columns, draws, monotone, nodes, sums, node):
    """Find the best split of a node, or make it a leaf."""
    start, stop = nodes[node].first, nodes[node].last
    weight, spread, numbers = nodes[node].weight, nodes[node].spread, sums[node]
    prepare(target, first_rows(data, start, stop))
    tie = TIE * spread
    best, kind = -np.inf, flat.LEAF
    for i in range(n_considered(draws, data, start, stop)):
        j = column_at(draws, i)
        if is_constant(data, j, start, stop):
            continue
        limits = Limits(
            rules.min_samples_leaf,
            rules.min_weight_leaf,
            tie,
            -1,
            np.int64(monotone[j]),
            nodes[node].low,
            nodes[node].high,
        )
        order, this = 0, flat.THRESHOLD
        if is_category(columns, j):
            totals = weight, spread
            cut, order, this = cut_categories(columns, data, target, j, start, stop, totals, numbers, limits)
        else:
            cut = cut_of(draws, data, target, j, start, stop, weight, numbers, limits)
        if cut.place > 0 and cut.decrease > best + tie:
            best, kind = cut.decrease, this
            nodes[node].feature, nodes[node].place, nodes[node].order = j, cut.place, order
            nodes[node].missing_left = cut.missing_left
            # Two rows divide in one way, and ties go to the lowest column.
            if stop - start == 2 and not rules.random_cuts:
                break
    nodes[node].kind, nodes[node].decrease = kind, max(best, 0.0)
    if kind == flat.LEAF:
        close_node(nodes, node, flat.NO_CUT)
    elif best < rules.min_gain * weight or best < rules.min_impurity_decrease * nodes[0].weight - tie:
        close_node(nodes, node, flat.SMALL_GAIN)


@compiled
def _split_in_two(columns, data, target, rules, monotone, nodes, sums, node, sets):
    start, stop, j = nodes[node].first, nodes[node].last, nodes[node].feature
    place, left, right = nodes[node].place, nodes[node].left, nodes[node].right
    missing = missing_at(data, j, start, stop)
    if nodes[node].kind == flat.SUBSET:
        segment = subset_rows(columns, data, target, nodes, node, sets)
        missing, nodes[node].missing_left = 0, False
    else:
        segment = segment_of(data, j, start, stop)
        nodes[node].threshold = threshold_at(data, j, segment, place, missing)
    n_left = mark_left(data, segment, place, missing, nodes[node].missing_left)
    if nodes[node].kind == flat.THRESHOLD and missing == 0:
        nodes[node].missing_left = n_left > stop - start - n_left  # values missing at prediction go where most rows go
    for child in range(left, right + 1):
        nodes[child].depth = nodes[node].depth + 1
        nodes[child].low, nodes[child].high = nodes[node].low, nodes[node].high
    nodes[left].first, nodes[left].last = start, start + n_left
    nodes[right].first, nodes[right].last = start + n_left, stop
    split_first(data, start, stop)
    open_node(first_rows(data, start, start + n_left), target, rules, nodes, sums, left)
    open_node(first_rows(data, start + n_left, stop), target, rules, nodes, sums, right)
    if nodes[left].reason == flat.SPLIT or nodes[right].reason == flat.SPLIT:
        split_others(data, start, stop)
    if monotone[j] != 0 and nodes[node].kind == flat.THRESHOLD:
        middle = (sums[left, 0] / nodes[left].weight + sums[right, 0] / nodes[right].weight) / 2.0
        middle = min(max(middle, nodes[node].low), nodes[node].high)
        if monotone[j] > 0:
            nodes[left].high, nodes[right].low = middle, middle
        else:
            nodes[left].low, nodes[right].high = middle, middle


@generic
def _split_multiway(columns, data, target, rules, nodes, sums, node, branches):
    """Create one child per category at the node."""


@_split_multiway.register(Numbers)
def _(columns, data, target, rules, nodes, sums, node, branches):
    return None


@_split_multiway.register(Mixed)
def _(columns, data, target, rules, nodes, sums, node, branches):
    start, stop, j = nodes[node].first, nodes[node].last, nodes[node].feature
    branches[:] = -1
    child = nodes[node].left
    while True:
        segment = segment_of(data, j, start, stop)
        size = group_starts(segment)[1]
        branches[category_of(data, j, segment[0] & ROW)] = child  # -1, for missing values, is the last place
        mark_left(data, segment, size, 0, False)
        nodes[child].depth = nodes[node].depth + 1
        nodes[child].low, nodes[child].high = nodes[node].low, nodes[node].high
        nodes[child].first, nodes[child].last = start, start + size
        split_first(data, start, stop)
        split_others(data, start, stop)
        open_node(first_rows(data, start, start + size), target, rules, nodes, sums, child)
        start += size
        child += 1
        if start == stop:
            break
