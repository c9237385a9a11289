"""Both scans of a histogram of two classes find the lowest of its best cuts, in exact arithmetic, and clear it."""

from fractions import Fraction

import numpy as np
import pytest

from surefit.solvers.trees.pair_cells import add_few, add_rows, scan, scan_few


def entries_of(times, second):
    rows = np.arange(len(times), dtype=np.uint64)
    return (times.astype(np.uint64) << np.uint64(33)) | (second.astype(np.uint64) << np.uint64(32)) | rows


def exact(codes, times, second):
    """Return the largest p^2 / L + q^2 / R over all cuts, and the lowest bin that reaches it."""
    W, P = int(times.sum()), int(times[second == 1].sum())
    scores = {}
    for b in range(256):
        below = codes <= b
        L, p = int(times[below].sum()), int(times[below & (second == 1)].sum())
        if 0 < L < W:
            scores[b] = Fraction(p * p, L) + Fraction((P - p) ** 2, W - L)
    best = max(scores.values(), default=None)
    return best, min((b for b in scores if scores[b] == best), default=-1)


@pytest.mark.parametrize("columns", [1, 3, 5])
@pytest.mark.parametrize("bins", [[7], [0, 255], [62, 63, 64, 65, 127, 128], range(0, 256, 5), range(256)])
def test_scans_find_the_lowest_best_cut(bins, columns):
    rng = np.random.default_rng(len(bins) + columns)
    for n in (2, 9, 200):
        codes = rng.choice(np.array(bins, dtype=np.uint8), (n, 6))
        times, second = rng.integers(1, 4, n), rng.integers(0, 2, n)
        times[0] = 2**20  # sums stay exact
        drawn = rng.permutation(6)[: columns + 1]
        cells, marks = np.zeros(256 * columns, dtype=np.uint64), np.zeros(4 * columns, dtype=np.uint64)
        W, P = int(times.sum()), int(times[second == 1].sum())
        rows = codes.reshape(-1), np.uint64(6), entries_of(times, second)
        common = rows, (0, n), drawn, 1, columns, cells
        add_rows(*common)
        many = [scan(cells, np.empty((4, 256)), c, W, P) for c in range(columns)]
        assert not cells.any()
        add_few(*common, marks)
        few = [scan_few(cells, marks, np.empty((4, 256)), c, W, P) for c in range(columns)]
        assert not cells.any() and not marks.any()
        assert many == few
        for c, (score, place) in enumerate(many):
            best, lowest = exact(codes[:, drawn[1 + c]], times, second)
            assert place == lowest
            assert score == (-1.0 if best is None else pytest.approx(float(best), rel=1e-14))
