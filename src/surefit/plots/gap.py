"""Plot of the duality gap against time during a fit."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, INK, new_axes, tidy


class GapDisplay:
    r"""Plot of the proved gap :math:`P(w) - \min P` against the seconds of the fit, on a logarithmic axis.

    A gap of exactly zero cannot be drawn on a logarithmic axis; a text note reports it.

    Parameters
    ----------
    seconds, gaps : arrays of shape (n_checks,)
        When the gap was computed, and its value.
    tolerance : float, optional
        The tolerance of the fit, in the same units.
    name : str, default=""
        Name for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The gap.
    tolerance_line_ : matplotlib line or None
        The tolerance.
    zero_text_ : matplotlib text or None
        The note about a gap of zero.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import GapDisplay, Lasso
    >>> model = Lasso(alpha=0.1).fit(*load_diabetes(return_X_y=True))
    >>> display = GapDisplay.from_estimator(model).plot()
    >>> len(display.line_.get_ydata()) == len(model.history_)
    True
    """

    def __init__(self, seconds, gaps, *, tolerance: float | None = None, name: str = ""):
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.gaps = np.asarray(gaps, dtype=np.float64)
        if self.seconds.shape != self.gaps.shape or self.gaps.ndim != 1:
            raise InvalidData(
                f"GapDisplay: seconds and gaps must be two lists of equal length; got shapes {self.seconds.shape} and "
                f"{self.gaps.shape}."
            )
        self.tolerance = tolerance
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None, *, name: str | None = None) -> GapDisplay:
        """Return the display of an estimator with ``history_``, and its tolerance; ``X`` and ``y`` are not used."""
        history = estimator.history_
        limits = [claim.limit for claim in estimator.certificate_.claims if claim.kind == "optimality"]
        asked = next((limit for limit in limits if limit is not None), None)
        return cls(
            history[:, 0], history[:, 2], tolerance=asked, name=type(estimator).__name__ if name is None else name
        )

    def plot(self, ax=None) -> GapDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        drawn = np.where(self.gaps > 0, self.gaps, np.nan)
        (self.line_,) = self.ax_.plot(
            self.seconds, drawn, color=BLUE, marker="o", markersize=4, linewidth=1.6, label=self.name or None
        )
        self.tolerance_line_ = None
        if self.tolerance is not None and self.tolerance > 0:
            self.tolerance_line_ = self.ax_.axhline(
                self.tolerance, color=INK, linestyle=":", linewidth=1.4, label="tolerance"
            )
        self.zero_text_ = None
        zero = np.flatnonzero(self.gaps <= 0)
        if len(zero):
            self.zero_text_ = self.ax_.text(
                0.98, 0.04, f"gap 0 after {self.seconds[zero[0]]:.2g} s", transform=self.ax_.transAxes, ha="right"
            )
        self.ax_.set_yscale("log")
        self.ax_.set_xlabel("seconds")
        self.ax_.set_ylabel("upper bound on objective minus minimum")
        tidy(self.ax_)
        if self.name or self.tolerance_line_ is not None:
            self.ax_.legend(frameon=False)
        return self
