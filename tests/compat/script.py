"""Run one script in this process, with scikit-learn's classes or ours, and write how it ended: ``python -m tests.compat.script``."""

from __future__ import annotations

import json
import runpy
import sys
import time
import warnings
from pathlib import Path


def main(owner: str, script: str, result: str) -> None:
    """Run ``script`` as ``__main__`` and write seconds and error, if there was one, to the file ``result``."""
    from surefit.sklearn.importing import mirrored
    from surefit.sklearn.mirror import Mirrors, replacement

    warnings.simplefilter("ignore")
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    begun, error = time.perf_counter(), None
    try:
        if owner == "surefit":
            with mirrored(Mirrors(replacement)):
                runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_path(script, run_name="__main__")
    except BaseException as caught:
        error = f"{type(caught).__name__}: {caught}"[:300]
    Path(result).write_text(json.dumps({"seconds": time.perf_counter() - begun, "error": error}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
