"""Rules on cells: counts, the best rule on them, ties, empty cells, and the pieces of the consistency theorem."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

from surefit import (
    CertificateError,
    HistogramClassifier,
    InvalidData,
    InvalidParameter,
    LabelModel,
    PartitionClassifier,
    Regressogram,
    binomial_deviation,
    cell_count_bound,
    cells_meeting_ball,
    consistency_study,
)
from surefit.partitions.partitioners import CubicPartition, QuantilePartition


def test_cubes_are_half_open():
    assert CubicPartition(0.5).cells([[0.5, 0.0], [np.nextafter(0.5, 0), -1e-300]]).tolist() == [[1, 0], [0, -1]]
    assert CubicPartition(2.0).diameter(3) == 2 * math.sqrt(3)


def test_a_tie_goes_to_the_first_class_and_an_empty_cell_is_as_asked():
    X, y = [[0.1], [0.2], [1.5], [1.6], [1.7]], [1, 0, 1, 1, 1]
    notes = HistogramClassifier(1.0, empty="first").fit(X, y)
    assert notes.predict([[0.9], [1.0], [7.0]]).tolist() == [0, 1, 0]
    assert notes.predict_proba([[7.0]]).tolist() == [[1.0, 0.0]]
    assert HistogramClassifier(1.0).fit(X, y).predict_proba([[7.0]]) == pytest.approx(np.array([[0.2, 0.8]]))
    assert notes.apply([[0.5], [7.0]]).tolist() == [0, -1]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_no_rule_on_the_cells_has_fewer_errors(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((30, 2)), rng.integers(0, 3, 30)
    model = HistogramClassifier(0.5).fit(X, y)
    errors = np.mean(model.predict(X) != y)
    assert model.training_error_ == pytest.approx(errors)
    cells = model.apply(X)
    for _ in range(20):
        other = rng.integers(0, 3, model.n_cells_)
        assert np.mean(other[cells] != y) >= errors
    assert model.verify(X, y)["partition.training_error"].ok


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.random((25, 2)), rng.integers(0, 2, 25), rng.integers(0, 4, 25)
    w[:2], y[:2] = 1, [0, 1]
    weighted = HistogramClassifier(0.3).fit(X, y, sample_weight=w)
    repeated = HistogramClassifier(0.3).fit(X.repeat(w, axis=0), y.repeat(w))
    points = rng.random((50, 2))
    assert weighted.predict_proba(points) == pytest.approx(repeated.predict_proba(points))
    assert weighted.verify(X, y, sample_weight=w)
    line = Regressogram(side=0.3).fit(X, X[:, 0], sample_weight=w)
    assert line.predict(points) == pytest.approx(
        Regressogram(side=0.3).fit(X.repeat(w, axis=0), X[:, 0].repeat(w)).predict(points)
    )
    assert line.verify(X, X[:, 0], sample_weight=w)


def test_regressogram_is_least_squares_on_indicators():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 2)), rng.standard_normal(80) + 1e6
    model = Regressogram(side=0.4).fit(X, y)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(model.apply(X)[:, None])
    fitted = LinearRegression(fit_intercept=False).fit(indicators, y).predict(indicators)
    assert model.predict(X) == pytest.approx(fitted, rel=1e-12)
    residuals = y - model.predict(X)
    assert np.bincount(model.apply(X), residuals) == pytest.approx(np.zeros(model.n_cells_), abs=1e-8)
    assert model.verify(X, y)["partition.squares"].ok


def test_thresholded_regressogram_is_the_majority_rule():
    rng = np.random.default_rng(1)
    X, y = rng.random((200, 1)), rng.integers(0, 2, 200)
    points = rng.random((500, 1))
    means = Regressogram(side=0.1).fit(X, y).predict(points)
    assert np.array_equal(HistogramClassifier(0.1).fit(X, y).predict(points), (means > 0.5).astype(int))


@pytest.mark.parametrize(
    "partitioner",
    [
        KMeans(4, n_init=1, random_state=0),
        KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"),
        KBinsDiscretizer(3, encode="onehot", quantile_method="averaged_inverted_cdf"),
        QuantilePartition(3),
        lambda X: (X[:, 0] > X[:, 1]).astype(int),
    ],
)
def test_any_partitioner(partitioner):
    rng = np.random.default_rng(2)
    X = rng.random((120, 2))
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = PartitionClassifier(partitioner).fit(X, y)
    assert 2 <= model.n_cells_ <= 9
    assert model.score(X, y) == pytest.approx(1 - model.training_error_)
    assert model.verify(X, y)


def test_the_partition_does_not_see_the_labels():
    X = np.random.default_rng(3).random((50, 1))
    with pytest.raises(TypeError):  # a tree needs targets to cut, and gets none
        PartitionClassifier(DecisionTreeRegressor()).fit(X, X[:, 0] > 0.5)


def test_tampered_cells_are_refused():
    X, y = np.random.default_rng(4).random((40, 1)), np.arange(40) % 2
    model = HistogramClassifier(0.25).fit(X, y)
    model.cell_shares_[0] = model.cell_shares_[0, ::-1] + [0.1, -0.1]
    with pytest.raises(CertificateError):
        model.verify(X, y)


@pytest.mark.parametrize(
    ("m", "q", "exact", "bound"),
    [(1, 0.5, 0.5, 0.5), (4, 0.5, 0.1875, 0.25), (10, 0.3, 0.1121, 0.1449), (100, 0.5, 0.0398, 0.05)],
)
def test_binomial_deviation(m, q, exact, bound):
    assert binomial_deviation(m, q) == pytest.approx((exact, bound), abs=5e-5)


def test_cell_counts_of_the_uniform_law():
    assert binom.cdf(2, 1000, 0.01) == pytest.approx(0.00268, abs=1e-5)  # rows in the cell of a new row
    assert cell_count_bound(1000, 2, 100) == pytest.approx(0.8)
    assert binom.cdf(2, 10_000, 0.01) < 1e-39
    assert cell_count_bound(10_000, 2, 100) == pytest.approx(0.08)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_cells_meeting_a_ball(d):
    rng = np.random.default_rng(d)
    side, radius = 0.3, 1.0
    for center in rng.uniform(-1, 1, (5, d)):
        directions = rng.standard_normal((20_000, d))
        inside = center + radius * directions / np.linalg.norm(directions, axis=1)[:, None] * rng.random(
            (20_000, 1)
        ) ** (1 / d)
        assert len(np.unique(CubicPartition(side).cells(inside), axis=0)) <= cells_meeting_ball(radius, side, d)
    assert cells_meeting_ball(radius, side, d) <= 2 ** (2 * d - 1) * (1 + (radius / side) ** d) + 1e-9


def test_stochastic_error_bounds_the_deviation_of_cells():
    distribution = LabelModel(lambda X: 0.3 + 0.4 * X[:, 0])
    rng = np.random.default_rng(5)
    points, _ = distribution.sample(4000, rng)
    deviations, bounds = [], []
    for _ in range(30):
        X, y = distribution.sample(200, rng)
        model = HistogramClassifier(0.1, empty="first").fit(X, y)
        mean_in_cell = 0.3 + 0.4 * (np.floor(points[:, 0] / 0.1) + 0.5) * 0.1
        deviations.append(np.mean(np.abs(model.predict_proba(points)[:, 1] - mean_in_cell)))
        bounds.append(model.stochastic_error(points))
    assert np.mean(deviations) <= np.mean(bounds)
    assert np.mean(deviations) >= 0.5 * np.mean(bounds)


def test_histograms_approach_the_best_rule():
    distribution = LabelModel(lambda X: 0.1 + 0.8 * (np.abs(X[:, 0] - 0.5) < 0.3))
    study = consistency_study(lambda n: HistogramClassifier(n ** (-1 / 3)), distribution, [30, 300, 3000], repeats=8)
    assert np.all(np.diff(study.mean_excess) < 0)
    assert np.all(study.excess >= 0)  # no rule beats the best one
    assert study.bayes_risk == pytest.approx(0.1)
    assert study.mean_excess[-1] < study.mean_excess[0] / 3


def test_excess_risk_identity():
    distribution = LabelModel(lambda X: X[:, 0])
    excess = distribution.excess_risk(lambda X: X[:, 0] > 0.7)
    assert excess.how == "quadrature"
    assert excess.value == pytest.approx(0.04, abs=1e-12)  # twice the integral of x - 1/2 from 1/2 to 0.7
    assert distribution.risk(lambda X: X[:, 0] > 0.7).value - distribution.bayes_risk().value == pytest.approx(
        0.04, abs=1e-12
    )


def test_errors():
    with pytest.raises(InvalidParameter, match="partitioner"):
        PartitionClassifier(3).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidData, match="one cell per row"):
        PartitionClassifier(lambda X: np.zeros(3)).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidParameter, match="side"):
        HistogramClassifier(1e-30).fit([[1e5], [1.0]], [0, 1])
    with pytest.raises(InvalidParameter):
        cell_count_bound(0, 1, 1)
