"""Rounds of gradient boosting on a single partition, by the solver of one machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.solvers.boosting.gradient import Booster, Tree, add_scores
from surefit.solvers.boosting.nodes import Columns
from surefit.solvers.boosting.rows import Binned
from surefit.solvers.boosting.stages import Measured, Stage, begin, staged


class Block(NamedTuple):
    """Scores of the partition, and the trees of the last round."""

    stage: Stage
    trees: list[Tree]


def begin_block(binned: Binned, start: np.ndarray, trees: list[list[Tree]], loss: Any) -> Block:
    """Return the scores after the rounds so far."""
    return Block(begin(binned, start, trees, loss), [])


def advance_block(
    binned: Binned, loss: Any, columns: Columns, how: dict[str, Any], draws: list[int], block: Block
) -> Block:
    """Add one tree per class, given the seed of each."""
    rows, (learn, held) = binned.learn, (z.copy() for z in block.stage[:2])
    trees = Booster(
        columns._replace(words=rows.words, by_row=rows.by_row), rows.y, rows.s, learn, loss, **how
    ).add_trees(draws)[0]  # moves the scores of its rows
    for k, tree in enumerate(trees):
        add_scores(binned.held.words, [tree], held[k], 1)
    return Block(staged(binned, loss, None, learn, held), trees)


def trees_of(binned: Binned, block: Block) -> tuple[Measured, list[Tree]]:
    """Return the losses and the trees of the last round."""
    return block.stage.measured, block.trees
