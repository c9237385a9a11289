"""The ranking of the five ZIP-code networks on digits that do not stand still."""

import numpy as np

from surefit import zip_net
from surefit.bounds import hoeffding
from surefit.data import load_small_digits


def test_accuracy_rises_while_free_weights_fall():
    X, y, X_test, y_test, _ = load_small_digits(320, 1477, shift=2)
    means, trained = [], []
    for number in (1, 2, 3, 4, 5):
        fits = [zip_net(number, random_state=seed).fit(X, y) for seed in range(5)]
        means.append(np.mean([fit.score(X_test, y_test) for fit in fits]))
        trained.append(np.mean([fit.score(X, y) for fit in fits]))
        fits[0].verify(X, y)
    assert means[0] < means[1] < means[2] < means[4], means
    assert means[2] - 0.01 < means[3] < means[4], means
    assert min(trained[1:]) > 0.93, trained


def test_neighbors_cannot_be_told_apart_by_160_pictures():
    radius = hoeffding(n=160, delta=0.05).radius
    assert round(100 * radius, 1) == 10.7
    assert np.max(np.diff([80, 87, 88.5, 94, 98.4])) < 100 * radius  # the differences of the notes
