"""Compilation is paid once, before any time budget runs."""

import pytest

import surefit


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Fit every family once; budgets of the tests are too short to compile in."""
    for name in ("tumors", "iris", "diabetes"):  # loops for two classes, several, and numbers
        surefit.study(name, max_time=600, seed=1)
