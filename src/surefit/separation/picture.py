"""Plot of a separability report in the plane."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def draw(report, X, t: np.ndarray, ax):
    """Draw the rows by class, the hyperplane with its margin, and rings around the rows used by the proof."""
    import matplotlib.pyplot as plt

    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    ax = plt.subplots()[1] if ax is None else ax
    signs = (-1.0, 1.0) if len(report.classes) == 2 else (float(t[0]),)
    for sign, label, marker in zip(signs, report.classes, ("o", "x"), strict=False):
        ax.scatter(*X[t == sign].T, marker=marker, label=str(label))
    if len(report.support):
        ringed = X[report.support]
        what = "support of the widest margin" if report.status == "strict" else "rows that rule out strict separation"
        ax.scatter(*ringed.T, s=140, facecolors="none", edgecolors="black", label=what)
    if report.w is not None:
        _lines(ax, report.w, report.b, [0.0, -1.0, 1.0] if report.status == "strict" else [0.0])
    ax.set_title(f"{report.status}" + (f" (proof: {report.level})" if report.level else ""))
    ax.set_xlabel("column 0")
    ax.set_ylabel("column 1")
    ax.legend()
    return ax


def _lines(ax, w: np.ndarray, b: float, levels: list[float]) -> None:
    """Draw the lines ``w'x + b = level`` across the current view."""
    if not np.any(w):
        return
    view = ax.axis()
    center = np.array([view[0] + view[1], view[2] + view[3]]) / 2
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.hypot(view[1] - view[0], view[3] - view[2])
    for level in levels:
        foot = center - (w @ center + b - level) / (w @ w) * w
        ends = np.array([foot - reach * along, foot + reach * along])
        ax.plot(*ends.T, "k-" if level == 0 else "k--", linewidth=1.0)
    ax.axis(view)
