"""Projections: principal components, and kernel principal components."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.decomposition.kernel_pca import KernelPCA
from surefit.decomposition.pca import PCA
from surefit.lab.palette import BLUE, INK, ORANGE, VERMILION, class_color
from surefit.lab.picture import Bars, Curve, Dots, Picture
from surefit.lab.scene import Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, log_values, steps_of
from surefit.lab.scenes.draw import lattice, levels, plane, remembered


def pca_frames(points: Points, p: Any) -> Frames:
    """Return the principal axes, then the points as they move onto the first axis."""
    X = points.xy
    if len(X) < 3:
        raise SceneMessage("PCA needs at least three points: click in the plane.")
    model = PCA(2).fit(X)
    first = PCA(1).fit(X)
    near = first.inverse_transform(first.transform(X))
    marks = []
    for k, color in ((0, VERMILION), (1, BLUE)):
        half = 2 * np.sqrt(model.explained_variance_[k]) * model.components_[k]
        ends = np.array([model.mean_ - half, model.mean_ + half])
        marks.append(Curve(ends[:, 0], ends[:, 1], color=color, width=3.0, label=f"component {k + 1}"))
    shares = model.explained_variance_ratio_
    bars = tuple(Bars([k - 0.35], [k + 0.35], [shares[k - 1]], color=c) for k, c in ((1, VERMILION), (2, BLUE)))
    chart = Picture("Share of the variance", "component", "share", bars, show_points=False)

    def at(i: int) -> Frame:
        share = i / 8
        moved = (1 - share) * X + share * near
        dots = (
            [Dots(moved[:, 0], moved[:, 1], color=[class_color(c) for c in points.labels], size=6.0, alpha=0.8)]
            if i
            else []
        )
        lost = float(np.mean(np.sum((X - moved) ** 2, axis=1)))
        facts = (
            Fact(
                f"The first component carries {100 * shares[0]:.3g} % of the variance; mean squared shift {lost:.4g}."
            ),
        )
        caption = (
            "Two components." if i == 0 else f"Points moved {100 * share:.0f} % of the way onto the first component."
        )
        return Frame(caption, plane(points, [*marks, *dots]), chart, model, X, None, facts)

    return Frames(9, at)


def kernel_pca_frames(points: Points, p: Any) -> Frames:
    """Return the level lines of each kernel component."""
    X = points.xy
    if len(X) < 4:
        raise SceneMessage("Kernel PCA needs at least four points: click in the plane.")
    count = min(p.components, len(X) - 1)
    fit = remembered(lambda k: KernelPCA(k, kernel="rbf", gamma=p.gamma).fit(X))
    box = points.box()
    values = fit(count).transform(lattice(box)[2])

    def at(i: int) -> Frame:
        model = fit(i + 1)
        value = values[:, i]
        at_levels = np.quantile(value, np.linspace(0.08, 0.92, 9))
        marks = [levels(value, box, float(v), color=ORANGE if v > 0 else BLUE, width=1.6) for v in at_levels]
        eigen = np.asarray(fit(count).eigenvalues_, dtype=float)
        bars = Bars(np.arange(1, count + 1) - 0.35, np.arange(1, count + 1) + 0.35, eigen, color=INK)
        now = Dots([i + 1.0], [eigen[i]], color=VERMILION, size=10.0, label="this component")
        chart = Picture("Eigenvalues", "component", "eigenvalue", (bars, now), show_points=False)
        return Frame(f"Level lines of component {i + 1} of {count}.", plane(points, marks), chart, model, X, None)

    return Frames(count, at)


SCENES = (
    Scene(
        "pca",
        "Principal components",
        "Projections",
        "cloud",
        "The directions of largest variance; no line through the mean is closer to the points than the first one.",
        pca_frames,
        (),
        "eigen_residual",
        "ellipse",
    ),
    Scene(
        "kernel-pca",
        "Kernel principal components",
        "Projections",
        "cloud",
        "Principal components in the space of a Gaussian kernel: their level lines follow the shape of the data.",
        kernel_pca_frames,
        (
            Slider("gamma", "γ of the kernel", log_values(0.01, 100), 1.0),
            Slider("components", "Components", steps_of(1, 8, 1), 4),
        ),
        "eigen_residual",
        "circles",
    ),
)
