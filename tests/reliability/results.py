"""Results of the long runs: each writes what it tried and what went wrong to ``docs/reliability_results.json``."""

from __future__ import annotations

import json
import platform
from datetime import date
from pathlib import Path

import numpy as np
import sklearn

import surefit

FILE = Path(__file__).parents[2] / "docs" / "reliability_results.json"


def write(name: str, what: str, tried: int, wrong: int, **more: float | list[str]) -> None:
    """Replace the line of the run ``name``: what was tried, how often, and how often it went wrong."""
    results = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    results[name] = {
        "what": what,
        "tried": tried,
        "wrong": wrong,
        **more,
        "date": date.today().isoformat(),
        "surefit": surefit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    FILE.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n", encoding="utf-8")
