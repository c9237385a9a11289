"""Plots of trees: the tree, its boxes in the plane, and the pruning curve. Graphviz is not needed."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, CYCLE, FILL, GRAY, INK, new_axes, tidy
from surefit.solvers.trees import FlatTree
from surefit.solvers.trees.flat import LEAF, REASONS, THRESHOLD
from surefit.trees.rules import branch_text, prediction_text


class TreeDisplay:
    """Plot of a tree: tests at the nodes, predictions and numbers of rows at the leaves.

    Parameters
    ----------
    tree : FlatTree
        The nodes.
    names : list of str
        Names of the columns.
    categories : dict, optional
        Values of the categorical columns.
    classes : array, optional
        Labels; None for regression.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    node_texts_ : dict of int to matplotlib text
        Text of each node.
    edges_ : list of matplotlib line
        One per branch.
    positions_ : ndarray of shape (n_nodes, 2)
        Position of each node; leaves are evenly spaced, and a parent is centered above its children.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import DecisionTreeClassifier, TreeDisplay
    >>> from surefit.data import load_or_table
    >>> display = TreeDisplay.from_estimator(DecisionTreeClassifier().fit(*load_or_table())).plot()
    >>> len(display.edges_), display.node_texts_[0].get_text().splitlines()[0]
    (4, 'x0 <= 0.5')
    """

    def __init__(self, tree: FlatTree, names, *, categories=None, classes=None):
        self.tree = tree
        self.names = list(names)
        self.categories = categories or {}
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None) -> TreeDisplay:
        """Return the display of a fitted tree; ``X`` and ``y`` are not used."""
        names = estimator._names()
        return cls(estimator.tree_, names, categories=estimator._shown(), classes=getattr(estimator, "classes_", None))

    def plot(self, ax=None, *, max_depth=None, show_reason=False, decimals=3) -> TreeDisplay:
        """Draw on ``ax``, or on new axes; nodes below ``max_depth`` are omitted. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        depth = self.tree.depth
        shown = np.flatnonzero(depth <= (depth.max() if max_depth is None else max_depth))
        self.positions_ = self._positions(set(shown.tolist()))
        self.node_texts_, self.edges_ = {}, []
        for t in shown.tolist():
            for child in self.tree.children(t).tolist():
                if child in shown:
                    (x0, y0), (x1, y1) = self.positions_[t], self.positions_[child]
                    self.edges_ += self.ax_.plot([x0, x1], [y0, y1], color=GRAY, linewidth=1.0, zorder=1)
                    if self.tree.kind[t] != THRESHOLD:
                        words = branch_text(self.tree, t, child, self.names, self.categories).split(" in ")[1]
                        self.ax_.text(
                            (x0 + x1) / 2, (y0 + y1) / 2, words, ha="center", va="center", fontsize=7, color=INK
                        )
        for t in shown.tolist():
            box = {"boxstyle": "round,pad=0.3", "facecolor": self._color(t), "edgecolor": GRAY}
            self.node_texts_[t] = self.ax_.text(
                *self.positions_[t],
                self._words(t, show_reason, decimals),
                ha="center",
                va="center",
                fontsize=8,
                bbox=box,
                zorder=2,
            )
        self.ax_.set_axis_off()
        self.ax_.set_xlim(-0.7, self.positions_[shown, 0].max() + 0.7)
        self.ax_.set_ylim(-float(depth[shown].max()) - 0.5, 0.5)
        return self

    def _positions(self, shown: set[int]) -> np.ndarray:
        places = np.zeros((len(self.tree.kind), 2))
        places[:, 1] = -self.tree.depth
        following = 0
        for t in range(len(places) - 1, -1, -1):  # children come after their parents
            children = [c for c in self.tree.children(t) if c in shown]
            if t in shown and not children:
                places[t, 0] = following
                following += 1
            elif children:
                places[t, 0] = places[children, 0].mean()
        places[:, 0] = max(following - 1, 0) - places[:, 0]
        return places

    def _words(self, t: int, show_reason: bool, decimals: int) -> str:
        tree = self.tree
        if tree.kind[t] == LEAF:
            first = prediction_text(tree, t, self.classes, f".{decimals}g")
            reason = f"\n{REASONS[tree.reason[t]]}" if show_reason else ""
            return f"{first}\n{tree.n_rows[t]} rows{reason}"
        name = self.names[tree.feature[t]]
        test = f"{name} <= {tree.threshold[t]:.{decimals}g}" if tree.kind[t] == THRESHOLD else name
        return f"{test}\ngain {tree.gain[t]:.{decimals}g}"

    def _color(self, t: int) -> str:
        if self.tree.kind[t] != LEAF or self.classes is None or self.tree.widths:
            return "white" if self.tree.kind[t] != LEAF else FILL
        return CYCLE[int(self.tree.values[t].argmax()) % len(CYCLE)] + "55"


class TreeBoxesDisplay:
    """Plot of a tree on two numeric columns: every leaf is a box, colored by its prediction.

    Parameters
    ----------
    boxes : LeafBoxes
        The boxes, ``lower < x <= upper``.
    predictions : array of shape (n_leaves,)
        Class index or value of each leaf.
    X : array of shape (n, 2)
        Rows to draw.
    y : array of shape (n,)
        Class indices or values of the rows.
    names : list of str
        Names of the two columns.
    is_classifier : bool
        Whether predictions are class indices.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    patches_ : list of matplotlib rectangle
        One per leaf.
    points_ : matplotlib collection
        The rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from surefit import DecisionTreeClassifier, TreeBoxesDisplay
    >>> from surefit.data import load_two_numbers_table
    >>> X, y = load_two_numbers_table()
    >>> display = TreeBoxesDisplay.from_estimator(DecisionTreeClassifier().fit(X, y), X, y).plot()
    >>> len(display.patches_)
    3
    """

    def __init__(self, boxes, predictions, X, y, *, names=("x0", "x1"), is_classifier=True):
        self.boxes, self.predictions = boxes, np.asarray(predictions, dtype=float)
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y)
        self.names, self.is_classifier = tuple(names), is_classifier
        if self.X.ndim != 2 or self.X.shape[1] != 2 or boxes.lower.shape[1] != 2:
            raise InvalidData(f"TreeBoxesDisplay: the tree must have two columns; got X of shape {self.X.shape}.")

    @classmethod
    def from_estimator(cls, estimator, X, y) -> TreeBoxesDisplay:
        """Return the display of a fitted tree with two columns and the rows ``X``, ``y``."""
        if estimator.tree_.n_outputs > 1:
            raise InvalidData(f"TreeBoxesDisplay: the tree must have one target; it has {estimator.tree_.n_outputs}.")
        boxes, value = estimator.leaf_boxes(), estimator.tree_.values
        classes = getattr(estimator, "classes_", None)
        estimate = value[boxes.leaf, 0] if classes is None else value[boxes.leaf].argmax(axis=1)
        codes = y if classes is None else np.searchsorted(classes, y)
        return cls(boxes, estimate, X, codes, names=estimator._names(), is_classifier=classes is not None)

    def plot(self, ax=None) -> TreeBoxesDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        from matplotlib.patches import Rectangle

        self.figure_, self.ax_ = new_axes(ax)
        low, high = np.nanmin(self.X, axis=0), np.nanmax(self.X, axis=0)
        margin = 0.05 * np.where(high > low, high - low, 1.0)
        low, high = low - margin, high + margin
        self.patches_ = []
        for lower, upper, estimate in zip(self.boxes.lower, self.boxes.upper, self.predictions, strict=True):
            start, stop = np.clip(lower, low, high), np.clip(upper, low, high)
            patch = Rectangle(
                start, *(stop - start), facecolor=self._colors(estimate), alpha=0.25, edgecolor=GRAY, linewidth=0.8
            )
            self.patches_.append(self.ax_.add_patch(patch))
        colors = [self._colors(value) for value in self.y]
        self.points_ = self.ax_.scatter(
            self.X[:, 0], self.X[:, 1], c=colors, s=16, edgecolors="white", linewidths=0.4, zorder=2
        )
        self.ax_.set_xlim(low[0], high[0])
        self.ax_.set_ylim(low[1], high[1])
        self.ax_.set_xlabel(self.names[0])
        self.ax_.set_ylabel(self.names[1])
        tidy(self.ax_)
        return self

    def _colors(self, value):
        if self.is_classifier:
            return CYCLE[int(value) % len(CYCLE)]
        from matplotlib import colormaps

        low, high = float(np.min(self.y)), float(np.max(self.y))
        return colormaps["viridis"]((value - low) / (high - low) if high > low else 0.5)


class PruningCurveDisplay:
    """Plot of risk against the number of leaves, for all prunings of a fit.

    Parameters
    ----------
    n_leaves, risks : arrays of shape (n_prunings,)
        Leaves and training risk (validation risk for reduced-error pruning) of the nested prunings.
    chosen : int
        Index of the chosen pruning.
    cv_risks, cv_errors : arrays of shape (n_prunings,), optional
        Cross-validated risks with their standard errors.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_, cv_line_, chosen_line_ : matplotlib lines (``cv_line_`` None without cross-validation)
        Risk, cross-validated risk, and the choice.
    band_ : matplotlib polygon or None
        One standard error to each side.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from surefit import DecisionTreeClassifier, PruningCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(pruning="cost_complexity").fit(X, y)
    >>> display = PruningCurveDisplay.from_estimator(model).plot()
    >>> bool(display.chosen_line_.get_xdata()[0] == model.get_n_leaves())
    True
    """

    def __init__(self, n_leaves, risks, chosen, *, cv_risks=None, cv_errors=None):
        self.n_leaves, self.risks = np.asarray(n_leaves), np.asarray(risks, dtype=float)
        self.chosen, self.cv_risks, self.cv_errors = int(chosen), cv_risks, cv_errors

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None) -> PruningCurveDisplay:
        """Return the display of a tree fitted with ``pruning`` or ``ccp_alpha``; ``X`` and ``y`` are not used."""
        record = estimator.pruning_
        if record is None:
            raise InvalidData("PruningCurveDisplay: the tree was not pruned; fit it with pruning='cost_complexity'.")
        if not hasattr(record, "alphas"):
            return cls(record.n_leaves, record.risks, len(record.risks) - 1)
        return cls(record.n_leaves, record.risks, record.chosen, cv_risks=record.cv_risks, cv_errors=record.cv_errors)

    def plot(self, ax=None) -> PruningCurveDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        self.cv_line_ = self.band_ = None
        (self.line_,) = self.ax_.plot(self.n_leaves, self.risks, color=GRAY, marker=".", label="risk")
        if self.cv_risks is not None:
            (self.cv_line_,) = self.ax_.plot(
                self.n_leaves, self.cv_risks, color=BLUE, marker=".", label="cross-validated"
            )
            low, high = self.cv_risks - self.cv_errors, self.cv_risks + self.cv_errors
            self.band_ = self.ax_.fill_between(self.n_leaves, low, high, color=FILL, linewidth=0)
        self.chosen_line_ = self.ax_.axvline(
            self.n_leaves[self.chosen], color=INK, linestyle=":", linewidth=1.2, label="chosen"
        )
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("leaves")
        self.ax_.set_ylabel("risk")
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
