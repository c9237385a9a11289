"""Transfer of bounded losses, and Pick-to-Learn for misses of a regressor: definitions, identities, and what is refused."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from tests.forging import with_claim

from surefit import CertificateError, Certified, InvalidData, InvalidParameter, risk_certificate
from surefit.bounds import clopper_pearson, holdout_loss, pick_to_learn
from surefit.checks.risk.transfer import _excess
from surefit.risk.carried import largest_excess
from surefit.risk.losses import Loss, losses_of, trivial_loss


def line(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, 2))
    return X, X @ [0.6, 0.2] + rng.uniform(-0.1, 0.1, size=n) + 0.1


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1]])[y], np.array(["a", "b", "c"])[y]


numbers = st.floats(-1.0, 3.0)


@settings(max_examples=60)
@given(numbers, numbers, numbers, st.sampled_from(["squared", "absolute"]))
def test_no_target_loses_more_than_the_largest_excess(a, b, y, name):
    loss = Loss(name, "predict", True, -1.0, 3.0)
    model, twin, target = np.array([a]), np.array([b]), np.array([y])
    limit = largest_excess(loss, model, twin)
    gap = losses_of("", loss, target, model) - losses_of("", loss, target, twin)
    assert gap[0] <= limit[0] + 1e-12 <= 1 + 1e-9
    # and one end of the range attains it
    ends = [losses_of("", loss, np.array([e]), model) - losses_of("", loss, np.array([e]), twin) for e in (-1.0, 3.0)]
    assert limit[0] == pytest.approx(max(0.0, *(float(e[0]) for e in ends)), abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6))
def test_brier_excess_by_two_routes(weights):
    p, q = (np.array(part)[None] / sum(part) for part in (weights[:3], weights[3:]))
    loss, classes = Loss("brier", "predict_proba", True), np.array(["a", "b", "c"])
    limit = largest_excess(loss, p, q)
    gaps = [
        losses_of("", loss, np.array([label]), p, classes) - losses_of("", loss, np.array([label]), q, classes)
        for label in ("a", "b", "c", "d")
    ]
    assert limit[0] == pytest.approx(max(0.0, float(np.max(gaps))), abs=1e-12)
    assert _excess({"loss": "brier"}, p, q)[0] == pytest.approx(limit[0], abs=1e-12)


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_transfer_of_a_regression_loss(name):
    X, y = line(500)
    U = line(400, seed=1)[0]
    model = Certified(Ridge(), "transfer", loss=name, y_range=(0, 1), random_state=0).fit(X, y, X_unlabeled=U)
    twin, full = model.twin_.predict, Ridge().fit(X, y).predict
    test = model.test_rows_
    a, b = (np.clip(f(U), 0, 1) for f in (full, twin))
    error = np.abs(np.clip(twin(X[test]), 0, 1) - y[test])
    losses = error**2 if name == "squared" else error
    excess = (
        np.maximum((0 - a) ** 2 - (0 - b) ** 2, (1 - a) ** 2 - (1 - b) ** 2) if name == "squared" else np.abs(a - b)
    )
    expected = holdout_loss(losses, 0.025).value + holdout_loss(np.maximum(excess, 0), 0.025).value
    assert model.risk_bound_ == pytest.approx(expected, rel=1e-9)
    # the truth, by a large sample, is far below: two limits were added
    Z, t = line(20_000, seed=2)
    truth = np.mean(np.abs(np.clip(model.predict(Z), 0, 1) - t) ** (2 if name == "squared" else 1))
    assert truth < model.risk_bound_ < 3 * truth + 0.05
    assert model.verify(X, y)["risk.transfer"].ok
    scaled = Certified(Ridge(), "transfer", loss=name, y_range=(0, 10), random_state=0).fit(X, 10 * y, X_unlabeled=U)
    assert scaled.risk_bound_ == pytest.approx(model.risk_bound_ * (100 if name == "squared" else 10), rel=1e-6)


def test_transfer_of_the_brier_score_and_files():
    X, y = blobs(400)
    U = blobs(300, seed=1)[0]
    model = Certified(GaussianNB(), "transfer", loss="brier", random_state=0).fit(X, y, X_unlabeled=U)
    assert 0.1 < model.risk_bound_ < 0.4 and model.ledger_[0][1] == pytest.approx(0.025)
    model.verify(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.verify(X, y)["risk.transfer"].ok


def test_fresh_copies_count_once_and_answers_are_asked_again():
    X, y = blobs(300)
    U = blobs(100, seed=1)[0]
    model = Certified(LogisticRegression(), "transfer", random_state=0)
    once = model.fit(X, y, X_unlabeled=U).risk_bound_
    claim = model.certificate_.claims[0]
    assert claim.numbers["n_unlabeled"] == 100
    assert model.fit(X, y, X_unlabeled=np.vstack([U, U])).risk_bound_ == once
    draws = Certified(LogisticRegression(), "transfer", assume=("equal_rows_are_draws",), random_state=0)
    assert draws.fit(X, y, X_unlabeled=np.vstack([U, U])).risk_bound_ < once
    model.fit(X, y, X_unlabeled=U)
    assert claim.numbers["disagreements"] > 0
    with pytest.raises(CertificateError, match="disagreements is"):
        with_claim(model.certificate_, claim.name, numbers={**claim.numbers, "disagreements": 0}).verify(X, y)
    model._fresh = U + 1
    with pytest.raises(CertificateError, match="_fresh was changed"):
        model.verify(X, y)


# --- misses -------------------------------------------------------------------------------------------------------------


def test_misses_on_withheld_rows():
    X, y = line(400)
    model = Certified(Ridge(), tolerance=0.08, random_state=0).fit(X, y)
    test = model.test_rows_
    missed = int(np.sum(np.abs(model.predict(X[test]) - y[test]) > 0.08))
    assert 10 < missed < 100 and model.risk_bound_ == pytest.approx(clopper_pearson(missed, 200, 0.05))
    assert "probability of |y - prediction| > 0.08" in model.certificate_.claims[0].statement
    model.verify(X, y)
    certificate = risk_certificate(Ridge().fit(X[:200], y[:200]), X[200:], y[200:], tolerance=0.08)
    assert certificate["risk.holdout"].numbers["tolerance"] == 0.08 and certificate.verify(X[200:], y[200:])
    wider = dataclasses.replace(certificate.claims[0], numbers={**certificate.claims[0].numbers, "tolerance": 1.0})
    with pytest.raises(CertificateError, match="errors is"):
        dataclasses.replace(certificate, claims=(wider,), seal="").verify(X[200:], y[200:])


def test_pick_to_learn_moves_the_largest_misses_first():
    # Eighty places of different heights: one row of a place that was not met settles the others there.
    rng = np.random.default_rng(0)
    place = rng.integers(0, 80, size=400)
    X, y = (place + rng.uniform(0, 0.1, size=400))[:, None], (place * 37 % 80).astype(float)
    tree = DecisionTreeRegressor(random_state=0)
    model = Certified(tree, "p2l", tolerance=0.5, batch_size=2, random_state=0).fit(X, y)
    claim = model.certificate_["risk.pick_to_learn"]
    left = int(np.sum(np.abs(model.predict(X[model.test_rows_]) - y[model.test_rows_]) > 0.5))
    picked = claim.numbers["picked"]
    assert claim.value == pick_to_learn(picked, left, 200, 0.05, budgets=6).value
    assert picked + len(model.test_rows_) == 200
    order = np.random.RandomState(0).permutation(400)
    start, second = np.sort(order[:200]), np.sort(order[200:])
    miss = np.abs(tree.fit(X[start], y[start]).predict(X[second]) - y[second])
    assert picked + left < np.sum(miss > 0.5)  # picking paid
    assert set(second[np.argsort(-miss, kind="stable")[:2]]) <= set(model.train_rows_)
    model.verify(X, y)


def test_own_loss_of_zero_and_one_can_be_picked_by():
    X, y = line(200)
    miss = lambda y, p: (np.abs(y - p) > 0.08).astype(float)  # noqa: E731
    own = Certified(Ridge(), "p2l", loss=miss, random_state=0).fit(X, y)
    assert own.verify(X, y)["risk.pick_to_learn"].ok and own.risk_bound_ < 1
    with pytest.raises(InvalidData, match="must be 0 or 1"):
        Certified(Ridge(), "p2l", loss=lambda y, p: np.abs(y - p) / 2, random_state=0).fit(X, y)


def test_trivial_misses_by_a_sliding_window():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    for tolerance in (0.0, 0.3, 5.0):
        loss = Loss("miss", "predict", False, tolerance=tolerance)
        best = min(np.mean(np.abs(y - center) > tolerance + 1e-12) for center in [*y, *(y + tolerance)])
        assert trivial_loss(loss, y) == pytest.approx(best)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": "p2l"}, "tolerance must be the largest error"),
        ({"by": "p2l", "loss": "squared", "y_range": (0, 1)}, "loss must be one of"),
        ({"by": "transfer"}, "y_range must be the declared range"),
        ({"by": "transfer", "tolerance": 0.1}, "loss must be one of|y_range"),
        ({"loss": "miss"}, "tolerance must be the largest error"),
        ({"loss": "quantile", "tolerance": 1.0}, "None without loss='miss'"),
        ({"tolerance": -1.0}, "number >= 0"),
        ({"loss": lambda y, p: y * 0, "tolerance": 1.0}, "None without"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:12],
)
def test_what_is_missing_is_named(options, match):
    X, y = line(60)
    fresh = {"X_unlabeled": line(30, seed=1)[0]} if options.get("by") == "transfer" else {}
    with pytest.raises(InvalidParameter, match=match):
        Certified(Ridge(), random_state=0, **options).fit(X, y, **fresh)


def test_classifier_has_no_tolerance():
    X, y = blobs(60)
    with pytest.raises(InvalidParameter, match="tolerance must be None"):
        Certified(LogisticRegression(), tolerance=1.0).fit(X, y)
