"""Ctrl-C at random moments of every command: ``python -m tests.reliability.commands [TRIES [SEED]]``.

A command that is interrupted ends in one sentence or with its result; each file that it writes is absent or whole.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.reliability.results import write

from surefit.core.guards.interrupts import EXIT_CODE, SENTENCE

LATEST = 4.0  # CPU seconds; about what the slowest of them takes
COMMANDS = {
    "fit": "rows.csv -m linear,tree -o new.surefit -r new.html --certificate new.json",
    "predict": "own.surefit rows.csv",
    "verify": "own.surefit rows.csv",
    "explain": "own.surefit rows.csv",
    "compare": "own.surefit second.surefit rows.csv",
    "report": "own.surefit rows.csv -o again.html",
    "path": "rows.csv -o path.csv",
    "certify": "other.skops rows.csv -t y",
    "export": "own.surefit model.onnx",
    "data": "iris -o iris.csv",
    "theory": "novikoff labels.csv",
    "lab": "--port 0 --no-show",
    "warmup": "Ridge",
    "run": "program.py",
    "audit": "program.py",
}
#: How a whole file ends, by its suffix; an ONNX graph may end in any way.
ENDS = {".surefit": b"\x00\x00", ".html": b"</html>", ".json": b"}", ".csv": b"\n", ".onnx": b""}

#: A command that is interrupted after some seconds of CPU time, whatever else the machine does.
INTERRUPTED = """
import signal, sys
from surefit.cli import run
signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_PROF, float(sys.argv.pop(1)))
signal.alarm(20)  # a server that waits uses no CPU time
sys.argv[0] = "surefit"
try:
    run()
finally:  # at the end of Python, signals have their default action again
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.alarm(0)
"""
PROGRAM = """
import numpy as np
from sklearn.linear_model import Ridge
rows = np.random.default_rng(0).normal(size=(50, 3))
for alpha in np.logspace(-2, 2, 300):
    Ridge(alpha).fit(rows, rows[:, 0])
"""


def prepare(place: Path) -> None:
    """Write models, rows and a program for the commands to read."""
    import numpy as np
    import skops.io
    from sklearn.linear_model import Ridge

    rows = np.random.default_rng(0).normal(size=(60, 2))
    target = rows @ [1.0, 2.0] + 0.1 * np.sin(9.0 * rows[:, 0])
    lines = [f"{a},{b},{y}\n" for (a, b), y in zip(rows, target, strict=True)]
    (place / "rows.csv").write_text("a,b,y\n" + "".join(lines), encoding="utf-8")
    signs = [f"{a},{b},{int(a + b > 0)}\n" for a, b in rows if abs(a + b) > 0.3]
    (place / "labels.csv").write_text("a,b,y\n" + "".join(signs), encoding="utf-8")
    (place / "program.py").write_text(PROGRAM, encoding="utf-8")
    skops.io.dump(Ridge().fit(rows, target), place / "other.skops")
    for name, models in (("own", "linear"), ("second", "tree")):
        words = ("fit", "rows.csv", "-m", models, "-o", f"{name}.surefit", "--no-report", "-q", "-f")
        subprocess.run([sys.executable, "-m", "surefit", *words], cwd=place, check=True, capture_output=True)


def fault(place: Path, name: str, seconds: float) -> str:
    """Interrupt a command after some CPU seconds; return what was wrong, or an empty text."""
    before = set(os.listdir(place))
    call = [sys.executable, "-c", INTERRUPTED, str(seconds), name, *COMMANDS[name].split()]
    done = subprocess.run(call, cwd=place, capture_output=True, text=True, timeout=600)
    new = set(os.listdir(place)) - before
    ends = {file: (place / file).read_bytes() for file in new}
    for file in new:
        (place / file).unlink()
    said = f"{name} after {seconds:.3f} s"
    if "Traceback" in done.stderr:
        return f"{said}: {done.stderr[-300:]}"
    if done.returncode not in (0, EXIT_CODE):
        return f"{said}: exit code {done.returncode}, {done.stderr[-300:]}"
    if done.returncode == EXIT_CODE and done.stderr.splitlines()[-1:] != [SENTENCE] and not done.stdout:
        return f"{said}: ended without a sentence: {done.stderr[-300:]}"
    if wrong := [file for file in new if not ends[file].endswith(ENDS.get(Path(file).suffix, b"nothing"))]:
        return f"{said}: left {', '.join(wrong)}"
    return ""


def main(words: list[str]) -> int:
    """Print the faults and the count."""
    tries, draw = int(words[0]) if words else 10, random.Random(words[1] if len(words) > 1 else "0")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        wrong = [fault(Path(folder), name, draw.uniform(0.001, LATEST)) for name in COMMANDS for _ in range(tries)]
    wrong = [words for words in wrong if words]
    write("commands", "Ctrl-C at random moments of every command", tries * len(COMMANDS), len(wrong))
    print(*wrong, f"{tries * len(COMMANDS)} interrupts, {len(wrong)} faults", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
