"""Plots of boosting: errors by round with their bounds, and the margins of the votes."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, GRAY, INK, RED, new_axes, tidy


class BoostingCurvesDisplay:
    r"""Plot of the training error of AdaBoost with its bounds, and of the test error, by round.

    Parameters
    ----------
    training_errors : array of shape (n_rounds,)
        Training error after each round.
    bounds : array of shape (n_rounds,)
        The product :math:`\prod Z_k`, an upper bound on the training error.
    exponential_bounds : array of shape (n_rounds,), optional
        :math:`e^{-2 \sum \gamma_k^2}`, an upper bound on the product.
    test_errors : array of shape (n_rounds,), optional
        Errors on other rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_, bound_line_ : matplotlib lines
        Training error and product.
    exponential_line_, test_line_ : matplotlib lines or None
        The other bound, and the test error.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import AdaBoostClassifier, BoostingCurvesDisplay
    >>> from surefit.data import make_chi2_10
    >>> X, y, _ = make_chi2_10(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> display = BoostingCurvesDisplay.from_estimator(model).plot()
    >>> bool((display.line_.get_ydata() <= display.bound_line_.get_ydata()).all())
    True
    """

    def __init__(self, training_errors, bounds, *, exponential_bounds=None, test_errors=None):
        self.training_errors = np.asarray(training_errors, dtype=np.float64)
        self.bounds = np.asarray(bounds, dtype=np.float64)
        self.exponential_bounds = (
            None if exponential_bounds is None else np.asarray(exponential_bounds, dtype=np.float64)
        )
        self.test_errors = None if test_errors is None else np.asarray(test_errors, dtype=np.float64)
        for name in ("bounds", "exponential_bounds", "test_errors"):
            values = getattr(self, name)
            if values is not None and values.shape != self.training_errors.shape:
                raise InvalidData(
                    f"BoostingCurvesDisplay: {name} must be one per round, shape {self.training_errors.shape}; got {values.shape}."
                )

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None) -> BoostingCurvesDisplay:
        """Return the display of a fitted ``AdaBoostClassifier``, with the errors on test rows ``X`` and ``y`` if they are given."""
        textbook = estimator.learning_rate == 1 and estimator.n_classes_ == 2
        exponential = np.exp(-2 * np.cumsum((0.5 - estimator.estimator_errors_) ** 2)) if textbook else None
        tested = None if X is None else [1 - score for score in estimator.staged_score(X, y)]
        return cls(estimator.training_errors_, estimator.bounds_, exponential_bounds=exponential, test_errors=tested)

    def plot(self, ax=None, *, log: bool = False) -> BoostingCurvesDisplay:
        """Draw on ``ax``, or on new axes, with errors on a logarithmic axis if ``log``. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        rounds = np.arange(1, len(self.bounds) + 1)
        self.exponential_line_ = self.test_line_ = None
        if self.exponential_bounds is not None:
            (self.exponential_line_,) = self.ax_.plot(
                rounds, self.exponential_bounds, color=GRAY, linestyle=":", linewidth=1.4, label="exponential bound"
            )
        (self.bound_line_,) = self.ax_.plot(
            rounds, self.bounds, color=INK, linestyle="--", linewidth=1.4, label="product"
        )
        (self.line_,) = self.ax_.plot(rounds, self.training_errors, color=BLUE, linewidth=1.6, label="training error")
        if self.test_errors is not None:
            (self.test_line_,) = self.ax_.plot(rounds, self.test_errors, color=RED, linewidth=1.6, label="test error")
        if log:
            self.ax_.set_yscale("log", nonpositive="mask")
        else:
            self.ax_.set_ylim(bottom=0)
        self.ax_.set_xlabel("round")
        self.ax_.set_ylabel("error")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class MarginDistributionDisplay:
    """Plot of the distribution function of the normalized margins, after several rounds.

    Parameters
    ----------
    margins : dict of int to array
        Margins of all rows, by number of rounds.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per round.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import AdaBoostClassifier, MarginDistributionDisplay
    >>> from surefit.data import make_chi2_10
    >>> X, y, _ = make_chi2_10(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> len(MarginDistributionDisplay.from_estimator(model, X, y, rounds=(5, 30)).plot().lines_)
    2
    """

    def __init__(self, margins: dict):
        if not margins:
            raise InvalidData("MarginDistributionDisplay: margins must contain at least one round.")
        self.margins = {int(k): np.sort(np.asarray(values, dtype=np.float64)) for k, values in margins.items()}

    @classmethod
    def from_estimator(cls, estimator, X, y, *, rounds=None) -> MarginDistributionDisplay:
        """Return the display of a fitted binary ``AdaBoostClassifier``, by default after four evenly spaced rounds."""
        if estimator.n_classes_ != 2:
            raise InvalidData(
                f"MarginDistributionDisplay: the model must have two classes; got {estimator.n_classes_}."
            )
        last = len(estimator.estimators_)
        wanted = set(np.unique(np.linspace(1, last, 4).round().astype(int)) if rounds is None else rounds)
        signs = np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
        totals = np.cumsum(estimator.estimator_weights_)
        staged = enumerate(estimator.staged_decision_function(X), 1)
        return cls({k: signs * scores / totals[k - 1] for k, scores in staged if k in wanted})

    def plot(self, ax=None) -> MarginDistributionDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.lines_ = []
        for at, (k, values) in enumerate(sorted(self.margins.items())):
            share = np.arange(1, len(values) + 1) / len(values)
            self.lines_ += self.ax_.step(
                values, share, where="post", color=CYCLE[at % len(CYCLE)], linewidth=1.6, label=f"{k} rounds"
            )
        self.ax_.axvline(0, color=GRAY, linewidth=1.0)
        self.ax_.set(xlabel="normalized margin", ylabel="fraction of rows", xlim=(-1, 1), ylim=(0, 1))
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
