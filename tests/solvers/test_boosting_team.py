"""Several threads compute the histograms of one: every row once, whoever takes its block."""

from threading import Thread

import numpy as np
import pytest

from surefit import HistGradientBoostingClassifier
from surefit.solvers.boosting.columns import AllColumns, kinds_of
from surefit.solvers.boosting.histograms import add_all, add_some
from surefit.solvers.boosting.nodes import Columns
from surefit.solvers.boosting.team import OVER, ROWS, add_together, assist, make_team


def example(n, groups=2, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, (groups, n), dtype=np.uint32)
    empty = np.zeros(4 * groups, dtype=bool)
    kinds, considered = kinds_of(empty), AllColumns(4 * groups)
    by_row, bins = np.ascontiguousarray(words.T), np.full(4 * groups, 255)
    columns = Columns(words, by_row, bins, empty, empty.astype(np.int64), kinds, considered)
    return columns, rng.integers(-(2**40), 2**40, (n, 2)), rng.permutation(n).astype(np.uint32)


@pytest.mark.parametrize("assistants", [0, 1, 3])
def test_tasks_of_a_team_give_the_histograms_of_one_thread(assistants):
    n = 5 * ROWS + 17
    columns, cells, rows = example(n)
    team, found, expected = make_team(assistants, 2), *np.empty((2, 8, 256, 2), dtype=np.int64)
    threads = [Thread(target=assist, args=(columns, cells, rows, team, me)) for me in range(assistants)]
    for thread in threads:
        thread.start()
    try:
        add_together(columns, cells, rows, 0, n, found, team)  # all rows, in their order
        add_all(columns.words, cells, 0, 2, expected)
        np.testing.assert_array_equal(found, expected)
        for start, stop in [(0, n - 1), (5, 2 * ROWS + 5), (7, 9), (3, 3), (1, n)] * 20:
            add_together(columns, cells, rows, start, stop, found, team)
            add_some(columns.by_row, cells, rows[start:stop], 0, 2, expected)
            np.testing.assert_array_equal(found, expected)
    finally:
        for thread in threads:
            team.board[OVER] = 1
            thread.join()


def test_an_absent_assistant_is_not_waited_for():
    n = 3 * ROWS
    columns, cells, rows = example(n)
    found, expected = np.empty((2, 8, 256, 2), dtype=np.int64)
    add_together(columns, cells, rows, 0, n, found, make_team(2, 2))
    add_all(columns.words, cells, 0, 2, expected)
    np.testing.assert_array_equal(found, expected)


def test_trees_and_certificates_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((21_000, 5))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0).astype(int)
    models = [
        HistGradientBoostingClassifier(max_iter=12, early_stopping=False, n_jobs=k).fit(X, y) for k in (None, 2, 3)
    ]
    for other in models[1:]:
        assert other.certificate_.state == models[0].certificate_.state
        assert [c.value for c in other.certificate_.claims] == [c.value for c in models[0].certificate_.claims]
