"""Tree growing: one loop for sorted and binned columns and for every target."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import ascending, copy_into
from surefit.solvers.trees import flat
from surefit.solvers.trees.categories import best_multiway, best_subset, by_mean, group_starts, note_categories, relaxed
from surefit.solvers.trees.data import (
    category_of,
    cut_column,
    first_rows,
    is_constant,
    mark_left,
    missing_at,
    random_place,
    segment_of,
    split_first,
    split_others,
    threshold_at,
)
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.nodes import NODE, Rules, finished
from surefit.solvers.trees.segments import ROW
from surefit.solvers.trees.targets import TIE, Limits, n_sums, prepare, summarize

_TYPES = (int, int, int, float, int, float, float, int, bool, bool, int)


class Draws(NamedTuple):
    """Random choice of columns, or of cuts."""

    state: np.ndarray  # (1,) uint64, of the generator
    columns: np.ndarray  # (d,) int64, those of the node first


class Sets(NamedTuple):
    """Categories of the branches of a tree; the arrays are replaced by longer ones as it grows."""

    n_codes: int
    words: np.ndarray
    branches: np.ndarray


def grow(data, n: int, target, rules: Rules, categories: np.ndarray, monotone: np.ndarray) -> FlatTree:
    """Grow a tree on the ``n`` rows of ``data``; see ``surefit.solvers.trees`` for the calling convention."""
    room = 2 * n - 1
    if rules.max_depth < 31 and not rules.multiway:
        room = min(room, 2 ** (rules.max_depth + 1) - 1)
    if rules.max_leaf_nodes > 0 and not rules.multiway:
        room = min(room, 2 * rules.max_leaf_nodes - 1)
    nodes, sums = np.recarray(room, dtype=NODE), np.empty((room, n_sums(target)))
    nodes[0].first, nodes[0].last, nodes[0].depth, nodes[0].low, nodes[0].high = 0, n, 0, -np.inf, np.inf
    rules = Rules(*(kind(value) for kind, value in zip(_TYPES, rules, strict=True)))
    # None instead of an array: nothing is compiled for what the tree does not have.
    counts = categories if categories.any() else None
    everything = rules.max_features >= len(categories) and not rules.random_cuts
    draws = None if everything else Draws(np.array([rules.seed], dtype=np.uint64), np.arange(len(categories)))
    sets = Sets(int(categories.max(initial=0)) + 1, np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32))
    count, words, branches = _grow(data, target, rules, counts, draws, monotone, nodes, sums, sets)
    return finished(nodes[:count], sums[:count], words.copy(), branches.copy(), sets.n_codes)


@compiled
def _grow(data, target, rules, categories, draws, monotone, nodes, sums, sets):
    used_words, used_branches = 0, 0
    root = nodes[0].first  # 0, with the type of a node index
    open_nodes, top = np.empty(len(nodes) + 1, dtype=np.int64), 0
    open_nodes[0] = root
    _open(data, target, rules, nodes, sums, root)
    count: Any = 1
    leaves: Any = 1
    first = root
    while True:
        for child in range(count - 1, first - 1, -1):
            if nodes[child].reason == flat.SPLIT:
                _search(data, target, rules, categories, draws, monotone, nodes, sums, child)
            if nodes[child].reason == flat.SPLIT:
                open_nodes[top] = child
                top += 1
        if top == 0:
            break
        top -= 1
        node = _take_open(rules, nodes, open_nodes, top)
        parts: Any = np.int64(2)
        if categories is not None and nodes[node].kind == flat.MULTIWAY:
            parts = nodes[node].place
        first = count
        if rules.max_leaf_nodes > 0 and leaves + parts - 1 > rules.max_leaf_nodes:
            _close(nodes, node, flat.LEAVES)
            continue
        leaves += parts - 1
        count += parts
        nodes[node].left, nodes[node].right = first, count - 1
        if categories is None:
            _split_in_two(data, target, rules, categories, monotone, nodes, sums, sets, node)
            continue
        if nodes[node].kind == flat.MULTIWAY:
            nodes[node].start, used_branches = used_branches, used_branches + sets.n_codes
            sets = Sets(sets.n_codes, sets.words, _with_room(sets.branches, used_branches))
            _split_multiway(data, target, rules, nodes, sums, sets, node)
            continue
        if nodes[node].kind == flat.SUBSET:
            nodes[node].start, used_words = used_words, used_words + 2 * ((sets.n_codes + 63) // 64)
            sets = Sets(sets.n_codes, _with_room(sets.words, used_words), sets.branches)
        _split_in_two(data, target, rules, categories, monotone, nodes, sums, sets, node)
    return count, sets.words[:used_words], sets.branches[:used_branches]


@compiled(inner=True)
def _take_open(rules, nodes, open_nodes, last):
    """Remove a node from the open ones: the last, or the one of largest decrease if leaves are limited."""
    chosen = last
    if rules.max_leaf_nodes > 0:
        for i in range(last + 1):
            if nodes[open_nodes[i]].decrease > nodes[open_nodes[chosen]].decrease:
                chosen = i
    node = open_nodes[chosen]
    for i in range(chosen, last):
        open_nodes[i] = open_nodes[i + 1]
    return node


@compiled(inner=True)
def _with_room(numbers, length):
    """Return ``numbers`` with at least this length, zeros behind."""
    if length <= len(numbers):
        return numbers
    longer = np.zeros(len(numbers) + length, dtype=numbers.dtype)
    copy_into(longer, numbers)
    return longer


@compiled(inner=True)
def _close(nodes, node, reason):
    nodes[node].reason = reason
    nodes[node].kind = flat.LEAF
    nodes[node].left, nodes[node].right = -1, -1


@compiled(inner=True)
def _open(data, target, rules, nodes, sums, node):
    """Summarize the rows of a node; decide whether it must be a leaf."""
    segment = first_rows(data, nodes[node].first, nodes[node].last)
    weight, spread, pure = summarize(target, segment, sums[node])
    nodes[node].weight, nodes[node].spread = weight, spread
    nodes[node].reason, nodes[node].decrease = flat.SPLIT, 0.0
    n = len(segment)
    if pure:
        _close(nodes, node, flat.PURE)
    elif nodes[node].depth >= rules.max_depth:
        _close(nodes, node, flat.DEPTH)
    elif n < rules.min_samples_split or n < 2 * rules.min_samples_leaf or weight < 2 * rules.min_weight_leaf:
        _close(nodes, node, flat.FEW_ROWS)


@compiled(inner=True)
def next_random(random, bound):
    """Splitmix64: a number below ``bound``."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(11)) * (bound / 9007199254740992.0))


@compiled(inner=True)
def _draw_columns(data, rules, nodes, node, draws):
    """Move the columns to consider to the front of the columns, not counting constant ones; return their number."""
    drawn = draws.columns
    d, useful, taken = len(drawn), 0, 0
    if rules.max_features >= d:
        return d
    while taken < d and useful < rules.max_features:
        other = taken + next_random(draws.state, d - taken)
        drawn[taken], drawn[other] = drawn[other], drawn[taken]
        if not is_constant(data, drawn[taken], nodes[node].first, nodes[node].last):
            useful += 1
        taken += 1
    numbers = drawn[:taken].astype(np.float64)
    ranks = ascending(numbers)  # ties go to the lowest column for any order of drawing
    for k in range(taken):
        drawn[k] = np.int64(numbers[ranks[k]])
    return taken


@compiled(inner=True)
def _search(data, target, rules, categories, draws, monotone, nodes, sums, node):
    """Find the best split of a node, or make it a leaf."""
    start, stop = nodes[node].first, nodes[node].last
    weight, spread, numbers = nodes[node].weight, nodes[node].spread, sums[node]
    prepare(target, first_rows(data, start, stop))
    tie = TIE * spread
    best, kind = -np.inf, flat.LEAF
    for i in range(len(monotone) if draws is None else _draw_columns(data, rules, nodes, node, draws)):
        j = i if draws is None else draws.columns[i]
        if is_constant(data, j, start, stop):
            continue
        number = categories is None or categories[j] == 0
        only = -1
        if draws is not None and rules.random_cuts and number:
            only = random_place(data, j, start, stop, next_random(draws.state, 1 << 53) / 9007199254740992.0)
        limits = Limits(
            rules.min_samples_leaf,
            rules.min_weight_leaf,
            tie,
            only,
            np.int64(monotone[j]),
            nodes[node].low,
            nodes[node].high,
        )
        order, this = 0, flat.THRESHOLD
        if categories is None or number:
            cut = cut_column(data, target, j, start, stop, weight, numbers, limits)
        elif rules.multiway:
            cut, this = best_multiway(data, target, j, start, stop, spread, numbers, relaxed(limits)), flat.MULTIWAY
        else:
            cut, order = best_subset(data, target, j, start, stop, weight, numbers, relaxed(limits))
            this = flat.SUBSET
        if cut.place > 0 and cut.decrease > best + tie:
            best, kind = cut.decrease, this
            nodes[node].feature, nodes[node].place, nodes[node].order = j, cut.place, order
            nodes[node].missing_left = cut.missing_left
    nodes[node].kind, nodes[node].decrease = kind, max(best, 0.0)
    if kind == flat.LEAF:
        _close(nodes, node, flat.NO_CUT)
    elif best < rules.min_gain * weight or best < rules.min_impurity_decrease * nodes[0].weight - tie:
        _close(nodes, node, flat.SMALL_GAIN)


@compiled(inner=True)
def _split_in_two(data, target, rules, categories, monotone, nodes, sums, sets, node):
    start, stop, j = nodes[node].first, nodes[node].last, nodes[node].feature
    place, left, right = nodes[node].place, nodes[node].left, nodes[node].right
    missing = missing_at(data, j, start, stop)
    if categories is not None and nodes[node].kind == flat.SUBSET:
        segment = by_mean(data, target, j, start, stop, nodes[node].order)
        note_categories(data, j, segment, place, sets, nodes[node].start)
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
    _open(data, target, rules, nodes, sums, left)
    _open(data, target, rules, nodes, sums, right)
    if nodes[left].reason == flat.SPLIT or nodes[right].reason == flat.SPLIT:
        split_others(data, start, stop)
    if monotone[j] != 0 and nodes[node].kind == flat.THRESHOLD:
        middle = (sums[left, 0] / nodes[left].weight + sums[right, 0] / nodes[right].weight) / 2.0
        middle = min(max(middle, nodes[node].low), nodes[node].high)
        if monotone[j] > 0:
            nodes[left].high, nodes[right].low = middle, middle
        else:
            nodes[left].low, nodes[right].high = middle, middle


@compiled(inner=True)
def _split_multiway(data, target, rules, nodes, sums, sets, node):
    """Create one child per category at the node."""
    start, stop, j = nodes[node].first, nodes[node].last, nodes[node].feature
    branches = sets.branches[nodes[node].start : nodes[node].start + sets.n_codes]
    for i in range(len(branches)):
        branches[i] = -1
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
        _open(data, target, rules, nodes, sums, child)
        start += size
        child += 1
        if start == stop:
            break
