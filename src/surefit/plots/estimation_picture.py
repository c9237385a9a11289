"""Lasso and ridge estimation picture: the constraint sets, and the error contours that touch them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.linear.lasso.elastic_net import ElasticNet
from surefit.linear.lasso.lasso import Lasso
from surefit.plots.axes import BLUE, FILL, INK, RED, new_axes, tidy

#: Contours to draw, as fractions of the squared error (above its minimum) at the solution.
LEVELS = (0.1, 0.4, 1.0)


class Panel(NamedTuple):
    """Constraint set and the point where the contours first touch it."""

    title: str
    solution: np.ndarray
    radius: float  # bound on the norm of the panel


class EstimationPictureDisplay:
    r"""Plot of two-feature least squares under an l1 and an l2 constraint.

    The ellipses are contours of the squared error :math:`\|y - Xw\|^2` around the least-squares point; the solution is the point of the
    diamond :math:`|w_1| + |w_2| \le t`, or of the disk :math:`\|w\|_2 \le t`, on the smallest contour. At a corner of the diamond, a
    weight is exactly zero; the disk has no corners.

    Parameters
    ----------
    gram : array of shape (2, 2)
        :math:`X^\top X` (of centered columns if there is an intercept).
    least_squares : array of shape (2,)
        Least-squares weights.
    panels : pair of Panel
        The l1 and the l2 solution.

    Attributes
    ----------
    axes_, figure_ : pair of matplotlib axes, figure
        Where it was drawn.
    regions_ : list of two matplotlib patches
        Diamond and disk.
    contours_ : list of two contour sets
        The ellipses; one of them passes through the solution.
    solutions_, centers_ : lists of two matplotlib lines
        The solution and the least-squares point of each panel.

    Examples
    --------
    For orthonormal columns, both solutions are known in closed form:

    >>> import matplotlib, numpy as np
    >>> matplotlib.use("Agg")
    >>> from surefit import EstimationPictureDisplay
    >>> display = EstimationPictureDisplay.from_data(np.eye(2), [3.0, 0.4], penalty=1.0).plot()
    >>> [panel.solution.round(6).tolist() for panel in display.panels]
    [[2.5, 0.0], [1.5, 0.2]]
    """

    def __init__(self, gram, least_squares, panels: tuple[Panel, Panel]):
        self.gram = np.asarray(gram, dtype=np.float64)
        self.least_squares = np.asarray(least_squares, dtype=np.float64)
        self.panels = panels

    @classmethod
    def from_data(cls, X, y, *, penalty: float | None = None, radius: float | None = None, fit_intercept: bool = False):
        r"""Solve both problems for two features.

        Parameters
        ----------
        X : array of shape (n_rows, 2)
            Two linearly independent features.
        y : array of shape (n_rows,)
            Targets.
        penalty : float > 0
            The weight :math:`\lambda` in :math:`\|y - Xw\|^2 + \lambda \|w\|_1` and :math:`\|y - Xw\|^2 + \lambda
            \|w\|_2^2`.
        radius : float > 0
            The bound :math:`t` of the constraints, instead of ``penalty``.
        fit_intercept : bool, default=False
            Whether an unpenalized constant is added.
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != 2:
            raise InvalidData(f"EstimationPictureDisplay: X must have two columns; got shape {X.shape}.")
        if (penalty is None) == (radius is None):
            raise InvalidParameter(
                "EstimationPictureDisplay",
                "penalty",
                "a number if radius is None, and None otherwise",
                (penalty, radius),
            )
        centered = X - X.mean(axis=0) if fit_intercept else X
        gram = centered.T @ centered
        if np.linalg.matrix_rank(centered) < 2:
            raise InvalidData("EstimationPictureDisplay: the two columns of X must be linearly independent.")
        least_squares = np.linalg.solve(gram, centered.T @ (y - y.mean() if fit_intercept else y))
        shared = {"fit_intercept": fit_intercept, "tol": 1e-10, "max_iter": 100_000}
        n = len(y)
        if penalty is not None:  # the loss of the estimators is half the mean of squares
            lasso = Lasso(alpha=penalty / (2 * n), **shared)
            ridge = ElasticNet(alpha=penalty / n, l1_ratio=0.0, **shared)
        else:
            assert radius is not None
            lasso = Lasso(radius=radius, **shared)
            ridge = ElasticNet(l1_ratio=0.0, radius=radius**2 / 2, **shared)
        lasso.fit(X, y)
        ridge.fit(X, y)
        panels = (
            Panel("lasso: |w₁| + |w₂| ≤ t", lasso.coef_, float(np.abs(lasso.coef_).sum())),
            Panel("ridge: w₁² + w₂² ≤ t²", ridge.coef_, float(np.linalg.norm(ridge.coef_))),
        )
        return cls(gram, least_squares, panels)

    def error_above_minimum(self, w: np.ndarray) -> np.ndarray:
        """Return ``|y - Xw|^2`` minus its minimum, for weights of shape (..., 2)."""
        shift = np.asarray(w) - self.least_squares
        return np.einsum("...i,ij,...j->...", shift, self.gram, shift)

    def plot(self, ax=None) -> EstimationPictureDisplay:
        """Draw on a pair of axes, or on new axes. Returns the display."""
        self.figure_, self.axes_ = new_axes(ax, n_columns=2)
        self.regions_: list[Any] = []
        self.contours_: list[Any] = []
        self.solutions_: list[Any] = []
        self.centers_: list[Any] = []
        for axes, panel, is_disc in zip(self.axes_, self.panels, (False, True), strict=True):
            self._draw(axes, panel, is_disc)
        return self

    def _draw(self, axes, panel: Panel, is_disc: bool) -> None:
        from matplotlib.patches import Circle, Polygon

        t = panel.radius
        region = Circle((0, 0), t) if is_disc else Polygon([(t, 0), (0, t), (-t, 0), (0, -t)])
        region.set(facecolor=FILL, edgecolor=BLUE, linewidth=1.4)
        axes.add_patch(region)
        low, high = self._window()
        grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 201), np.linspace(low[1], high[1], 201)), axis=-1)
        touching = float(self.error_above_minimum(panel.solution))
        levels = touching * np.array(LEVELS) if touching > 0 else [float(np.trace(self.gram))]
        self.contours_.append(
            axes.contour(grid[..., 0], grid[..., 1], self.error_above_minimum(grid), levels, colors=RED, linewidths=1.1)
        )
        self.regions_.append(region)
        self.centers_ += axes.plot(*self.least_squares, marker="+", color=RED, markersize=9, linestyle="none")
        self.solutions_ += axes.plot(*panel.solution, marker="o", color=INK, markersize=6, linestyle="none")
        axes.annotate(
            "least squares", self.least_squares, xytext=(6, 6), textcoords="offset points", color=RED, fontsize=9
        )
        axes.annotate(
            f"({panel.solution[0]:.3g}, {panel.solution[1]:.3g})", panel.solution, xytext=(-7, -12),
            textcoords="offset points", ha="right", color=INK, fontsize=9,
        )  # fmt: skip
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", title=panel.title)
        axes.set(xlabel="w₁", ylabel="w₂")
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.axvline(0, color=INK, linewidth=0.8)
        tidy(axes)

    def _window(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners of a square that contains both sets and the inner contours, with a margin."""
        extent = max(panel.radius for panel in self.panels)
        touching = max(float(self.error_above_minimum(panel.solution)) for panel in self.panels)
        ellipse = np.sqrt(LEVELS[1] * touching * np.diag(np.linalg.inv(self.gram)))
        low = np.minimum(-extent, self.least_squares - ellipse)
        high = np.maximum(extent, self.least_squares + ellipse)
        middle, half = (low + high) / 2, 0.55 * max((high - low).max(), 1e-12)
        return middle - half, middle + half
