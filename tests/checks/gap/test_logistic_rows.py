"""Array operations of the logistic loss bound the exact Fenchel-Young terms, derivatives and losses."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from surefit.checks.gap import logistic, rows
from surefit.checks.gap.losses import Logistic

getcontext().prec = 50


def exact(y, z, g):
    """Return the term and the loss in 50 digits."""
    u, p = Decimal(float(y)) * Decimal(float(z)), abs(Decimal(float(g)))
    other = 1 / (1 + u.exp())
    loss = (1 + (-u).exp()).ln()
    term = Decimal(0)
    for m, mu in ((p, other), (1 - p, 1 - other)):
        term += mu if m == 0 else m * (m / mu).ln() - m + mu
    return term, loss


@pytest.mark.parametrize("share", [1.0, 1 - 1e-9, 0.999, 0.9, 0.3, 0.0])
@pytest.mark.parametrize("radius", [0.0, 1e-12, 1e-6])
def test_sums_bound_the_exact_terms_for_all_points_within_the_radii(share, radius):
    rng = np.random.default_rng(0)
    n = 60
    y, z, c = np.sign(rng.standard_normal(n)), 6 * rng.standard_normal(n), rng.random(n)
    c[:3] = 0.0
    g = share * logistic.slopes(y, z)[0]
    z_rad, zero = np.full(n, radius), np.zeros(n)
    g_rad = np.minimum(radius, 0.5 * np.minimum(np.abs(g), 1 - np.abs(g)))
    plain, upper, other = rows.row_sums(Logistic(), y, c, z, z_rad, g, g_rad, zero, zero)
    assert 0 <= plain <= upper * (1 + 1e-9) and upper <= other * (1 + 1e-12)
    for off in (-1, 0, 1):
        for sign in (-1, 1):
            at = [exact(*row) for row in zip(y, z + off * z_rad, g + sign * g_rad, strict=True)]
            assert sum(Decimal(w) * term for w, (term, _) in zip(c, at, strict=True)) <= Decimal(upper)
            total = sum(Decimal(w) * loss for w, (_, loss) in zip(c, at, strict=True))
            assert total <= Decimal(rows.loss_sums(Logistic(), y, c, z, z_rad, zero)[0])
    loops = rows._row_sums(Logistic(), y, c, z, z_rad, g, g_rad, zero, zero)
    np.testing.assert_allclose(upper, loops[1], rtol=0.03, atol=1e-10)  # as tight as the loops for general losses


def test_derivatives_and_their_changes_agree_with_the_loops():
    rng = np.random.default_rng(1)
    y, z = np.sign(rng.standard_normal(500)), 10 * rng.standard_normal(500)
    g, h = logistic.slopes(y, z)
    for found, loop in zip((g, h), rows._slopes(Logistic(), y, z, 0.0), strict=True):
        np.testing.assert_allclose(found, loop, rtol=1e-14)
    for size in (1e-15, 1e-6, 9e-3):
        moves = size * rng.random(500)
        bound = logistic.slope_moves(g, moves)
        for sign in (-1, 1):
            assert np.all(np.abs(logistic.slopes(y, z + sign * moves)[0] - g) <= bound)
    assert logistic.slope_moves(g, np.full(500, 0.02)) is None


@pytest.mark.parametrize("shift", [0.0, 3.0, -40.0])
def test_the_best_offset_balances_the_derivatives(shift):
    rng = np.random.default_rng(2)
    y, z, c = np.sign(rng.standard_normal(400) + 0.5), rng.standard_normal(400) + shift, rng.random(400)
    offset = rows.best_offset(Logistic(), y, c, z)
    assert abs(c @ logistic.slopes(y, z + offset)[0]) <= 1e-12
    assert offset == pytest.approx(rows._best_offset(Logistic(), y, c, z), abs=1e-9)
