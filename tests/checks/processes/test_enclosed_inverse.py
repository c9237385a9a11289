"""The enclosed inverse of a prior covariance contains the exact one, and is as tight for badly scaled weights as for equal ones."""

from fractions import Fraction

import numpy as np
import pytest

from surefit.checks.processes.weights import enclosed_inverse


def exact_inverse(A):
    """Invert by elimination with rationals."""
    d = len(A)
    rows = [[Fraction(float(v)) for v in row] + [Fraction(i == j) for j in range(d)] for i, row in enumerate(A)]
    for k in range(d):
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(d):
            if i != k:
                rows[i] = [v - rows[i][k] * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[d:] for row in rows]


@pytest.mark.parametrize("spread", [0, 8, 100])
@pytest.mark.parametrize("kind", ["diagonal", "dense", "nearly singular"])
def test_contains_the_exact_inverse_whatever_the_scales(kind, spread):
    rng = np.random.default_rng(spread)
    for d in (1, 2, 5):
        B = rng.normal(size=(d, d))
        R = np.eye(d) if kind == "diagonal" else B @ B.T + np.eye(d) * (1.0 if kind == "dense" else 1e-9)
        scale = 10.0 ** rng.uniform(-spread / 2, spread / 2, size=d)
        A = R * scale * scale[:, None]
        found, true = enclosed_inverse(A), exact_inverse(A)
        size = np.sqrt(np.diagonal(found.mid))
        for i in range(d):
            for j in range(d):
                mid, rad = Fraction(float(found.mid[i, j])), Fraction(float(found.rad[i, j]))
                assert abs(true[i][j] - mid) <= rad
                assert found.rad[i, j] <= (1e-4 if kind == "nearly singular" else 1e-12) * size[i] * size[j]


def test_a_matrix_that_is_singular_within_rounding_has_no_inverse():
    with pytest.raises(ValueError, match="singular within rounding"):
        enclosed_inverse(np.array([[1.0, 1.0 - 2**-53], [1.0 - 2**-53, 1.0]]))
