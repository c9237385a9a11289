"""Perceptron runs that can be followed by hand, in numbers that floats hold exactly."""

import math

import numpy as np
import pytest

from surefit import Perceptron
from surefit.data import make_four_points, make_two_triangles
from surefit.perceptrons.novikoff import novikoff_bound


def cyclic(**options):
    return Perceptron(**{"shuffle": False, "tol": None, "fit_intercept": False, "max_iter": 1000, **options})


THREE = np.array([[3.0, 1.0], [1.0, 3.0], [-1.0, 2.0]]), np.array([1, 1, -1])
FOUR = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])


@pytest.mark.parametrize(
    "order, coef, updates", [((0, 1, 2), (3, 1), 1), ((2, 1, 0), (5, 0), 5), ((1, 0, 2), (5, 0), 5)]
)
def test_weights_depend_on_the_order_and_the_bound_does_not(order, coef, updates):
    X, y = THREE[0][list(order)], THREE[1][list(order)]
    model = cyclic().fit(X, y)
    assert model.coef_.tolist() == [list(map(float, coef))]
    assert model.n_updates_ == updates <= model.certificate_["perceptron.novikoff"].limit
    assert model.verify(X, y)["perceptron.replay"].level == "exact"


def test_trace_of_four_points():
    model = cyclic().fit(*FOUR)
    assert model.coef_.tolist() == [[3.0, 1.0]]
    assert (model.n_updates_, model.n_iter_, model.converged_) == (2, 2, True)
    log = model.mistake_log_
    assert log["row"].tolist() == [0, 1] and log["pass"].tolist() == [0, 0]
    assert log["margin"].tolist() == [0.0, 0.0] and log["squared_norm"].tolist() == [5.0, 10.0]
    assert model.mistake_counts_.tolist() == [1, 1, 0, 0]
    # the widest direction is (1, 0) with margin 1, and the largest norm is sqrt(5)
    assert novikoff_bound(math.sqrt(5), 1.0) == pytest.approx(5)
    claim = model.certificate_["perceptron.margin"]
    assert claim.value <= 1.0 <= claim.numbers["up"]


def test_two_rows_near_the_axis():
    X, y = np.array([[1.0, 0.5], [1.0, -0.5]]), np.array([1, -1])
    model = cyclic().fit(X, y)
    assert model.coef_.tolist() == [[0.0, 1.0]] and model.n_updates_ == 2
    assert novikoff_bound(math.sqrt(1.25), 0.5) == pytest.approx(5)


def test_offset_by_a_constant_feature():
    X, y = np.array([[1.0], [2.0]]), np.array([-1, 1])
    model = cyclic(fit_intercept=True).fit(X, y)
    assert (model.coef_[0, 0], model.intercept_[0]) == (2.0, -3.0)
    assert (model.n_updates_, model.n_iter_) == (13, 9)
    claim = model.certificate_["perceptron.novikoff"]
    assert claim.limit == pytest.approx(65)  # 13 * 5
    assert claim.numbers["gamma_low"] == pytest.approx(1 / math.sqrt(13))
    assert model.certificate_["perceptron.margin"].numbers["up"] == pytest.approx(1 / math.sqrt(13))


@pytest.mark.parametrize("constant", [0.5, 1.0, 2.0, 4.0])
def test_augmented_constant_is_a_column_of_the_matrix(constant):
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([-1, 1, 1])
    with_bias = cyclic(fit_intercept=True, bias="augmented", bias_constant=constant).fit(X, y)
    as_column = cyclic().fit(np.column_stack([X, np.full(3, constant)]), y)
    assert with_bias.coef_[0, 0] == as_column.coef_[0, 0]
    assert with_bias.intercept_[0] == constant * as_column.coef_[0, 1]
    assert np.array_equal(with_bias.mistake_log_["row"], as_column.mistake_log_["row"])


@pytest.mark.parametrize("m", [1, 4, 9])
@pytest.mark.parametrize("label", [1, -1])
def test_bound_is_attained_by_the_unit_vectors(m, label):
    # One class alone is refused, so the same theorem is met with both: x and -x are the same constraint.
    X = np.vstack([np.eye(m), -np.eye(m)])
    y = np.concatenate([np.full(m, label), np.full(m, -label)])
    model = cyclic().fit(X, y)
    assert model.n_updates_ == m
    assert model.certificate_["perceptron.novikoff"].limit == pytest.approx(m)


@pytest.mark.parametrize("label, under_sign", [(1, 0), (-1, 9)])
def test_the_two_mistake_rules_differ_on_zero_scores_of_positive_rows(label, under_sign):
    X = np.eye(10)  # a tenth row of the other class, last, so that there are two classes
    y = np.append(np.full(9, label), -label)
    rows = lambda model: model.mistake_log_["row"][model.mistake_log_["pass"] == 0]  # noqa: E731
    assert np.sum(rows(cyclic().fit(X, y)) < 9) == 9
    assert np.sum(rows(cyclic(mistake="sign").fit(X, y)) < 9) == under_sign
    assert np.sum(rows(cyclic(mistake="<0", max_iter=1).fit(X, y)) < 9) == 0


@pytest.mark.parametrize("mistake, updates", [("<=0", 6), ("sign", 5)])
def test_one_row_is_met_until_it_is_right(mistake, updates):
    # x = 1, t = 1, w = -5; the zero row of the other class never changes the weights
    X, y = np.array([[1.0], [0.0]]), np.array([1, -1])
    model = cyclic(mistake=mistake, max_iter=20, order="shuffled").fit(X, y, coef_init=[[-5.0]])
    assert model.mistake_counts_[0] == updates


@pytest.mark.parametrize("score, expected", [(0.0, 1), (-1.0, 1), (-4.0, 2), (-7.0, 2), (-8.0, 3), (2.0, 0)])
def test_one_sample_count(score, expected):
    # |x|^2 = 4: floor(|a| / 4) + 1 updates for a = t x'w <= 0. The second row, (0, 1), is settled by the second weight.
    X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1, -1])
    model = cyclic().fit(X, y, coef_init=[[score / 2, -1.0]])
    assert model.mistake_counts_.tolist() == [expected, 0]


def test_an_update_raises_the_margin_by_the_squared_norm():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (30, 4)).astype(float), rng.choice([-1, 1], 30)
    model = cyclic(max_iter=3).fit(X, y)
    w = np.zeros(4)
    for row, margin, square in zip(*(model.mistake_log_[c] for c in ("row", "margin", "squared_norm")), strict=True):
        assert y[row] * (X[row] @ w) == margin <= 0
        w = w + y[row] * X[row]
        assert y[row] * (X[row] @ w) == margin + X[row] @ X[row]
        assert w @ w == square
    assert np.array_equal(w, model.coef_[0])
    assert np.array_equal((model.mistake_counts_ * y) @ X, w)


@pytest.mark.parametrize("eta0", [0.01, 0.1, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("bias", ["plain", "r_squared"])
def test_step_size_only_scales(eta0, bias):
    X, y = make_two_triangles(0.1)[:2]
    unit = cyclic(fit_intercept=True, bias=bias).fit(X, y)
    model = cyclic(fit_intercept=True, bias=bias, eta0=eta0).fit(X, y)
    assert np.array_equal(model.mistake_log_["row"], unit.mistake_log_["row"])
    assert model.coef_ == pytest.approx(eta0 * unit.coef_) and model.intercept_ == pytest.approx(eta0 * unit.intercept_)


def test_step_size_with_a_start_is_a_scaled_start():
    X, y = FOUR
    small = cyclic(eta0=0.25).fit(X, y, coef_init=[[-1.0, 1.0]])
    large = cyclic().fit(X, y, coef_init=[[-4.0, 4.0]])
    assert np.array_equal(small.mistake_log_["row"], large.mistake_log_["row"])
    assert np.array_equal(small.coef_, 0.25 * large.coef_)


@pytest.mark.parametrize(
    "epsilon, counts, passes, coef, square",
    [
        (0.1, [1, 1, 1, 1, 2, 0], 3, (-18 / 5, math.sqrt(3)), 15.96),
        (0.2, [1, 0, 0, 1, 0, 0], 2, (-56 / 15, 2 / math.sqrt(3)), 4 * 859 / 225),
    ],
)
def test_two_triangles_with_the_r_squared_bias(epsilon, counts, passes, coef, square):
    X, y, truth = make_two_triangles(epsilon)
    model = cyclic(fit_intercept=True, bias="r_squared").fit(X, y)
    assert model.mistake_counts_.tolist() == counts and model.n_iter_ == passes
    assert model.coef_[0] == pytest.approx(coef) and model.intercept_[0] == pytest.approx(0, abs=1e-12)
    assert model.mistake_log_["squared_norm"][-1] == pytest.approx(square)
    k, R2 = sum(counts), truth["radius_square"]
    assert square <= 2 * k * R2 * (1 + 1e-12)
    assert 4 * R2 / truth["margin"] ** 2 == pytest.approx({0.1: 49744 / 27, 0.2: 13744 / 27}[epsilon])
    geometric = model.certificate_["perceptron.geometric_margin"]
    assert geometric.value <= truth["margin"] <= geometric.numbers["up"]
    model.verify(X, y)


def test_four_points_on_a_line_cycle_and_prove_that_nothing_separates_them():
    X, y, truth = make_four_points("line")
    model = cyclic(fit_intercept=True, bias="r_squared").fit(X, y)
    assert (model.ending_, model.n_iter_) == ("cycle", 3)
    assert (model.coef_[0, 0], model.intercept_[0]) == (1.0, 0.0)
    claim = model.certificate_["perceptron.cycle"]
    assert claim.value == claim.witness["alpha"].sum()
    alpha = claim.witness["alpha"]
    assert alpha.any() and (alpha * y) @ X[:, 0] == 0 and alpha @ y == 0
    assert np.array_equal(alpha / alpha[0], truth["farkas"])
    found = model.verify(X, y)
    assert found["perceptron.cycle"].level == "exact" and model.certificate_.grade == "C"


def test_perceptron_criterion_of_the_four_points():
    X, y, truth = make_four_points("line")

    def criterion(b, w=1.0):
        return np.mean(np.maximum(-y * (w * X[:, 0] + b), 0))

    assert [criterion(b) for b in (-2, -1.5, -1, 0, 1, 1.5, 2)] == [0.75, 0.625, 0.5, 0.5, 0.5, 0.625, 0.75]
    assert min(criterion(b, -1.0) for b in np.linspace(-3, 3, 61)) == pytest.approx(1.0)
    errors = {b: np.mean(np.where(X[:, 0] + b >= 0, 1, -1) != y) for b in (-2, -1.5, -1, 0, 0.5, 1, 1.5, 2)}
    assert errors == {-2: 0.25, -1.5: 0.25, -1: 0.5, 0: 0.5, 0.5: 0.5, 1: 0.25, 1.5: 0.25, 2: 0.5}
    assert truth["best_cut_error"] == 0.25


def test_a_start_that_separates_makes_no_update():
    X, y = FOUR
    model = cyclic().fit(X, y, coef_init=[[3.0, 1.0]])
    assert model.n_updates_ == 0 and model.n_iter_ == 1
    claim = model.certificate_["perceptron.novikoff"]
    assert claim.value == 0 <= claim.limit
    model.verify(X, y)


@pytest.mark.parametrize("low, high", [(1.0, 3.0), (2.0, 3.0), (5.0, 9.0)])
def test_two_points_on_a_line_need_an_offset(low, high):
    X, y = np.array([[low], [high]]), np.array([-1, 1])
    model = cyclic(fit_intercept=True).fit(X, y)
    claim = model.certificate_["perceptron.geometric_margin"]
    assert claim.value <= (high - low) / 2 <= claim.numbers["up"]
    assert claim.numbers["up"] == pytest.approx((high - low) / 2)  # both points are mistakes: the hulls are they
    through_zero = cyclic().fit(X, y)  # without an offset no direction has both on the right side, and the run shows it
    assert through_zero.ending_ == "cycle"
    assert through_zero.verify(X, y)["perceptron.cycle"].level == "exact"


def test_bound_for_the_r_squared_bias_is_the_affine_one():
    X, y, _ = make_two_triangles(0.1)
    X = X + np.array([0.5, 0.0])
    model = cyclic(fit_intercept=True, bias="r_squared").fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    margin = np.min(y * (X @ w + b)) / np.linalg.norm(w)
    R2 = np.max(np.sum(X * X, axis=1))
    affine = 2 * (R2 + b * b / (w @ w)) / margin**2
    assert model.certificate_["perceptron.novikoff"].limit == pytest.approx(affine, rel=1e-6)
    assert model.n_updates_ <= affine <= 4 * R2 / margin**2 * (1 + 1e-12)


def test_best_constant_feature_for_a_comparison_vector():
    # (R^2 + c^2) (|w|^2 + b^2 / c^2) / margin^2 is smallest at c^2 = R |b| / |w|
    R, w, b = 2.0, 2.0, -3.0
    bounds = {c: (R * R + c * c) * (w * w + b * b / (c * c)) for c in (0.5, 1.0, math.sqrt(R * abs(b) / w), 2.0, 4.0)}
    assert min(bounds, key=bounds.get) == math.sqrt(R * abs(b) / w) and bounds[1.0] == 65.0


def test_training_error_is_a_multiple_of_one_over_n_and_ignores_the_scale():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((37, 3)), rng.choice([-1, 1], 37)
    model = cyclic(max_iter=2).fit(X, y)
    errors = 37 * (1 - model.score(X, y))
    assert errors == pytest.approx(round(errors))
    before = model.predict(X)
    model.coef_ = 100 * model.coef_
    assert np.array_equal(model.predict(X), before)


def test_average_of_a_run_that_stopped_changing_tends_to_its_last_weights():
    X, y = FOUR
    rows = np.vstack([X] * 50)
    from surefit import AveragedPerceptron

    model = AveragedPerceptron(order="cyclic", fit_intercept=False, max_iter=1, tol=None).fit(rows, np.tile(y, 50))
    # weights (1, 2) after the first visit, (3, 1) after each of the other 199
    assert model.coef_[0] == pytest.approx((np.array([1.0, 2.0]) + 199 * np.array([3.0, 1.0])) / 200)
