"""Plots of gradient descent: iterates on the contours of the function, and the effect of the step size."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, GRAY, RED, new_axes, tidy


class DescentDisplay:
    """Iterates of one or several optimization runs on the contours of a function of two variables.

    Parameters
    ----------
    function : SmoothFunction
        The minimized function.
    descents : dict of str to Descent
        Results by name.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per descent.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import DescentDisplay, GradientDescent
    >>> from surefit.optimizers import Quadratic
    >>> bowl = Quadratic([[4.0, 0.0], [0.0, 1.0]])
    >>> display = DescentDisplay(bowl, {"1/L": GradientDescent().minimize(bowl, [1.0, 2.0])}).plot()
    >>> len(display.lines_)
    1
    """

    def __init__(self, function, descents: dict[str, Any]):
        if function.dimension != 2:
            raise InvalidData(f"DescentDisplay: contours need two variables; the function has {function.dimension}.")
        self.function, self.descents = function, dict(descents)

    def plot(self, ax=None, *, box: float | None = None) -> DescentDisplay:
        """Draw on ``ax``, or on new axes; ``box`` is the half-width of the plot. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        paths = {
            name: outcome.path[np.all(np.isfinite(outcome.path), axis=1)] for name, outcome in self.descents.items()
        }
        best = min(self.descents.values(), key=lambda outcome: outcome.value).w
        extent = box or 1.15 * max(float(np.max(np.abs(path[0] - best))) for path in paths.values()) or 1.0
        axis = np.linspace(-extent, extent, 121)
        first, second = best[0] + axis, best[1] + axis
        values = np.array([[self.function.value(np.array([u, v])) for u in first] for v in second])
        levels = np.quantile(values, np.linspace(0.01, 0.95, 12))
        self.ax_.contour(first, second, values, levels=np.unique(levels), colors=GRAY, linewidths=0.7)
        self.lines_ = []
        for k, (name, path) in enumerate(paths.items()):
            color = CYCLE[k % len(CYCLE)]
            self.lines_ += self.ax_.plot(path[:, 0], path[:, 1], "o-", color=color, ms=3, linewidth=1.2, label=name)
        self.ax_.plot(*best, "*", color=RED, ms=11)
        self.ax_.set_xlim(first[0], first[-1])
        self.ax_.set_ylim(second[0], second[-1])
        self.ax_.set_xlabel("$w_1$")
        self.ax_.set_ylabel("$w_2$")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class StepSizeDisplay:
    """Objective against iteration for several step sizes: too small, good, and too large.

    Parameters
    ----------
    descents : dict of str to Descent
        Results by name.
    lowest : float or None, default=None
        Minimum of the objective; by default the smallest value of all runs.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per descent.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import GradientDescent, StepSizeDisplay
    >>> from surefit.optimizers import GradientNorm, Quadratic
    >>> parabola = Quadratic([[2.0]])
    >>> runs = {s: GradientDescent(s, stopping=GradientNorm(1e-3)).minimize(parabola, [1.0]) for s in (0.05, 0.5, 0.95)}
    >>> len(StepSizeDisplay(runs).plot().lines_)
    3
    """

    def __init__(self, descents: dict[Any, Any], *, lowest: float | None = None):
        if not descents:
            raise InvalidData("StepSizeDisplay: descents must contain at least one result.")
        self.descents = {str(name): outcome for name, outcome in descents.items()}
        values = [float(np.nanmin(outcome.history[:, 1])) for outcome in self.descents.values()]
        self.lowest = min(values) if lowest is None else float(lowest)

    def plot(self, ax=None, *, floor: float = 1e-12) -> StepSizeDisplay:
        """Draw on ``ax``, or on new axes; differences below ``floor`` are drawn at ``floor``. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.lines_ = []
        for k, (name, outcome) in enumerate(self.descents.items()):
            excess = np.maximum(outcome.history[:, 1] - self.lowest, floor)
            color = BLUE if len(self.descents) == 1 else CYCLE[k % len(CYCLE)]
            label = f"{name} ({outcome.reason.replace('_', ' ')})"
            self.lines_ += self.ax_.plot(excess, color=color, linewidth=1.6, label=label)
        self.ax_.set_yscale("log")
        self.ax_.set_xlabel("iteration")
        self.ax_.set_ylabel("objective above its minimum")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
