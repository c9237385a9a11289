"""Plots of smoothing splines: curves for several values of lambda with the criterion, and filter factors."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, FILL, GRAY, INK, RED, new_axes, tidy
from surefit.splines.smoothing_spline import SmoothingSpline
from surefit.splines.spectrum import filter_factors


class SplineFamilyDisplay:
    """Plot of a chosen spline with its band, splines for other values of lambda, and the criterion on the grid.

    Parameters
    ----------
    x, y : arrays of shape (n,)
        The data.
    model : SmoothingSpline
        Spline fitted to the data, with one target and lambda chosen by a criterion.
    others : sequence of SmoothingSpline
        Splines with other values of lambda.
    confidence : float, default=0.95
        Confidence of the pointwise band.

    Attributes
    ----------
    figure_, axes_ : matplotlib figure, and its two axes
        Where it was drawn: curves at the left, criterion at the right.
    line_, band_ : matplotlib line and polygon
        The chosen spline.
    other_lines_ : list of matplotlib lines
        One for each of ``others``.
    criterion_line_, chosen_line_ : matplotlib lines
        The criterion, and its minimum.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import SmoothingSpline, SplineFamilyDisplay
    >>> x = np.linspace(0, 1, 60)
    >>> y = np.sin(6 * x) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> display = SplineFamilyDisplay.from_data(x, y, factors=(0.001, 1000)).plot()
    >>> len(display.other_lines_)
    2
    """

    def __init__(self, x, y, model, others=(), *, confidence=0.95):
        check_is_fitted(model)
        if np.ndim(model.lam_) or not hasattr(model, "lams_"):
            raise InvalidData(
                "SplineFamilyDisplay: the model must have one target and lam chosen by a criterion; got "
                f"lam={model.lam!r} with {np.size(model.lam_)} targets."
            )
        self.x, self.y = np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64)
        self.model, self.others, self.confidence = model, list(others), confidence

    @classmethod
    def from_data(cls, x, y, estimator=None, *, factors=(1e-4, 1e-2, 1e2, 1e4), confidence=0.95) -> SplineFamilyDisplay:
        """Fit ``estimator`` (by default a cubic spline), and copies with ``factors`` times its lambda."""
        estimator = SmoothingSpline() if estimator is None else estimator
        model = clone(estimator).fit(x, y)
        others = [clone(estimator).set_params(lam=float(factor * model.lam_)).fit(x, y) for factor in factors]
        return cls(x, y, model, others, confidence=confidence)

    def plot(self, axes=None) -> SplineFamilyDisplay:
        """Draw on two ``axes``, or on new axes. Returns the display."""
        self.figure_, self.axes_ = new_axes(axes, 2)
        left, right = self.axes_
        span = np.ptp(self.x) or 1.0
        t = np.linspace(self.x.min() - 0.05 * span, self.x.max() + 0.05 * span, 500)
        left.plot(self.x, self.y, ".", color=GRAY, markersize=4, label="data")
        self.other_lines_ = [
            left.plot(t, other.predict(t), color=CYCLE[1 + k % 7], linewidth=1, label=f"λ = {other.lam_:.1e}")[0]
            for k, other in enumerate(self.others)
        ]
        low, high = self.model.interval(t, self.confidence)
        self.band_ = left.fill_between(t, low, high, color=FILL, linewidth=0)
        (self.line_,) = left.plot(t, self.model.predict(t), color=BLUE, linewidth=2, label=f"λ = {self.model.lam_:.1e}")
        left.set(xlabel="x", ylabel="f(x)", title=f"{self.model.edof_:.1f} degrees of freedom")
        left.legend(frameon=False, fontsize=8)
        lams, values = self.model.lams_, self.model.criterion_values_
        seen = np.isfinite(values)
        (self.criterion_line_,) = right.plot(lams[seen], values[seen], color=INK, marker="o", markersize=3)
        self.chosen_line_ = right.axvline(self.model.lam_, color=RED, linewidth=1)
        right.set(xscale="log", xlabel="λ", ylabel=str(self.model.lam), title="criterion on the declared grid")
        for ax in self.axes_:
            tidy(ax)
        return self


class FilterFactorDisplay:
    r"""Plot of splines as low-pass filters: the factor of each frequency, and the cutoff of a truncated series.

    Parameters
    ----------
    models : sequence of SmoothingSpline
        Splines fitted to one target each.
    n_terms : int, optional
        Cutoff of a truncated series, drawn as a step.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per model.
    step_ : matplotlib line or None
        The truncated series.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from surefit import FilterFactorDisplay, SmoothingSpline
    >>> x = np.arange(1, 51) / 50
    >>> models = [SmoothingSpline(1, lam=lam, form="special").fit(x, np.sin(x)) for lam in (1e-4, 1e-2)]
    >>> len(FilterFactorDisplay(models, n_terms=8).plot().lines_)
    2
    """

    def __init__(self, models, *, n_terms=None):
        self.models, self.n_terms = list(models), n_terms
        self.factors = [filter_factors(model) for model in self.models]

    def plot(self, ax=None) -> FilterFactorDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.lines_, self.step_ = [], None
        for k, (model, factors) in enumerate(zip(self.models, self.factors, strict=True)):
            (line,) = self.ax_.plot(
                np.arange(1, len(factors) + 1), factors, color=CYCLE[k % 8], marker=".", label=f"λ = {model.lam_:.1e}"
            )
            self.lines_.append(line)
        if self.n_terms is not None:
            most = max(map(len, self.factors))
            j = np.arange(1, most + 1)
            (self.step_,) = self.ax_.step(
                j, (j <= self.n_terms).astype(float), where="mid", color=GRAY, label=f"series of {self.n_terms}"
            )
        self.ax_.set(xscale="log", xlabel="frequency j", ylabel="factor", title="Filter factor of each frequency")
        self.ax_.legend(frameon=False, fontsize=9)
        tidy(self.ax_)
        return self
