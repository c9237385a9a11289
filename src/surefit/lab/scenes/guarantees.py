"""Guarantees on new data: a bound from held-out points compared with the test error, and conformal coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from surefit.bases.polynomial import PolynomialBasis
from surefit.core.text import counted
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION
from surefit.lab.picture import Area, Box, Curve, Dots, Picture
from surefit.lab.scene import Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import abscissae, plane, probability_marks, remembered, run_chart
from surefit.lab.scenes.generalization import LEARNER, learner, wave
from surefit.linear.ridge.regressor import Ridge
from surefit.risk.certified import Certified
from surefit.risk.conformal_regressor import ConformalRegressor

DRAWS = 30  # number of samples for conformal coverage


def risk_frames(points: Points, p: Any) -> Frames:
    """Return models trained on half of an increasing number of points, and the bound from the other half."""
    X, y = points.xy, points.labels
    order = np.random.default_rng(0).permutation(len(y))
    sizes = [int(k) for k in np.unique(np.geomspace(16, len(y), 9).round())] if len(y) > 16 else [len(y)]
    model = learner(p.learner)[0]

    def certify(k: int) -> Any:
        rows = np.sort(order[:k])
        if min(np.bincount(y[rows])[np.unique(y)], default=0) < 4:
            raise SceneMessage(
                "The risk bound needs at least four points of each class in every sample: generate more."
            )
        return Certified(model, by="holdout", confidence=p.confidence, random_state=0).fit(X[rows], y[rows])

    fit = remembered(certify)

    def at(i: int) -> Frame:
        k = sizes[i]
        certified, rows = fit(k), np.sort(order[:k])
        rest = np.setdiff1d(np.arange(len(y)), rows)
        bounds = [float(fit(s).risk_bound_) for s in sizes[: i + 1]]
        place = np.array(sizes[: i + 1], dtype=float)
        curves = [Curve(place, bounds, color=INK, dash="dashed", label="proved bound on the error")]
        vacuous = any("vacuous" in claim.statement for claim in certified.certificate_.claims)
        text = f"The error on new points is at most {bounds[-1]:.3g} with confidence {p.confidence:g}."
        facts = [
            Fact(
                text + (" This is vacuous: a constant prediction is as good." if vacuous else ""),
                "vacuous" if vacuous else "proved",
            )
        ]
        if len(rest) >= 20:
            error = float(np.mean(certified.predict(X[rest]) != y[rest]))
            facts.append(Fact(f"Error on the {counted(len(rest), 'point')} not used: {error:.3g}.", "estimate"))
        chart = run_chart("Risk bound", "points", curves, float(k), (0.0, float(sizes[-1])))
        marks = probability_marks(certified.estimator_, points.box())
        code = f"rows = np.sort(np.random.default_rng(0).permutation(len(y))[:{k}])\nX, y = X[rows], y[rows]"
        return Frame(
            f"{k} points, half of them for the test.",
            plane(points, marks),
            chart,
            certified,
            X[rows],
            y[rows],
            tuple(facts),
            code,
        )

    return Frames(len(sizes), at)


def conformal_frames(points: Points, p: Any) -> Frames:
    """Return new samples from the true function: the band of each, and the fraction of new points inside it."""
    rng = np.random.default_rng(p.seed)
    xs = rng.uniform(-3, 3, (DRAWS, p.n + 200))
    ys = wave(xs.ravel()).reshape(xs.shape) + p.noise * rng.standard_normal(xs.shape)
    basis = [] if p.degree == 1 else [PolynomialBasis(p.degree, scale=True)]
    ridge = make_pipeline(*basis, Ridge(1e-3)) if basis else Ridge(1.0)
    model = remembered(
        lambda k: ConformalRegressor(ridge, coverage=p.coverage, random_state=0).fit(xs[k, : p.n, None], ys[k, : p.n])
    )

    def covered(k: int) -> float:
        band = model(k).predict_interval(xs[k, p.n :, None])
        return float(np.mean((band[:, 0] <= ys[k, p.n :]) & (ys[k, p.n :] <= band[:, 1])))

    share = remembered(covered)

    def at(i: int) -> Frame:
        inside = [share(k) for k in range(i + 1)]
        text = f"The nominal coverage is {p.coverage:g}; so far {np.mean(inside):.3g} of the new points were covered, for any model."
        return Frame(
            f"Sample {i + 1} of {DRAWS}: {inside[-1]:.3g} of the new points are inside.",
            _band_picture(model(i), xs[i, p.n : p.n + 100], ys[i, p.n : p.n + 100]),
            _coverage_chart(inside, p.coverage),
            model(i),
            xs[i, : p.n, None],
            ys[i, : p.n],
            (Fact(text, "estimate"),),
            _conformal_data(i, p, DRAWS),
        )

    return Frames(DRAWS, at)


def _band_picture(model: Any, x: np.ndarray, y: np.ndarray) -> Picture:
    """Return the band, the truth, the fit, and new points."""
    box = Box(-3.0, 3.0, -3.0, 3.0)
    line = abscissae(box)
    band = model.predict_interval(line[:, None])
    marks = (
        Area(
            np.concatenate([line, line[::-1]]),
            np.concatenate([band[:, 0], band[::-1, 1]]),
            color=BLUE,
            alpha=0.22,
            label="prediction band",
        ),
        Curve(line, wave(line), color=GREEN, dash="dashed", label="truth"),
        Curve(line, model.predict(line[:, None]), color=VERMILION, label="fit"),
        Dots(x, y, color=INK, size=5.0, label="new points"),
    )
    return Picture("", "x", "y", marks, box, show_points=False)


def _coverage_chart(inside: list[float], promised: float) -> Picture:
    """Return a chart of the mean coverage over the samples so far and of the nominal coverage."""
    runs = np.arange(1.0, len(inside) + 1)
    curves = [
        Curve(runs, np.cumsum(inside) / runs, color=BLUE, label="mean fraction of new points in the band"),
        Curve(runs, np.full(len(runs), promised), color=INK, dash="dashed", label="promised"),
    ]
    return run_chart("Coverage", "samples", curves, float(len(inside)), (1.0, float(DRAWS)))


def _conformal_data(i: int, p: Any, draws: int) -> str:
    return (
        f"rng = np.random.default_rng({p.seed})\nxs = rng.uniform(-3, 3, ({draws}, {p.n + 200}))\n"
        f"ys = 1.5 * np.sin(1.6 * xs) + {p.noise} * rng.standard_normal(xs.shape)\nX, y = xs[{i}, :{p.n}, None], ys[{i}, :{p.n}]"
    )


SCENES = (
    Scene(
        "risk",
        "Risk bound against test error",
        "Ideas",
        "classes",
        "Half of the points train the model, the other half bounds its error; more points give a tighter bound.",
        risk_frames,
        (LEARNER, Slider("confidence", "Confidence", (0.8, 0.9, 0.95, 0.99), 0.95)),
        "concentration",
        "moons",
    ),
    Scene(
        "conformal",
        "Conformal coverage",
        "Ideas",
        "none",
        "Prediction bands with guaranteed coverage for any model, even a wrong one.",
        conformal_frames,
        (
            Slider("coverage", "Promised coverage", (0.5, 0.8, 0.9, 0.95), 0.9),
            Slider("degree", "Degree of the model", steps_of(1, 9, 1), 1),
            Slider("n", "Points per sample", (40, 80, 160), 80),
            Slider("noise", "Noise level", steps_of(0.1, 1.0, 0.1), 0.4),
            Slider("seed", "Seed", steps_of(0, 20, 1), 0),
        ),
        "conformal",
    ),
)
