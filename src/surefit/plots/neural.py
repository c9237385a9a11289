"""Plots of neural networks: learning curves, layers with their connections, and activation functions."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, GRAY, INK, RED, new_axes, tidy
from surefit.solvers.networks.activations import ACTIVATIONS

MOST_UNITS = 24  # largest number of units drawn per layer; larger layers are labeled with their size


class LossCurveDisplay:
    """Plot of training and validation loss by epoch.

    Parameters
    ----------
    losses : list of float
        Training loss of each epoch.
    validation_losses : list of float, optional
        Loss of the validation rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_, validation_line_ : matplotlib lines (the second may be None)
        The curves.
    best_line_ : matplotlib line or None
        The epoch with the smallest validation loss.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import LossCurveDisplay
    >>> display = LossCurveDisplay([1.0, 0.5, 0.3], [1.1, 0.7, 0.8]).plot()
    >>> [float(x) for x in display.best_line_.get_xdata()]
    [2.0, 2.0]
    """

    def __init__(self, losses, validation_losses=None):
        self.losses = np.asarray(losses, dtype=np.float64)
        self.validation_losses = None if validation_losses is None else np.asarray(validation_losses, dtype=np.float64)
        if self.losses.ndim != 1 or len(self.losses) == 0:
            raise InvalidData(f"LossCurveDisplay: losses must be a list of numbers; got shape {self.losses.shape}.")

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None) -> LossCurveDisplay:
        """Return the display of a fitted network; ``X`` and ``y`` are not used."""
        return cls(estimator.loss_curve_, estimator.validation_loss_curve_)

    def plot(self, ax=None) -> LossCurveDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        epochs = np.arange(1, len(self.losses) + 1)
        (self.line_,) = self.ax_.plot(epochs, self.losses, color=BLUE, linewidth=1.6, label="training")
        self.validation_line_ = self.best_line_ = None
        if self.validation_losses is not None and len(self.validation_losses):
            later = epochs[-len(self.validation_losses) :]
            (self.validation_line_,) = self.ax_.plot(
                later, self.validation_losses, color=RED, linewidth=1.6, label="validation"
            )
            best = later[int(np.argmin(self.validation_losses))]
            self.best_line_ = self.ax_.axvline(best, color=GRAY, linestyle=":", linewidth=1.4, label=f"best: {best}")
        self.ax_.set_xlabel("epoch")
        self.ax_.set_ylabel("loss")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class NetworkDisplay:
    """Plot of the layers of a network and the connections between them, with shared weights in one color.

    Parameters
    ----------
    architecture : Architecture
        Sizes and link tables, from ``model.architecture(n_features, n_outputs)``.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    links_ : list of matplotlib line collections
        The drawn links, one collection per layer.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import MLPClassifier, NetworkDisplay
    >>> display = NetworkDisplay(MLPClassifier((4,)).architecture(3, 2)).plot()
    >>> [len(links.get_segments()) for links in display.links_]
    [12, 8]
    """

    def __init__(self, architecture):
        self.architecture = architecture

    def plot(self, ax=None) -> NetworkDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        from matplotlib.collections import LineCollection

        self.figure_, self.ax_ = new_axes(ax)
        sizes = self.architecture.sizes
        places = [np.linspace(0, 1, min(size, MOST_UNITS) + 2)[1:-1] for size in sizes]
        self.links_ = []
        for k, table in enumerate(self.architecture.tables):
            shown = [_shown(size) for size in sizes[k : k + 2]]
            segments, colors = [], []
            for a, i in enumerate(shown[0]):
                for b, j in enumerate(shown[1]):
                    if table is None or table[i, j] >= 0:
                        segments.append([(k, places[k][a]), (k + 1, places[k + 1][b])])
                        colors.append(GRAY if table is None else CYCLE[int(table[i, j]) % len(CYCLE)])
            links = LineCollection(segments, colors=colors, linewidths=0.5, alpha=0.6)
            self.links_.append(self.ax_.add_collection(links))
        for k, (size, heights) in enumerate(zip(sizes, places, strict=True)):
            self.ax_.plot(np.full(len(heights), k), heights, "o", color=INK, markersize=4)
            self.ax_.text(k, 1.02, str(size), ha="center", va="bottom")
        words = f"{self.architecture.n_links} links, {self.architecture.n_parameters} parameters"
        self.ax_.set(xlim=(-0.3, len(sizes) - 0.7), ylim=(0, 1.1), xlabel=words, xticks=[], yticks=[])
        self.ax_.spines[:].set_visible(False)
        return self


class ActivationsDisplay:
    """Plot of activation functions.

    Parameters
    ----------
    names : list of str, optional
        Names of the activations; by default the four sigmoids with limits -1 and 1.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per activation.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import ActivationsDisplay
    >>> len(ActivationsDisplay().plot().lines_)
    4
    """

    def __init__(self, names=("standard", "arctan", "gaussian", "threshold")):
        unknown = [name for name in names if name not in ACTIVATIONS]
        if unknown:
            raise InvalidData(f"ActivationsDisplay: names must be among {', '.join(ACTIVATIONS)}; got {unknown[0]!r}.")
        self.names = tuple(names)

    def plot(self, ax=None) -> ActivationsDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        z = np.linspace(-6, 6, 601)
        self.lines_ = []
        for k, name in enumerate(self.names):
            values = np.empty_like(z)
            ACTIVATIONS[name].value(z, values)
            self.lines_ += self.ax_.plot(z, values, color=CYCLE[k % len(CYCLE)], linewidth=1.6, label=name)
        self.ax_.set_xlabel("x")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


def _shown(size: int) -> np.ndarray:
    """Return the units of a layer that are drawn, evenly spaced."""
    return np.linspace(0, size - 1, min(size, MOST_UNITS)).round().astype(int)
