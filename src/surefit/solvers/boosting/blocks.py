"""Rounds of gradient boosting on a single partition, by the solver of one machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.solvers.boosting.gradient import Booster, Tree, add_scores
from surefit.solvers.boosting.nodes import Columns
from surefit.solvers.boosting.rows import Binned
from surefit.solvers.boosting.stages import Measured, Stage, begin, is_finite, measure


class Round(NamedTuple):
    """Losses after a round, and its trees, one per class."""

    measured: Measured
    trees: list[Tree]


class Block(NamedTuple):
    """Scores of the partition, and the rounds of the last pass."""

    stage: Stage
    rounds: list[Round]


def begin_block(binned: Binned, start: np.ndarray, trees: list[list[Tree]], loss: Any) -> Block:
    """Return the scores after the rounds so far."""
    stage = begin(binned, start, trees, loss)
    return Block(stage, [Round(stage.measured, [])])


def advance_block(
    binned: Binned, loss: Any, columns: Columns, how: dict[str, Any], draws: list[list[int]], block: Block
) -> Block:
    """Add rounds of one tree per class, given the seeds of each round; stop early if the loss overflows."""
    rows, (learn, held) = binned.learn, (z.copy() for z in block.stage[:2])
    booster = Booster(columns._replace(words=rows.words, by_row=rows.by_row), rows.y, rows.s, learn, loss, **how)
    measured, rounds = block.stage.measured, []
    for seeds in draws:
        trees = booster.add_trees(seeds)[0]  # moves the scores of its rows
        for k, tree in enumerate(trees):
            add_scores(binned.held.words, [tree], held[k], 1)
        measured = measure(binned, loss, learn, held, booster.g, booster.h)
        rounds.append(Round(measured, trees))
        if not is_finite(measured):
            break
    return Block(block.stage._replace(learn=learn, held=held, measured=measured), rounds)


def rounds_of(binned: Binned, block: Block) -> list[Round]:
    """Return the rounds of the last pass."""
    return block.rounds
