"""A fixed part of the matrix of inputs: every estimator meets some, and every input some estimators; all by ``make reliability``."""

import pytest
from tests.reliability.inputs import run
from tests.reliability.roster import estimators

STEP = 31  # one pair of this many; a prime, so that rows and columns of the matrix rotate
CLASSES = estimators()


@pytest.mark.parametrize("i", range(len(CLASSES)), ids=[cls.__name__ for cls in CLASSES])
def test_inputs_are_fitted_with_proof_or_refused_in_a_sentence(i):
    counts, faults = run([CLASSES[i]], lambda _, j: (7 * i + j) % STEP == 0)
    assert not faults
    assert sum(counts.values()) >= 3
