"""Parameters by declared rules, data with the row and column of the offence."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import validate_data

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    FRACTION,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    REAL,
    check_labels,
    check_params,
    one_of,
    read_data,
    read_weights,
)


class Model(BaseEstimator):
    _rules = {"alpha": POSITIVE, "kind": one_of("a", "b")}

    def __init__(self, alpha=1.0, kind="a"):
        self.alpha = alpha
        self.kind = kind


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (POSITIVE, [1, 0.5, np.float32(2)], [0, -1, np.inf, np.nan, True, "1", None]),
        (NON_NEGATIVE, [0, 1e300], [-1e-300, np.nan]),
        (REAL, [-1.5], [np.inf, "x"]),
        (FRACTION, [0, 1, 0.3], [-0.1, 1.1]),
        (COUNT, [1, np.int64(5)], [0, 1.0, True]),
        (BOOLEAN, [True, np.bool_(False)], [0, 1, None]),
        (N_JOBS, [None, 1, -1], [0, 1.5]),
        (RANDOM_STATE, [None, 0, np.random.RandomState(0)], [-1, "seed"]),
        (NOTHING | POSITIVE, [None, 2.0], [0.0]),
    ],
)
def test_rules(rule, good, bad):
    assert all(rule.allows(value) for value in good)
    assert not any(rule.allows(value) for value in bad)


def test_the_sentence_names_who_what_and_what_came():
    with pytest.raises(InvalidParameter, match=r"Model: alpha must be a finite number > 0; got -1\."):
        check_params(Model(alpha=-1))
    with pytest.raises(ValueError, match=r"Model: kind must be one of 'a', 'b'; got 'c'\."):
        check_params(Model(kind="c"))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_not_finite_values_are_located(container, value, word):
    X = np.ones((6, 3))
    X[4, 1] = value
    with pytest.raises(InvalidData, match=rf"Model: X contains {word} at row 4, column 1;"):
        read_data(Model(), container(X), np.ones(6), accept_sparse=True, y_numeric=True)


def test_column_names_and_targets_are_named():
    frame = pd.DataFrame({"age": [1.0, 2.0], "size": [1.0, np.nan]})
    with pytest.raises(InvalidData, match=r"row 1, column 1 \('size'\)"):
        read_data(Model(), frame, np.ones(2))
    with pytest.raises(InvalidData, match="y contains NaN at row 1;"):
        read_data(Model(), np.ones((2, 2)), np.array([1.0, np.nan]), y_numeric=True)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.0, -1.0], "row 1 has -1.0;"),
        ([1.0, np.nan], "row 1"),
        ([0.0, 0.0], "at least one non-zero"),
        ([1.0], r"expected \(2,\)"),
        ([[1.0], [1.0]], "1D"),
        (["a", "b"], "must be numbers"),
    ],
)
def test_bad_weights(weights, match):
    with pytest.raises(InvalidData, match=match):
        read_weights(Model(), weights, 2)


def test_good_weights():
    assert read_weights(Model(), None, 2) is None
    np.testing.assert_array_equal(read_weights("path", 2, 2), [2.0, 2.0])


@pytest.mark.parametrize("order", [None, "C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("finite", [True, False, "allow-nan"])
def test_plain_arrays_are_read_as_scikit_learn_reads_them(order, dtype, finite):
    options = {"dtype": [np.float64, np.float32], "order": order, "ensure_all_finite": finite, "accept_sparse": True}
    for X in (np.arange(12).reshape(4, 3).astype(dtype), np.arange(12).reshape(3, 4).astype(dtype).T):
        for y in (np.arange(4), np.linspace(0, 1, 4), np.array(list("abca"))):
            ours, theirs = Model(), Model()
            found, expected = read_data(ours, X, y, **options), validate_data(theirs, X, y, **options)
            for mine, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(mine, other)
                assert (mine.dtype, mine.flags.c_contiguous) == (other.dtype, other.flags.c_contiguous)
            assert ours.n_features_in_ == theirs.n_features_in_ == X.shape[1]


@pytest.mark.parametrize(
    ("X", "y", "options", "match"),
    [
        (np.ones((1, 2)), np.ones(1), {"ensure_min_samples": 2}, "minimum of 2"),
        (np.ones((0, 2)), np.ones(0), {}, "0 sample"),
        (np.ones((2, 0)), np.ones(2), {}, "0 feature"),
        (np.ones((2, 2)), np.ones(3), {}, "inconsistent"),
        (np.ones((2, 2)), np.ones((2, 2)), {}, "1d array"),
        (np.ones((2, 2)), None, {}, "requires y"),
        (np.ones(2), np.ones(2), {}, "2D array"),
    ],
)
def test_plain_arrays_of_a_wrong_shape_are_refused(X, y, options, match):
    class Supervised(RegressorMixin, Model):
        pass

    with pytest.raises(ValueError, match=match):
        read_data(Supervised(), X, y, dtype=np.float64, **options)


def test_predictions_need_the_columns_of_the_fit():
    model = Model()
    read_data(model, pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), np.ones(2), dtype=np.float64)
    with pytest.warns(UserWarning, match="valid feature names"):
        read_data(model, np.ones((2, 2)), reset=False, dtype=np.float64)
    read_data(model, np.ones((2, 2)), np.ones(2), dtype=np.float64)
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="3 features"):
        read_data(model, np.ones((2, 3)), reset=False, dtype=np.float64)


def test_labels_are_checked_as_scikit_learn_checks_them():
    for good in (np.arange(40) % 3, np.array(list("abab")), np.array([True, False]), np.array([1.0, 2.0])):
        check_labels(good)
    with pytest.warns(UserWarning, match="greater than 50%"):
        check_labels(np.arange(40))
    for bad in (np.array([0.5, 1.5]), np.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match="Unknown label type"):
            check_labels(bad)
