"""Routes through boosted trees: blocks of rows end where each row ends alone."""

import numpy as np

from surefit.checks.ensembles.routes import ROWS, BoostedTree, add_steps, leaves_of

#: Column 0 has numbers with gaps, column 1 the categories 0, 2 and 5, of which 0 and 5 go left.
CATEGORIES = np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 5.0]]), np.array([0, 3])


def tree():
    feature, left, right = (
        np.array([0, 1, 0, -1, -1, -1, -1]),
        np.array([1, 3, 5, 0, 0, 0, 0]),
        np.array([2, 4, 6, 0, 0, 0, 0]),
    )
    subset = np.zeros((7, 8), dtype=np.uint32)
    subset[1, 0] = 0b101
    lost = np.array([False, True, True, False, False, False, False])
    cut, coded = np.array([0.0, np.inf, 1.0, *[np.inf] * 4]), np.arange(7) == 1
    return BoostedTree(feature, cut, coded, lost, left, right, subset, np.arange(7) / 7, np.zeros(7), np.ones(7))


def leaf(x, category):
    if x <= 0:  # a missing number goes right
        return 3 if category in (0, 5) or category not in (0, 2, 5) else 4
    return 5 if x <= 1 or np.isnan(x) else 6


def test_blocks_end_where_single_rows_end():
    rng = np.random.default_rng(0)
    n = ROWS + 100
    x, category = rng.normal(size=n), rng.choice([0.0, 1.0, 2.0, 5.0, 7.0, np.nan], n)
    x[::7] = np.nan
    columns = np.array([x, category])
    expected = np.array([leaf(*row) for row in columns.T])
    assert np.array_equal(leaves_of(columns, tree(), CATEGORIES), expected)
    z, size = np.full((1, n), 0.5), np.zeros((1, n))
    pair = BoostedTree(
        *(np.concatenate([a, b]) for a, b in zip(tree(), tree()._replace(value=-tree().value), strict=True))
    )
    add_steps(columns, pair, np.array([0, 7, 14]), CATEGORIES, z, size)
    value = expected / 7
    assert np.array_equal(z[0], 0.5 + value - value) and np.array_equal(size[0], value + value)
