"""Print tables of scikit-learn's examples and tests with its classes and with ours.

``python -m tests.compat --examples PATH`` runs the examples below PATH (a checkout of scikit-learn's ``examples``), ``--tests`` the test
files of the installed scikit-learn. ``--only TEXT`` restricts both to paths that contain TEXT; ``--limit`` is the CPU seconds per script or
file and way; a test file that reaches it reports the tests that ran. ``--save FILE`` keeps every result as a line of JSON, and a second run
with this file goes on where the first stopped. Nothing is downloaded; examples that would are counted. Each test that fails, and
each example with other numbers, is listed with the decision behind it (``decisions.csv``); the last line counts tests without one.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tests.compat.decisions import decision_of
from tests.compat.examples import Example, difference, run_examples
from tests.compat.saved import Saved
from tests.compat.suites import Suite, cause_of, run_tests

from surefit.core.tables import text_table

SLOWER = 3.0  # ratio of CPU times from which an example counts as slower, if it takes more than SECONDS
SECONDS = 1.0


def example_tables(examples: list[Example]) -> list[str]:
    """Return the tables about examples: counts, failures, other numbers, slower ones."""
    ran = [each for each in examples if each.peer is not None and each.ours is not None]
    able = [each for each in ran if each.peer.error is None]
    failed = [each for each in able if each.ours.error is not None]
    slower = [
        each for each in able if each.ours.error is None and _ratio(each) > SLOWER and each.ours.seconds > SECONDS
    ]
    other = [(each.name, difference(each.peer, each.ours)) for each in able if each.ours.error is None]
    other = [(name, words) for name, words in other if words]
    counts = [
        ("run with scikit-learn", str(len(able))),
        ("run with surefit too", str(len(able) - len(failed))),
        ("fail with surefit only", str(len(failed))),
        ("print or draw other numbers", str(len(other))),
        (f"more than {SLOWER:g} times slower", str(len(slower))),
        ("fail with scikit-learn (data, packages or time)", str(len(ran) - len(able))),
        ("need data from the network: not run", str(sum(each.downloads for each in examples))),
        ("use no estimator that is replaced: not run", str(sum(not each.uses for each in examples))),
    ]
    tables = [text_table("Examples", ("what", "number"), counts)]
    if failed:
        tables.append(
            text_table("Fail with surefit", ("example", "error"), [(e.name, str(e.ours.error)[:100]) for e in failed])
        )
    if other:
        rows = [(name, words, decision_of(name, words)) for name, words in other]
        tables.append(text_table("Other numbers", ("example", "first difference", "decision"), rows))
    if slower:
        rows = [(e.name, f"{e.peer.seconds:.1f}", f"{e.ours.seconds:.1f}", f"{_ratio(e):.1f}") for e in slower]
        tables.append(text_table("Slower", ("example", "scikit-learn, CPU s", "surefit, CPU s", "ratio"), rows))
    return tables


def _ratio(example: Example) -> float:
    return example.ours.seconds / max(example.peer.seconds, 1e-3)


def suite_tables(suites: list[Suite]) -> list[str]:
    """Return the tables about tests: passes by file, failures by cause, their decisions, failures without one."""
    counts = [(each.passed + len(each.failures), each.passed, each.cut) for each in suites]
    counts.append(tuple(sum(column) for column in zip(*counts, strict=True)))
    names = [each.name for each in suites] + ["all"]
    rows = [(name, *map(str, row)) for name, row in zip(names, counts, strict=True)]
    failed = [test for each in suites for test in each.failures]
    causes = Counter(cause_of(test.error) for test in failed).most_common()
    decided = [(test, decision_of(test.name, test.error)) for test in failed]
    reasons = Counter(reason for _, reason in decided if reason).most_common()
    each = [(test.name, reason) for test, reason in decided if reason]
    left = [
        (test.name, cause_of(test.error), " ".join(test.error.split())[:90]) for test, reason in decided if not reason
    ]
    return [
        text_table("Tests that pass", ("file", "scikit-learn", "surefit", "cut"), rows),
        text_table("Failures by cause", ("cause", "tests"), [(words, str(count)) for words, count in causes]),
        text_table("Decisions", ("tests", "decision"), [(str(count), reason) for reason, count in reasons]),
        text_table("Failures by decision", ("test", "decision"), each),
        text_table("Failures without a decision", ("test", "cause", "error"), left),
        f"{len(failed)} tests fail; {len(left)} of them without a decision.",
    ]


def main() -> None:
    """Parse the command line, run, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat", description=__doc__)
    parser.add_argument("--examples", type=Path, help="a folder of examples")
    parser.add_argument("--tests", action="store_true", help="run the test files of the installed scikit-learn")
    parser.add_argument("--only", default="", help="run paths that contain this text only")
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds per script or test file, each way")
    parser.add_argument("--save", type=Path, help="a file of results; those on it are not computed again")
    asked = parser.parse_args()
    saved, tables = Saved(asked.save), []
    if asked.examples is not None:
        tables += example_tables(run_examples(asked.examples, asked.limit, asked.only, saved))
    if asked.tests:
        tables += suite_tables(run_tests(asked.limit, asked.only, saved))
    if not tables:
        parser.error("name a folder of examples, --tests, or both")
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
