"""Run one script in this process, with scikit-learn's classes or ours, and write how it ended: ``python -m tests.compat.script``."""

from __future__ import annotations

import io
import json
import resource
import runpy
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np


def main(owner: str, script: str, result: str) -> None:
    """Run ``script`` as ``__main__``; write CPU seconds, error, printed text and drawn numbers to the file ``result``."""
    from surefit.sklearn.importing import mirrored
    from surefit.sklearn.mirror import Mirrors, replacement

    warnings.simplefilter("ignore")
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    begun, error, printed = seconds(), None, io.StringIO()
    try:
        with redirect_stdout(printed):
            if owner == "surefit":
                with mirrored(Mirrors(replacement)):
                    runpy.run_path(script, run_name="__main__")
            else:
                runpy.run_path(script, run_name="__main__")
    except BaseException as caught:
        error = f"{type(caught).__name__}: {caught}"[:300]
    found = {"seconds": seconds() - begun, "error": error, "printed": printed.getvalue(), "drawn": drawn()}
    Path(result).write_text(json.dumps(found), encoding="utf-8")


def seconds() -> float:
    """Return the CPU seconds of this process and of those it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def drawn() -> list[list[float]]:
    """Return, for each line, image and scatter plot of the open figures, its number of values, their mean and standard deviation."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    arrays = []
    for axes in (axes for number in pyplot.get_fignums() for axes in pyplot.figure(number).axes):
        arrays += [line.get_ydata() for line in axes.lines] + [image.get_array() for image in axes.images]
        arrays += [each.get_array() for each in axes.collections if each.get_array() is not None]
    return [summary(array) for array in arrays]


def summary(array: object) -> list[float]:
    """Return size, mean and standard deviation of the finite numbers of an array."""
    try:
        values = np.ma.filled(np.ma.asarray(array, dtype=float), np.nan).ravel()
    except (TypeError, ValueError):  # dates and words
        return [0.0, 0.0, 0.0]
    finite = values[np.isfinite(values)]
    return [float(finite.size), float(finite.mean()), float(finite.std())] if finite.size else [0.0, 0.0, 0.0]


if __name__ == "__main__":
    main(*sys.argv[1:])
