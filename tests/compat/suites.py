"""scikit-learn's own tests: every file that names a replaced estimator runs with scikit-learn's classes and with ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import sklearn
from tests.compat.examples import replaced_names


class Test(NamedTuple):
    """One test both ways: outcome of each, the error with ours, and the seconds of each."""

    name: str
    peer: str
    ours: str
    error: str
    peer_seconds: float
    seconds: float


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


def run_tests(limit: float, pattern: str) -> list[Test]:
    """Run the test files whose path contains ``pattern``; each has ``limit`` seconds per way."""
    root, found = Path(sklearn.__file__).parent, []
    for path in sorted(root.rglob("tests/test_*.py")):
        name = str(path.relative_to(root))
        if pattern in name and replaced_names(path.read_text(encoding="utf-8")):
            module = "sklearn." + name.removesuffix(".py").replace(os.sep, ".")
            peer, ours = (_outcomes(owner, module, limit) for owner in ("sklearn", "surefit"))
            passed = sum(test["outcome"] == "passed" for test in ours.values())
            print(f"{name}: {passed} of {len(peer)} pass with ours", file=sys.stderr, flush=True)
            found += [_both(f"{name}::{key}", peer[key], ours.get(key)) for key in peer]
    return found


def _both(name: str, peer: dict, ours: dict | None) -> Test:
    if ours is None:
        return Test(name, peer["outcome"], "failed", "time limit", peer["seconds"], 0.0)
    return Test(name, peer["outcome"], ours["outcome"], ours["error"], peer["seconds"], ours["seconds"])


def _outcomes(owner: str, module: str, limit: float) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "outcomes.jsonl"
        result.touch()
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--pyargs",
            module,
            "-q",
            "-p",
            "tests.compat.plugin",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-c", os.devnull, "--rootdir", folder, "-W", "ignore"]
        environment = {**os.environ, "SUREFIT_COMPAT": owner, "SUREFIT_COMPAT_RESULT": str(result)}
        try:
            subprocess.run(command, env=environment, timeout=limit, capture_output=True, check=False)
        except subprocess.TimeoutExpired:
            pass  # tests that ran are on file
        lines = [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
    return {line["test"].partition("::")[2]: line for line in lines}
