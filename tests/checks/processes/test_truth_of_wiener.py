"""The posterior mean under Wiener priors against that of exact rational arithmetic, at the rows and between them."""

from fractions import Fraction

import numpy as np
import pytest
from tests.exact_geometry import eliminated, rational
from tests.forging import proved

from surefit import WienerProcessRegressor

N = 9
SHAPES = {"plain": (1.0, 0.0), "long": (1e6, 0.0), "short": (1e-6, 0.0), "shifted": (1.0, 1e6)}


def kernel(s, t, order):
    """Covariance of the Wiener process, or of its integral, at two times from the origin."""
    s, t = min(s, t), max(s, t)
    return s if order == 1 else s * s * t / 2 - s**3 / 6


def posterior_means(x, y, origin, order, variance, noise):
    """The exact coefficients of the posterior mean, for the floats of the problem."""
    times = [Fraction(float(v)) - Fraction(origin) for v in x]
    A = [[Fraction(variance) * kernel(a, b, order) + (Fraction(noise) if i == j else 0) for j, b in enumerate(times)]
         for i, a in enumerate(times)]  # fmt: skip
    return times, eliminated(A, rational(y))


def squared_distance(times, off, order, variance, at):
    """Square of the difference of two means over the variance of the process, at every time."""
    for t in at:
        difference = Fraction(variance) * sum(a * kernel(s, t, order) for a, s in zip(off, times, strict=True))
        yield difference**2 / (Fraction(variance) * kernel(t, t, order))


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("noise", [1e-6, 0.1, 10.0])
def test_mean_is_within_the_stated_distance(shape, order, noise):
    scale, shift = SHAPES[shape]
    rng = np.random.default_rng(order)
    x = np.sort(rng.uniform(0.1, 3, size=N)) * scale + shift
    x[4] = x[3]  # a tie
    y = np.sin(2 * (x - shift) / scale) + 0.2 * rng.normal(size=N)
    variance = 1.3 / scale ** (2 * order - 1)
    model = WienerProcessRegressor(order, variance=variance, noise=noise, origin=shift).fit(x, y)
    times, best = posterior_means(x, y, shift, order, variance, noise)
    far = max(times) * 2
    at = [t for t in [*times, *(t * 3 / 4 for t in times), far] if t > 0]
    claim = model.certificate_["wiener.mean"]
    off = [a - b for a, b in zip(rational(model.alpha_), best, strict=True)]
    assert max(squared_distance(times, off, order, variance, at)) <= Fraction(claim.value) ** 2
    assert claim.value <= 1e-6 * (1 + float(np.max(np.abs(y)))) / noise**0.5
    for row in (0, N - 1):  # wrong coefficients are as far away as the checker proves
        wrong = model.alpha_.copy()
        wrong[row] += 1e-3 * (1 + abs(wrong[row]))
        off = [a - b for a, b in zip(rational(wrong), best, strict=True)]
        worst = max(squared_distance(times, off, order, variance, at))
        value = Fraction(proved(model, "wiener.mean", x[:, None], y, alpha_=wrong).value)
        assert worst <= value**2 and value**2 <= 10**6 * worst * (1 + Fraction(1.3 / noise)) ** 2
