"""The table of long runs in the documentation: what it says was written by a run, and nothing went wrong in it."""

import json

from tests.reliability.results import FILE


def test_published_runs_found_no_fault():
    results = json.loads(FILE.read_text(encoding="utf-8"))
    assert results
    for name, found in results.items():
        assert found["tried"] > 0 and found["wrong"] == 0, name
