"""The public namespace: complete, sorted, documented, and free until used."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from surefit import bounds


def test_names_are_there_and_sorted():
    assert bounds.__all__ == sorted(bounds.__all__)
    for name in bounds.__all__:
        assert getattr(bounds, name) is not None and name in dir(bounds)
    with pytest.raises(AttributeError, match="no_such_bound"):
        bounds.no_such_bound  # noqa: B018


def test_no_name_is_hidden_by_a_file():
    assert not set(bounds.__all__) & set(bounds._FILES)


@pytest.mark.parametrize("name", bounds.__all__)
def test_name_has_a_docstring_and_functions_an_example(name):
    public = getattr(bounds, name)
    text = inspect.getdoc(public) or ""
    assert text
    if inspect.isfunction(public):
        assert ">>>" in text, f"{name} has no example"
        assert public.__module__ == f"surefit.bounds.{bounds._HOME[name]}"


def test_every_function_that_returns_a_bound_states_its_guarantee():
    for name in bounds.__all__:
        public = getattr(bounds, name)
        returns = str(inspect.signature(public).return_annotation) if inspect.isfunction(public) else ""
        if ("RiskBound" in returns and "dict" not in returns) or "Deviation" in returns:
            assert "Guarantee" in inspect.getdoc(public), name


def test_every_file_says_what_it_is():
    for file in bounds._FILES:
        module = import_module(f"surefit.bounds.{file}")
        assert module.__doc__, file


def test_import_costs_nothing():
    code = "import sys, surefit.bounds; print(*[m for m in ('scipy', 'sklearn', 'numba', 'numpy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "" and result.returncode == 0, result.stderr
