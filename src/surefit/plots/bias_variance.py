"""Plots of the bias-variance trade-off."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import CYCLE, GRAY, INK, RED, new_axes, tidy


class BiasVarianceDisplay:
    """Squared bias, variance and their sum against a complexity parameter, with the best value marked.

    Parameters
    ----------
    values : sequence
        Values of the parameter.
    squared_bias, variance, error : array of the same length
        The curves.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : dict of matplotlib lines
        One per curve.
    best_line_ : matplotlib line
        Marks the smallest error.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import BiasVarianceDisplay, ridge_risk
    >>> risk = ridge_risk([[-1, 1], [1, 1]], [0.5, 2, 4.8, 10], truth=[1, 0.5], sigma2=3)
    >>> display = BiasVarianceDisplay.from_risk(risk).plot()
    >>> float(display.best_line_.get_xdata()[0])
    4.8
    """

    def __init__(self, values, squared_bias, variance, error):
        self.values = list(values)
        self.curves = {
            "squared bias": np.asarray(squared_bias, dtype=np.float64),
            "variance": np.asarray(variance, dtype=np.float64),
            "expected error": np.asarray(error, dtype=np.float64),
        }
        for name, curve in self.curves.items():
            if curve.shape != (len(self.values),):
                raise InvalidData(
                    f"BiasVarianceDisplay: {name} needs {len(self.values)} numbers; got shape {curve.shape}."
                )

    @classmethod
    def from_risk(cls, risk) -> BiasVarianceDisplay:
        """Return the display of a result of ``ridge_risk`` or ``bias_variance_sweep``."""
        if hasattr(risk, "alphas"):
            return cls(risk.alphas, risk.squared_bias, risk.variance, risk.mse)
        return cls(risk.values, risk.squared_bias, risk.variance, risk.error)

    def plot(self, ax=None) -> BiasVarianceDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        numbers = all(isinstance(v, (int, float, np.number)) for v in self.values)
        places = np.array(self.values, dtype=np.float64) if numbers else np.arange(len(self.values), dtype=np.float64)
        self.lines_ = {
            name: self.ax_.plot(places, curve, color=color, marker="o", markersize=3, label=name)[0]
            for (name, curve), color in zip(self.curves.items(), CYCLE, strict=False)
        }
        best = places[int(np.argmin(self.curves["expected error"]))]
        self.best_line_ = self.ax_.axvline(best, color=GRAY, linestyle="--", label="smallest error")
        if numbers and np.all(places > 0) and places.max() > 20 * places.min():
            self.ax_.set_xscale("log")
        if not numbers:
            self.ax_.set_xticks(places, [str(v) for v in self.values])
        self.ax_.set_xlabel("parameter")
        self.ax_.set_ylabel("squared error")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class DartboardDisplay:
    """Scatter plot of simulated estimates of two coefficients around the true values, one panel per estimator.

    Parameters
    ----------
    risks : dict
        Results of :func:`surefit.coefficient_risk` with estimates (``exact=False``), by name.
    columns : pair of int, default=(0, 1)
        The two coefficients.

    Attributes
    ----------
    axes_, figure_ : matplotlib axes and figure
        Where it was drawn.
    clouds_ : list of matplotlib collections
        One per estimator.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import DartboardDisplay, LinearRegression, Ridge, coefficient_risk
    >>> X = np.random.default_rng(0).standard_normal((20, 2))
    >>> models = {"least squares": LinearRegression(), "ridge": Ridge(30.0)}
    >>> risks = {name: coefficient_risk(m, X, [1.0, 2.0], noise=1.0, random_state=0) for name, m in models.items()}
    >>> len(DartboardDisplay(risks).plot().clouds_)
    2
    """

    def __init__(self, risks: dict, columns=(0, 1)):
        if not risks or any(risk.estimates is None for risk in risks.values()):
            raise InvalidData(
                "DartboardDisplay: risks must contain at least one result of coefficient_risk(..., exact=False)."
            )
        self.risks, self.columns = dict(risks), tuple(columns)

    def plot(self, axes=None) -> DartboardDisplay:
        """Draw on ``axes``, one per estimator, or on new axes. Returns the display."""
        self.figure_, drawn = new_axes(axes, len(self.risks))
        self.axes_ = np.atleast_1d(drawn)
        i, j = self.columns
        extent = max(
            float(np.abs(risk.estimates[:, [i, j]] - risk.truth[[i, j]]).max()) for risk in self.risks.values()
        )
        self.clouds_ = []
        for ax, (name, risk) in zip(self.axes_, self.risks.items(), strict=True):
            x, y = risk.truth[i], risk.truth[j]
            for share in (0.33, 0.66, 1.0):
                turn = np.linspace(0, 2 * np.pi, 100)
                ax.plot(x + share * extent * np.cos(turn), y + share * extent * np.sin(turn), color=GRAY, linewidth=0.8)
            self.clouds_.append(ax.scatter(risk.estimates[:, i], risk.estimates[:, j], s=8, color=CYCLE[0]))
            mean = risk.truth + risk.bias
            ax.plot([x], [y], marker="x", color=INK, markersize=9)
            ax.plot([mean[i]], [mean[j]], marker="o", color=RED, markersize=5)
            ax.set_title(f"{name}: squared bias {risk.squared_bias:.3g}, variance {risk.variance:.3g}")
            ax.set_aspect("equal")
            tidy(ax)
        return self
