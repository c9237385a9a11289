"""Plots for model selection: error against complexity or sample size, and structural risk minimization."""

from __future__ import annotations

import numpy as np

from surefit.bounds.structural import Structure
from surefit.plots.axes import BLUE, CYCLE, FILL, GRAY, INK, RED, new_axes, tidy
from surefit.selection.curves import Curve

COLORS = {"underfits": GRAY, "fits": BLUE, "settled": BLUE, "overfits": RED}


class CurveDisplay:
    """Plot of a learning, validation or complexity curve: training and test error, and the verdicts.

    Parameters
    ----------
    curve : Curve
        Result of :func:`complexity_curve`, :func:`validation_curve` or :func:`learning_curve`.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    train_line_, test_line_, band_ : matplotlib artists
        Training error, test error, and its uncertainty.
    marks_ : matplotlib collection
        The values, colored by verdict: gray underfits, blue fits, red overfits.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefit import CurveDisplay, validation_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = validation_curve(tree, X, y, param_name="max_depth", param_range=[1, 2, 5], random_state=0)
    >>> CurveDisplay(curve).plot().test_line_.get_ydata().shape
    (3,)
    """

    def __init__(self, curve: Curve):
        self.curve = curve

    def plot(self, ax=None) -> CurveDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        curve = self.curve
        self.figure_, self.ax_ = new_axes(ax)
        numeric = all(isinstance(x, (int, float, np.number)) for x in curve.x)
        places = (
            np.array(curve.x, dtype=float)
            if curve.kind == "learning" and numeric
            else np.arange(len(curve.x), dtype=float)
        )
        low, high = curve.test - curve.uncertainty, curve.test + curve.uncertainty
        self.band_ = self.ax_.fill_between(places, low, high, color=FILL, alpha=0.5, linewidth=0)
        (self.test_line_,) = self.ax_.plot(places, curve.test, color=BLUE, linewidth=1.6, label="test error")
        (self.train_line_,) = self.ax_.plot(places, curve.train, color=CYCLE[1], linewidth=1.6, label="training error")
        self.marks_ = self.ax_.scatter(places, curve.test, c=[COLORS[v] for v in curve.verdicts], s=36, zorder=3)
        for word in dict.fromkeys(curve.verdicts):
            self.ax_.scatter([], [], c=COLORS[word], s=36, label=word)
        if curve.kind == "complexity":
            self.ax_.set_xticks(places, [str(x) for x in curve.x])
            self.ax_.axvline(places[curve.chosen], color=INK, linestyle=":", linewidth=1.2, label="chosen")
        self.ax_.set_xlabel("training rows" if curve.kind == "learning" else curve.name)
        self.ax_.set_ylabel(curve.loss.words)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class StructureDisplay:
    """Plot of a structural risk minimization: training error, capacity term and their sum for each class.

    Parameters
    ----------
    table : Structure
        ``table_`` of a :class:`StructuralRiskMinimizer`, or the result of ``surefit.bounds.structural_risk``.
    names : list of str, optional
        Names of the classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    error_line_, radius_line_, sum_line_ : matplotlib lines
        Training error, radius and their sum.
    choice_ : matplotlib line
        Minimum of the sum.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import StructureDisplay
    >>> from surefit.bounds import structural_risk, vc
    >>> table = structural_risk([0.40, 0.22, 0.21], lambda k, delta: vc(k + 2, n=100_000, delta=delta))
    >>> StructureDisplay(table).plot().choice_.get_xdata()
    [1, 1]
    """

    def __init__(self, table: Structure, names=None):
        self.table = table
        self.names = [str(k + 1) for k in range(len(table.sums))] if names is None else [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None, *, names=None) -> StructureDisplay:
        """Return the display of a fitted ``StructuralRiskMinimizer``; ``X`` and ``y`` are not used."""
        return cls(estimator.table_, names)

    def plot(self, ax=None) -> StructureDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        places, table = np.arange(len(self.names)), self.table
        (self.error_line_,) = self.ax_.plot(places, table.empirical, color=CYCLE[1], marker="o", label="training error")
        (self.radius_line_,) = self.ax_.plot(places, table.radii, color=GRAY, marker="o", label="capacity term")
        (self.sum_line_,) = self.ax_.plot(places, table.sums, color=BLUE, marker="o", linewidth=1.8, label="sum")
        self.choice_ = self.ax_.axvline(table.best, color=INK, linestyle=":", linewidth=1.2, label="chosen")
        self.ax_.set_xticks(places, self.names)
        self.ax_.set_xlabel("class")
        self.ax_.set_ylabel("probability of error")
        self.ax_.set_ylim(bottom=0)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
