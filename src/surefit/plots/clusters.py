"""Plots of clusterings: choice of the number of clusters (elbow), and silhouettes."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.metrics import silhouette_samples

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, FILL, GRAY, INK, new_axes, tidy


class ElbowDisplay:
    r"""Plot of the inertia against the number of clusters, with its lower bound over all partitions.

    The smallest possible inertia never increases with the number of clusters; look for the number beyond which it
    decreases little. The shaded band between lower bound and inertia is the uncertainty about the optimal partition.
    The within scatter :math:`W = \sum_k N_k \sum_{i \in k} \|x_i - \bar x_k\|^2` is drawn on request as a fraction of
    the total scatter.

    Parameters
    ----------
    n_clusters : array of shape (n_fits,)
        Numbers of clusters.
    inertias : array of shape (n_fits,)
        Inertia of each fit.
    lower_bounds : array of shape (n_fits,), optional
        Lower bound on the inertia of all partitions.
    within_shares : array of shape (n_fits,), optional
        Within scatter divided by total scatter.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The inertia.
    bound_line_, band_ : matplotlib line and polygon, or None
        The lower bound, and the band above it.
    within_line_ : matplotlib line or None
        The within scatter, on a second axis at the right.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from surefit import ElbowDisplay, KMeans
    >>> display = ElbowDisplay.from_estimator(KMeans(random_state=0), load_iris().data, n_clusters=range(1, 6)).plot()
    >>> display.line_.get_xdata().tolist()
    [1, 2, 3, 4, 5]
    """

    def __init__(self, n_clusters, inertias, *, lower_bounds=None, within_shares=None):
        self.n_clusters = np.asarray(n_clusters)
        self.inertias = np.asarray(inertias, dtype=np.float64)
        self.lower_bounds = None if lower_bounds is None else np.asarray(lower_bounds, dtype=np.float64)
        self.within_shares = None if within_shares is None else np.asarray(within_shares, dtype=np.float64)
        for name in ("inertias", "lower_bounds", "within_shares"):
            values = getattr(self, name)
            if values is not None and values.shape != self.n_clusters.shape:
                raise InvalidData(
                    f"ElbowDisplay: {name} must be one per number of clusters, shape {self.n_clusters.shape}; got {values.shape}."
                )

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, n_clusters=range(1, 11), sample_weight=None) -> ElbowDisplay:
        """Fit a copy of ``estimator`` (``KMeans``) for each number of clusters; ``y`` is not used."""
        counts = list(n_clusters)
        models = [clone(estimator).set_params(n_clusters=k).fit(X, sample_weight=sample_weight) for k in counts]
        totals = [model.scatter_.total for model in models]
        shares = [m.scatter_.within / total if total > 0 else 0.0 for m, total in zip(models, totals, strict=True)]
        return cls(
            counts,
            [model.inertia_ for model in models],
            lower_bounds=[model.lower_bound_ for model in models],
            within_shares=shares,
        )

    def plot(self, ax=None, *, show_within: bool = False) -> ElbowDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        (self.line_,) = self.ax_.plot(
            self.n_clusters, self.inertias, color=BLUE, marker="o", markersize=5, linewidth=1.6, label="inertia"
        )
        self.bound_line_ = self.band_ = self.within_line_ = None
        if self.lower_bounds is not None:
            (self.bound_line_,) = self.ax_.plot(
                self.n_clusters,
                self.lower_bounds,
                color=INK,
                linestyle=":",
                linewidth=1.4,
                label="lower bound",
            )
            self.band_ = self.ax_.fill_between(self.n_clusters, self.lower_bounds, self.inertias, color=FILL, alpha=0.5)
        if show_within and self.within_shares is not None:
            right = self.ax_.twinx()
            (self.within_line_,) = right.plot(
                self.n_clusters, self.within_shares, color=CYCLE[1], linestyle="--", label="within / total scatter"
            )
            right.set_ylabel("within scatter, fraction of the total")
            right.set_ylim(0, 1)
        self.ax_.set_xlabel("number of clusters")
        self.ax_.set_ylabel("inertia")
        self.ax_.set_ylim(bottom=0)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


class SilhouetteDisplay:
    r"""Plot of the silhouette of every row, by cluster.

    The silhouette is :math:`s_i = (b_i - a_i) / \max(a_i, b_i)`, where :math:`a_i` is the mean distance of row i to the
    other rows of its cluster and :math:`b_i` is the smallest mean distance to another cluster. It is near 1 well inside
    a cluster, near 0 between two clusters, and negative if the row is closer to another cluster. It is 0 for a row
    alone in its cluster. The mean silhouette is an estimate of the separation of the clusters.

    Parameters
    ----------
    values : array of shape (n_rows,)
        Silhouette of each row.
    labels : array of shape (n_rows,)
        Cluster of each row.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : list of matplotlib polygons
        One per cluster.
    mean_line_ : matplotlib line
        The mean over all rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from surefit import KMeans, SilhouetteDisplay
    >>> X = load_iris().data
    >>> display = SilhouetteDisplay.from_estimator(KMeans(2, random_state=0).fit(X), X).plot()
    >>> len(display.bars_), round(float(display.values.mean()), 2)
    (2, 0.68)
    """

    def __init__(self, values, labels):
        self.values = np.asarray(values, dtype=np.float64)
        self.labels = np.asarray(labels)
        if self.values.shape != self.labels.shape or self.values.ndim != 1:
            raise InvalidData(
                f"SilhouetteDisplay: values and labels must be two lists of equal length; got shapes {self.values.shape} and "
                f"{self.labels.shape}."
            )

    @classmethod
    def from_estimator(cls, estimator, X, y=None) -> SilhouetteDisplay:
        """Return the display of a fitted clustering of ``X``; ``y`` is not used."""
        return cls.from_predictions(X, estimator.labels_)

    @classmethod
    def from_predictions(cls, X, labels, *, metric="euclidean") -> SilhouetteDisplay:
        """Return the display of any labels, with at least two clusters and fewer clusters than rows."""
        count = len(np.unique(labels))
        if not 2 <= count < len(labels):
            raise InvalidData(
                f"SilhouetteDisplay: needs from 2 to {max(len(labels) - 1, 2)} clusters for {len(labels)} rows; got {count}."
            )
        return cls(silhouette_samples(X, labels, metric=metric), labels)

    def plot(self, ax=None) -> SilhouetteDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.bars_, ticks, base = [], [], 0
        gap = max(1, len(self.values) // 50)
        clusters = np.unique(self.labels)
        for number, cluster in enumerate(clusters):
            mine = np.sort(self.values[self.labels == cluster])
            rows = np.arange(base, base + len(mine) + 1)
            heights = np.append(mine, mine[-1])
            self.bars_.append(
                self.ax_.fill_betweenx(rows, 0, heights, step="post", color=CYCLE[number % len(CYCLE)], linewidth=0)
            )
            ticks.append(base + len(mine) / 2)
            base += len(mine) + gap
        self.mean_line_ = self.ax_.axvline(self.values.mean(), color=INK, linestyle=":", linewidth=1.4, label="mean")
        self.ax_.axvline(0.0, color=GRAY, linewidth=0.8)
        self.ax_.set_yticks(ticks, [str(cluster) for cluster in clusters])
        self.ax_.set_xlabel("silhouette")
        self.ax_.set_ylabel("cluster")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
