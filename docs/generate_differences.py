"""Write ``reference/differences.csv``: the table of differences from scikit-learn, with names that end in an underscore as such."""

import csv
import re
from pathlib import Path

HERE = Path(__file__).parent


def write() -> None:
    """Write the table for the page on migrating."""
    with (HERE / "differences.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    target = HERE / "reference" / "differences.csv"
    target.parent.mkdir(exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[escaped(cell) for cell in row] for row in table])


def escaped(cell: str) -> str:
    """Return a cell in which nothing is markup."""
    return re.sub(r"([*_`])", r"\\\1", cell)
