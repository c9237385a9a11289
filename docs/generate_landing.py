"""Run the example of the landing page and keep what it prints, so that the page always shows the truth."""

import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLE = HERE / "landing_example.py"
OUTPUT = HERE / "reference" / "landing_output.txt"
WIDTH = 100  # characters of a line of the page


def printed() -> str:
    """Return what the example prints, in a fresh interpreter, with long lines wrapped."""
    text = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True).stdout
    return "\n".join(textwrap.fill(line, WIDTH) if len(line) > WIDTH else line for line in text.splitlines()) + "\n"


def write() -> None:
    """Write the output if the example or the library is newer than the last one."""
    sources = [EXAMPLE, *(HERE.parent / "src").rglob("*.py")]
    if OUTPUT.exists() and OUTPUT.stat().st_mtime > max(file.stat().st_mtime for file in sources):
        return
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(printed(), encoding="utf-8")


if __name__ == "__main__":
    write()
