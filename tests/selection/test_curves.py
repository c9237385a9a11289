"""Curves: numbers of refits, verdicts on data whose truth is known, and the words."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from surefit import (
    DataWarning,
    InvalidParameter,
    LinearRegression,
    PolynomialBasis,
    complexity_curve,
    learning_curve,
    validation_curve,
)
from surefit.risk.losses import Loss
from surefit.selection.curves import Curve


def noisy_line(n, seed=0, noise=2.0):
    """The notes' line y = 2x + 10 with noise (D11)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-5, 5, size=(n, 1))
    return x, 2 * x[:, 0] + 10 + noise * rng.normal(size=n)


def degrees(*values):
    return {d: make_pipeline(PolynomialBasis(d, scale=True), LinearRegression()) for d in values}


def test_numbers_are_those_of_refits():
    X, y = noisy_line(40)
    curve = complexity_curve(degrees(1, 3), X, y, cv=KFold(4))
    errors = np.concatenate(
        [(y[b] - LinearRegression().fit(X[a], y[a]).predict(X[b])) ** 2 for a, b in KFold(4).split(X)]
    )
    assert curve.test[0] == pytest.approx(errors.mean(), rel=1e-6)
    assert curve.uncertainty[0] == pytest.approx(2 * errors.std(ddof=1) / np.sqrt(40), rel=1e-6)
    trained = [np.mean((y[a] - LinearRegression().fit(X[a], y[a]).predict(X[a])) ** 2) for a, _ in KFold(4).split(X)]
    assert curve.train[0] == pytest.approx(np.mean(trained), rel=1e-6)


def test_training_error_falls_along_nested_classes_and_reaches_zero():
    X, y = noisy_line(11)
    curve = complexity_curve(degrees(*range(1, 8)), X, y, cv=10, random_state=0)
    assert np.all(np.diff(curve.train) <= 1e-9)
    nodes, values = (
        np.arange(-5.0, 6.0)[:, None],
        2 * np.arange(-5.0, 6.0) + 10 + np.random.default_rng(3).normal(size=11),
    )
    with pytest.warns(DataWarning, match="pass through all 11 rows"):
        full = degrees(10)[10].fit(nodes, values)
    assert np.mean((full.predict(nodes) - values) ** 2) < 1e-12  # eleven points, degree ten


def test_a_line_is_not_underfitted_and_a_high_degree_overfits():
    X, y = noisy_line(60)
    curve = complexity_curve(degrees(1, 2, 16), X, y, cv=5, random_state=0, name="degree")
    assert curve.verdicts[0] == "fits" and curve.verdicts[2] == "overfits" and curve.x[curve.chosen] == 1
    assert "degree = 16 overfits" in curve.sentence and "complexity curve" in repr(curve)


def test_a_constant_underfits_a_line():
    X, y = noisy_line(60, noise=0.5)
    models = {"mean": KNeighborsRegressor(40), "line": LinearRegression()}
    curve = complexity_curve(models, X, y, random_state=0)
    assert curve.verdicts == ("underfits", "fits") and curve.x[curve.best] == "line"


def test_neighbors_from_many_to_one():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = ((X[:, 0] > 0) ^ (rng.random(400) < 0.2)).astype(int)
    curve = validation_curve(
        KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=[41, 1], random_state=0
    )
    assert curve.verdicts == ("fits", "overfits") and curve.train[1] == 0
    assert curve.name == "n_neighbors" and curve.loss.name == "zero_one"


def test_learning_curve_closes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 20))
    y = (X[:, 0] + rng.normal(size=1500) > 0).astype(int)
    curve = learning_curve(SkLogistic(C=1e3), X, y, train_sizes=[30, 200, 1200], random_state=0)
    assert curve.x == (30, 200, 1200) and curve.verdicts[0] == "overfits" and curve.train[0] == 0
    assert np.all(np.diff(curve.test) < 0) and np.all(np.diff(curve.train) > 0) and curve.verdicts[2] == "settled"
    assert "more than additional rows" in curve.sentence
    shares = learning_curve(SkLogistic(C=1e3), X[:60], y[:60], train_sizes=[0.5, 1.0], cv=5, random_state=0)
    assert shares.x == (24, 48) and "should help" in shares.sentence


def test_verdicts_by_their_definition():
    loss = Loss("zero_one", "predict", False)
    curve = Curve(
        "complexity",
        "k",
        (1, 2, 3, 4),
        np.array([0.4, 0.2, 0.1, 0.0]),
        np.array([0.42, 0.25, 0.24, 0.4]),
        np.full(4, 0.05),
        loss,
    )
    assert curve.verdicts == ("underfits", "fits", "fits", "overfits")
    assert curve.best == 2 and curve.chosen == 1 and np.allclose(curve.gaps, [0.02, 0.05, 0.14, 0.4])


def test_bad_sizes():
    X, y = noisy_line(20)
    for sizes in ([], [30], [4, 2], [0]):
        with pytest.raises(InvalidParameter, match="train_sizes"):
            learning_curve(LinearRegression(), X, y, train_sizes=sizes)
