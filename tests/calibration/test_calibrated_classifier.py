"""Calibrated classifiers: the maps solve their problems, agree with scikit-learn's, and false statements are refused."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV as Peer
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.forging import reissued

import surefit
from surefit import CalibratedClassifierCV, CertificateError, InvalidData
from surefit.checks.calibration.isotonic import isotonic_gap
from surefit.checks.calibration.temperature import temperature_gap
from surefit.solvers import calibration
from surefit.solvers.calibration import fit_factor, fit_isotonic, fit_sigmoid, one_hot

METHODS = ("sigmoid", "isotonic", "temperature")


def data(n_classes=2, n=150):
    X, y = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    return X, y, np.random.default_rng(0).uniform(0.2, 3.0, n)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ensemble", [True, False])
def test_the_probabilities_are_those_of_scikit_learn(method, n_classes, ensemble):
    X, y, w = data(n_classes)
    for base in (GaussianNB(), LogisticRegression()):  # probabilities, and decision values
        ours, theirs = (
            kind(base, method=method, ensemble=ensemble, cv=3).fit(X, y, sample_weight=w)
            for kind in (CalibratedClassifierCV, Peer)
        )
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)
        assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_) == (3 if ensemble else 1)
        claims = ours.verify(X, y, sample_weight=w)
        assert claims[f"calibration.{method}"].proved < 1e-10 and claims[f"calibration.{method}"].level == "enclosed"
        stated = [claim.name for claim in ours.certificate_.claims]
        assert ("calibration.scores" in stated) == ensemble


def test_a_frozen_classifier_is_not_fitted_again():
    X, y, _ = data(3)
    base = GaussianNB().fit(X[:70], y[:70])
    ours, theirs = (kind(FrozenEstimator(base)).fit(X[70:], y[70:]) for kind in (CalibratedClassifierCV, Peer))
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)
    assert ours.calibrated_classifiers_[0].estimator.estimator is base
    assert ours.verify(X[70:], y[70:])["calibration.scores"].ok


def test_labels_may_be_text_and_jobs_change_no_bit():
    X, y, w = data(3)
    names = np.array(["a", "b", "c"])[y]
    for method in METHODS:
        one, two = (
            CalibratedClassifierCV(GaussianNB(), method=method, cv=3, n_jobs=jobs).fit(X, names, w) for jobs in (1, 2)
        )
        assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
        assert set(one.predict(X)) <= set(names)
        one.verify(X, names, w)


def test_isotonic_regression_by_hand():
    """Of 0, 1, 0, 1 the middle pair is pooled; a gap of zero in rational numbers."""
    knots, values = fit_isotonic(np.arange(4.0), np.array([0, 1, 0, 1]), np.ones(4))
    assert knots.tolist() == [0, 1, 2, 3] and values.tolist() == [0, 0.5, 0.5, 1]
    bound = isotonic_gap(np.arange(4.0), np.array([0, 1, 0, 1]), np.ones(4), np.array([0, 0.5, 0.5, 1]))
    assert 0 <= bound.value < 1e-14


@pytest.mark.parametrize("move", [0.01, 0.1])
def test_the_isotonic_gap_encloses_the_excess_of_a_worse_function(move):
    rng = np.random.default_rng(1)
    s, y, w = np.round(rng.normal(size=200), 1), rng.integers(0, 2, 200), rng.integers(1, 4, 200).astype(float)
    knots, best = fit_isotonic(s, y, w)
    worse = np.interp(s, knots, np.clip(best + move * np.arange(len(best)) / len(best), 0, None))

    def exact(values):
        return sum(
            Fraction(a) * (Fraction(float(v)) - int(b)) ** 2 for a, v, b in zip(w, values, y, strict=True)
        ) / Fraction(float(w.sum()))

    excess = exact(worse) - exact(np.interp(s, knots, best))
    bound = isotonic_gap(s, y, w, worse).value
    assert float(excess) <= bound < move
    assert isotonic_gap(s, y, w, worse[::-1] * 0 - s).value == np.inf  # a decreasing function is no candidate


def test_platts_sigmoid_against_a_general_optimizer():
    rng = np.random.default_rng(2)
    s, w = 100 * rng.normal(size=300), rng.uniform(0.5, 2, 300)
    codes = (rng.random(300) < 1 / (1 + np.exp(-s / 50))).astype(int)
    one, zero = w[codes == 1].sum(), w[codes == 0].sum()
    t = np.where(codes == 1, (one + 1) / (one + 2), 1 / (zero + 2))

    def loss(p):
        z = p[0] * s / 100 + p[1]
        return float(w @ (np.logaddexp(0, z) - t * z))

    a, b = fit_sigmoid(s, codes, w)
    assert loss([100 * a, b]) <= minimize(loss, [0.0, 0.0], tol=1e-12).fun * (1 + 1e-12)


def test_the_temperature_gap_encloses_the_excess():
    rng = np.random.default_rng(3)
    z, w = rng.normal(size=(200, 3)), np.ones(200)
    codes = np.array([rng.choice(3, p=p) for p in np.exp(2 * z) / np.exp(2 * z).sum(axis=1, keepdims=True)])
    beta = fit_factor(z, one_hot(codes, 3), w, 1e-4, 1e4)

    def loss(value):
        return float(np.mean(np.log(np.exp(value * z).sum(axis=1)) - value * z[np.arange(200), codes]))

    assert temperature_gap(z, codes, w, beta, (1e-4, 1e4)).value < 1e-14
    for other in (0.9 * beta, 1.2 * beta):
        assert loss(other) - loss(beta) <= temperature_gap(z, codes, w, other, (1e-4, 1e4)).value < 0.1
    separated = np.where(one_hot(codes, 3) > 0, 1.0, 0.0)
    assert fit_factor(separated, one_hot(codes, 3), w, 1e-4, 50.0) == 50.0
    assert temperature_gap(separated, codes, w, 50.0, (1e-4, 50.0)).value == 0.0
    assert temperature_gap(separated, codes, w, 60.0, (1e-4, 50.0)).value == np.inf


@pytest.mark.parametrize("method", METHODS)
def test_changed_maps_scores_and_claims_are_refused(method):
    X, y, _ = data(3)
    model = CalibratedClassifierCV(GaussianNB(), method=method, cv=3).fit(X, y)
    certificate = model.certificate_
    pair = model.calibrated_classifiers_[1]
    name = {"sigmoid": "a_", "isotonic": "y_thresholds_", "temperature": "beta_"}[method]
    kept = getattr(pair.calibrators[0], name)
    setattr(pair.calibrators[0], name, kept * 0.9)
    with pytest.raises(CertificateError, match="changed after the fit"):
        certificate.verify(X, y)
    setattr(pair.calibrators[0], name, kept)
    model.calibration_scores_[0][0, 0] += 1e-3
    with pytest.raises(CertificateError, match="changed after the fit"):
        certificate.verify(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_a_changed_model_is_refused_with_a_new_seal_too(method):
    X, y, _ = data(3)
    model = CalibratedClassifierCV(GaussianNB(), method=method, cv=3).fit(X, y)
    pair = model.calibrated_classifiers_[-1]
    reissued(model).verify(X, y)
    name = {"sigmoid": "b_", "isotonic": "y_thresholds_", "temperature": "beta_"}[method]
    for owner, attribute, value in (
        (
            pair.calibrators[-1],
            name,
            getattr(pair.calibrators[-1], name) * np.nan,
        ),  # the largest gap could be that of another map
        (pair, "classes", pair.classes[::-1]),
        (pair.estimator, "classes_", pair.estimator.classes_ - 0.5),
    ):
        kept = getattr(owner, attribute)
        setattr(owner, attribute, value)
        with pytest.raises(CertificateError):
            reissued(model).verify(X, y)
        setattr(owner, attribute, kept)
    reissued(model).verify(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_a_worse_map_states_its_larger_gap(method, monkeypatch):
    from surefit.calibration import calibrators

    X, y, _ = data(2)
    good = CalibratedClassifierCV(GaussianNB(), method=method, cv=3).fit(X, y).certificate_.claims[0].value
    if method == "temperature":
        monkeypatch.setattr(calibrators, "fit_factor", lambda *a: 0.5 * fit_factor(*a))
    elif method == "sigmoid":
        monkeypatch.setattr(calibrators, "fit_sigmoid", lambda *a: (0.5 * fit_sigmoid(*a)[0], 0.0))
    else:
        monkeypatch.setattr(calibrators, "fit_isotonic", lambda *a: (fit_isotonic(*a)[0], 0.9 * fit_isotonic(*a)[1]))
    bad = CalibratedClassifierCV(GaussianNB(), method=method, cv=3).fit(X, y).certificate_.claims[0].value
    assert bad > 1e-4 > 1e-10 > good


def test_errors_name_what_to_do():
    X, y, _ = data(2)
    with pytest.raises(InvalidData, match="3-fold cross-validation but provided less than 3"):
        CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, np.eye(1, len(y), dtype=int)[0])
    splits = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1)), (np.flatnonzero(y == 1), np.flatnonzero(y == 0))]
    with pytest.raises(InvalidData, match="without rows of class"):
        CalibratedClassifierCV(GaussianNB(), cv=splits).fit(X, y)


def test_a_fold_without_a_class_of_three_gives_it_no_probability():
    X, y, _ = data(3)
    rows = np.arange(len(y))
    model = CalibratedClassifierCV(GaussianNB(), cv=[(rows[y < 2], rows)]).fit(X, y)
    assert np.all(model.predict_proba(X)[:, 2] == 0)
    model.verify(X, y)


def test_parameters_of_fit_reach_the_classifier():
    class Noted(GaussianNB):
        def fit(self, X, y, sample_weight=None, note=None):
            self.seen_ = note, None if sample_weight is None else len(sample_weight)
            return super().fit(X, y, sample_weight)

    X, y, w = data(2)
    model = CalibratedClassifierCV(Noted(), cv=3).fit(X, y, w, note="text")
    assert [pair.estimator.seen_ for pair in model.calibrated_classifiers_] == [("text", 100)] * 3


def test_a_saved_model_is_the_same(tmp_path):
    X, y, _ = data(3)
    model = CalibratedClassifierCV(method="isotonic", cv=3).fit(X, y)
    surefit.save(model, tmp_path / "model.surefit")
    again = surefit.load(tmp_path / "model.surefit")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    again.verify(X, y)


def test_sigmoids_are_those_of_the_general_solver_in_few_evaluations(monkeypatch):
    rng = np.random.default_rng(2)
    scores, weights = 1e3 * rng.normal(size=500), rng.uniform(0.0, 2.0, size=500)
    codes = (scores + 1e3 * rng.normal(size=500) > 200).astype(int)
    second = calibration.smoothed_targets(codes, weights)
    column = np.column_stack([np.zeros(500), scores / 512])
    moves = np.stack([column, np.broadcast_to([0.0, 1.0], column.shape)])
    wanted = calibration.fit_directions(moves, np.column_stack([1 - second, second]), weights, [0.0, 0.0])
    losses, loss = [], calibration._sigmoid_loss
    monkeypatch.setattr(calibration, "_sigmoid_loss", lambda *args: losses.append(1) or loss(*args))
    slope, intercept = calibration.fit_sigmoid(scores, codes, weights)
    np.testing.assert_allclose([slope * 512, intercept], wanted, rtol=1e-9)
    assert len(losses) <= 15
    p = 1 / (1 + np.exp(-(slope * scores + intercept)))
    assert abs(weights @ (p - second)) <= 1e-6 and abs(weights @ ((p - second) * scores)) <= 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("columns, got", [(None, "1 number"), (6, r"an array of shape \(6,\)")])
def test_scores_that_do_not_fit_the_classes_are_named(method, columns, got):
    class Odd(LogisticRegression):
        def decision_function(self, X):
            return np.zeros(len(X) if columns is None else (len(X), columns))

    X, y, _ = data(3)
    with pytest.raises(InvalidData, match=f"with 3 classes must return 3 scores per row, and returned {got} per row"):
        CalibratedClassifierCV(Odd(), method=method).fit(X, y)
