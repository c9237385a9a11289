"""Samples of strings and kernels as parameters, as certificates see them."""

import numpy as np
import pandas as pd
import pytest

from surefit.checks.base import verify
from surefit.checks.judge import Proof
from surefit.core.catalog import CATALOG, Entry
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import Invalidated, InvalidData
from surefit.core.fingerprint import data_fingerprint
from surefit.core.issuing.parameters import plain
from surefit.core.sample import read
from surefit.core.validation import read_strings
from surefit.kernels import RBF, Linear

WORDS = ["cat", "car", "12", "bar"]
SHAPES = {
    "list": WORDS,
    "fixed width": np.array(WORDS),
    "objects": np.array(WORDS, dtype=object),
    "column": np.array(WORDS, dtype=object)[:, None],
    "series": pd.Series(WORDS),
    "table": pd.DataFrame({"word": WORDS}),
}


@pytest.mark.parametrize("sample", SHAPES.values(), ids=SHAPES)
def test_strings_are_recognized_whatever_holds_them(sample, monkeypatch):
    entry = Entry(
        "test.count", "data_fact", "exact", "{value:g} strings", check=lambda c, claim, data: Proof(float(len(data.X)))
    )
    monkeypatch.setitem(CATALOG, "test.count", entry)
    data = data_fingerprint(read_strings("Test", WORDS), np.array([0.0, 1.0, 0.0, 1.0]))
    claim = Claim("test.count", 4.0)
    certificate = Certificate("C", "Test", {}, {}, {}, data, (claim,))
    certificate = Certificate.from_json(certificate.to_json())
    assert verify(certificate, sample, [0, 1, 0, 1])["test.count"].proved == 4.0
    assert np.array_equal(read(sample, strings=True).X, WORDS)
    with pytest.raises(Invalidated, match="X differ"):
        verify(certificate, [*WORDS[:3], "baR"], [0, 1, 0, 1])


@pytest.mark.parametrize(
    "sample, match",
    [("cat", "got one string, 'cat'"), (["a", 2], "element 1 is 2"), ([["a", "b"]], "shape"), ([], "shape")],
)
def test_what_is_no_sample_of_strings(sample, match):
    with pytest.raises(InvalidData, match=match):
        read_strings("Test", sample)


def test_a_changed_kernel_is_another_parameter():
    assert plain(RBF(gamma=1.0)) == plain(RBF(gamma=1.0)) != plain(RBF(gamma=2.0))
    assert plain(RBF(gamma=1.0) + Linear()) != plain(RBF(gamma=1.0) * Linear())
