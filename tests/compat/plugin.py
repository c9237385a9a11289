"""A pytest plugin: scikit-learn's test files get surefit's estimators if SUREFIT_COMPAT asks for it; every outcome is written down."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

OWNER, RESULT = os.environ.get("SUREFIT_COMPAT", ""), os.environ.get("SUREFIT_COMPAT_RESULT", "")


def _is_test(scope: dict[str, Any] | None) -> bool:
    """Whether a module is one of scikit-learn's test files."""
    return scope is not None and ".tests.test_" in str(scope.get("__name__"))


if OWNER == "surefit":
    from surefit.sklearn.importing import install_hook
    from surefit.sklearn.mirror import Mirrors, replacement

    install_hook(Mirrors(replacement), _is_test)


def pytest_runtest_logreport(report: Any) -> None:
    """Append one line per test."""
    if report.when != "call" and not report.failed:
        return
    words = "" if report.passed or report.longrepr is None else _cause(report.longrepr)
    line = {"test": report.nodeid, "outcome": report.outcome, "seconds": report.duration, "error": words}
    with Path(RESULT).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _cause(found: Any) -> str:
    crash = getattr(found, "reprcrash", None)
    return str(getattr(crash, "message", found))[:4000]
