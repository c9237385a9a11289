"""A pytest plugin: scikit-learn's test files get surefit's estimators if SUREFIT_COMPAT asks for it; every outcome is written down."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from inspect import signature
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

    from sklearn.utils._test_common import instance_generator

    _OF_SKLEARN = instance_generator._tested_estimators

    def _of_surefit(type_filter: Any = None) -> Iterator[Any]:
        """Yield the estimators of the common tests that are replaced, with the parameters that scikit-learn chose for them."""
        for peer in _OF_SKLEARN(type_filter):
            kind = type(peer)
            ours = replacement(kind, kind.__module__.partition("._")[0], kind.__name__)
            if ours is not kind:
                defaults = {name: each.default for name, each in signature(kind).parameters.items()}
                given = peer.get_params(deep=False).items()
                yield ours(**{name: value for name, value in given if repr(value) != repr(defaults[name])})

    instance_generator._tested_estimators = _of_surefit


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
