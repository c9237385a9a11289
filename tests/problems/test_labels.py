"""Labels in the form of a problem: many small integers are counted, with the result of sorting."""

import numpy as np
import pytest

from surefit.problems.labels import FEW, class_codes, named_classes


@pytest.mark.parametrize("labels", [np.array([0, 3, 7]), np.array([0.0, 1.5, 2.0]), np.array([-1, 0, 1]), np.arange(5)])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("n", [FEW, FEW + 1])
def test_many_labels_are_named_and_coded_as_few(labels, dtype, n):
    y = np.resize(labels, n).astype(dtype)
    wanted, codes = np.unique(y, return_inverse=True)
    classes = named_classes(y)
    assert classes == wanted.tolist() and all(type(label) is float for label in classes)
    assert np.array_equal(class_codes(y, classes), codes)


@pytest.mark.parametrize("unknown", [2.0, 99.0, -1.0, 0.5, np.nan, np.inf])
def test_unknown_labels_are_refused(unknown):
    y = np.resize([0.0, 1.0, 3.0], FEW + 1)
    y[5] = unknown
    with pytest.raises(ValueError, match="not among the classes"):
        class_codes(y, [0.0, 1.0, 3.0])
