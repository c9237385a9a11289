"""Signatures, methods and fitted attributes of every shared estimator: equal to scikit-learn's, or listed with a reason on the page."""

import csv
from pathlib import Path

import pytest
from tests.drop_in.differences import of_fits, of_methods, of_signature, shared

PAGE = Path(__file__).parents[2] / "docs" / "differences.csv"


def listed() -> list[tuple[str, str, str]]:
    with PAGE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["reason"].strip() for row in rows)
    return [(row["estimator"], row["kind"], row["what"]) for row in rows]


@pytest.fixture(scope="module")
def found():
    return {
        (name, kind, what)
        for name, peer, ours in shared()
        for difference in (of_signature, of_methods)
        for name, kind, what, _ in difference(name, peer, ours)
    }


def test_every_difference_of_signatures_and_methods_is_listed(found):
    known = set(listed())
    missing = [each for each in sorted(found) if each not in known and ("*", *each[1:]) not in known]
    assert missing == [], "list these in docs/differences.csv with a reason, or remove them"


def test_every_listed_difference_of_signatures_and_methods_is_true(found):
    without_names = {("*", kind, what) for _, kind, what in found}
    named = [each for each in listed() if each[1] not in ("attribute", "returns")]
    assert [each for each in named if each not in found | without_names] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "peer", "ours"), shared(), ids=lambda value: value if isinstance(value, str) else "")
def test_fitted_attributes_and_responses_are_those_of_scikit_learn(name, peer, ours):
    known = [each for each in listed() if each[0] == name and each[1] in ("attribute", "returns")]
    assert sorted((name, kind, what) for name, kind, what, _ in of_fits(name, peer, ours)) == sorted(known)
