"""Bounds from training rows, traces of ensembles, and paths of perceptrons: identities and refusals."""

import numpy as np
import pytest

from surefit import (
    SVC,
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    InvalidData,
    InvalidParameter,
    KNeighborsClassifier,
    LabelModel,
    LogisticRegression,
    Perceptron,
    RandomForestClassifier,
    Ridge,
    adaboost_trace,
    bootstrap_samples,
    check_schedule,
    ensemble_ambiguity,
    finite_class_erm,
    novikoff_bound,
    perceptron_path,
    perceptron_progress,
    training_error,
    vc_risk_bound,
)
from surefit.bounds import affine_witness
from surefit.data import make_two_gaussians, make_two_triangles
from surefit.perceptrons.schedules import GeometricSchedule, PowerSchedule


def test_the_vc_bound_holds_and_shrinks():
    model = LabelModel(lambda x: 0.1 + 0.8 * (x[:, 0] > 0.5))
    values = []
    for n in (2000, 20_000):
        X, y = model.sample(n, 0)
        fitted = LogisticRegression().fit(X, y)
        bound = vc_risk_bound(fitted, X, y)
        values.append(bound.value)
        assert model.risk(fitted.predict).value <= bound.value
    assert values[1] < values[0]
    X, y, _ = make_two_gaussians(60, random_state=0)
    with pytest.raises(InvalidParameter, match="linear classifier"):
        vc_risk_bound(DecisionTreeClassifier().fit(X, y), X, y)
    with pytest.raises(InvalidData, match="two classes"):
        vc_risk_bound(LogisticRegression().fit(X, np.arange(60) % 3), X, np.arange(60) % 3)
    linear = SVC(kernel="linear").fit(X, y)
    assert vc_risk_bound(linear, X, y).value == 1.0 and training_error(linear, X, y) <= 1 - linear.score(X, y) + 1e-12


def test_finite_classes():
    X, y, _ = make_two_gaussians(80, random_state=0)
    rules = [lambda Z, s=s: np.where(Z[:, 0] > s, 1, -1) for s in (-5.0, 0.0, 5.0)]
    found = finite_class_erm(rules, X, y)
    assert found.chosen == 1 and np.array_equal(found.predict(X), rules[1](X))
    assert found.risk_bound.value == pytest.approx(found.errors[1] + found.excess_bound / 2, rel=1e-6)
    with pytest.raises(InvalidData, match="no classifier"):
        finite_class_erm([], X, y)


def test_ensembles_tell_what_they_did():
    X, y, _ = make_two_gaussians(40, random_state=0)
    forest = RandomForestClassifier(4, random_state=0).fit(X, y)
    assert [len(rows) for rows in bootstrap_samples(forest, X, y)] == [40] * 4
    shuffled = np.random.default_rng(0).permutation(40)
    again = bootstrap_samples(forest, X[shuffled], y[shuffled])
    assert sorted(shuffled[again[0]]) == sorted(bootstrap_samples(forest, X, y)[0])  # the order of rows does not matter
    with pytest.raises(InvalidParameter, match="bootstrap=True"):
        bootstrap_samples(RandomForestClassifier(2, bootstrap=False).fit(X, y), X, y)
    bag = BaggingRegressor(Ridge(), n_estimators=4, max_features=0.5, random_state=0).fit(X, X[:, 0])
    parts = ensemble_ambiguity(bag, X, X[:, 0])
    assert parts.error == pytest.approx(np.mean((bag.predict(X) - X[:, 0]) ** 2))
    with pytest.raises(InvalidParameter, match="two classes"):
        adaboost_trace(AdaBoostClassifier(n_estimators=3).fit(X, np.arange(40) % 3), X, np.arange(40) % 3)
    with pytest.raises(InvalidData, match="no error"):
        adaboost_trace(AdaBoostClassifier(n_estimators=3).fit([[0.0], [1.0]], [0, 1]), [[0.0], [1.0]], [0, 1])


def test_paths_of_perceptrons():
    X, y, truth = make_two_triangles(0.3)
    model = Perceptron(fit_intercept=False, order="cyclic", tol=None, eta0=2.0).fit(X, y)
    path = perceptron_path(model, X, y)
    assert path[-1, :2] == pytest.approx(model.coef_[0]) and len(path) == model.n_updates_ + 1
    progress = perceptron_progress(model, X, y, truth["coef"])
    assert progress.holds and model.n_updates_ <= progress.bound
    with pytest.raises(InvalidData, match="without intercept"):
        perceptron_progress(Perceptron(tol=None).fit(X, y), X, y, truth["coef"])
    with pytest.raises(InvalidData, match="2 numbers"):
        perceptron_progress(model, X, y, [1.0])
    lifted = novikoff_bound(2.0, 0.5, constant=1.0, intercept=-1.5)
    assert lifted == pytest.approx((4 + 1) * (1 + 2.25) / 0.25)
    with pytest.raises(InvalidParameter, match="constant"):
        novikoff_bound(1.0, 1.0, constant=0.0)


def test_ratios_of_schedules_do_not_overflow():
    for schedule in (
        GeometricSchedule(2.0),
        GeometricSchedule(0.5),
        GeometricSchedule(1.0),
        PowerSchedule(3.0),
        PowerSchedule(-0.5),
    ):
        steps = np.asarray(schedule(np.arange(1.0, 31.0)), dtype=float) * np.ones(30)
        assert check_schedule(schedule, horizon=30).ratio_at_horizon == pytest.approx(
            np.sum(steps**2) / np.sum(steps) ** 2
        )
        assert np.isfinite(check_schedule(schedule).ratio_at_horizon)


def test_ties_of_neighbors_and_the_sign_rule():
    X = [[0.0], [1.0], [3.0]]
    assert KNeighborsClassifier(2, ties="nearest").fit(X, [1, 0, 0]).predict([[0.1], [0.9]]).tolist() == [1, 0]
    assert KNeighborsClassifier(2).fit(X, [1, 0, 0]).predict([[0.1], [0.9]]).tolist() == [0, 0]
    sign = Perceptron(fit_intercept=False, mistake="sign", order="cyclic").fit([[1.0], [-1.0]], [1, -1])
    assert sign.predict([[0.0]])[0] == 1


def test_affine_witness_refuses_what_it_cannot_list():
    assert affine_witness(1).holds and affine_witness(2, intercept=False).points.shape == (2, 2)
    with pytest.raises(InvalidParameter, match="n_features"):
        affine_witness(40)
