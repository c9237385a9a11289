"""The least-squares checker: exact gaps of wrong answers, by hand and in rationals, and its level of proof."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import LinearRegression, Ridge
from surefit.checks.base import Data
from surefit.checks.least_squares import prove


def proof_of(model, X, y, coef, intercept):
    """What the checker proves about other coefficients on the same data."""
    model.coef_, model.intercept_ = np.asarray(coef, dtype=float), float(intercept)
    certificate = model._certificate
    model._issue("A", list(certificate.claims), problem=certificate.problem, model=("coef_", "intercept_"),
                 data=certificate.data)  # fmt: skip
    return prove(model._certificate, Data(X, y, None, {}))


def test_gap_of_the_theory_page():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])
    proof = proof_of(LinearRegression().fit(X, y), X, y, [1.0], 1.0)
    assert proof.level == "enclosed"
    assert proof.gap == pytest.approx(1 / 3, rel=1e-10) and proof.gap >= float(Fraction(1, 3))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_proved_gaps_are_never_below_the_exact_ones(seed, penalty):
    """One feature with intercept: the minimum has a closed form in rationals."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-20, 21, 7).astype(float) for _ in range(2))
    if np.all(x == x[0]):
        return
    w, b = float(rng.integers(-8, 9)) / 4, float(rng.integers(-8, 9)) / 4
    xs, ys = [Fraction(v) for v in x], [Fraction(v) for v in y]
    mx, my = sum(xs) / 7, sum(ys) / 7
    best = sum((a - mx) * (c - my) for a, c in zip(xs, ys, strict=True)) / (sum((a - mx) ** 2 for a in xs) + penalty)

    def objective(w, b):
        return sum((c - w * a - b) ** 2 for a, c in zip(xs, ys, strict=True)) + penalty * w * w

    exact = objective(Fraction(w), Fraction(b)) - objective(best, my - best * mx)
    model = Ridge(float(penalty)).fit(x[:, None], y)
    proof = proof_of(model, x[:, None], y, [w], b)
    assert Fraction(proof.gap) >= exact
    assert proof.gap <= float(exact) * (1 + 1e-8) + 1e-18 or proof.gap == pytest.approx(float(exact), rel=1e-8)


def test_dependent_columns_are_recomputed_and_independent_ones_enclosed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    assert LinearRegression().fit(X, y).verify(X, y)["least_squares.gap"].level == "enclosed"
    X = np.column_stack([X, X.sum(axis=1)])
    found = LinearRegression().fit(X, y).verify(X, y)
    assert found["least_squares.gap"].level == "recomputed" and found["least_squares.rank"].proved == 1.0
    assert Ridge(0.1).fit(X, y).verify(X, y)["least_squares.gap"].level == "enclosed"
