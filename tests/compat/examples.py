"""The gallery: every example runs with scikit-learn's classes and with ours, each in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

#: Examples that ask for these load their data from the network.
DOWNLOADS = re.compile(r"\bfetch_\w+\(|urlretrieve|read_csv\(\s*[\"']http|pooch")
IMPORT = re.compile(r"^\s*(?:from|import)\s+sklearn", re.MULTILINE)


class Run(NamedTuple):
    """How one script ended; ``error`` is None, "time limit", or the last line of the error."""

    seconds: float
    error: str | None


class Example(NamedTuple):
    """One example both ways; ``downloads`` and ``uses`` say why it was not run."""

    name: str
    downloads: bool = False
    uses: bool = True
    peer: Run | None = None
    ours: Run | None = None


def run_examples(root: Path, limit: float, pattern: str) -> list[Example]:
    """Run the examples below ``root`` whose path contains ``pattern``; each has ``limit`` seconds per way."""
    found = []
    for path in sorted(root.rglob("*.py")):
        name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
        if pattern not in name or path.name.startswith("_") or not IMPORT.search(text):
            continue
        if DOWNLOADS.search(text):
            found.append(Example(name, downloads=True))
            continue
        if not replaced_names(text):
            found.append(Example(name, uses=False))
            continue
        example = Example(name, peer=_run("sklearn", path, limit), ours=_run("surefit", path, limit))
        print(f"{name}: {example.peer} {example.ours}", file=sys.stderr, flush=True)
        found.append(example)
    return found


def replaced_names(text: str) -> set[str]:
    """Return the replaced estimators that a text names."""
    from surefit.sklearn import report

    return set(re.findall(r"\w+", text)) & {name for _, name in report().replaced}


def _run(owner: str, path: Path, limit: float) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tests.compat.script", owner, str(path.resolve()), str(result)]
        environment = {**os.environ, "MPLBACKEND": "Agg", "SPHINX_GALLERY_BUILD": "1"}
        try:
            subprocess.run(
                command, env=environment, timeout=limit, capture_output=True, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return Run(limit, "time limit")
        if not result.exists():
            return Run(0.0, "the process died")
        return Run(**json.loads(result.read_text(encoding="utf-8")))
