"""A pytest plugin: scikit-learn's test files get surefit's estimators if SUREFIT_COMPAT asks for it; every outcome is written down."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

OWNER, RESULT = os.environ.get("SUREFIT_COMPAT", ""), os.environ.get("SUREFIT_COMPAT_RESULT", "")
#: A file of names, as JSON: only these tests run; without it all do.
ONLY = os.environ.get("SUREFIT_COMPAT_ONLY", "")


def _is_test(scope: dict[str, Any] | None) -> bool:
    """Whether a module is one of scikit-learn's test files."""
    return scope is not None and ".tests.test_" in str(scope.get("__name__"))


if OWNER == "surefit":
    from surefit.sklearn.importing import install_hook
    from surefit.sklearn.mirror import Mirrors, replacement

    install_hook(Mirrors(replacement), _is_test)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep the tests that are asked for, and write down how many there are."""
    if ONLY:
        names = set(json.loads(Path(ONLY).read_text(encoding="utf-8")))
        items[:] = [item for item in items if item.nodeid.partition("::")[2] in names]
    _append({"collected": len(items)})


def pytest_collectreport(report: Any) -> None:
    """Append one line for a file that cannot be imported."""
    if report.failed:
        _append({"test": "", "outcome": "failed", "error": _cause(report.longrepr)})


def pytest_runtest_logreport(report: Any) -> None:
    """Append one line per test."""
    if report.when == "call" or report.failed or (report.when == "setup" and report.skipped):
        words = "" if report.passed or report.longrepr is None else _cause(report.longrepr)
        _append({"test": report.nodeid.partition("::")[2], "outcome": report.outcome, "error": words})


def _append(line: dict[str, Any]) -> None:
    with Path(RESULT).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _cause(found: Any) -> str:
    crash = getattr(found, "reprcrash", None)
    return str(getattr(crash, "message", found))[:4000]
