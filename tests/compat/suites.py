"""scikit-learn's own tests: each file that names a replaced estimator runs with ours; what fails runs with scikit-learn's classes too."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import sklearn
from tests.compat.examples import replaced_names
from tests.compat.limits import ends_in_time
from tests.compat.saved import Saved


class Failure(NamedTuple):
    """A test that passes with scikit-learn's classes only, and its error with ours."""

    name: str
    error: str


class Suite(NamedTuple):
    """One test file: how many tests pass with ours, how many were cut by the limit, and those that fail with ours only."""

    name: str
    passed: int
    cut: int
    failures: tuple[Failure, ...]


#: Causes of failures, by what the error says; the first that fits counts.
CAUSES = (
    ("asserts a private name", r"has no attribute '_|object has no attribute '\w+_?'.*module|cannot import name '_"),
    ("a parameter is refused", r"InvalidParameter"),
    ("data are refused", r"InvalidData"),
    ("an attribute is missing", r"AttributeError"),
    ("another sentence", r"Regex pattern did not match|Pattern '"),
    ("no error or warning", r"DID NOT (RAISE|WARN)"),
    ("a warning more", r"Warning:"),
    ("other numbers", r"Not equal to tolerance|not almost equal|Arrays are not|Mismatched elements|assert .*=="),
    ("a keyword is unknown", r"unexpected keyword|positional argument"),
)


def cause_of(error: str) -> str:
    """Return the cause of a failure in words."""
    return next((words for words, pattern in CAUSES if re.search(pattern, error, re.DOTALL)), "something else")


def run_tests(limit: float, pattern: str, saved: Saved) -> list[Suite]:
    """Run the test files whose path contains ``pattern``; each has ``limit`` CPU seconds per way."""
    root, found = Path(sklearn.__file__).parent, []
    for path in sorted(root.rglob("tests/test_*.py")):
        name = str(path.relative_to(root))
        if pattern in name and replaced_names(path.read_text(encoding="utf-8")):
            found.append(_suite(name, limit, saved))
            _, passed, cut, failures = found[-1]
            print(f"{name}: {passed} pass, {len(failures)} fail, {cut} cut", file=sys.stderr, flush=True)
    return found


def _suite(name: str, limit: float, saved: Saved) -> Suite:
    ours = saved.result(f"surefit {name}", lambda: _outcomes("surefit", name, limit))
    tests = {line["test"]: line for line in ours if "test" in line}
    other = [test for test, line in tests.items() if line["outcome"] != "passed"]
    lines = saved.result(f"sklearn {name}", lambda: _outcomes("sklearn", name, limit, other)) if other else []
    peer = {line["test"]: line["outcome"] for line in lines if "test" in line}
    able = [
        test for test in other if peer.get(test) == "passed" or not test
    ]  # a file that cannot be imported has no name
    cut = sum(line.get("collected", 0) for line in ours) - sum(1 for test in tests if test)
    cut += sum(test not in peer for test in other if test)
    return Suite(
        name,
        len(tests) - len(other),
        cut,
        tuple(Failure(f"{name}::{test}", tests[test]["error"]) for test in able),
    )


def _outcomes(owner: str, name: str, limit: float, only: list[str] | None = None) -> list[dict]:
    """Return the lines that the plugin wrote before the file ended or was cut."""
    module = "sklearn." + name.removesuffix(".py").replace(os.sep, ".")
    with tempfile.TemporaryDirectory() as folder:
        result, names = Path(folder) / "outcomes.jsonl", Path(folder) / "only.json"
        result.touch()
        names.write_text(json.dumps(only), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "--pyargs", module, "-q", "-p", "tests.compat.plugin"]
        command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, "-W", "ignore"]
        environment = {**os.environ, "SUREFIT_COMPAT": owner, "SUREFIT_COMPAT_RESULT": str(result)}
        environment["SUREFIT_COMPAT_ONLY"] = "" if only is None else str(names)
        ends_in_time(command, environment, limit)
        return [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
