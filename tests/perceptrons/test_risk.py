"""The risk bound of the first pass: valid in a world where every risk is known, and silent where it would not be."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from surefit import Perceptron
from surefit.bounds import online_mistakes


def claims(model):
    return [claim.name for claim in model.certificate_.claims]


def sample(rng, n, d=4, shift=0.8):
    t = rng.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, d))
    X[:, 0] += shift * t
    return X, t


def risk(w, b, shift=0.8):
    """Exact error rate of sign(w'x + b) when x is Gaussian around +-shift e_1."""
    norm = np.linalg.norm(w)
    if norm == 0:
        return 0.5
    up, down = (w[0] * shift + b) / norm, (w[0] * shift - b) / norm
    return 0.25 * (math.erfc(up / math.sqrt(2)) + math.erfc(down / math.sqrt(2)))


def test_bound_holds_as_often_as_it_says():
    rng = np.random.default_rng(0)
    trials, delta, broken = 150, 0.2, 0
    for _ in range(trials):
        X, t = sample(rng, 60)
        model = Perceptron(max_iter=1, tol=None, shuffle=False, confidence=1 - delta).fit(X, t)
        w, b, risks = np.zeros(4), 0.0, []
        for x, label in zip(X, t, strict=True):
            risks.append(risk(w, b))
            if label * (x @ w + b) <= 0:
                w, b = w + label * x, b + label
        broken += np.mean(risks) > model.certificate_["perceptron.risk"].value
    assert broken <= binom.ppf(1 - 1e-4, trials, delta)


def test_bound_is_that_of_the_counted_mistakes_and_gets_useful():
    X, t = sample(np.random.default_rng(1), 4000, shift=2.0)
    model = Perceptron(tol=None, max_iter=3).fit(X, t)
    claim = model.certificate_["perceptron.risk"]
    first = int(model.mistakes_per_pass_[0])
    assert claim.numbers["errors"] == first and claim.value == pytest.approx(online_mistakes(first, 4000, 0.05).value)
    assert first / 4000 < claim.value < 0.15 and "vacuous" not in claim.statement
    assert set(claim.assumptions) == {"iid", "order_fixed_before_testing"} and claim.confidence == pytest.approx(0.95)
    assert model.verify(X, t)["perceptron.risk"].ok


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_more_classes_count_a_row_once(multi_class):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((500, 5))
    y = np.argmax(X[:, :3], axis=1)
    model = Perceptron(multi_class=multi_class, max_iter=2, tol=None).fit(X, y)
    claim, log = model.certificate_["perceptron.risk"], model.mistake_log_
    assert claim.numbers["errors"] == len(np.unique(log["row"][log["pass"] == 0]))
    model.verify(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"order": "random"},  # rows are met twice
        {"bias": "r_squared"},  # the radius knows later rows
        {"class_weight": "balanced"},  # so do the factors
        {"mistake": "<0"},  # a zero score is an error that is not counted
        {"early_stopping": True},  # the rows kept aside were chosen by their labels
    ],
)
def test_no_bound_for_a_run_that_looked_ahead(options):
    X, t = sample(np.random.default_rng(3), 200)
    assert "perceptron.risk" in claims(Perceptron(max_iter=3, tol=None).fit(X, t))
    assert "perceptron.risk" not in claims(Perceptron(max_iter=3, tol=None, **options).fit(X, t))


def test_small_samples_are_called_vacuous():
    X, t = sample(np.random.default_rng(4), 12)
    assert "vacuous" in Perceptron(max_iter=1, tol=None).fit(X, t).certificate_["perceptron.risk"].statement
