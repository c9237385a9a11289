"""Claims and certificates: verdicts, tables, JSON that keeps every bit, and a seal that notices every change."""

import copy
import json
import pickle

import jsonschema
import numpy as np
import pytest

from surefit.core import encoding
from surefit.core.catalog import CATALOG, Entry
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ENTRIES = [
    Entry("a.gap", "optimality", "upper", "within {value:g}", check=lambda *given: None),
    Entry("b.risk", "risk_bound", "upper", "P(error) <= {value:g}", check=lambda *given: None, assumptions=("iid",)),
    Entry("c.nothing", "no_claim", "none", "nothing is said about global optimality"),
    Entry("d.estimate", "estimate", "upper", "about {value:g}", check=lambda *given: None),
    Entry("e.margin", "data_fact", "lower", "at least {value:g}", check=lambda *given: None),
]


@pytest.fixture(autouse=True)
def entries(monkeypatch):
    for entry in ENTRIES:
        monkeypatch.setitem(CATALOG, entry.name, entry)


@pytest.fixture
def certificate():
    return Certificate(
        grade="A",
        estimator="Lasso",
        params={"alpha": 0.1, "cv": None, "list": [1, 2.5]},
        problem={"alpha": 0.1, "radius": None},
        model={"coef_": np.array([0.1, -0.0, 1e-310, 1 / 3]), "inactive_": np.array([True, False, False, True])},
        data={"X": "abc", "y": None, "n_rows": 4, "n_columns": 2},
        claims=(
            Claim("a.gap", 1e-7, 1e-6, witness={"theta": np.array([np.pi])}),
            Claim("b.risk", 0.1, np.inf, numbers={"delta": 0.05}),
            Claim("c.nothing"),
            Claim("d.estimate", 2.0, numbers={"rows": 4, "mean": 0.5, "name": "x"}),
            Claim("e.margin", 0.5, 0.25, witness={"normal": np.array([0.6, 0.8])}),
        ),
        run={"solver": "cd", "reason": "converged"},
        version="0",
    )


def test_contents_are_the_same_if_and_only_if_their_canonical_bytes_are():
    array = np.arange(3.0)
    values = [
        None, True, 1, 1.0, 0.0, -0.0, np.nan, np.float64(np.nan), np.float64(1.0), "1", "a",
        [], (), [1], (1,), [1.0], [1, 2], array, array + 1, [array], [array + 1],
        {}, {"a": 1}, {"a": 1.0}, {"a": True}, {"a": {"b": [0.5]}}, {"b": 1}, {1: 2}, {True: 2}, {"1": 2}, {"a": array},
    ]  # fmt: skip
    for a in values:
        for b in values:
            assert encoding.same(a, b) == (encoding.canonical(a) == encoding.canonical(b)), (a, b)


def test_a_claim_holds_or_says_that_it_does_not():
    assert Claim("a.gap", 2.0, 1.0).holds is False and Claim("a.gap", 1.0, 1.0).holds is True
    assert Claim("e.margin", 2.0, 1.0).holds is True and Claim("e.margin", 0.5, 1.0).holds is False
    assert Claim("a.gap", limit=1.0).holds is None and Claim("a.gap", limit=1.0).verdict == "undecided"
    assert Claim("a.gap", 2.0, 1.0).slack == -1.0
    verdicts = [Claim(name, 1.0).verdict for name in ("d.estimate", "c.nothing", "e.margin")]
    assert verdicts == ["estimate", "no claim", "stated"]
    assert Claim("b.risk", 0.1, numbers={"delta": 0.05}).confidence == pytest.approx(0.95)
    with pytest.raises(CertificateError, match="There is no checker for the claim 'zzz'"):
        _ = Claim("zzz").statement


def test_kinds_and_sides_and_grades_are_closed_lists():
    with pytest.raises(ValueError, match="kind must be one of"):
        Entry("x", "certainty", "none", "")
    with pytest.raises(ValueError, match="needs a checker"):
        Entry("x", "estimate", "upper", "")
    with pytest.raises(CertificateError, match="grade must be one of A, B, C"):
        Certificate("D", "x", {}, {}, {}, {}, ())


def test_the_certificate_is_as_good_as_its_worst_claim(certificate):
    assert certificate.holds is True
    worse = copy.copy(certificate)
    object.__setattr__(worse, "claims", (*certificate.claims, Claim("a.gap", 2.0, 1.0)))
    assert worse.holds is False
    with pytest.raises(KeyError, match="not a claim of this certificate"):
        certificate["zzz"]


def test_json_keeps_every_bit_and_follows_the_schema(certificate):
    text = certificate.to_json()
    jsonschema.validate(json.loads(text), encoding.schema())
    again = Certificate.from_json(text)
    assert again.seal == certificate.seal and again.to_json() == text
    np.testing.assert_array_equal(
        again.model["coef_"].view(np.uint64), certificate.model["coef_"].view(np.uint64), strict=True
    )
    assert again["b.risk"].limit == np.inf and again["b.risk"].assumptions == ("iid",)


def _paths(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _paths(item, (*path, i))
    else:
        yield path, value


def _changed(path, value):
    if "cells" in path and isinstance(value, str):
        return np.nextafter(float.fromhex(value), np.inf).hex()
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if isinstance(value, int) else float(np.nextafter(value, np.inf))
    return (value or "") + "x"


def test_any_single_change_breaks_the_seal(certificate):
    content = json.loads(certificate.to_json())
    tried = 0
    for path, value in _paths(content):
        if path[0] == "schema" or path[-1] in ("kind", "level", "dtype", "grade", "float") or "shape" in path:
            continue  # changing these gives no certificate at all
        altered = copy.deepcopy(content)
        spot = altered
        for key in path[:-1]:
            spot = spot[key]
        spot[path[-1]] = _changed(path, value)
        with pytest.raises(CertificateError):  # the seal does not fit, or a part has another type
            Certificate.from_json(json.dumps(altered))
        tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("nonsense", "not JSON"),
        ("{}", "not a certificate of schema"),
        ('{"schema": "surefit-certificate-2"}', "missing"),
    ],
)
def test_what_is_no_certificate_is_refused(text, match):
    with pytest.raises(CertificateError, match=match):
        Certificate.from_json(text)


def test_tables_show_every_claim(certificate):
    text, html = repr(certificate), certificate._repr_html_()
    for claim in certificate.claims:
        assert claim.name in text and claim.verdict in text and claim.name in html
    assert "grade A: global optimality gap" in text and "P(error) &lt;= 0.1" in html


def test_a_copy_or_a_pickle_does_not_drag_the_model_along(certificate):
    bound = certificate.of(object())
    assert bound.subject is not None
    assert copy.deepcopy(bound).subject is None
    assert pickle.loads(pickle.dumps(bound)).seal == certificate.seal


def test_labels_held_as_objects_are_sealed_by_value():
    def issue(labels):
        return Certificate("C", "x", {}, {}, {"classes_": np.array(labels, dtype=object)}, {}, ())

    assert issue(["ham", "spam"]).seal == issue(["ham", "sp" + "am"]).seal != issue(["ham", "eggs"]).seal
    assert Certificate.from_json(issue(["ham", "spam"]).to_json()).model["classes_"].tolist() == ["ham", "spam"]
