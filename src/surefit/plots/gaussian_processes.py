"""Plots of Gaussian processes: mean, band and draws of a regression; probabilities for several length scales."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData
from surefit.gaussian_processes.classifier import GaussianProcessClassifier
from surefit.kernels import RBF
from surefit.plots.axes import BLUE, FILL, GRAY, INK, new_axes, tidy


class GaussianProcessDisplay:
    """Plot of a Gaussian process in one variable: posterior mean, band of two standard deviations, and draws.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one column and one target.
    x : array of shape (n,)
        Points to draw at.
    mean, deviation : arrays of shape (n,)
        Posterior mean and standard deviation.
    draws : array of shape (n, n_draws)
        Draws from the posterior.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Where it was drawn.
    line_, band_, draw_lines_, points_ : matplotlib objects
        The mean, the band, the draws and the data.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import GaussianProcessDisplay, GaussianProcessRegressor
    >>> model = GaussianProcessRegressor(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.5])
    >>> len(GaussianProcessDisplay.from_estimator(model, n_draws=4).plot().draw_lines_)
    4
    """

    def __init__(self, model, x, mean, deviation, draws):
        self.model, self.x, self.mean, self.deviation, self.draws = model, x, mean, deviation, draws

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None, *, n_draws=3, random_state=0) -> GaussianProcessDisplay:
        """Compute the posterior at ``X``, by default 200 points that extend beyond the data; ``y`` is not used."""
        check_is_fitted(estimator)
        if estimator.X_train_.shape[1] != 1 or estimator.y_train_.ndim != 1:
            raise InvalidData(
                "GaussianProcessDisplay: the model must have one column and one target; got "
                f"{estimator.X_train_.shape[1]} columns and targets of shape {estimator.y_train_.shape}."
            )
        data = np.asarray(estimator.X_train_)[:, 0]
        span = np.ptp(data) or 1.0
        x = np.linspace(data.min() - span / 4, data.max() + span / 4, 200) if X is None else np.ravel(X)
        mean, deviation = estimator.predict(x[:, None], return_std=True)
        draws = estimator.sample_y(x[:, None], n_draws, random_state) if n_draws else np.empty((len(x), 0))
        return cls(estimator, x, mean, deviation, draws)

    def plot(self, ax=None) -> GaussianProcessDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        low, high = self.mean - 2 * self.deviation, self.mean + 2 * self.deviation
        self.band_ = self.ax_.fill_between(self.x, low, high, color=FILL, label="two standard deviations")
        self.draw_lines_ = self.ax_.plot(self.x, self.draws, color=GRAY, linewidth=0.7)
        (self.line_,) = self.ax_.plot(self.x, self.mean, color=BLUE, label="posterior mean")
        y = self.model.y_scale_ * self.model.y_train_ + self.model.y_mean_
        self.points_ = self.ax_.scatter(
            np.asarray(self.model.X_train_)[:, 0], y, color=INK, s=12, zorder=3, label="data"
        )
        tidy(self.ax_)
        self.ax_.set(xlabel="x", ylabel="f(x)", title=f"log evidence {self.model.log_marginal_likelihood_value_:.3f}")
        self.ax_.legend(frameon=False)
        return self


class LengthScaleDisplay:
    """Plot of Gaussian-process classifiers with several length scales: the data, then probabilities for each length scale.

    Parameters
    ----------
    X : array of shape (n, 2)
        The rows.
    y : array of shape (n,)
        Two classes.
    lengths : sequence of float, default=(0.1, 0.2, 0.3)
        Length scales of the Gaussian kernel.
    variance : float, default=9.0
        Variance of the kernel.

    Attributes
    ----------
    models_ : list of GaussianProcessClassifier
        One per length scale.
    figure_, axes_ : matplotlib figure and axes
        The data first, then one panel per length scale.
    probabilities_ : list of arrays
        Probabilities of the second class on the grid of each panel.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import LengthScaleDisplay
    >>> X = np.random.default_rng(0).uniform(size=(20, 2))
    >>> len(LengthScaleDisplay(X, X[:, 0] > X[:, 1]).plot(points=20).axes_)
    4
    """

    def __init__(self, X, y, *, lengths=(0.1, 0.2, 0.3), variance=9.0):
        self.X, self.y = np.asarray(X, dtype=np.float64), np.asarray(y)
        if self.X.ndim != 2 or self.X.shape[1] != 2 or len(np.unique(self.y)) != 2:
            raise InvalidData(
                "LengthScaleDisplay: expected two columns and two classes; got shape "
                f"{self.X.shape} and {len(np.unique(self.y))} classes."
            )
        self.lengths, self.variance = tuple(lengths), variance
        self.models_ = [
            GaussianProcessClassifier(variance * RBF(length), optimizer=None).fit(self.X, self.y) for length in lengths
        ]

    def plot(self, axes=None, *, points=60) -> LengthScaleDisplay:
        """Draw on ``axes`` (the data, then one per length scale) or new axes, with ``points`` grid points per side."""
        self.figure_, self.axes_ = new_axes(axes, len(self.lengths) + 1)
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        margin = 0.05 * np.maximum(high - low, 1e-12)
        ticks = [np.linspace(a, b, points) for a, b in zip(low - margin, high + margin, strict=True)]
        grid = np.stack(np.meshgrid(*ticks), -1)
        second = self.y == np.unique(self.y)[1]
        self.probabilities_ = []
        for ax, model in zip(self.axes_, [None, *self.models_], strict=True):
            title = "data"
            if model is not None:
                p = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(points, points)
                self.probabilities_.append(p)
                ax.contourf(*ticks, p, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.6)
                if p.min() < 0.5 < p.max():
                    ax.contour(*ticks, p, levels=[0.5], colors=INK, linewidths=1.0)
                title = f"length {model.kernel_.kernel.length_scale:g}"
            ax.scatter(*self.X[second].T, color=INK, s=14, marker="+")
            ax.scatter(*self.X[~second].T, color=INK, s=10, marker="o", facecolors="none")
            tidy(ax)
            ax.set_title(title)
        return self
