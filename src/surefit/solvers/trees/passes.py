"""Passes over the rows that compute the histograms of growing trees; all growing trees share each pass."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.core.partitioned import PartValues, PassStopped
from surefit.solvers.trees.cells import Reading
from surefit.solvers.trees.frontier import CODES, Counted, Frontier, count_rows, extend, joined, sum_cells
from surefit.solvers.trees.wave_nodes import Question
from surefit.solvers.trees.waves import Wave, Waves

MOST_BYTES = 2**26  # limit on the histograms that one pass returns, which bounds the memory of the client


class Growing:
    """Growing tree with the histogram requests of its wave and the histograms received so far."""

    def __init__(self, waves: Waves, run: Wave, questions: list[Question]) -> None:
        self.waves, self.run, self.questions = waves, run, questions
        self.counted: list[Counted] = []
        self.answered = 0

    def asked(self, room: int, width: int) -> tuple[list[Question], int]:
        """Return the next requests whose histograms fit into ``room`` bytes (at least one if the pass is empty), and the bytes left."""
        found: list[Question] = []
        for question in self.questions[self.answered :]:
            rows = min(self.waves.nodes[question.node].rows, CODES)
            size = 8 * (2 + len(question.columns) * rows * (width + 1))
            if size > room and (found or room < MOST_BYTES):
                break
            found.append(question)
            room -= size
        return found, room

    def frontier(self, questions: list[Question]) -> Frontier:
        """Return the requests for the partitions."""
        nodes = np.array([question.node for question in questions], dtype=np.int32)
        starts = np.cumsum([0, *(len(question.columns) for question in questions)])
        return Frontier(nodes, starts, np.concatenate([question.columns for question in questions]).astype(np.int32))

    def take(self, questions: list[Question], found: Counted) -> bool:
        """Store histograms, and grow the tree if its wave is complete; return whether the tree needs another pass."""
        before = sum(len(question.columns) for question in self.questions[: self.answered])
        self.counted.append(found._replace(keys=found.keys + CODES * before))
        self.answered += len(questions)
        if self.answered < len(self.questions):
            return True
        whole = Counted(*(np.concatenate(parts) for parts in zip(*self.counted, strict=True)))
        self.counted, self.answered = [], 0
        try:
            self.questions = self.run.send(whole)
        except StopIteration:
            return False
        return True


def grow_trees(cells: PartValues, trees: list[Waves], totals: np.ndarray, budget: Budget | None = None) -> int:
    """Grow all trees, given the sums over their rows, until they are complete or the budget is spent; return the number of passes."""
    width, passes, shapes = totals.shape[1], 0, None
    growing: dict[int, Growing] = {}
    for t, waves in enumerate(trees):
        run = waves.run(totals[t])
        questions = next(run, None)
        if questions is not None:
            growing[t] = Growing(waves, run, questions)
    while growing and not (budget is not None and passes and budget.spent(passes)):
        room, asked = MOST_BYTES, {}
        for t, tree in growing.items():
            questions, room = tree.asked(room, width)
            if questions:
                asked[t] = questions
        frontiers = {t: growing[t].frontier(questions) for t, questions in asked.items()}
        new = {t: tree.waves.new_splits() for t, tree in growing.items()}
        try:
            shapes, found = cells.derive_and_reduce(
                extend, (new,), count_rows, (frontiers,), joined, beside=() if shapes is None else (shapes,)
            )
        except PassStopped:
            break
        passes += 1
        for t, questions in asked.items():
            if not growing[t].take(questions, found[t]):
                del growing[t]
    return passes


def totals_of(cells: PartValues, reading: Reading) -> np.ndarray:
    """Return the sums over all rows, one line per tree, computed by one pass."""
    return cells.map_reduce(sum_cells, reading.width)
