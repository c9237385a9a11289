"""Decision trees: growing leaf by leaf, and the pruning sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.text import counted
from surefit.lab.palette import BLUE, VERMILION
from surefit.lab.picture import Curve
from surefit.lab.scene import Frame, Frames, Points, Scene, Slider, steps_of
from surefit.lab.scenes.draw import classifier_marks, classifiers_by_size, plane, remembered, run_chart, training_errors
from surefit.trees.classifier import DecisionTreeClassifier


def growing_frames(points: Points, p: Any) -> Frames:
    """Return the tree with 1, 2, 3, ... leaves, the best split first."""
    X, y = points.xy, points.labels

    def new(leaves: int) -> Any:
        options = {"max_depth": 1, "max_leaf_nodes": None, "min_samples_split": len(y) + 1} if leaves == 1 else {}
        options = {"max_depth": p.depth, "max_leaf_nodes": leaves, **options}
        return DecisionTreeClassifier(criterion="gini", min_samples_leaf=p.smallest, **options).fit(X, y)

    fit = remembered(new)
    most = (
        DecisionTreeClassifier(max_depth=p.depth, min_samples_leaf=p.smallest, max_leaf_nodes=p.leaves)
        .fit(X, y)
        .tree_.n_leaves
    )

    def caption(model: Any, _: int) -> str:
        return f"{counted(model.tree_.n_leaves, 'leaf', 'leaves')}, depth {model.tree_.max_depth}."

    return classifiers_by_size(points, fit, "leaves", caption, max(1, most))


def pruning_frames(points: Points, p: Any) -> Frames:
    """Return the nested prunings of the full tree, largest first; every fourth point is held out for the curve."""
    X, y = points.xy, points.labels
    full = DecisionTreeClassifier(max_depth=p.depth)
    path = full.cost_complexity_pruning_path(X, y)
    alphas = [float(a) for a in np.asarray(path.ccp_alphas)]
    alphas = (
        alphas
        if len(alphas) <= 60
        else [alphas[k] for k in np.unique(np.linspace(0, len(alphas) - 1, 60).round().astype(int))]
    )
    fit = remembered(lambda a: DecisionTreeClassifier(max_depth=p.depth, ccp_alpha=a).fit(X, y))
    held = np.arange(len(y)) % 4 == 3
    enough = held.any() and len(np.unique(y[~held])) > 1
    half = remembered(lambda a: DecisionTreeClassifier(max_depth=p.depth, ccp_alpha=a).fit(X[~held], y[~held]))
    trained = remembered(lambda a: float(np.mean(fit(a).predict(X) != y)))
    tested = remembered(lambda a: float(np.mean(half(a).predict(X[held]) != y[held])))

    def at(i: int) -> Frame:
        model = fit(alphas[i])
        leaves = np.array([fit(a).tree_.n_leaves for a in alphas], dtype=float)
        curves = [Curve(leaves, [trained(a) for a in alphas], color=BLUE, label="training error")]
        if enough:
            held_out = [tested(a) for a in alphas]
            curves.append(Curve(leaves, held_out, color=VERMILION, label="error on held-out points"))
        chart = run_chart("Pruning sequence", "leaves", curves, float(leaves[i]))
        caption = f"Pruning {i + 1} of {len(alphas)}: α = {alphas[i]:.3g}, {int(leaves[i])} {'leaf' if leaves[i] == 1 else 'leaves'}."
        marks = classifier_marks(model, points.box())
        return Frame(caption, plane(points, marks), chart, model, X, y, (training_errors(model, X, y),))

    return Frames(len(alphas), at)


DEPTH = Slider("depth", "Depth at most", steps_of(1, 10, 1), 5)

SCENES = (
    Scene(
        "tree",
        "Decision tree",
        "Trees and ensembles",
        "classes",
        "Splits the plane along an axis where the impurity decreases most.",
        growing_frames,
        (
            DEPTH,
            Slider("leaves", "Leaves at most", steps_of(2, 40, 1), 16),
            Slider("smallest", "Points per leaf at least", steps_of(1, 20, 1), 1),
        ),
        "pruning",
        "moons",
    ),
    Scene(
        "pruning",
        "Pruning a tree",
        "Trees and ensembles",
        "classes",
        "Cost-complexity pruning: the best subtree for every cost per leaf; these subtrees are nested.",
        pruning_frames,
        (Slider("depth", "Depth of the full tree", steps_of(2, 12, 1), 8),),
        "pruning",
        "moons",
    ),
)
