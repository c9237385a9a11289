"""Origins and kernels of bases in rational numbers."""

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest
from tests.checks.exact import SAMPLES, sample

import surefit


def quantile(values, share):
    """The quantile with linear interpolation between two ordered values, in rational numbers."""
    ordered = sorted(Fraction(float(v)) for v in values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def middle(values):
    return (Fraction(float(max(values))) + Fraction(float(min(values)))) / 2


def half_range(values):
    return (Fraction(float(max(values))) - Fraction(float(min(values)))) / 2


PLACED = (
    (surefit.HingeBasis(3), {"knots_": [lambda v, k=k: quantile(v, Fraction(k, 4)) for k in (1, 2, 3)]}),
    (
        surefit.RadialBasis(n_centers=2),
        {"centers_": [lambda v, k=k: quantile(v, Fraction(2 * k + 1, 4)) for k in range(2)]},
    ),
    (surefit.PolynomialBasis(2, scale=True), {"center_": [middle], "half_range_": [half_range]}),
)
FIXED = (
    surefit.CircleBasis(),
    surefit.FourierBasis(2),
    surefit.PeriodicBasis([1.0, 2.5]),
    surefit.HingeBasis([0.5, 0.1]),
    surefit.RadialBasis([[0.0, 1.0]], widths=[2.0]),
    surefit.PolynomialBasis(2),
    surefit.KernelPolynomialFeatures(3),
)


def numbers_that_differ(first, second):
    """Count the numbers of two certified maps that differ."""
    ours, theirs = first.certificate_.model, second.certificate_.model
    return sum(int(np.sum(np.asarray(ours[name]) != np.asarray(theirs[name]))) for name in ours)


@pytest.mark.parametrize("data", SAMPLES)
@pytest.mark.parametrize(("basis", "placed"), PLACED, ids=lambda part: type(part).__name__)
def test_maps_that_depend_on_rows(basis, placed, data):
    X = sample(data).X
    basis = basis.fit(X)
    claim, count = basis.certificate_["bases.map"], 0
    for name, rules in placed.items():
        own = np.reshape(getattr(basis, name), (len(rules), 2))
        for k, rule in enumerate(rules):
            for j in range(2):
                size = max(abs(Fraction(float(v))) for v in X[:, j])
                assert abs(Fraction(float(own[k, j])) - rule(X[:, j])) <= size * Fraction(1, 2**50)
                count += 1
    assert claim.value == count
    again = type(basis)(**basis.get_params()).fit(X * 3 + X.max(axis=0))  # other rows move every number
    assert claim.value == numbers_that_differ(basis, again)


@pytest.mark.parametrize("basis", FIXED, ids=lambda basis: type(basis).__name__)
def test_maps_that_do_not(basis):
    maps = [type(basis)(**basis.get_params()).fit(sample(data).X) for data in SAMPLES]
    assert all(found.certificate_["bases.map"].value == 0 == numbers_that_differ(found, maps[0]) for found in maps)


@pytest.mark.parametrize("degree", [1, 2, 5, 9])
@pytest.mark.parametrize("data", SAMPLES)
def test_kernel_of_scaled_monomials(data, degree):
    X = sample(data, n=4).X
    basis = surefit.KernelPolynomialFeatures(degree).fit(X)
    claim = basis.certificate_["bases.kernel"]
    scales, powers = [Fraction(float(v)) for v in basis.scales_], basis.powers_.tolist()
    worst = Fraction(0)
    for a in X:
        for b in X:
            pairs = [Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True)]
            own = sum(
                s * s * prod(v**k for v, k in zip(pairs, power, strict=True))
                for s, power in zip(scales, powers, strict=True)
            )
            off = abs(own - (1 + sum(pairs)) ** degree) / (1 + sum(map(abs, pairs))) ** degree
            worst = max(worst, off)
    for s, power in zip(scales, powers, strict=True):  # rows at which one monomial is all
        right = Fraction(factorial(degree), factorial(degree - sum(power)) * prod(factorial(k) for k in power))
        worst = max(worst, abs(s * s / right - 1))
    assert worst <= Fraction(claim.value) <= Fraction(1, 10**13)
    assert claim.numbers["features"] == len(powers)
