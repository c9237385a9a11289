"""Several threads grow the tree of one, whoever takes a block."""

from threading import Thread

import numpy as np
import pytest

from surefit import HistGradientBoostingClassifier
from surefit.solvers.boosting.columns import AllColumns, kinds_of
from surefit.solvers.boosting.grower import grow
from surefit.solvers.boosting.histograms import choose_scale
from surefit.solvers.boosting.nodes import MOST_ROWS, Columns, Derivatives, Job, Limits, make_nodes, make_workspace
from surefit.solvers.boosting.splits import Rules
from surefit.solvers.boosting.tasks import OVER
from surefit.solvers.boosting.team import assist, make_board

RATE, LEAVES = 0.5, 12


def example(n, assistants, max_leaves=LEAVES, groups=2, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, (groups, n), dtype=np.uint32)
    empty = np.zeros(4 * groups, dtype=bool)
    kinds, considered = kinds_of(empty), AllColumns(4 * groups)
    by_row, bins = np.ascontiguousarray(words.T), np.full(4 * groups, 255)
    columns = Columns(words, by_row, bins, empty, empty.astype(np.int64), kinds, considered)
    g, h = rng.normal(size=n) + (words[0] & 255) / 50 - (words[1] >> 8 & 255) / 90, rng.uniform(0.5, 1, n)
    scale, rules = choose_scale(n, float(np.max(np.abs(g))), 1.0), Rules(1.0, 300, 1e-3)
    nodes, space = make_nodes(2 * n // 300), make_workspace(n, 4 * groups, 40 + assistants)
    own, board = Derivatives(g, h, np.zeros(n)), make_board(assistants)
    return Job(columns, scale, rules, Limits(max_leaves, 2**31 - 1, 0.0), RATE, nodes, space, own, board)


def grown(job, threads):
    helpers = [Thread(target=assist, args=(job, me)) for me in range(threads)]
    for helper in helpers:
        helper.start()
    try:
        count = grow(job, 1)
    finally:
        for helper in helpers:
            job.board[OVER] = 1
            helper.join()
    nodes = job.nodes.view(np.ndarray)[:count]
    names = [name for name in nodes.dtype.names if name not in ("slot", "subset")]
    return {name: nodes[name].copy() for name in names}, job.space.rows, job.own.z


@pytest.mark.parametrize(("n", "max_leaves"), [(5 * MOST_ROWS + 17, LEAVES), (9_001, 0), (500, LEAVES)])
def test_a_team_grows_the_tree_of_one_thread(n, max_leaves):
    expected, rows, z = grown(example(n, 0, max_leaves), 0)
    for assistants, present in [(1, 1), (3, 3), (2, 0)]:  # an absent assistant is not waited for
        found, other_rows, other_z = grown(example(n, assistants, max_leaves), present)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)
        np.testing.assert_array_equal(other_rows, rows)
        np.testing.assert_array_equal(other_z, z)


def test_rows_are_in_the_order_of_the_leaves_and_leaves_are_newton_steps():
    n = 3 * MOST_ROWS
    job = example(n, 0)
    nodes, rows, z = grown(job, 0)
    leaves = np.flatnonzero(nodes["feature"] < 0)
    assert len(leaves) == LEAVES and sorted(rows) == list(range(n))
    codes = np.array([job.columns.words[j // 4] >> np.uint32(8 * (j % 4)) & 255 for j in range(8)])
    for node, j in enumerate(nodes["feature"]):
        own = rows[nodes["first"][node] : nodes["last"][node]]
        if j < 0:
            assert np.all(np.diff(own.astype(np.int64)) > 0)
            step = -RATE * np.sum(job.own.g[own]) / (np.sum(job.own.h[own]) + 1.0)
            np.testing.assert_allclose(z[own], step, rtol=1e-12)
        else:
            code, left = codes[j][own], nodes["left"][node]
            to_left = np.where(code == 255, nodes["missing_left"][node], code <= nodes["bin"][node])
            assert set(own[to_left]) == set(rows[nodes["first"][left] : nodes["last"][left]])


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
