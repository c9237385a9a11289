"""Decisions of surefit behind failing tests and other numbers in examples of scikit-learn: ``decisions.csv`` says which, and why."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Decision(NamedTuple):
    """A failure (or other number) whose name and error (or difference) match both patterns has this reason."""

    test: re.Pattern[str]
    error: re.Pattern[str]
    reason: str


@cache
def decisions() -> tuple[Decision, ...]:
    """Return the table."""
    with (Path(__file__).parent / "decisions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(Decision(re.compile(row["test"]), re.compile(row["error"], re.DOTALL), row["reason"]) for row in rows)


def decision_of(test: str, error: str) -> str:
    """Return the reason of the first decision that fits, or an empty text."""
    return next((each.reason for each in decisions() if each.test.search(test) and each.error.search(error)), "")
