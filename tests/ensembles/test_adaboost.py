"""AdaBoost: its identities, the traces of the notes, other learners, and what the checker refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.forging import reissued

from surefit import AdaBoostClassifier, Certificate, CertificateError, Invalidated, InvalidData, InvalidParameter
from surefit.checks.ensembles import adaboost as checks
from surefit.checks.ensembles import stump as stump_checks
from surefit.data import make_chi2_10
from surefit.ensembles import adaboost_training
from surefit.solvers.boosting import stumps

LINE, PLUS = np.arange(1.0, 7.0)[:, None], np.array([1, 1, -1, -1, 1, 1])


def test_the_trace_on_six_points():
    model = AdaBoostClassifier(n_estimators=3).fit(LINE, PLUS)
    np.testing.assert_allclose(model.estimator_errors_, [1 / 3, 1 / 4, 1 / 6], rtol=1e-14)
    np.testing.assert_allclose(model.estimator_weights_ / 2, [0.34657359, 0.54930614, 0.80471896], atol=1e-8)
    np.testing.assert_array_equal(model.stump_thresholds_, [-np.inf, 2.5, 4.5])
    np.testing.assert_array_equal(model.stump_labels_[1:], [[1, 0], [0, 1]])
    f = [0.09116, 0.09116, -1.00745, -1.00745, 0.60199, 0.60199]
    np.testing.assert_allclose(model.decision_function(LINE) / 2, f, atol=1e-5)
    np.testing.assert_allclose(model.bounds_, np.cumprod([0.94280904, 0.86602540, 0.74535599]), rtol=1e-7)
    assert model.certificate_["adaboost.edges"].value == pytest.approx(0.66846063, abs=1e-8)
    # The stump of round 1 comes back in round 4.
    again = AdaBoostClassifier(n_estimators=4).fit(LINE, PLUS)
    assert again.stump_thresholds_[3] == -np.inf


@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_bits_for_any_number_of_threads(monkeypatch, n_classes):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 50, (400, 11)).astype(float), rng.integers(n_classes, size=400)
    s, found = rng.random(400), []
    for blocks in (stumps, checks, stump_checks):
        monkeypatch.setattr(blocks, "ENTRIES", 1_000)
    for threads in (1, 2, 3):
        for user in (adaboost_training, checks, stump_checks):
            monkeypatch.setattr(user, "blas_threads", lambda threads=threads: threads)
        model = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=s)
        claims = [(claim.name, claim.value, claim.numbers) for claim in model.certificate_.claims]
        proofs = model.verify(X, y, sample_weight=s).findings
        found.append((model.votes(X).tobytes(), model.training_errors_.tolist(), claims, proofs))
    assert found[0] == found[1] == found[2]
    monkeypatch.undo()
    whole = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=s)
    assert whole.votes(X).tobytes() == found[0][0]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0.1, 1.0))
def test_the_product_is_the_mean_exponential_loss_for_any_rate_and_number_of_classes(seed, n_classes, rate):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (40, 3)).astype(float), np.arange(40) % n_classes
    s = rng.integers(1, 4, 40).astype(float)
    model = AdaBoostClassifier(n_estimators=6, learning_rate=rate).fit(X, y, sample_weight=s)
    votes, alphas = model.votes(X), model.estimator_weights_
    lost = alphas.sum() - votes[np.arange(40), y]
    loss = np.average(np.exp(lost - alphas.sum() / 2), weights=s)
    assert loss == pytest.approx(model.bounds_[-1], rel=1e-12)
    assert model.training_errors_[-1] <= loss * (1 + 1e-12)
    assert np.average(model.margins(X, y) <= 0, weights=s) == pytest.approx(model.training_errors_[-1], abs=1e-12)
    model.verify(X, y, sample_weight=s)


def test_the_chain_of_bounds_holds_in_every_round():
    X, y, _ = make_chi2_10(500, random_state=0)
    model = AdaBoostClassifier(n_estimators=60).fit(X, y)
    gammas = 0.5 - model.estimator_errors_
    exponential = np.exp(-2 * np.cumsum(gammas**2))
    assert np.all(model.training_errors_ <= model.bounds_)
    assert np.all(model.bounds_ <= exponential * (1 + 1e-12))
    np.testing.assert_allclose(model.bounds_, np.cumprod(np.sqrt(1 - 4 * gammas**2)), rtol=1e-12)
    staged = [np.mean(f * y <= 0) for f in model.staged_decision_function(X)]
    np.testing.assert_allclose(staged, model.training_errors_, atol=1e-12)


def test_four_hundred_stumps_on_the_ball_reach_the_error_of_the_notes():
    errors = []
    for seed in range(3):
        X, y, truth = make_chi2_10(12_000, random_state=seed)
        model = AdaBoostClassifier(n_estimators=400).fit(X[:2000], y[:2000])
        staged = [1 - score for score in model.staged_score(X[2000:], y[2000:])]
        assert staged[0] == pytest.approx(truth["best_stump_error"], abs=0.02)
        assert 0.10 <= staged[399] <= 0.14
        assert staged[9] > staged[49] > staged[99] > staged[199] > staged[399]
        errors.append(staged[399])
    assert np.mean(errors) == pytest.approx(0.122, abs=0.01)


def test_the_bound_proves_that_no_error_is_left():
    X, y = LINE, PLUS
    model = AdaBoostClassifier(n_estimators=1000, stop_bound="zero").fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.bounds_[-1] < 1 / 6 <= model.bounds_[-2]
    assert model.score(X, y) == 1
    early = AdaBoostClassifier(n_estimators=1000, stop_bound=0.7).fit(X, y)
    assert len(early.estimators_) == 3


def test_a_member_without_error_is_kept_alone():
    X, y = np.arange(4.0)[:, None], [0, 0, 1, 1]
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1
    assert model.score(X, y) == 1
    assert model.verify(X, y)["adaboost.training_error"].proved == 0


def test_a_first_member_no_better_than_chance_is_refused():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    with pytest.raises(InvalidData, match="no better than chance"):
        AdaBoostClassifier().fit(X, y)
    assert AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, y).score(X, y) == 1


def test_probabilities_are_those_of_the_half_log_odds():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 4000)
    p = np.array([0.2, 0.5, 0.9])[x]
    y = (rng.random(4000) < p).astype(int)
    model = AdaBoostClassifier(n_estimators=300).fit(x[:, None].astype(float), y)
    found = model.predict_proba([[0.0], [1.0], [2.0]])[:, 1]
    truth = [y[x == k].mean() for k in range(3)]
    np.testing.assert_allclose(found, truth, atol=1e-3)
    half = model.decision_function([[0.0], [1.0], [2.0]]) / 2
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-2 * half)), rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba([[1.0]])), model.predict_proba([[1.0]]), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_the_same_trees_it_is_scikit_learn(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes][:, :2], y[y < n_classes]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours, peer = (cls(tree, n_estimators=15, random_state=0).fit(X, y) for cls in (AdaBoostClassifier, Peer))
    m = len(ours.estimators_)
    np.testing.assert_allclose(ours.estimator_errors_, peer.estimator_errors_[:m], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_[:m], rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, rtol=1e-6)
    ours.verify(X, y)


def test_m1_stops_at_one_half_where_samme_goes_on():
    X, y = load_iris(return_X_y=True)
    samme, m1 = (AdaBoostClassifier(algorithm=name, n_estimators=20).fit(X, y) for name in ("samme", "m1"))
    assert samme.estimator_weights_[0] == pytest.approx(m1.estimator_weights_[0] + math.log(2))
    assert np.all(m1.estimator_errors_ < 0.5)
    assert m1.verify(X, y)["adaboost.half_weight"].proved < 1e-12


def test_weights_repeat_rows():
    rng = np.random.default_rng(1)
    X, y, s = rng.standard_normal((40, 3)), rng.integers(2, size=40), rng.integers(0, 3, size=40)
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=s)
    repeated = AdaBoostClassifier(n_estimators=10).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    weighted.verify(X, y, sample_weight=s)


def test_a_clock_and_a_callback_end_the_rounds():
    X, y, _ = make_chi2_10(200, random_state=0)
    assert AdaBoostClassifier(n_estimators=10**6, max_time=0.2).fit(X, y).stop_reason_ == "max_time"


def test_a_learner_without_weights_is_refused():
    with pytest.raises(InvalidParameter, match="takes sample_weight; got 'KNeighborsClassifier'"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(LINE, PLUS)


# --- the checker ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def boosted():
    X, y, _ = make_chi2_10(300, random_state=3)
    return AdaBoostClassifier(n_estimators=20).fit(X, y), X, y


def test_certificate_survives_json(boosted):
    model, X, y = boosted
    assert len(Certificate.from_json(model.certificate_.to_json()).verify(X, y).findings) == 7


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("stump_thresholds_", 3, 0.123), ("estimator_weights_", 5, 0.5), ("stump_labels_", 2, 0)],
)
def test_a_changed_member_is_refused(boosted, name, place, value):
    model, X, y = boosted
    changed = model.certificate_.model[name].copy()
    changed[place] = value
    forged = replace(model.certificate_, subject=None, seal="", model={**model.certificate_.model, name: changed})
    with pytest.raises(CertificateError, match="adaboost"):
        forged.verify(X, y)


@pytest.mark.parametrize("name", ["adaboost.product", "adaboost.training_error", "adaboost.edges", "adaboost.margin"])
def test_a_better_number_than_the_true_one_is_refused(boosted, name):
    model, X, y = boosted
    claims = tuple(replace(c, value=c.value - 1e-3) if c.name == name else c for c in model.certificate_.claims)
    with pytest.raises(CertificateError, match=name):
        replace(model.certificate_, subject=None, seal="", claims=claims).verify(X, y)


def test_a_stump_that_is_not_the_best_is_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] > 0).astype(int)
    y[:20] = 1 - y[:20]
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    worse = {**model.certificate_.model, "stump_thresholds_": model.stump_thresholds_ + 0.3}
    said = np.where(X[:, 0] <= worse["stump_thresholds_"][0], *model.stump_labels_[0])
    error = np.mean(said != y)
    worse["estimator_weights_"] = np.array([math.log((1 - error) / error)])
    product = 2 * math.sqrt(error * (1 - error))
    values = {
        "adaboost.product": product,
        "adaboost.training_error": error,
        "adaboost.edges": math.exp(-2 * (0.5 - error) ** 2),
    }
    claims = tuple(replace(c, value=values.get(c.name, c.value)) for c in model.certificate_.claims)
    forged = replace(model.certificate_, subject=None, seal="", model=worse, claims=claims)
    with pytest.raises(CertificateError, match="adaboost"):
        forged.verify(X, y)


def test_members_that_changed_are_noticed():
    X, y, _ = make_chi2_10(100, random_state=4)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=3).fit(X, y)
    model.verify(X, y)
    model.estimators_[1] = DecisionTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(Invalidated, match="estimators_ was changed"):
        model.verify(X, y)
    with pytest.raises(Invalidated, match="do not reproduce the recorded predictions"):
        reissued(model).verify(X, y)
