"""Plot of a kernel on a sample: the Gram matrix as a heat map, and its eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, INK, RED, new_axes, tidy


class GramDisplay:
    r"""Plot of the Gram matrix :math:`K_{ij} = k(x_i, x_j)` and of its eigenvalues.

    The Gram matrix of a narrow kernel is close to the identity, and that of a wide kernel is nearly constant. With
    elements sorted by label, a kernel that suits the labels shows bright blocks on the diagonal. Negative eigenvalues,
    in red, show that a function is not a kernel.

    Parameters
    ----------
    values : array of shape (n, n)
        The Gram matrix, in the order to be drawn.
    labels : array of shape (n,), optional
        Label of each element, in the same order; lines are drawn where the label changes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the heat map was drawn.
    image_ : matplotlib image
        The heat map.
    spectrum_ax_, points_ : matplotlib axes and lines, or None
        The absolute eigenvalues, largest first, on a logarithmic scale: positive ones, then negative ones.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import GramDisplay
    >>> from surefit.kernels import RBF
    >>> display = GramDisplay.from_kernel(RBF(), [[0.0], [1.0], [5.0]]).plot()
    >>> display.image_.get_array().shape
    (3, 3)
    """

    def __init__(self, values, labels=None):
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 2 or self.values.shape[0] != self.values.shape[1]:
            raise InvalidData(f"GramDisplay: values must be a square matrix; got shape {self.values.shape}.")
        self.labels = None if labels is None else np.asarray(labels)
        if self.labels is not None and self.labels.shape != (len(self.values),):
            raise InvalidData(
                f"GramDisplay: expected {len(self.values)} labels, one per row; got shape {self.labels.shape}."
            )

    @classmethod
    def from_kernel(cls, kernel, X, y=None) -> GramDisplay:
        """Compute the Gram matrix of a sample; with labels ``y``, elements are sorted by label."""
        K = kernel(X)
        if y is None:
            return cls(K)
        y = np.asarray(y)
        if y.shape != (len(K),):
            raise InvalidData(f"GramDisplay: y must have {len(K)} labels, one per element; got shape {y.shape}.")
        order = np.argsort(y, kind="stable")
        return cls(K[np.ix_(order, order)], y[order])

    def plot(self, ax=None, *, spectrum: bool = False) -> GramDisplay:
        """Draw the heat map; with ``spectrum`` also the eigenvalues (``ax`` is then a pair of axes). Returns the display."""
        self.figure_, axes = new_axes(ax, 2 if spectrum else 1)
        self.ax_: Any = axes[0] if spectrum else axes
        self.spectrum_ax_: Any = axes[1] if spectrum else None
        low = min(0.0, float(np.min(self.values)))
        self.image_ = self.ax_.imshow(self.values, cmap="viridis", vmin=low, interpolation="nearest")
        self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85)
        self.ax_.set(xlabel="element", ylabel="element")
        if self.labels is not None:
            for place in np.flatnonzero(self.labels[1:] != self.labels[:-1]):
                self.ax_.axhline(place + 0.5, color="white", linewidth=1)
                self.ax_.axvline(place + 0.5, color="white", linewidth=1)
        self.points_ = self._draw_spectrum() if spectrum else None
        return self

    def _draw_spectrum(self):
        eigenvalues = np.linalg.eigvalsh((self.values + self.values.T) / 2)[::-1]
        places = np.arange(1, len(eigenvalues) + 1)
        lines = []
        for sign, color, name in ((1, BLUE, "positive"), (-1, RED, "negative (absolute value)")):
            chosen = sign * eigenvalues > 0
            lines += self.spectrum_ax_.plot(
                places[chosen], np.abs(eigenvalues[chosen]), ".", color=color, label=name if np.any(chosen) else None
            )
        self.spectrum_ax_.set_yscale("log")
        self.spectrum_ax_.set_xlabel("number", color=INK)
        self.spectrum_ax_.set_ylabel("eigenvalue", color=INK)
        self.spectrum_ax_.legend(frameon=False)
        tidy(self.spectrum_ax_)
        return lines
