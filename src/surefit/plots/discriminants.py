"""Plot of a linear classifier for two classes: the rows projected on its direction, with the threshold."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, INK, RED, new_axes, tidy


class FisherDisplay:
    r"""Histograms of two classes along the direction of a linear classifier, with the threshold.

    Parameters
    ----------
    projections : ndarray of shape (n_rows,)
        Signed distances :math:`(x^\top w + b) / \|w\|` from the threshold.
    second : ndarray of bool of shape (n_rows,)
        Rows of the second class.
    names : tuple of str, default=("first", "second")
        Names of the classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : tuple of two matplotlib bar containers
        The histograms.
    cut_line_ : matplotlib line
        The threshold, at zero.
    errors_ : int
        Number of misclassified rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import FisherDiscriminant, FisherDisplay
    >>> from surefit.data import make_two_triangles
    >>> X, y, _ = make_two_triangles(epsilon=0.2)
    >>> display = FisherDisplay.from_estimator(FisherDiscriminant().fit(X, y), X, y).plot()
    >>> display.errors_
    2
    """

    def __init__(self, projections, second, *, names=("first", "second")):
        self.projections, self.second = np.asarray(projections, dtype=np.float64), np.asarray(second, dtype=bool)
        self.names = tuple(str(name) for name in names)
        if self.projections.ndim != 1 or self.projections.shape != self.second.shape or len(self.names) != 2:
            raise InvalidData(
                f"FisherDisplay: needs one projection and one class per row, and two names; got shapes {self.projections.shape} and "
                f"{self.second.shape}, names {self.names}."
            )
        self.errors_ = int(np.sum((self.projections > 0) != self.second))

    @classmethod
    def from_estimator(cls, estimator, X, y) -> FisherDisplay:
        """Return the display of a fitted linear classifier with two classes (it has ``coef_`` and ``classes_``)."""
        classes = np.asarray(getattr(estimator, "classes_", []))
        if len(classes) != 2 or not hasattr(estimator, "coef_"):
            raise InvalidData(
                f"FisherDisplay: {type(estimator).__name__} is not a fitted linear classifier with two classes."
            )
        length = float(np.linalg.norm(estimator.coef_)) or 1.0
        return cls(estimator.decision_function(X) / length, np.asarray(y) == classes[1], names=tuple(classes))

    def plot(self, ax=None, *, bins: int = 30) -> FisherDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        low, high = float(np.min(self.projections, initial=0.0)), float(np.max(self.projections, initial=0.0))
        edges = np.linspace(low, high if high > low else low + 1.0, bins + 1)
        drawn = []
        for chosen, color, name in ((~self.second, RED, self.names[0]), (self.second, BLUE, self.names[1])):
            drawn.append(
                self.ax_.hist(self.projections[chosen], bins=edges, color=color, alpha=0.55, label=f"class {name}")[2]
            )
        self.bars_ = tuple(drawn)
        self.cut_line_ = self.ax_.axvline(0.0, color=INK, linewidth=1.6, label="cut")
        self.ax_.set_xlabel("distance from the threshold")
        self.ax_.set_ylabel("rows")
        self.ax_.set_title(f"{self.errors_} of {len(self.second)} rows on the wrong side")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
