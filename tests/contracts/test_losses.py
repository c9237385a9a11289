"""Every registered loss keeps its contract: derivatives, Fenchel-Young, constants, and the same numbers when compiled."""

import numpy as np
import pytest

from surefit import losses
from surefit.core.errors import MissingVerb
from surefit.core.jit import compiled
from surefit.losses import curvature, fenchel_conjugate, is_margin_loss, lipschitz, slope, smoothness, value

SCORES = np.linspace(-5, 5, 81) + 0.0137  # away from the kinks at -1, 0, 1 and the edges of tubes
CONVEX = [cls() for cls in slope.classes]
ids = [type(loss).__name__ for loss in CONVEX]


def targets(loss):
    if type(loss) in (losses.Poisson, losses.Tweedie):  # counts and amounts
        return (0.0, 1.0, 3.0)
    return (-1.0, 1.0) if is_margin_loss(loss) else (-1.3, 0.0, 2.0)


def test_the_contract_covers_every_public_loss():
    public = {cls for cls in vars(losses).values() if isinstance(cls, type)}
    assert public == set(value.classes)
    assert {type(loss).__name__ for loss in CONVEX} == {cls.__name__ for cls in public} - {"ZeroOne"}
    for verb in (fenchel_conjugate, smoothness, lipschitz):
        assert set(verb.classes) == set(slope.classes)


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_slope_is_the_derivative(loss):
    for y in targets(loss):
        for z in SCORES:
            difference = (value(loss, y, z + 1e-6) - value(loss, y, z - 1e-6)) / 2e-6
            assert slope(loss, y, z) == pytest.approx(difference, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_fenchel_young_with_equality_at_the_slope(loss):
    for y in targets(loss):
        for z in [*SCORES, -1.0, 0.0, 1.0]:
            v = slope(loss, y, z)
            assert value(loss, y, z) + fenchel_conjugate(loss, y, v) == pytest.approx(v * z, abs=1e-9)
            for other in np.linspace(-2, 2, 9):
                assert value(loss, y, other) + fenchel_conjugate(loss, y, v) >= v * other - 1e-9


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_conjugate_is_infinite_outside_the_slopes(loss):
    bound = lipschitz(loss)
    if np.isfinite(bound):
        for y in targets(loss):
            assert fenchel_conjugate(loss, y, 1.01 * bound) == np.inf
            assert fenchel_conjugate(loss, y, -1.01 * bound) == np.inf


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_lipschitz_and_smoothness_bound_differences_and_are_reached(loss):
    for y in targets(loss):
        values = np.array([value(loss, y, z) for z in SCORES])
        slopes = np.array([slope(loss, y, z) for z in SCORES])
        step = np.diff(SCORES)
        assert np.all(np.abs(np.diff(values)) <= lipschitz(loss) * step * (1 + 1e-12))
        assert np.all(np.abs(np.diff(slopes)) <= smoothness(loss) * step * (1 + 1e-9))
        if np.isfinite(smoothness(loss)):
            assert np.max(np.abs(np.diff(slopes)) / step) >= 0.98 * smoothness(loss)


@pytest.mark.parametrize("loss", [cls() for cls in curvature.classes], ids=lambda loss: type(loss).__name__)
def test_curvature_is_the_second_derivative(loss):
    for y in targets(loss):
        for z in SCORES:
            difference = (slope(loss, y, z + 1e-6) - slope(loss, y, z - 1e-6)) / 2e-6
            assert curvature(loss, y, z) == pytest.approx(difference, rel=1e-5, abs=1e-6)


@compiled
def _in_a_loop(loss, y, scores, out):
    for i in range(len(scores)):
        out[i] = value(loss, y, scores[i])
        out[len(scores) + i] = slope(loss, y, scores[i])
        out[2 * len(scores) + i] = fenchel_conjugate(loss, y, slope(loss, y, scores[i]))


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_compiled_equals_python(loss):
    for y in targets(loss):
        out = np.empty(3 * len(SCORES))
        _in_a_loop(loss, y, SCORES, out)
        slopes = [slope(loss, y, z) for z in SCORES]
        expected = [value(loss, y, z) for z in SCORES] + slopes + [fenchel_conjugate(loss, y, v) for v in slopes]
        np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-15)


def test_zero_one_counts_a_zero_score_as_a_mistake_and_has_no_slope():
    loss = losses.ZeroOne()
    assert [value(loss, 1.0, z) for z in (-2.0, 0.0, 1e-300)] == [1.0, 1.0, 0.0]
    with pytest.raises(MissingVerb, match="ZeroOne: 'slope' is not defined for it"):
        slope(loss, 1.0, 0.0)


@pytest.mark.parametrize("u", [-1e4, -750.0, 0.0, 750.0, 1e4])
def test_logistic_never_overflows(u):
    loss = losses.Logistic()
    assert value(loss, 1.0, u) == pytest.approx(max(-u, 0.0) if abs(u) > 40 else np.log(2))
    assert -1.0 <= slope(loss, 1.0, u) <= 0.0
