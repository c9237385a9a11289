"""Passes of linear perceptrons over partitions in the order of the rows, with bitwise the same result as on one machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part
from surefit.solvers.perceptron.passes import Rule, Sums
from surefit.solvers.perceptron.rows import as_rows, square_rows
from surefit.solvers.perceptron.run import Walk


class State(NamedTuple):
    """State of one two-class problem that is passed from one partition to the next."""

    number: int
    w: np.ndarray
    sums: Sums
    lazy: np.ndarray
    visits: int
    mistaken: int = 0  # rows of the pass on which any problem made a mistake; stored in the first state


def state_of(walk: Walk, number: int) -> State:
    """Return the state of a run before a pass."""
    return State(number, walk.w, walk.sums, walk.lazy, walk.visits)


def resume(walk: Walk, state: State) -> None:
    """Continue a run with the state after a pass."""
    walk.w[...], walk.lazy[...], walk.visits = state.w, state.lazy, state.visits
    for own, now in zip(walk.sums, state.sums, strict=True):
        own[...] = now


def visit_rows(part: Part, states: list[State], classes: list[Any], rules: list[Rule]) -> list[State]:
    """Process the rows of a partition in their order; ``classes`` and ``rules`` are indexed by problem number."""
    rows, squares, y = as_rows(np.ascontiguousarray(part.X)), np.empty(len(part.X)), np.asarray(part.y)
    square_rows(rows, squares)
    found, wrong = [], np.zeros(len(y), dtype=bool)
    for state in states:
        rule = rules[state.number]
        rule = rule._replace(radius_square=float(np.max(squares)) + rule.bias_step)
        t = 2 * (y == classes[state.number]).astype(np.int8) - np.int8(1)
        offset = float(state.sums.offset[0])
        walk = Walk(rows, t, rule, squares, state.w, offset, max_log=0, average=len(state.lazy) > 0)
        resume(walk, state)
        walk.advance(None, 0, len(y))
        wrong |= walk.counts > 0
        found.append(state_of(walk, state.number))
    return [found[0]._replace(mistaken=states[0].mistaken + int(np.sum(wrong))), *found[1:]]
