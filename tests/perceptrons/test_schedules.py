"""Step schedules, the scheduled perceptron and the batch perceptron."""

import math

import numpy as np
import pytest

from surefit import (
    BatchPerceptron,
    GeometricSchedule,
    InvalidParameter,
    Perceptron,
    PowerSchedule,
    VariableIncrementPerceptron,
    check_schedule,
)
from surefit.data import make_two_gaussians
from surefit.perceptrons.schedules import most_scheduled_updates

FOUR = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])


def separable(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    score = X @ np.array([2.0, -1.0, 0.5])[:d]
    return X[score != 0], np.sign(score[score != 0]).astype(int)


@pytest.mark.parametrize(
    "schedule, good",
    [
        ("constant", True),
        ("linear", True),
        ("inverse", True),
        ("inverse_sqrt", True),
        (PowerSchedule(-2.0), False),
        (GeometricSchedule(2.0), False),
        (GeometricSchedule(0.5), False),
        (GeometricSchedule(1.0), True),
    ],
)
def test_schedule_checker(schedule, good):
    report = check_schedule(schedule, horizon=60)
    assert report.admissible is good and report.proved


def test_ratio_of_doubling_steps_tends_to_a_third():
    assert check_schedule(GeometricSchedule(2.0), horizon=60).ratio_at_horizon == pytest.approx(1 / 3)
    assert check_schedule("constant", horizon=1000).ratio_at_horizon == pytest.approx(1e-3)


def test_finitely_many_steps_of_a_function_decide_nothing():
    report = check_schedule(lambda k: 1 / k, horizon=1000)
    assert report.admissible is None and not report.proved
    assert report.ratio_at_horizon == pytest.approx(check_schedule("inverse", horizon=1000).ratio_at_horizon)


@pytest.mark.parametrize("schedule", ["harmonic", PowerSchedule(0.0, -1.0), GeometricSchedule(-1.0), 3])
def test_checker_refuses_what_is_no_schedule(schedule):
    with pytest.raises(InvalidParameter, match="schedule"):
        check_schedule(schedule)


def test_slow_schedule_allows_a_harmonic_sum_and_astronomically_many_updates():
    # gamma = 0.1, R = |u| = 1, b = gamma / 2: gamma^2 S^2 = 2 b S + pi^2 / 6 has the root 18.77
    b = 0.05
    S = (2 * b + math.sqrt(4 * b * b + 4 * 0.01 * math.pi**2 / 6)) / 0.02
    assert S == pytest.approx(18.77, abs=5e-3)
    most = most_scheduled_updates("inverse", 1.0, 0.1, threshold=b)
    assert most == pytest.approx(7.9e7, rel=0.02) and math.log(most) + 0.5772 == pytest.approx(S, abs=1e-3)


def test_largest_prefix_is_found_by_counting_too():
    for schedule in ("constant", "inverse_sqrt", "linear"):
        fast = most_scheduled_updates(schedule, 3.0, 0.4, threshold=0.1)
        slow = most_scheduled_updates(
            lambda k, s=schedule: {"constant": 1.0, "linear": k}.get(s, k**-0.5), 3.0, 0.4, 0.1
        )
        assert fast == slow


def test_constant_steps_without_threshold_are_the_plain_perceptron():
    X, y = separable()
    plain = Perceptron(order="cyclic", tol=None).fit(X, y)
    model = VariableIncrementPerceptron(schedule="constant", order="cyclic", tol=None).fit(X, y)
    assert np.array_equal(model.coef_, plain.coef_)
    assert np.array_equal(model.mistake_log_["row"], plain.mistake_log_["row"])


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "linear", PowerSchedule(0.5, 2.0), lambda k: 1 + 1 / k])
@pytest.mark.parametrize("threshold", [0.0, 1.5])
def test_scheduled_runs_end_with_their_threshold_and_their_proof(schedule, threshold):
    X, y = separable()
    options = {"fit_intercept": False, "tol": None, "max_iter": 20000}
    model = VariableIncrementPerceptron(schedule=schedule, threshold=threshold, **options).fit(X, y)
    assert model.converged_ and np.min(y * (X @ model.coef_[0])) > threshold
    claim = model.certificate_["perceptron.prefix"]
    assert claim.value <= 1 and claim.holds
    low, radius = model.certificate_["perceptron.margin"].value, np.max(np.linalg.norm(X, axis=1))
    assert model.n_updates_ <= most_scheduled_updates(schedule, radius, low, threshold)
    w, k = np.zeros(3), 0
    for row in model.mistake_log_["row"]:
        k += 1
        step = (
            schedule(np.array([float(k)]))[0]
            if callable(schedule)
            else {"inverse_sqrt": k**-0.5, "linear": k}[schedule]
        )
        assert y[row] * (X[row] @ w) <= threshold + 1e-9
        w = w + step * y[row] * X[row]
    assert model.coef_[0] == pytest.approx(w)
    model.verify(X, y)


def test_unproved_and_bad_schedules_say_so_in_the_certificate():
    X, y = separable()
    for schedule in (PowerSchedule(-2.0), lambda k: 1 / k):
        model = VariableIncrementPerceptron(schedule=schedule, max_iter=3, tol=None).fit(X, y)
        assert "schedule" in [claim.name.split(".")[1] for claim in model.certificate_.claims]
        model.verify(X, y)


@pytest.mark.parametrize("schedule", [lambda k: -k, lambda k: np.full(len(k) + 1, 1.0), GeometricSchedule(1e300)])
def test_steps_must_be_numbers(schedule):
    with pytest.raises(InvalidParameter, match="finite numbers >= 0"):
        VariableIncrementPerceptron(schedule=schedule).fit(*separable())


def test_first_batch_is_the_whole_set_and_one_row_is_the_plain_perceptron():
    X, y = FOUR
    model = BatchPerceptron(fit_intercept=False, eta0=0.5, max_iter=1, tol=None).fit(X, y)
    assert np.array_equal(model.coef_[0], 0.5 * (y @ X)) and model.mistakes_per_pass_.tolist() == [4]
    pair = np.array([[2.0, 1.0], [-2.0, -1.0]]), np.array([1, -1])  # the same constraint twice
    batch, plain = BatchPerceptron(fit_intercept=False).fit(*pair), Perceptron(fit_intercept=False).fit(*pair)
    assert np.array_equal(batch.coef_, 2 * plain.coef_)


def test_batch_ignores_the_order_of_rows():
    X, y = separable()
    turned = np.random.default_rng(0).permutation(len(y))
    one, two = (BatchPerceptron().fit(X[rows], y[rows]) for rows in (np.arange(len(y)), turned))
    assert one.coef_ == pytest.approx(two.coef_, rel=1e-12) and one.n_iter_ == two.n_iter_


@pytest.mark.parametrize("schedule", ["constant", "inverse_sqrt", "linear"])
def test_batch_separates_within_its_bound(schedule):
    X, y = separable()
    model = BatchPerceptron(schedule=schedule, tol=None, max_iter=10**5, fit_intercept=False).fit(X, y)
    assert model.converged_ and np.min(y * (X @ model.coef_[0])) > 0
    bracket = model.certificate_["perceptron.batch_margin"]
    radius = np.max(np.linalg.norm(X, axis=1))
    if schedule == "constant":
        assert model.n_updates_ <= len(y) * radius**2 / bracket.value**2
    assert bracket.value <= bracket.numbers["up"] and model.verify(X, y)["perceptron.batch_replay"].level == "exact"


@pytest.mark.parametrize("classes", [2, 3])
def test_batch_weights_are_repetitions(classes):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, classes, 40)
    weights = rng.integers(0, 4, 40)
    weighted = BatchPerceptron(max_iter=50, tol=None).fit(X, y, sample_weight=weights)
    repeated = BatchPerceptron(max_iter=50, tol=None).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-9)
    assert weighted.losses_ == pytest.approx(repeated.losses_, rel=1e-9)
    weighted.verify(X, y, sample_weight=weights)


def test_batch_steps_go_down_the_criterion():
    X, y, _ = make_two_gaussians(60, random_state=1)
    Z = np.column_stack([X, np.ones(60)])
    w = np.array([0.3, -0.2, 0.1])

    def criterion(w):
        return np.sum(np.maximum(-y * (Z @ w), 0))

    wrong = y * (Z @ w) < 0
    v = y[wrong] @ Z[wrong]
    slopes = [(criterion(w + 1e-6 * e) - criterion(w - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert slopes == pytest.approx(-v, abs=1e-5)
    assert criterion(3 * w) == pytest.approx(3 * criterion(w))
    model = BatchPerceptron(max_iter=1, tol=None, warm_start=True)
    model.fit(X, y)
    model.coef_, model.intercept_ = w[None, :2].copy(), w[2:].copy()
    model.fit(X, y)
    assert np.append(model.coef_[0], model.intercept_) == pytest.approx(w + v)


def test_a_class_without_weight_is_left_out():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "c"])
    model = BatchPerceptron().fit(X, y, sample_weight=[1, 0, 2])
    assert model.classes_.tolist() == ["a", "c"] and model.predict([[0.0], [9.0]]).tolist() == ["a", "c"]
    model.verify(X, y, sample_weight=[1, 0, 2])
    with pytest.raises(ValueError, match="at least two classes"):
        BatchPerceptron().fit(X, y, sample_weight=[1, 0, 0])
    with pytest.raises(ValueError, match="Negative values"):
        BatchPerceptron().fit(X, y, sample_weight=[1, -1, 1])
