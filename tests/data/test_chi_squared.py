"""The ball in ten dimensions: its truth against simulation."""

import numpy as np
import pytest

from surefit import DecisionStump, InvalidParameter
from surefit.data import make_chi2_10


def test_truth_agrees_with_a_large_sample():
    X, y, truth = make_chi2_10(200_000, random_state=0)
    assert np.mean(y == 1) == pytest.approx(truth["positive_rate"], abs=0.005)
    cut = truth["best_stump_threshold"]
    assert cut == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.where(X[:, 3] > cut, 1, -1) != y) == pytest.approx(truth["best_stump_error"], abs=0.005)


def test_labels_say_outside_the_ball():
    X, y, _ = make_chi2_10(50, random_state=1)
    np.testing.assert_array_equal(y == 1, np.linalg.norm(X, axis=1) ** 2 > 9.34)
    assert DecisionStump().fit(X, y).error_ < 0.5


def test_no_rows_are_refused():
    with pytest.raises(InvalidParameter, match="make_chi2_10: n_samples must be an integer >= 1; got 0"):
        make_chi2_10(0)
