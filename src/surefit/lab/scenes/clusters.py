"""Clustering: k-means with the global lower bound, and the Gaussian mixture by EM."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.clusters.gaussian_mixture import GaussianMixture
from surefit.clusters.k_means import KMeans
from surefit.lab.palette import BLUE, INK, VERMILION, class_color
from surefit.lab.picture import Curve, Dots
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import ellipse, lattice, plane, region, remembered, run_chart

MOST_SEMIDEFINITE = 80  # points for which the semidefinite bound takes a fraction of a second


def k_means_frames(points: Points, p: Any) -> Frames:
    """Return Lloyd's steps from one start: centers, cells, inertia, and the lower bound for all partitions."""
    X = points.xy
    _require(points, p.k)
    options = {"n_clusters": p.k, "init": p.init, "n_init": 1, "random_state": p.seed, "single_moves": False}
    tight = p.bound == "sdp" and len(X) <= MOST_SEMIDEFINITE
    last = KMeans(lower_bound="sdp" if tight else "auto", **options).fit(X)
    count, bound = max(1, int(last.n_iter_)), last.lower_bound_
    fit = remembered(lambda k: last if k == count else KMeans(max_iter=k, lower_bound=None, **options).fit(X))
    box = points.box()

    def at(i: int) -> Frame:
        model = fit(i + 1)
        cells = region(model.predict(lattice(box)[2]), box)
        colors = [class_color(c) for c in range(p.k)]
        past = np.array([fit(k + 1).cluster_centers_ for k in range(i + 1)])
        walks = [
            Curve(past[:, c, 0], past[:, c, 1], color=INK, width=1.4, dash="dotted", label="path of the centers")
            for c in range(p.k)
        ]
        centers = model.cluster_centers_
        marks = [
            cells,
            *walks,
            Dots(centers[:, 0], centers[:, 1], color=colors, marker="diamond", size=16.0, label="centers"),
        ]
        inertia = np.array([fit(k + 1).inertia_ for k in range(i + 1)])
        steps = np.arange(1.0, i + 2)
        chart = run_chart(
            "Inertia and its lower bound",
            "steps",
            [
                Curve(steps, inertia, color=VERMILION, label="inertia"),
                Curve(
                    steps,
                    np.full(i + 1, bound),
                    color=BLUE,
                    dash="dashed",
                    label="no partition is below this",
                ),
            ],
            i + 1.0,
            (1.0, float(count)),
        )
        facts = _bound_facts(model.inertia_, bound, p, tight)
        return Frame(f"Step {i + 1} of {count}.", plane(points, marks), chart, model, X, None, facts)

    return Frames(count, at)


def _bound_facts(inertia: float, bound: float, p: Any, tight: bool) -> tuple[Fact, ...]:
    """Return facts about the lower bound on the inertia, which depends on the points alone."""
    text = f"Inertia {inertia:.4g}; every partition into {p.k} clusters has at least {bound:.4g}."
    if bound <= 0:
        facts = [Fact(f"{text} This bound is vacuous.", "vacuous")]
    elif inertia <= bound * (1 + 1e-6):
        facts = [Fact(f"{text} This partition is optimal to six digits.", "proved")]
    else:
        facts = [Fact(text, "proved")]
    if p.bound == "sdp" and not tight:
        facts.append(Fact(f"The semidefinite bound is computed for at most {MOST_SEMIDEFINITE} points."))
    return tuple(facts)


def mixture_frames(points: Points, p: Any) -> Frames:
    """Return EM steps: densities and responsibilities."""
    X = points.xy
    _require(points, p.k + 1)
    options = {
        "n_components": p.k,
        "covariance_type": p.shape,
        "random_state": p.seed,
        "init_params": "random",
        "reg_covar": 1e-3,
    }
    fit = remembered(lambda k: GaussianMixture(max_iter=k, tol=1e-4, **options).fit(X))
    count = max(1, int(fit(60).n_iter_))
    box = points.box()

    def at(i: int) -> Frame:
        model = fit(i + 1)
        chances = model.predict_proba(lattice(box)[2])
        strength = np.clip((chances.max(axis=1) - 1 / p.k) / max(1 - 1 / p.k, 1e-9), 0.0, 1.0) if p.k > 1 else 1.0
        marks: list[Any] = [region(chances.argmax(axis=1), box, strength)]
        for c in range(p.k):
            covariance = _full(model.covariances_, p.shape, c)
            marks += [ellipse(model.means_[c], covariance, s, color=class_color(c), width=2.0) for s in (1.0, 2.0)]
        marks.append(
            Dots(
                model.means_[:, 0],
                model.means_[:, 1],
                color=[class_color(c) for c in range(p.k)],
                marker="cross",
                size=18.0,
            )
        )
        values = [*model.lower_bounds_, model.score(X)]
        chart = run_chart(
            "EM never lowers the likelihood",
            "steps",
            [Curve(np.arange(float(len(values))), values, color=BLUE, label="mean log-likelihood")],
        )
        facts = (Fact(f"Mean log-likelihood {values[-1]:.5g}; mixing weights {np.round(model.weights_, 2).tolist()}."),)
        return Frame(f"EM step {i + 1} of {count}.", plane(points, marks), chart, model, X, None, facts)

    return Frames(count, at)


def _full(covariances: np.ndarray, shape: str, c: int) -> np.ndarray:
    """Return the covariance matrix of a component."""
    if shape == "full":
        return covariances[c]
    if shape == "tied":
        return covariances
    return np.diag(covariances[c]) if shape == "diag" else covariances[c] * np.eye(2)


def _require(points: Points, least: int) -> None:
    if len(np.unique(points.xy, axis=0)) < least:
        raise SceneMessage(f"This needs at least {least} different points: click in the plane.")


CLUSTERS = Slider("k", "Clusters k", (1, 2, 3, 4), 3)
SEED = Slider("seed", "Start (seed)", steps_of(0, 20, 1), 0)

SCENES = (
    Scene(
        "k-means",
        "k-means",
        "Clusters",
        "cloud",
        "Lloyd's two steps decrease the inertia until nothing moves; a lower bound holds for every partition.",
        k_means_frames,
        (
            CLUSTERS,
            Choice("init", "Start", {"random points": "random", "k-means++": "k-means++"}, "random"),
            SEED,
            Choice("bound", "Lower bound", {"semidefinite": "sdp", "spectral": "auto"}, "sdp"),
        ),
        "kmeans",
        "blobs",
    ),
    Scene(
        "mixture",
        "Gaussian mixture",
        "Clusters",
        "cloud",
        "EM alternates soft assignments and weighted means; the likelihood never falls.",
        mixture_frames,
        (
            CLUSTERS,
            Choice(
                "shape",
                "Covariances",
                {"full": "full", "tied": "tied", "diagonal": "diag", "round": "spherical"},
                "full",
            ),
            SEED,
        ),
        "expectation_maximization",
        "blobs",
    ),
)
