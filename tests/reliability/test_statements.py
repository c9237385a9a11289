"""Statements hold for another evaluation: 500 problems here, 10 000 by ``make reliability``."""

import pytest
from tests.reliability.statements import run


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_another_evaluation_proves_what_was_stated():
    count, bad, _ = run(500, seed=1)
    assert count == 500 and not bad
