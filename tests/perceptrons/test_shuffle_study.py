"""The order of the rows decides which separating hyperplane a perceptron finds."""

import numpy as np
import pytest

from surefit import SVC, InvalidData, InvalidParameter, Perceptron, maximal_margin, shuffle_study


def test_margins_spread_below_the_largest_one():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    t = np.where(X @ [1.0, 0.7] > 0, 1, -1)
    X = X + 0.2 * t[:, None] * np.array([1.0, 0.7])
    study = shuffle_study(Perceptron(fit_intercept=False, order="cyclic", tol=None), X, t, n_runs=12)
    assert study.best_margin == pytest.approx(maximal_margin(X, t, False).bracket.up)
    assert np.all(study.margins > 0) and np.all(study.margins <= study.best_margin)
    assert study.margin_spread > 0.01 and study.largest_angle > 0.01
    assert len(set(study.n_updates.tolist())) > 1
    svm = shuffle_study(SVC(kernel="linear", C=np.inf, tol=1e-8), X, t, n_runs=3)
    assert svm.margin_spread < 1e-6 * svm.best_margin


def test_errors():
    with pytest.raises(InvalidParameter, match="n_runs"):
        shuffle_study(Perceptron(), [[0.0], [1.0]], [0, 1], n_runs=1)
    with pytest.raises(InvalidData, match="two classes"):
        shuffle_study(Perceptron(), [[0.0], [1.0]], [1, 1])
