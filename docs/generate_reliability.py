"""Write ``reference/reliability_table.inc`` from the results of the runs of ``make reliability`` and ``make fuzz``."""

import json
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "reliability_results.json"
TARGET = HERE / "reference" / "reliability_table.inc"
HEADER = ("run", "what was tried", "cases", "faults", "date", "surefit, Python, NumPy, scikit-learn")


def write() -> None:
    """Write the table, one line per run."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for cells in [HEADER, *rows()]:
        lines += [f"   {'*' if k == 0 else ' '} - {cell}" for k, cell in enumerate(cells)]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows() -> list[tuple[str, ...]]:
    """Return the cells of every run."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return [
        (
            f"``{name}``",
            found["what"],
            f"{found['tried']:,}".replace(",", " "),
            str(found["wrong"]),
            found["date"],
            ", ".join(found[key] for key in ("surefit", "python", "numpy", "scikit-learn")),
        )
        for name, found in results.items()
    ]
