"""Plot of the choice of a polynomial degree: errors on training and development rows."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, GRAY, RED, new_axes, tidy


class DegreeDisplay:
    """Mean squared error against the degree of a polynomial, on the training rows and on the development rows.

    Parameters
    ----------
    degrees : ndarray of shape (n_degrees,)
        Degrees.
    training_errors : ndarray of shape (n_degrees,)
        Errors on the training rows.
    dev_errors : ndarray of shape (n_degrees,) or None, default=None
        Errors on the development rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    training_line_, dev_line_ : matplotlib lines
        The two curves; the second is None without development rows.
    best_line_ : matplotlib line or None
        Marks the degree with the smallest development error.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import DegreeDisplay, degree_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (60, 1))
    >>> y = np.sin(3 * X[:, 0]) + 0.2 * rng.standard_normal(60)
    >>> path = degree_path(X[:30], y[:30], 9, X_dev=X[30:], y_dev=y[30:])
    >>> display = DegreeDisplay.from_path(path).plot()
    >>> int(display.best_line_.get_xdata()[0]) == path.best_degree
    True
    """

    def __init__(self, degrees, training_errors, dev_errors=None):
        self.degrees, self.training_errors = np.asarray(degrees), np.asarray(training_errors, dtype=np.float64)
        self.dev_errors = None if dev_errors is None else np.asarray(dev_errors, dtype=np.float64)
        for errors in (self.training_errors, self.dev_errors):
            if errors is not None and errors.shape != self.degrees.shape:
                raise InvalidData(
                    f"DegreeDisplay: expected one error per degree, shape {self.degrees.shape}; got {errors.shape}."
                )

    @classmethod
    def from_path(cls, path) -> DegreeDisplay:
        """Return the display of a result of ``degree_path``."""
        return cls(path.degrees, path.training_errors, path.dev_errors)

    def plot(self, ax=None) -> DegreeDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        style = {"marker": "o", "markersize": 4, "linewidth": 1.6}
        (self.training_line_,) = self.ax_.plot(
            self.degrees, self.training_errors, color=BLUE, label="training rows", **style
        )
        self.dev_line_ = self.best_line_ = None
        if self.dev_errors is not None:
            best = self.degrees[int(np.argmin(self.dev_errors))]
            (self.dev_line_,) = self.ax_.plot(
                self.degrees, self.dev_errors, color=RED, label="development rows", **style
            )
            self.best_line_ = self.ax_.axvline(best, color=GRAY, linestyle="--", label=f"least: degree {best}")
        if np.all(self.training_errors > 0):
            self.ax_.set_yscale("log")
        self.ax_.set_xlabel("degree")
        self.ax_.set_ylabel("mean squared error")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
