"""Fixtures for tests of claims."""

import mpmath
import pytest
from tests.checks.exact import DIGITS


@pytest.fixture
def digits():
    """Compute with many digits during the test."""
    with mpmath.workdps(DIGITS):
        yield
