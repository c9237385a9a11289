"""Products with a Gaussian Gram matrix: the radius covers the error, and threads do not change them."""

import numpy as np
import pytest

from surefit.checks.kernels import gaussian
from surefit.checks.kernels.operator import Gram
from surefit.kernels import RBF

SIZES = [(1, 1, 1), (3, 1, 2), (60, 60, 1), (420, 300, 2), (620, 513, 3)]


def drawn(n: int, used: int, p: int, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    C = np.zeros((n, p))
    C[rng.permutation(n)[:used]] = rng.standard_normal((used, p))
    return 3.0 + rng.standard_normal((n, d)), C


def exact(A: np.ndarray, C: np.ndarray, width: float) -> np.ndarray:
    A, C = A.astype(np.longdouble), C.astype(np.longdouble)
    return np.array([np.exp(-np.longdouble(width) * ((row - A) ** 2).sum(axis=1)) @ C for row in A])


@pytest.mark.parametrize(("n", "used", "p"), SIZES)
def test_products_are_enclosed_at_all_and_at_some_rows(n, used, p):
    A, C = drawn(n, used, p)
    gram, truth = Gram(RBF(gamma=0.3), A), exact(A, C, 0.3)
    some = np.random.default_rng(1).permutation(n)[: max(1, n // 2)]
    for rows, found in ((np.arange(n), gram.times(C)), (some, gram.times(C, some))):
        assert np.all(np.abs(found.mid - truth[rows]) <= found.rad)
        assert np.max(found.rad) <= 1e-12 * np.sum(np.abs(C))


@pytest.mark.parametrize("bands", [1, 16])
def test_threads_and_tiles_do_not_change_more_than_rounding(bands, monkeypatch):
    A, C = drawn(620, 513, 1)
    usual = Gram(RBF(gamma=0.3), A).times(C)
    monkeypatch.setattr(gaussian, "BANDS", bands)
    monkeypatch.setattr(gaussian, "RANGE", 100)
    monkeypatch.setattr(gaussian, "WIDE", 130)
    monkeypatch.setattr(gaussian, "TERMS", 8)
    one, three = (Gram(RBF(gamma=0.3), A, threads).times(C) for threads in (1, 3))
    assert np.array_equal(one.mid, three.mid)
    assert np.array_equal(one.rad, three.rad)
    assert np.all(np.abs(one.mid - usual.mid) <= one.rad + usual.rad)


def test_the_quadratic_form_is_enclosed():
    A, C = drawn(300, 200, 1)
    found, truth = Gram(RBF(gamma=0.3), A).square(C[:, 0]), float(C[:, 0] @ exact(A, C, 0.3)[:, 0])
    assert abs(found.mid - truth) <= found.rad + 1e-15 * abs(truth)
    assert found.rad <= 1e-11 * np.sum(np.abs(C)) ** 2


@pytest.mark.parametrize("d", [1, 2, 9, 65])
@pytest.mark.parametrize("far", [1.0, 1e3])
def test_relative_errors_cover_every_value(d, far):
    rng = np.random.default_rng(d)
    A = far + far * rng.standard_normal((40, d))
    kernel, rows, columns = RBF(far * np.sqrt(d) * rng.uniform(0.5, 2.0, d)), np.arange(25), np.arange(10, 40)
    near = gaussian.Gaussian(kernel, A)
    K, relative = near.block(rows, columns)
    scaled = A.astype(np.longdouble) / kernel.lengths.astype(np.longdouble)
    truth = np.exp(-0.5 * ((scaled[rows, None] - scaled[columns]) ** 2).sum(axis=2))
    assert np.all(np.abs(K - truth) <= relative[:, None] * truth)
    assert np.all(relative <= 1e-12 * d)
    near.A[:, -1] *= 1 - 1e-9  # a wrong squared norm is not within the errors
    assert not np.all(np.abs(near.block(rows, columns)[0] - truth) <= relative[:, None] * truth)
