"""Plot of the regularization path of the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import CYCLE, INK, new_axes, tidy


class PathDisplay:
    r"""Plot of coefficients :math:`w(\alpha)` against the weight :math:`\alpha` of the penalty.

    The weight decreases from left to right on a logarithmic axis, starting by default where all coefficients are zero.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        Weights of the penalty.
    coefs : array of shape (n_features, n_alphas)
        Coefficients, as ``lasso_path`` returns them.
    feature_names : sequence of str, optional
        Names for the labels; ``x0``, ``x1``, ... by default.
    alpha : float, optional
        Weight to mark, such as the one chosen by cross-validation.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        One per feature that is non-zero for some weight, in the order of ``shown_``.
    shown_ : ndarray of int
        Features drawn.
    alpha_line_ : matplotlib line or None
        The mark at ``alpha``.
    labels_ : list of matplotlib texts
        Names of the largest coefficients, at the right edge.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import PathDisplay, lasso_path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> alphas, coefs, _ = lasso_path(X, y, alphas=20, fit_intercept=True)
    >>> display = PathDisplay.from_path(alphas, coefs, feature_names=X.columns).plot()
    >>> len(display.lines_)
    10
    """

    def __init__(self, alphas, coefs, *, feature_names: Sequence[str] | None = None, alpha: float | None = None):
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.coefs = np.asarray(coefs, dtype=np.float64)
        if self.coefs.ndim != 2 or self.coefs.shape[1] != len(self.alphas):
            raise InvalidData(
                f"PathDisplay: coefs must have one column per weight, shape (n_features, {len(self.alphas)}); "
                f"got shape {self.coefs.shape}."
            )
        names = [f"x{j}" for j in range(len(self.coefs))] if feature_names is None else list(feature_names)
        if len(names) != len(self.coefs):
            raise InvalidData(
                f"PathDisplay: feature_names must have one entry per feature, {len(self.coefs)}; got {len(names)}."
            )
        self.feature_names = [str(name) for name in names]
        self.alpha = alpha

    @classmethod
    def from_path(cls, alphas, coefs, *, feature_names=None, alpha=None) -> PathDisplay:
        """Return the display of a result of ``lasso_path`` or ``enet_path``."""
        return cls(alphas, coefs, feature_names=feature_names, alpha=alpha)

    @classmethod
    def from_estimator(cls, estimator, X, y, *, alphas=100, feature_names=None) -> PathDisplay:
        """Compute the path of a fitted ``Lasso``, ``ElasticNet``, ``LassoCV`` or ``ElasticNetCV``, and mark its weight.

        Parameters
        ----------
        estimator : fitted estimator
            Defines the problem: intercept, sign constraint, factors, fraction of the l1 norm, tolerance.
        X, y
            Training data.
        alphas : int or array, default=100
            Number of weights, or the weights.
        feature_names : sequence of str, optional
            By default those of the columns of ``X``, if it has names.
        """
        ratio = float(getattr(estimator, "l1_ratio_", getattr(estimator, "l1_ratio", 1.0)))
        options = {} if ratio == 1.0 else {"l1_ratio": ratio}
        alphas, coefs, _ = estimator.path(
            X,
            y,
            alphas=alphas,
            fit_intercept=estimator.fit_intercept,
            positive=estimator.positive,
            penalty_factors=estimator.penalty_factors,
            tol=estimator.tol,
            **options,
        )
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        if getattr(estimator, "radius", None) is not None:
            alpha = float(estimator.multiplier_)
        else:
            alpha = float(estimator.alpha_ if hasattr(estimator, "alpha_") else estimator.alpha)
        return cls(alphas, coefs, feature_names=names, alpha=alpha)

    def plot(self, ax=None, *, n_labels: int = 8) -> PathDisplay:
        """Draw on ``ax``, or on new axes; label the ``n_labels`` largest coefficients. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.shown_ = np.flatnonzero(np.any(self.coefs != 0, axis=1))
        last = self.coefs[self.shown_, -1] if len(self.alphas) else np.empty(0)
        order = self.shown_[np.argsort(-np.abs(last), kind="stable")]
        color = {j: CYCLE[rank % len(CYCLE)] for rank, j in enumerate(order)}
        dashes = {j: "-" if rank < len(CYCLE) else "--" for rank, j in enumerate(order)}
        self.lines_ = [
            self.ax_.plot(self.alphas, self.coefs[j], color=color[j], linestyle=dashes[j], linewidth=1.6)[0]
            for j in self.shown_
        ]
        self.ax_.axhline(0.0, color=INK, linewidth=0.8)
        self.alpha_line_ = None
        if self.alpha is not None and self.alpha > 0:
            self.alpha_line_ = self.ax_.axvline(self.alpha, color=INK, linestyle=":", linewidth=1.4)
            self.ax_.annotate(
                f"α = {self.alpha:.3g}", (self.alpha, 1.0), xycoords=("data", "axes fraction"), xytext=(-4, 4),
                textcoords="offset points", ha="right", color=INK, fontsize=9,
            )  # fmt: skip
        self.ax_.set_xscale("log")
        self.ax_.invert_xaxis()
        self.ax_.set_xlabel("weight α of the penalty (weaker to the right)")
        self.ax_.set_ylabel("coefficient")
        tidy(self.ax_)
        self.labels_ = self._label(order[:n_labels], color)
        return self

    def _label(self, features, color: dict[int, str]) -> list[Any]:
        """Write names at the right ends of the curves, shifted so that they do not overlap."""
        if not len(features):
            return []
        bottom, top = self.ax_.get_ylim()
        spacing = 0.055 * (top - bottom)
        ends = sorted((float(self.coefs[j, -1]), int(j)) for j in features)
        heights = np.array([end for end, _ in ends])
        for i in range(1, len(heights)):
            heights[i] = max(heights[i], heights[i - 1] + spacing)
        heights -= np.mean(heights - [end for end, _ in ends])  # centered around the ends
        return [
            self.ax_.annotate(
                self.feature_names[j], (self.alphas[-1], height), xytext=(6, 0), textcoords="offset points",
                va="center", color=color[j], fontsize=9, annotation_clip=False,
            )
            for (_, j), height in zip(ends, heights, strict=True)
        ]  # fmt: skip
