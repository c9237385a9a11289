"""Plots of a perceptron run: the line after every update, the margins, and the norm of the weights with its bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.perceptrons.path import perceptron_path
from surefit.plots.axes import BLUE, GRAY, INK, RED, new_axes, tidy

FINAL = "#b5179e"


class UpdatePathDisplay:
    r"""Labeled points in the plane with the line :math:`x^\top w_j + b_j = 0` after every update.

    Parameters
    ----------
    X : ndarray of shape (n_rows, 2)
        The points.
    labels : ndarray of shape (n_rows,)
        -1 and 1.
    weights : ndarray of shape (n_updates + 1, 3)
        Weights and intercept before the first and after each update.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per update with non-zero weights; the last one is thick.
    final_line_ : matplotlib line or None
        The last line.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import Perceptron, UpdatePathDisplay
    >>> from surefit.data import make_two_gaussians
    >>> X, y, _ = make_two_gaussians(random_state=0)
    >>> model = Perceptron(shuffle=False, max_iter=3, tol=None).fit(X, y)
    >>> display = UpdatePathDisplay.from_estimator(model, X, y).plot()
    >>> len(display.lines_) == model.n_updates_
    True
    """

    def __init__(self, X, labels, weights):
        self.X, self.labels = np.asarray(X, dtype=np.float64), np.asarray(labels)
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.X.ndim != 2 or self.X.shape[1] != 2 or self.weights.shape[1:] != (3,):
            raise InvalidData(
                f"UpdatePathDisplay: needs points in the plane and weights (w1, w2, b); got shapes {self.X.shape} and "
                f"{self.weights.shape}."
            )

    @classmethod
    def from_estimator(cls, estimator, X, y) -> UpdatePathDisplay:
        """Return the display of a linear perceptron fitted to ``X`` and ``y``, with two features, two classes and a complete log."""
        X, t = _rows(X), _signs(estimator, y)
        return cls(X, t, perceptron_path(estimator, X, y))

    def plot(self, ax=None, *, box: float | None = None) -> UpdatePathDisplay:
        """Draw on ``ax``, or on new axes; ``box`` is the largest coordinate. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        extent = 1.1 * float(np.max(np.abs(self.X), initial=0.0)) if box is None else float(box)
        self.lines_ = []
        for line in self.weights[1:]:
            ends = _segment(line, 2 * extent or 1.0)
            if ends is not None:
                self.lines_ += self.ax_.plot(*ends, color=INK, linewidth=0.5, alpha=0.35, zorder=1)
        ends = _segment(self.weights[-1], 2 * extent or 1.0)
        self.final_line_ = None
        if ends is not None:
            (self.final_line_,) = self.ax_.plot(*ends, color=FINAL, linewidth=2.4, zorder=3, label="last")
        for sign, color, marker, name in ((1, BLUE, "o", "positive"), (-1, RED, "x", "negative")):
            points = self.X[self.labels == sign]
            self.ax_.scatter(points[:, 0], points[:, 1], c=color, marker=marker, s=24, zorder=2, label=name)
        self.ax_.set_xlim(-extent, extent)
        self.ax_.set_ylim(-extent, extent)
        self.ax_.set_aspect("equal")
        self.ax_.set_xlabel("$x_1$")
        self.ax_.set_ylabel("$x_2$")
        self.ax_.set_title(f"{len(self.weights) - 1} updates")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class MarginHistogramDisplay:
    r"""Histogram of the geometric margins :math:`t_i f(x_i) / \|w\|` of the rows, with the smallest one marked.

    Parameters
    ----------
    margins : ndarray of shape (n_rows,)
        Signed distances to the hyperplane; negative for misclassified rows.
    name : str, default=""
        Name for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : matplotlib bar container
        The histogram.
    smallest_line_ : matplotlib line
        Marks the smallest margin.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import MarginHistogramDisplay, Perceptron
    >>> from surefit.data import make_two_gaussians
    >>> X, y, _ = make_two_gaussians(random_state=0)
    >>> display = MarginHistogramDisplay.from_estimator(Perceptron().fit(X, y), X, y).plot()
    >>> int(sum(bar.get_height() for bar in display.bars_))
    100
    """

    def __init__(self, margins, *, name: str = ""):
        self.margins = np.asarray(margins, dtype=np.float64)
        if self.margins.ndim != 1 or len(self.margins) == 0:
            raise InvalidData(f"MarginHistogramDisplay: needs a list of margins; got shape {self.margins.shape}.")
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name: str | None = None) -> MarginHistogramDisplay:
        """Return the display of a linear two-class model on ``X`` and ``y``."""
        t, norm = _signs(estimator, y), float(np.linalg.norm(estimator.coef_[0]))
        if norm == 0.0:
            raise InvalidData(f"{type(estimator).__name__}: the weights are zero, so the distances are not defined.")
        margins = t * estimator.decision_function(X) / norm
        return cls(margins, name=type(estimator).__name__ if name is None else name)

    def plot(self, ax=None, *, bins: Any = 30) -> MarginHistogramDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        _, _, self.bars_ = self.ax_.hist(self.margins, bins=bins, color=BLUE, alpha=0.75)
        smallest = float(self.margins.min())
        self.smallest_line_ = self.ax_.axvline(
            smallest, color=RED if smallest <= 0 else INK, linestyle=":", label=f"smallest: {smallest:.3g}"
        )
        self.ax_.axvline(0.0, color=GRAY, linewidth=0.8)
        self.ax_.set_xlabel("margin: signed distance to the hyperplane")
        self.ax_.set_ylabel("rows")
        wrong = int(np.sum(self.margins <= 0))
        self.ax_.set_title(f"{self.name}: {wrong} of {len(self.margins)} rows misclassified" if self.name else "")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class MistakeBoundDisplay:
    r"""Norm of the weights :math:`\|\hat w_j\|` between :math:`j \gamma` and :math:`\sqrt j R`, which cross at the mistake bound.

    Parameters
    ----------
    norms : ndarray of shape (n_updates,)
        Norm of the weights after each update, in units of the step.
    radius : float
        Largest norm :math:`R` of a row.
    gamma : float or None
        Margin of the separating reference direction; None if the rows were not separated.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    norm_line_, upper_line_ : matplotlib lines
        The norms, and their upper bound.
    lower_line_, bound_line_ : matplotlib lines or None
        The lower bound on the norms, and the mistake bound.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import MistakeBoundDisplay, Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1.0], [2.0]], [-1, 1])
    >>> display = MistakeBoundDisplay.from_estimator(model).plot()
    >>> round(display.bound)
    65
    """

    def __init__(self, norms, radius: float, gamma: float | None = None):
        self.norms = np.asarray(norms, dtype=np.float64)
        if self.norms.ndim != 1 or len(self.norms) == 0:
            raise InvalidData("MistakeBoundDisplay: the perceptron made no update, so there is nothing to draw.")
        self.radius, self.gamma = float(radius), gamma

    @property
    def bound(self) -> float:
        """Upper bound on the number of updates; infinite without a margin."""
        return (self.radius / self.gamma) ** 2 if self.gamma else math.inf

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None) -> MistakeBoundDisplay:
        """Return the display of a two-class :class:`surefit.Perceptron` that started from zero; ``X`` and ``y`` are not used."""
        certificate, who = estimator.certificate_, type(estimator).__name__
        steps = certificate.problem["steps"][0]
        if (
            len(certificate.problem["steps"]) > 1
            or steps[0] != steps[1]
            or np.any(certificate["perceptron.replay"].witness["start"])
        ):
            raise InvalidData(f"{who}: the plot needs two classes, equal steps and a start from zero.")
        norms = np.sqrt(estimator.mistake_log_["squared_norm"]) / steps[0]
        bounds = [claim.numbers for claim in certificate.claims if claim.name == "perceptron.novikoff"]
        if bounds:
            return cls(norms, bounds[0]["radius"], bounds[0]["gamma_low"])
        # Without separation, the growth bound only needs the largest norm of a row.
        log = estimator.mistake_log_
        squares = np.diff(log["squared_norm"], prepend=0.0) - 2 * steps[0] * log["margin"]
        return cls(norms, math.sqrt(float(np.max(squares))) / steps[0])

    def plot(self, ax=None) -> MistakeBoundDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        k = len(self.norms)
        last = k if not math.isfinite(self.bound) else int(min(max(1.15 * self.bound, k), 50.0 * k))
        updates = np.unique(np.geomspace(1, max(last, 2), 300).astype(int))
        (self.upper_line_,) = self.ax_.plot(
            updates, np.sqrt(updates) * self.radius, color=RED, linewidth=1.4, label=r"$\sqrt{j}\,R$, upper bound"
        )
        self.lower_line_ = self.bound_line_ = None
        if self.gamma:
            (self.lower_line_,) = self.ax_.plot(
                updates, updates * self.gamma, color=GRAY, linewidth=1.4, label=r"$j\,\gamma$, lower bound"
            )
            self.bound_line_ = self.ax_.axvline(
                self.bound, color=INK, linestyle=":", label=f"at most {self.bound:.4g} updates"
            )
        (self.norm_line_,) = self.ax_.plot(
            np.arange(1, k + 1), self.norms, color=BLUE, linewidth=1.8, label=rf"$\|w_j\|$, {k} updates"
        )
        self.ax_.set_xscale("log")
        self.ax_.set_yscale("log")
        self.ax_.set_xlabel("update $j$")
        self.ax_.set_ylabel("norm of the weights")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


def _rows(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _signs(estimator, y) -> np.ndarray:
    if len(estimator.classes_) != 2:
        raise InvalidData(f"{type(estimator).__name__}: the plot needs two classes; got {len(estimator.classes_)}.")
    return np.where(np.asarray(y).ravel() == estimator.classes_[1], 1, -1)


def _segment(line: np.ndarray, extent: float):
    """Return end points of the line ``w1 x1 + w2 x2 + b = 0`` within a square, including vertical lines; None for ``w = 0``."""
    w, b = line[:2], line[2]
    square = float(w @ w)
    if square == 0.0:
        return None
    foot, along = -b * w / square, np.array([-w[1], w[0]]) / math.sqrt(square)
    ends = foot + 4 * extent * np.array([-1.0, 1.0])[:, None] * along
    return ends[:, 0], ends[:, 1]
