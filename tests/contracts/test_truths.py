"""Every deterministic claim of the catalog is compared with exact arithmetic: a test with rationals or many digits names it."""

import re
from pathlib import Path

from surefit.core.catalog import loaded

TESTS = Path(__file__).parents[1]
#: Kinds that say nothing which a computation could contradict: they hold with a probability, or are estimates.
BY_CHANCE = ("risk_bound", "uncertainty", "estimate", "no_claim")
EXACT = re.compile(r"^\s*(from fractions import|import mpmath|from mpmath import)", re.MULTILINE)


def compared() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    exact = "\n".join(text for text in texts if EXACT.search(text))
    return set(re.findall(r'"([a-z0-9_]+(?:\.[a-z0-9_]+)+)"', exact))


def test_every_deterministic_claim_is_compared_with_the_truth():
    claims = {name for name, found in loaded().items() if found.kind not in BY_CHANCE and found.side != "none"}
    assert claims <= compared()
