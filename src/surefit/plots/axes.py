"""Common parts of the plots: axes, colors, and the error if matplotlib is missing."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import SurefitError

INK = "#1f2933"
BLUE = "#1f6fb2"
RED = "#c0392b"
GRAY = "#8a94a0"
FILL = "#cfe3f3"
#: Eight colors that color-blind readers can distinguish; further lines repeat them dashed.
CYCLE = ("#1f6fb2", "#d9722e", "#2f8f5b", "#a23b9c", "#b8992c", "#20a0a8", "#c0392b", "#5b6b7b")


def new_axes(ax: Any = None, n_columns: int = 1) -> tuple[Any, Any]:
    """Return the figure and the given or new axes; ``n_columns`` > 1 gives an array of axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise SurefitError("Plots need matplotlib; install it with: pip install 'surefit[plot]'.") from None
    if ax is None:
        figure, ax = plt.subplots(1, n_columns, figsize=(6.4 * n_columns, 4.4), layout="constrained")
        return figure, ax
    first = ax if n_columns == 1 else ax[0]
    return first.figure, ax


def tidy(ax: Any) -> None:
    """Remove unnecessary frame lines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#e6eaee", linewidth=0.8)
    ax.set_axisbelow(True)
