"""The same weights as scikit-learn's Perceptron, bit for bit, wherever both visit the rows in the order given."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from surefit import AveragedPerceptron, Perceptron

PASSES = {"max_iter": 7, "tol": None, "shuffle": False}


def noisy(n=400, d=17, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.argmax(X[:, :classes] + rng.standard_normal((n, classes)), axis=1)


@pytest.mark.parametrize("d", [1, 3, 17, 50, 64])
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3}, {"fit_intercept": False}, {"class_weight": {0: 0.2, 1: 3.0}}])
def test_same_bits_two_classes(d, options):
    X, y = noisy(d=max(d, 2))
    X = X[:, :d]
    ours, theirs = Perceptron(**PASSES, **options).fit(X, y), TheirPerceptron(**PASSES, **options).fit(X, y)
    assert np.array_equal(ours.coef_, theirs.coef_) and np.array_equal(ours.intercept_, theirs.intercept_)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.n_iter_ == theirs.n_iter_ == 7


@pytest.mark.parametrize("class_weight", [None, {0: 0.2, 2: 3.0}, "balanced"])
def test_same_bits_one_against_the_rest(class_weight):
    X, y = noisy(classes=4)
    ours = Perceptron(**PASSES, class_weight=class_weight).fit(X, y)
    theirs = TheirPerceptron(**PASSES, class_weight=class_weight).fit(X, y)
    assert np.array_equal(ours.coef_, theirs.coef_) and np.array_equal(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_same_stopping_rule_on_real_data(load):
    X, y = load(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), (y == 1).astype(int)
    ours, theirs = Perceptron(shuffle=False).fit(X, y), TheirPerceptron(shuffle=False).fit(X, y)
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert ours.ending_ == "plateau" and ours.n_iter_ == theirs.n_iter_


def test_a_clean_pass_ends_the_fit_with_the_weights_they_keep():
    X, y = load_iris(return_X_y=True)
    ours, theirs = Perceptron(shuffle=False).fit(X, y == 0), TheirPerceptron(shuffle=False).fit(X, y == 0)
    assert ours.converged_ and ours.n_iter_ < theirs.n_iter_
    assert np.array_equal(ours.coef_, theirs.coef_)


def test_start_and_single_pass_stream():
    X, y = noisy()
    rng = np.random.default_rng(1)
    start = rng.standard_normal((1, 17)), np.array([0.5])
    ours = Perceptron(**PASSES).fit(X, y, *start)
    theirs = TheirPerceptron(**PASSES).fit(X, y, start[0].copy(), start[1].copy())
    assert np.array_equal(ours.coef_, theirs.coef_)
    ours, theirs = Perceptron(), TheirPerceptron(shuffle=False)
    for part in range(4):
        here = slice(100 * part, 100 * part + 100)
        ours.partial_fit(X[here], y[here], classes=[0, 1])
        theirs.partial_fit(X[here], y[here], classes=[0, 1])
    assert np.array_equal(ours.coef_, theirs.coef_) and np.array_equal(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize("passes", [1, 5])
def test_average_is_theirs(passes):
    X, y = noisy()
    ours = AveragedPerceptron(max_iter=passes, tol=None, order="cyclic").fit(X, y)
    options = {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0, "average": True}
    theirs = SGDClassifier(**options, max_iter=passes, tol=None, shuffle=False).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-10) and ours.intercept_ == pytest.approx(theirs.intercept_)


def test_sparse_rows_are_not_treated_differently():
    # scikit-learn moves the offset of sparse data a hundred times more slowly; here the storage does not matter.
    X, y = noisy()
    X[np.abs(X) < 0.7] = 0.0
    dense = Perceptron(**PASSES).fit(X, y)
    for container in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array):
        model = Perceptron(**PASSES).fit(container(X), y)
        assert np.array_equal(model.coef_, dense.coef_) and np.array_equal(model.intercept_, dense.intercept_)
        assert np.array_equal(model.predict(container(X)), dense.predict(X))
    without_offset = {**PASSES, "fit_intercept": False}
    theirs = TheirPerceptron(**without_offset).fit(sparse.csr_matrix(X), y)
    assert np.array_equal(Perceptron(**without_offset).fit(sparse.csr_matrix(X), y).coef_, theirs.coef_)


def test_decisions_are_those_of_the_textbook_loop_even_at_ties():
    # Multiples of 0.1 lead to scores that are zero or 1e-17 depending on the order of summation.
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (300, 20)) * 0.1, rng.choice([-1.0, 1.0], 300)
    model = Perceptron(**PASSES).fit(X, y)
    w, b, log = [0.0] * 20, 0.0, []
    for _ in range(7):
        for i in range(300):
            score = 0.0
            for weight, value in zip(w, X[i].tolist(), strict=True):
                score += weight * value
            if y[i] * (score + b) <= 0:
                w = [weight + y[i] * value for weight, value in zip(w, X[i].tolist(), strict=True)]
                b += y[i]
                log.append(i)
    assert np.array_equal(model.mistake_log_["row"], log)
    assert np.array_equal(model.coef_[0], w) and model.intercept_[0] == b
    assert np.array_equal(TheirPerceptron(**PASSES).fit(X, y).coef_[0], w)


def test_subgradient_steps_on_the_perceptron_loss_are_perceptron_updates():
    from surefit.losses import PerceptronLoss, slope, value

    X, y = noisy(n=50, d=4)
    t = np.where(y == 1, 1.0, -1.0)
    w = np.zeros(4)
    for i in range(50):
        w = w - slope(PerceptronLoss(), t[i], X[i] @ w) * X[i]
    assert w == pytest.approx(Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False).fit(X, y).coef_[0])
    total = sum(value(PerceptronLoss(), t[i], X[i] @ w) for i in range(50))
    assert (total == 0) == (np.min(t * (X @ w)) >= 0)


def test_float32_rows_are_read_where_they_lie():
    X, y = noisy()
    small = X.astype(np.float32)
    model = Perceptron(**PASSES).fit(small, y)
    assert np.array_equal(model.coef_, Perceptron(**PASSES).fit(small.astype(np.float64), y).coef_)
    model.verify(small, y)
