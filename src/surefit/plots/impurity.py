"""Plots of impurity functions and of the criterion for all thresholds of a column."""

from __future__ import annotations

import numpy as np

from surefit.plots.axes import CYCLE, GRAY, RED, new_axes, tidy
from surefit.trees.impurity import entropy, gini, misclassification
from surefit.trees.split_curve import SplitCurve


class ImpurityDisplay:
    """Entropy, Gini impurity and misclassification rate of two classes against the probability of one class.

    Parameters
    ----------
    unit : {"bits", "nats"}, default="bits"
        Unit of the entropy.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : dict of matplotlib lines
        One per function.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import ImpurityDisplay
    >>> display = ImpurityDisplay().plot()
    >>> float(display.lines_["entropy"].get_ydata().max())
    1.0
    """

    def __init__(self, unit: str = "bits"):
        self.unit = unit
        self.p = np.linspace(0, 1, 201)

    def plot(self, ax=None) -> ImpurityDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        pairs = np.stack([self.p, 1 - self.p], axis=1)
        curves = {
            "entropy": entropy(pairs, unit=self.unit),
            "gini": gini(pairs),
            "misclassification": misclassification(pairs),
        }
        self.lines_ = {
            name: self.ax_.plot(self.p, values, color=color, label=name)[0]
            for (name, values), color in zip(curves.items(), CYCLE, strict=False)
        }
        self.ax_.set_xlabel("probability of the first class")
        self.ax_.set_ylabel(f"impurity (entropy in {self.unit})")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class SplitCurveDisplay:
    """Splitting criterion for every threshold of a column, weighted by node sizes and unweighted.

    Parameters
    ----------
    curve : SplitCurve
        Result of :func:`surefit.split_curve`.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    weighted_line_, unweighted_line_, best_line_ : matplotlib lines
        The two criteria, each divided by its largest value, and the best threshold.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import SplitCurveDisplay, split_curve
    >>> curve = split_curve(range(10), [0] * 8 + [1, 0])
    >>> display = SplitCurveDisplay(curve).plot()
    >>> float(display.best_line_.get_xdata()[0])
    7.5
    """

    def __init__(self, curve: SplitCurve):
        self.curve = curve

    def plot(self, ax=None) -> SplitCurveDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        curve, style = self.curve, {"marker": "o", "markersize": 4}
        scaled = [v / v.max() if v.max() > 0 else v for v in (curve.impurity, curve.unweighted)]
        (self.weighted_line_,) = self.ax_.plot(
            curve.thresholds, scaled[0], color=CYCLE[0], label="weighted by size", **style
        )
        (self.unweighted_line_,) = self.ax_.plot(curve.thresholds, scaled[1], color=RED, label="unweighted", **style)
        self.best_line_ = self.ax_.axvline(curve.best_threshold, color=GRAY, linestyle="--", label="best cut")
        self.ax_.set_xlabel("threshold")
        self.ax_.set_ylabel(f"{curve.criterion}, fraction of its largest value")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
