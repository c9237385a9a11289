"""Gaps of least squares: by hand and in rationals first, then ranks, balls and few rows, and hard data last."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.checks.linear.proving import proof_at
from tests.hard_data import hard_data
from tests.reliability.roster import Case, fitted, verify

from surefit import LeastSquaresClassifier, LinearRegression, Ridge, RidgeCV


def test_gap_of_the_theory_page():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])
    (gap,) = proof_at(LinearRegression().fit(X, y), X, y, [1.0], 1.0)
    assert gap.value == pytest.approx(1 / 3, rel=1e-10) and Fraction(gap.value) >= Fraction(1, 3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.booleans())
def test_proved_gaps_are_never_below_the_exact_ones(seed, penalty, few):
    """One feature with intercept: the minimum has a closed form in rationals."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-20, 21, 30).astype(float) for _ in range(2))
    w, b = float(rng.integers(-8, 9)) / 4, float(rng.integers(-8, 9)) / 4
    xs, ys = [Fraction(v) for v in x], [Fraction(v) for v in y]
    mx, my = sum(xs) / 30, sum(ys) / 30
    best = sum((a - mx) * (c - my) for a, c in zip(xs, ys, strict=True)) / (sum((a - mx) ** 2 for a in xs) + penalty)

    def objective(w, b):
        return sum((c - w * a - b) ** 2 for a, c in zip(xs, ys, strict=True)) + penalty * w * w

    exact = objective(Fraction(w), Fraction(b)) - objective(best, my - best * mx)
    model = Ridge(float(penalty)).fit(x[:, None], y)
    with pytest.MonkeyPatch.context() as patch:
        if few:  # the dual point moves on few rows only
            patch.setattr("surefit.checks.gap.equalities.FEW", 1.0)
            patch.setattr("surefit.checks.gap.equalities.ROWS_PER_COLUMN", 3)
        (gap,) = proof_at(model, x[:, None], y, [w], b)
    assert Fraction(gap.value) >= exact
    if penalty == 0 and not few:
        assert gap.value <= float(exact) * (1 + 1e-8) + 1e-18


@pytest.mark.parametrize("seed", range(8))
def test_tiny_penalties_on_badly_scaled_columns_keep_a_small_gap(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * 10.0 ** rng.uniform(-6, 6, 4)
    y = X @ (1 / np.abs(X).max(axis=0)) + rng.normal(size=60)
    model = Ridge(1e-12).fit(X, y)
    assert model.dual_gap_ <= 1e-9 * float(np.sum((y - y.mean()) ** 2))
    model.verify(X, y)


def test_rank_is_proved_from_below():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0)
    assert LinearRegression().fit(X, y).verify(X, y)["linear.rank"].proved == 0
    X = np.column_stack([X, X.sum(axis=1), np.ones(20)])
    model = LinearRegression().fit(X, y)
    found = model.verify(X, y)
    assert found["linear.rank"].proved == 2 and found["linear.gap"].level == "enclosed"
    assert "at least 3 of 5 directions" in model.certificate_["linear.rank"].statement
    assert np.isfinite(model.certificate_["linear.gap"].numbers["box"]) and model.certificate_["linear.gap"].holds


@pytest.mark.parametrize("targets", [1, 3])
def test_a_ball_over_all_targets_has_one_multiplier(targets):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    Y = X @ rng.normal(size=(4, targets)) + rng.normal(size=(40, targets)) + 5
    y = Y[:, 0] if targets == 1 else Y
    model = Ridge(radius=0.8).fit(X, y)
    assert model.certificate_["linear.feasible"].value == 0 and model.dual_gap_ <= 1e-10 * np.sum(Y**2)
    model.verify(X, y)
    same = Ridge(model.multiplier_).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-8)
    idle = Ridge(radius=1e6).fit(X, y)
    assert idle.multiplier_ == 0 and idle.dual_gap_ <= 1e-10 * np.sum(Y**2)


def test_large_sparse_data_are_compared_within_a_box(monkeypatch):
    monkeypatch.setattr("surefit.solvers.least_squares.minimize.LARGEST_DENSE", 5)
    for module in ("equalities", "dual_points"):
        monkeypatch.setattr(f"surefit.checks.gap.{module}.LARGEST", 5)
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 20), density=0.3, rng=rng, format="csr")
    y, s = rng.standard_normal(80) + 1, rng.integers(0, 3, 80)
    model = LinearRegression().fit(X, y, sample_weight=s)
    claim = model.certificate_["linear.gap"]
    assert "LSMR" in model.certificate_.run["solver"]
    assert claim.holds and np.isfinite(claim.numbers["box"]) and claim.value <= 1e-6 * float(s @ y**2)
    model.verify(X, y, s)


MODELS = (
    LinearRegression(), LinearRegression(positive=True), Ridge(), Ridge(1e-9), Ridge(radius=0.5),
    Ridge(penalize_intercept=True), RidgeCV(), LeastSquaresClassifier(),
)  # fmt: skip


@pytest.mark.parametrize("data", hard_data(), ids=lambda data: data.name)
def test_hard_data_are_fitted_and_proved(data):
    for model in MODELS:
        labels = isinstance(model, LeastSquaresClassifier)
        case = Case(model, data.X, data.labels if labels else data.y, data.weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if fitted(case) is None:
                assert labels and data.name == "one class"
                continue
        found = verify(model.certificate_, case)
        assert all(
            f.proved <= f.claimed for f in found.findings if f.name.startswith("linear.") and f.claimed == f.claimed
        )
        assert all(claim.name != "fit.unproved" for claim in model.certificate_.claims)
