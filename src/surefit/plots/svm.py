"""Plots of support vector machines: boundary with margins, epsilon-insensitive tube, and the path along C."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, FILL, GRAY, INK, RED, new_axes, tidy

CURVE = 400  # points of a curve
GRID = 160  # points per side of the grid


class SVCDisplay:
    r"""Two classes in the plane: the boundary :math:`f = 0`, the margins :math:`f = \pm 1`, and rings around the support rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, 2)
        The points.
    positive : ndarray of bool
        Rows of the second class.
    points : ndarray of str
        Kinds of the rows, as ``SVC.points_``.
    support : ndarray of int
        Support rows.
    grid : tuple of two ndarrays
        Coordinates of the grid on both axes.
    scores : ndarray of shape (len(grid[1]), len(grid[0]))
        Scores on the grid.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    contours_ : matplotlib contour set
        Boundary and margins.
    support_ : matplotlib collection
        Rings around the support rows.
    crosses_ : matplotlib collection
        Crosses on misclassified rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from surefit import SVC, SVCDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[50:, 2:], y[50:]
    >>> display = SVCDisplay.from_estimator(SVC().fit(X, y), X, y).plot()
    >>> display.contours_.levels.tolist()
    [-1.0, 0.0, 1.0]
    """

    def __init__(self, X, positive, points, support, grid, scores):
        self.X, self.positive, self.points = np.asarray(X, dtype=np.float64), np.asarray(positive), np.asarray(points)
        self.support, self.grid, self.scores = np.asarray(support), grid, np.asarray(scores)
        if self.X.ndim != 2 or self.X.shape[1] != 2:
            raise InvalidData(f"SVCDisplay: X must have two columns; got shape {self.X.shape}.")

    @classmethod
    def from_estimator(cls, estimator, X, y, *, resolution: int = GRID) -> SVCDisplay:
        """Return the display of a fitted :class:`surefit.SVC` with two classes and its training data."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != 2 or len(estimator.classes_) != 2:
            raise InvalidData(f"SVCDisplay: expected two columns and two classes; got shape {X.shape}.")
        low, high = X.min(axis=0), X.max(axis=0)
        room = 0.08 * np.where(high > low, high - low, 1.0)
        first, second = (np.linspace(low[j] - room[j], high[j] + room[j], resolution) for j in range(2))
        plane = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
        scores = estimator.decision_function(plane).reshape(len(second), len(first))
        return cls(
            X, np.asarray(y) == estimator.classes_[1], estimator.points_, estimator.support_, (first, second), scores
        )

    def plot(self, ax: Any = None) -> SVCDisplay:
        """Draw on ``ax`` (new axes by default)."""
        self.figure_, self.ax_ = new_axes(ax)
        limit = float(np.max(np.abs(self.scores)))
        self.ax_.contourf(
            *self.grid, self.scores, levels=[-limit - 1, 0, limit + 1], colors=["#f6dcd8", FILL], alpha=0.6
        )
        styles = {"levels": [-1.0, 0.0, 1.0], "colors": [RED, INK, BLUE], "linestyles": ["dashed", "solid", "dashed"]}
        self.contours_ = self.ax_.contour(*self.grid, self.scores, **styles)
        for side, color, mark in ((self.positive, BLUE, "o"), (~self.positive, RED, "s")):
            self.ax_.scatter(*self.X[side].T, s=18, c=color, marker=mark, edgecolors="white", linewidths=0.5, zorder=3)
        ringed = self.X[self.support]
        self.support_ = self.ax_.scatter(*ringed.T, s=70, facecolors="none", edgecolors=INK, linewidths=1.0, zorder=4)
        wrong = self.X[self.points == "misclassified"]
        self.crosses_ = self.ax_.scatter(*wrong.T, s=40, c=INK, marker="x", linewidths=1.2, zorder=5)
        self.ax_.set(xlabel="x0", ylabel="x1", title=f"{len(ringed)} support rows, {len(wrong)} misclassified")
        return self


class TubeDisplay:
    r"""Regression on one column: the curve, its tube of half-width :math:`\varepsilon`, and rows by position.

    Parameters
    ----------
    x, y : ndarray of shape (n_rows,)
        The points.
    points : ndarray of str
        Kinds of the rows, as ``SVR.points_``.
    curve : tuple of two ndarrays
        Abscissae and predictions.
    epsilon : float
        Half-width of the tube.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The curve.
    scatters_ : dict of str to matplotlib collection
        Rows inside, on, above and below the tube.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import SVR, TubeDisplay
    >>> x = np.linspace(0, 6, 30)
    >>> model = SVR(C=10.0, epsilon=0.2).fit(x[:, None], np.sin(x))
    >>> sorted(TubeDisplay.from_estimator(model, x[:, None], np.sin(x)).plot().scatters_)
    ['inside', 'on tube']
    """

    COLORS = {"inside": GRAY, "on tube": INK, "above": BLUE, "below": RED}

    def __init__(self, x, y, points, curve, epsilon: float):
        self.x, self.y, self.points = np.asarray(x), np.asarray(y), np.asarray(points)
        self.curve, self.epsilon = curve, float(epsilon)

    @classmethod
    def from_estimator(cls, estimator, X, y) -> TubeDisplay:
        """Return the display of a fitted :class:`surefit.SVR` with one column and its training data."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != 1:
            raise InvalidData(f"TubeDisplay: X must have one column; got shape {X.shape}.")
        abscissae = np.linspace(X.min(), X.max(), CURVE)
        return cls(X[:, 0], y, estimator.points_, (abscissae, estimator.predict(abscissae[:, None])), estimator.epsilon)

    def plot(self, ax: Any = None) -> TubeDisplay:
        """Draw on ``ax`` (new axes by default)."""
        self.figure_, self.ax_ = new_axes(ax)
        tidy(self.ax_)
        x, f = self.curve
        self.ax_.fill_between(x, f - self.epsilon, f + self.epsilon, color=FILL, alpha=0.6, linewidth=0)
        (self.line_,) = self.ax_.plot(x, f, color=BLUE)
        self.scatters_ = {}
        for kind, color in self.COLORS.items():
            rows = self.points == kind
            if rows.any():
                self.scatters_[kind] = self.ax_.scatter(
                    self.x[rows], self.y[rows], s=20, c=color, label=f"{kind} ({rows.sum()})", zorder=3
                )
        self.ax_.legend(frameon=False)
        self.ax_.set(xlabel="x", ylabel="y", title=f"tube of half-width {self.epsilon:.3g}")
        return self


class SVCPathDisplay:
    """Plot of the path along C: the norm and the sum of slacks, and the proved relative gap at every C.

    Parameters
    ----------
    path : SVCPath
        Result of :func:`surefit.svc_path`.

    Attributes
    ----------
    ax_, figure_ : array of two matplotlib axes, and the figure
        Where it was drawn.
    lines_ : dict of str to matplotlib line
        "norm", "slack" and "gap".

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import SVCPathDisplay, svc_path
    >>> path = svc_path([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], kernel="linear", C_range=(0.1, 1.0), eps=0.05)
    >>> sorted(SVCPathDisplay(path).plot().lines_)
    ['gap', 'norm', 'slack']
    """

    def __init__(self, path):
        self.path = path

    def plot(self, ax: Any = None) -> SVCPathDisplay:
        """Draw on a pair of axes (new ones by default)."""
        self.figure_, self.ax_ = new_axes(ax, 2)
        path, (left, right) = self.path, self.ax_
        for axis in (left, right):
            tidy(axis)
            axis.set(xscale="log", xlabel="C")
        (norm,) = left.plot(path.Cs, path.norms, color=BLUE, label="norm of the function")
        (slack,) = left.plot(path.Cs, path.slacks, color=RED, label="sum of slacks")
        left.legend(frameon=False)
        Cs = np.geomspace(path.Cs[0], path.Cs[-1], CURVE)
        Cs[0], Cs[-1] = path.Cs[0], path.Cs[-1]
        shares = [path.gap_at(C) / path.objective_at(C) for C in Cs]
        (gap,) = right.plot(Cs, shares, color=INK)
        right.axhline(path.eps, color=GRAY, linestyle="dashed")
        right.plot(path.Cs, np.zeros(len(path.Cs)), "|", color=GRAY, markersize=8)
        right.set(ylabel="proved gap / objective", title=f"{len(path.Cs)} classifiers cover every C")
        self.lines_ = {"norm": norm, "slack": slack, "gap": gap}
        return self
