"""Naive Bayes: parameters by hand in exact numbers, then scikit-learn's, then streams and limits."""

from fractions import Fraction

import numpy as np
import pytest
import sklearn.naive_bayes as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import surefit
from surefit import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter

RNG = np.random.default_rng(5)
COUNTS = RNG.poisson(1.2, size=(90, 5)).astype(float)
LABELS = np.array(["x", "y", "z"])[RNG.integers(0, 3, 90)]
WEIGHTS = RNG.integers(0, 4, 90).astype(float)
ALL = [GaussianNB, MultinomialNB, BernoulliNB, ComplementNB]


def test_gaussian_by_hand():
    """Class a has 0 and 2 (mean 1, variance 1); class b has 10, 14, 14, 14 (mean 13, variance 3)."""
    X, y = np.array([[0.0], [2], [10], [14], [14], [14]]), np.array(list("aabbbb"))
    model = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert model.theta_.tolist() == [[1.0], [13.0]] and model.var_.tolist() == [[1.0], [3.0]]
    assert model.class_prior_.tolist() == [1 / 3, 2 / 3] and model.class_count_.tolist() == [2.0, 4.0]
    log_odds = np.diff(model.predict_joint_log_proba([[5.0]]))[0, 0]
    assert log_odds == pytest.approx(np.log(2) - np.log(3) / 2 + 16 / 2 - 64 / 6, rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=4, max_size=8), st.integers(1, 4))
def test_probabilities_are_the_exact_shares(rows, alpha):
    X, y = np.array(rows, dtype=float), np.arange(len(rows)) % 2
    found = {cls: cls(alpha=alpha).fit(X, y) for cls in (MultinomialNB, BernoulliNB, ComplementNB)}
    for k in (0, 1):
        own, other = X[y == k].astype(int), X[y != k].astype(int)
        total, size = int(own.sum()) + 3 * alpha, len(own)
        for j in range(3):
            wanted = {
                MultinomialNB: Fraction(int(own[:, j].sum()) + alpha, total),
                BernoulliNB: Fraction(int((own[:, j] > 0).sum()) + alpha, size + 2 * alpha),
                ComplementNB: Fraction(int(other[:, j].sum()) + alpha, int(other.sum()) + 3 * alpha),
            }
            for cls, share in wanted.items():
                sign = -1 if cls is ComplementNB else 1
                assert np.exp(sign * found[cls].feature_log_prob_[k, j]) == pytest.approx(float(share), rel=1e-13)


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (GaussianNB, {"priors": [0.2, 0.3, 0.5]}),
        (MultinomialNB, {"alpha": [0.1, 1, 2, 3, 4], "fit_prior": False}),
        (MultinomialNB, {"class_prior": [0.2, 0.3, 0.5], "alpha": 0.5}),
        (BernoulliNB, {"binarize": 1.0}),
        (ComplementNB, {}),
        (ComplementNB, {"norm": True}),
    ],
)
def test_as_scikit_learn(cls, options, rows):
    if cls is GaussianNB and rows is not np.asarray:
        rows = np.asfortranarray
    X = rows(COUNTS)
    model = cls(**options).fit(X, LABELS, sample_weight=WEIGHTS)
    peer = getattr(peers, cls.__name__)(**options).fit(COUNTS, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), peer.predict_joint_log_proba(COUNTS), rtol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(COUNTS), rtol=1e-7)
    assert (model.predict(X) == peer.predict(COUNTS)).all()
    model.verify(X, LABELS, WEIGHTS)


@pytest.mark.parametrize("cls", ALL)
def test_a_stream_gives_the_fit_of_all_rows(cls):
    whole, stream = cls().fit(COUNTS, LABELS, WEIGHTS), cls()
    for start in range(0, 90, 30):
        part = slice(start, start + 30)
        stream.partial_fit(COUNTS[part], LABELS[part], ["x", "y", "z"], WEIGHTS[part])
        stream.verify(COUNTS[part], LABELS[part], WEIGHTS[part])
    np.testing.assert_allclose(stream.predict_log_proba(COUNTS), whole.predict_log_proba(COUNTS), rtol=1e-7)
    assert "earlier rows of weight" in stream.certificate_["naive_bayes.parameters"].statement
    with pytest.raises(InvalidData, match="label 'w'"):
        stream.partial_fit(COUNTS[:1], ["w"])
    with pytest.raises(InvalidParameter, match="same as on last call"):
        stream.partial_fit(COUNTS[:1], ["x"], ["x", "y"])


@pytest.mark.parametrize("cls", ALL)
def test_a_class_that_a_stream_has_not_shown_has_no_probability(cls):
    model = cls().partial_fit(COUNTS[:40], np.where(LABELS[:40] == "z", "y", LABELS[:40]), ["x", "y", "z"])
    if cls is not ComplementNB:  # which ignores the shares of classes
        assert (model.predict_proba(COUNTS)[:, 2] == 0).all()
    model.verify(COUNTS[:40], np.where(LABELS[:40] == "z", "y", LABELS[:40]))


@pytest.mark.parametrize("cls", ALL)
def test_weights_are_repetitions(cls):
    times = WEIGHTS.astype(int)
    weighted = cls().fit(COUNTS, LABELS, WEIGHTS)
    repeated = cls().fit(np.repeat(COUNTS, times, axis=0), np.repeat(LABELS, times))
    np.testing.assert_allclose(weighted.predict_log_proba(COUNTS), repeated.predict_log_proba(COUNTS), rtol=1e-10)


def test_without_smoothing_impossible_rows_are_excluded():
    X, y = np.array([[2.0, 0, 1], [0, 3, 1]]), ["a", "b"]
    for rows in (X, sparse.csr_array(X)):
        model = MultinomialNB(alpha=0).fit(rows, y)
        assert model.predict_proba(rows).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert model.predict_proba(rows[:1] + rows[1:]).tolist() == [[0.5, 0.5]]  # no class can have both: the priors
        model.verify(rows, y)
        model = BernoulliNB(alpha=0).fit(rows, y)
        assert model.predict_proba(rows).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        model.verify(rows, y)
    with pytest.warns(DataWarning, match="alpha is too small and set to 1e-10"):
        model = MultinomialNB(alpha=0, force_alpha=False).fit(X, y)
    assert model.certificate_.problem["alpha"] == 1e-10
    with pytest.raises(InvalidParameter, match="alpha must be numbers >= 0"):
        MultinomialNB(alpha=[1.0, -0.1, 1.0], force_alpha=False).fit(X, y)


def test_a_single_class_and_refusals():
    for cls in ALL:
        assert set(cls().fit(COUNTS, np.zeros(90)).predict(COUNTS)) == {0.0}
        with pytest.raises(InvalidData, match="no row of positive weight"):
            cls().fit(COUNTS, LABELS, (LABELS != "y").astype(float))
    with pytest.raises(InvalidData, match="column 0 has variance zero in class 'x'"):
        GaussianNB().fit(np.ones((4, 1)), ["x", "x", "y", "y"])
    with pytest.raises(InvalidParameter, match="sum of the priors should be 1"):
        GaussianNB(priors=[0.5, 0.5, 0.5]).fit(COUNTS, LABELS)
    with pytest.raises(InvalidParameter, match="number of classes"):
        MultinomialNB(class_prior=[0.5, 0.5]).fit(COUNTS, LABELS)
    with pytest.raises(InvalidParameter, match="5 numbers, one per column"):
        MultinomialNB(alpha=[1.0, 2.0]).fit(COUNTS, LABELS)
    with pytest.raises(InvalidData, match="0 or 1"):
        BernoulliNB(binarize=None).fit(COUNTS, LABELS)
    with pytest.raises(InvalidData, match=">= 0 for sparse"):
        BernoulliNB(binarize=-1.0).fit(sparse.csr_array(COUNTS), LABELS)


def test_audits_of_scikit_learn_have_the_same_claims():
    model = peers.MultinomialNB().fit(COUNTS, LABELS)
    assert surefit.certify(model, COUNTS, LABELS)["audit.naive_bayes.likelihood"].value < 1e-18
