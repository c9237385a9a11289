"""Probabilities from scores: exact values, other implementations, and the tails."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from surefit.core.probabilities import BLOCK, softmax, softmax_log, two_classes, two_classes_log

F = np.concatenate([np.random.default_rng(0).normal(size=BLOCK + 5) * 20, [0.0, -0.0, 36.0, -37.5, 700.0, -700.0]])


def test_two_classes():
    found = two_classes(F)
    np.testing.assert_allclose(found, np.column_stack([expit(-F), expit(F)]), rtol=1e-15)
    np.testing.assert_array_equal(found[:, 1] > 0.5, F > 0)
    np.testing.assert_array_equal(two_classes(-F), found[:, ::-1])


def test_logarithms_of_two_classes():
    found = two_classes_log(F)
    np.testing.assert_allclose(found, -np.logaddexp(0.0, np.column_stack([F, -F])), rtol=1e-15)
    np.testing.assert_allclose(np.exp(found), two_classes(F), rtol=1e-12)
    np.testing.assert_array_equal(two_classes_log(np.array([1e4])), [[-1e4, 0.0]])


def test_tails_of_two_classes_beside_a_missing_score():
    far = np.array([-744.0, -720.0, -700.5, 700.5, 720.0, 744.0])
    found = two_classes(np.append(far, np.nan))[:-1]
    tail = np.exp(-np.abs(far))
    np.testing.assert_array_equal(found.min(axis=1), tail)
    assert (tail > 0).all() and (found.max(axis=1) == 1).all() and ((found[:, 1] == 1) == (far > 0)).all()


@pytest.mark.parametrize("of_two", [two_classes, two_classes_log])
def test_infinite_and_missing_scores(of_two):
    found = (
        np.exp(of_two(np.array([np.inf, -np.inf])))
        if of_two is two_classes_log
        else of_two(np.array([np.inf, -np.inf]))
    )
    np.testing.assert_array_equal(found, [[0, 1], [1, 0]])
    assert np.isnan(of_two(np.array([np.nan]))).all()


@pytest.mark.parametrize("classes", [2, 3, 11])
def test_softmax(classes):
    scores = np.random.default_rng(1).normal(size=(BLOCK + 3, classes)) * 30
    scores[0, 1:] = -np.inf
    np.testing.assert_allclose(softmax_log(scores), log_softmax(scores, axis=1), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(softmax(scores), np.exp(log_softmax(scores, axis=1)), rtol=1e-13)


def test_single_precision_scores_give_double_precision():
    scores = np.array([0.3, -2.0], dtype=np.float32)
    for of_two in (two_classes, two_classes_log):
        np.testing.assert_array_equal(of_two(scores), of_two(scores.astype(np.float64)))
