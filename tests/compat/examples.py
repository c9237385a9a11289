"""The gallery: every example runs with scikit-learn's classes and with ours, each in a process of its own."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.compat.limits import ends_in_time
from tests.compat.saved import Saved

#: Examples that ask for these load their data from the network.
DOWNLOADS = re.compile(r"\bfetch_\w+\(|urlretrieve|read_csv\(\s*[\"']http|pooch")
IMPORT = re.compile(r"^\s*(?:from|import)\s+sklearn", re.MULTILINE)


class Run(NamedTuple):
    """How one script ended: CPU seconds; None, "time limit", or the last line of the error; what it printed and drew."""

    seconds: float
    error: str | None
    printed: str = ""
    drawn: tuple[list[float], ...] = ()


class Example(NamedTuple):
    """One example both ways; ``downloads`` and ``uses`` say why it was not run."""

    name: str
    downloads: bool = False
    uses: bool = True
    peer: Run | None = None
    ours: Run | None = None


def run_examples(root: Path, limit: float, pattern: str, saved: Saved) -> list[Example]:
    """Run the examples below ``root`` whose path contains ``pattern``; each has ``limit`` CPU seconds per way."""
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
        peer, ours = (
            Run(**saved.result(f"{owner} {name}", lambda owner=owner, path=path: _run(owner, path, limit)))
            for owner in ("sklearn", "surefit")
        )
        found.append(Example(name, peer=peer, ours=ours))
        print(f"{name}: {peer.seconds:.1f} s, with ours {ours.seconds:.1f} s", file=sys.stderr, flush=True)
    return found


def replaced_names(text: str) -> set[str]:
    """Return the replaced estimators that a text names."""
    from surefit.sklearn import report

    return set(re.findall(r"\w+", text)) & {name for _, name in report().replaced}


NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: A printed line with one of these words states times, or names of classes and parameters.
UNSTEADY = re.compile(r"second|time|\b\d*s\b|\b\d*ms\b|duration|speed|0x[0-9a-f]+", re.IGNORECASE)
CLOSE = 0.02  # relative difference up to which two printed or drawn numbers count as equal


def difference(peer: Run, ours: Run) -> str:
    """Return the first difference between what two runs printed or drew, in words; empty if all numbers are close."""
    lines = [[line for line in run.printed.splitlines() if not UNSTEADY.search(line)] for run in (peer, ours)]
    for theirs, mine in zip(*lines, strict=False):
        numbers = [[float(word) for word in NUMBER.findall(line)] for line in (theirs, mine)]
        if len(numbers[0]) != len(numbers[1]) or not all(map(_close, *numbers)):
            return f"prints {mine.strip()[:70]!r} instead of {theirs.strip()[:70]!r}"
    if len(lines[0]) != len(lines[1]):
        return f"prints {len(lines[1])} lines instead of {len(lines[0])}"
    if len(peer.drawn) != len(ours.drawn):
        return f"draws {len(ours.drawn)} lines and images instead of {len(peer.drawn)}"
    for k, (theirs, mine) in enumerate(zip(peer.drawn, ours.drawn, strict=True)):
        scale = max(abs(theirs[1]), theirs[2])
        if theirs[0] != mine[0] or any(abs(a - b) > CLOSE * scale for a, b in zip(theirs[1:], mine[1:], strict=True)):
            shown = [f"{size:.0f} values {mean:.4g} +- {spread:.4g}" for size, mean, spread in (mine, theirs)]
            return f"draws, as line or image {k}, {shown[0]} instead of {shown[1]}"
    return ""


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= CLOSE * max(abs(a), abs(b)) or abs(a - b) < 1e-6


def _run(owner: str, path: Path, limit: float) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tests.compat.script", owner, str(path.resolve()), str(result)]
        environment = {**os.environ, "MPLBACKEND": "Agg", "SPHINX_GALLERY_BUILD": "1"}
        if not ends_in_time(command, environment, limit):
            return Run(limit, "time limit")._asdict()
        if not result.exists():
            return Run(0.0, "the process died")._asdict()
        return json.loads(result.read_text(encoding="utf-8"))
