"""Fenchel-Young terms of the checker's penalty, compared with rational arithmetic."""

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest

from surefit.checks.gap import Penalty, penalty_of

NUMBERS = (-2.0, -0.75, -0.25, 0.0, 0.25, 0.5, 1.0, 3.0)
TERMS = list(product((0.0, 0.5, inf), (0.0, 0.5, 2.0)))


def conjugate(l1, l2, positive, box, v):
    """Return max_u (v u - l1 |u| - l2 u^2 / 2) over the allowed u, from the ends and the stationary points."""
    if l1 == inf:
        return Fraction(0)
    tops = [Fraction(0)]
    for sign in (1,) if positive else (1, -1):
        slope = sign * Fraction(v) - Fraction(l1)
        if l2 == 0 and box == inf and slope > 0:
            return inf
        ends = [] if box == inf else [Fraction(box)]
        best = [slope / Fraction(l2)] if l2 > 0 and slope > 0 else []
        sizes = [u for u in ends + best if box == inf or u <= Fraction(box)]
        tops += [slope * u - Fraction(l2) / 2 * u * u for u in sizes]
    return max(tops)


def term(l1, l2, positive, box, w, v):
    """Return the exact term; infinite if the coefficient or ``v`` is not feasible."""
    if (l1 == inf and w != 0) or conjugate(l1, l2, positive, box, v) == inf:
        return inf
    value = (Fraction(0) if l1 == inf else Fraction(l1) * abs(Fraction(w))) + Fraction(l2) / 2 * Fraction(w) ** 2
    return value + conjugate(l1, l2, positive, box, v) - Fraction(w) * Fraction(v)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("box", [None, 1.0])
def test_terms_are_exact_on_few_digits(positive, box):
    """With numbers of few binary digits the terms have no rounding error, so they equal the rationals."""
    for l1, l2 in TERMS:
        pairs = [(w, v) for w, v in product(NUMBERS, NUMBERS) if abs(w) <= (box or inf) and (w >= 0 or not positive)]
        w, v = np.array(pairs).T.copy()
        n = len(w)
        penalty = Penalty(np.full(n, l1), np.full(n, l2), positive, None if box is None else np.full(n, box))
        wanted = [term(l1, l2, positive, inf if box is None else box, a, b) for a, b in pairs]
        assert penalty.excess(w, v).tolist() == [float(each) for each in wanted]


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("box", [None, 0.7])
def test_upper_terms_bound_all_feasible_points(positive, box):
    rng = np.random.default_rng(0)
    for l1, l2 in TERMS:
        w, v, rad = rng.normal(size=60) * 0.3, rng.normal(size=60), 0.1 * rng.random(60)
        w[:15], w = 0.0, np.minimum(np.abs(w), 0.6) if positive else np.clip(w, -0.6, 0.6)
        limit = l1 if l2 == 0 and 0 < l1 < inf and box is None else inf
        v = np.clip(v, -limit, limit)
        penalty = Penalty(np.full(60, l1), np.full(60, l2), positive, None if box is None else np.full(60, box))
        upper = penalty.upper(w, v, rad)
        for share in (-1.0, -0.3, 0.0, 0.6, 1.0):
            near = np.clip(v + share * rad, -inf if positive else -limit, limit)
            exact = [term(l1, l2, positive, box or inf, a, b) for a, b in zip(w, near, strict=True)]
            assert all(a >= b for a, b in zip(upper.tolist(), exact, strict=True))


def test_kept_penalties_are_those_of_their_numbers():
    for n, l1, l2, positive, radius in product((1, 3), (0.0, 2.0), (0.0, 0.5), (False, True), (None, 4.0)):
        problem = {"l1": l1, "l2": l2, "positive": positive, "radius": radius}
        for _ in range(2):
            found = penalty_of(problem, n)
            assert (found.l1.tolist(), found.l2.tolist()) == ([l1] * n, [l2] * n)
            assert (found.positive, found.box, found.radius) == (positive, None, radius)
            for factor in (3.0, 3.0, 0.0, 7.0):
                scaled = found.scaled(factor)
                assert (scaled.l1.tolist(), scaled.l2.tolist()) == ([l1 * factor] * n, [l2 * factor] * n)
                assert (scaled.positive, scaled.radius, scaled.any_free) == (
                    positive,
                    None,
                    l1 * factor + l2 * factor == 0,
                )
