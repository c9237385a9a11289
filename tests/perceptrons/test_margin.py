"""The margin perceptron, by hand and through the inequalities of its proof."""

import numpy as np
import pytest

from surefit import MarginPerceptron
from surefit.data import make_xor


def unit(X):
    return X / np.linalg.norm(X, axis=1)[:, None]


def test_rows_on_one_ray_need_one_update():
    X, y = np.array([[3.0, 4.0], [-6.0, -8.0], [0.6, 0.8]]), np.array([1, -1, 1])
    model = MarginPerceptron(gamma=1.0, fit_intercept=False, order="cyclic").fit(X, y)
    assert model.n_updates_ == 1 and model.update_bounds_[0].tolist() == [12.0, 9.0, 1.0]
    assert model.coef_[0] == pytest.approx([0.6, 0.8])
    model.verify(X, y)


def test_norms_grow_no_faster_than_the_proof_says():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    t = np.where(X @ [1.0, 2.0, -1.0] > 0, 1.0, -1.0)
    X += 0.4 * t[:, None] * np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
    u = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
    gamma = float(np.min(t * (unit(X) @ u)))
    model = MarginPerceptron(gamma=gamma, fit_intercept=False).fit(X, t)
    rows = model.certificate_["perceptron.margin_updates"].witness["rows"]
    w = np.zeros(3)
    for k, i in enumerate(rows, start=1):
        before, x = np.linalg.norm(w), t[i] * unit(X[[i]])[0]
        assert k == 1 or x @ w < gamma / 2 * before
        w = w + x
        norm = np.linalg.norm(w)
        assert w @ u >= k * gamma * (1 - 1e-9)
        assert norm <= 1 + 2 / gamma + 3 * (k - 1) * gamma / 4 + 1e-9
        if k > 1:
            assert norm**2 <= before**2 + gamma * before + 1 + 1e-9
            assert norm <= before + 1 / (2 * before) + gamma / 2 + 1e-9
            assert before < 2 / gamma or norm - before <= 3 * gamma / 4 + 1e-9
    assert model.coef_[0] == pytest.approx(w)
    assert model.converged_ and len(rows) <= model.update_bounds_.min()


def test_a_margin_that_nobody_has_is_refuted_with_proof():
    X, y = np.array([[3.0, 1.0], [1.0, 3.0], [-1.0, 2.0]]), np.array([1, 1, -1])
    model = MarginPerceptron(gamma=0.9, fit_intercept=False, order="cyclic").fit(X, y)
    assert model.ending_ == "refuted" and model.certificate_.grade == "C"
    assert model.certificate_["perceptron.unit_margin_at_most"].value < 0.9
    assert model.verify(X, y)["perceptron.unit_margin_at_most"].level == "enclosed"


def test_search_ends_where_it_was_told_to():
    X, y, _ = make_xor()
    model = MarginPerceptron(min_gamma=0.01).fit(X, y)
    assert model.ending_ == "min_gamma" and 0.01 <= model.gamma_[0] < 0.02
    assert model.certificate_["perceptron.unit_margin_at_most"].value < 0.02
    model.verify(X, y)


def test_constant_feature_is_scaled_with_the_row():
    X, y = np.array([[1.0], [2.0]]), np.array([-1, 1])
    model = MarginPerceptron(order="cyclic", bias="augmented", bias_constant=2.0).fit(X, y)
    as_column = MarginPerceptron(order="cyclic", fit_intercept=False).fit(np.column_stack([X, [2.0, 2.0]]), y)
    assert model.coef_[0, 0] == pytest.approx(as_column.coef_[0, 0])
    assert model.intercept_[0] == pytest.approx(2 * as_column.coef_[0, 1])
    model.verify(X, y)


def test_three_classes_have_three_searches():
    rng = np.random.default_rng(1)
    X = np.repeat(np.array([[4.0, 0.0], [-4.0, 4.0], [-4.0, -4.0]]), 20, axis=0) + rng.standard_normal((60, 2)) / 2
    y = np.repeat([0, 1, 2], 20)
    model = MarginPerceptron().fit(X, y)
    assert model.gamma_.shape == (3,) and model.update_bounds_.shape == (3, 3) and model.score(X, y) == 1.0
    model.verify(X, y)


def test_updates_per_pass_count_all_classes():
    rng = np.random.default_rng(1)
    centers = np.array([[5.0, 0.0], [-3.0, 4.0], [-3.0, -4.0]])
    y = np.repeat([0, 1, 2], 20)
    X = centers[y] + 0.3 * rng.standard_normal((60, 2))
    model = MarginPerceptron(gamma=0.05).fit(X, y)
    assert len(model.mistakes_per_pass_) == model.n_iter_
    assert model.mistakes_per_pass_.sum() == model.n_updates_ == model.mistake_counts_.sum()
