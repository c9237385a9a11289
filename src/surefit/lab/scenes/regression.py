"""Ridge and lasso: the constraint set and the error contours, coefficient paths, polynomial degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bases.polynomial import PolynomialBasis
from surefit.core.text import counted
from surefit.lab.palette import BLUE, CLASS_COLORS, INK, VERMILION
from surefit.lab.picture import Area, Box, Curve, Dots, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import abscissae, ellipse, line_plot, remembered, run_chart
from surefit.linear.lasso.elastic_net import ElasticNet
from surefit.linear.lasso.lasso import Lasso
from surefit.linear.lasso.path import lasso_path
from surefit.linear.ridge.regressor import Ridge
from surefit.plots.estimation_picture import EstimationPictureDisplay
from surefit.selection.degree_path import degree_path


def contact_frames(points: Points, p: Any) -> Frames:
    """Return the solution on growing balls: the weights of x and x² where the ellipses first touch the ball."""
    x, y = points.xy[:, 0], points.xy[:, 1]
    X = _two_features(x)
    if np.linalg.matrix_rank(X) < 2:
        raise SceneMessage("This figure needs points at three or more different places.")
    full = EstimationPictureDisplay.from_data(X, y, penalty=1e-9, fit_intercept=True)
    best, gram = full.least_squares, full.gram
    order = 1 if p.norm == "l1" else 2
    largest = float(np.linalg.norm(best, order))
    count = 25

    def solve(share: float) -> Any:
        size = max(share * largest, 1e-6)
        if order == 1:
            return Lasso(radius=size, tol=1e-9, max_iter=10_000).fit(X, y)
        return ElasticNet(l1_ratio=0.0, radius=size**2 / 2, tol=1e-9, max_iter=10_000).fit(X, y)

    fit = remembered(solve)

    def at(i: int) -> Frame:
        model = fit((i + 1) / count)
        w, size = model.coef_, (i + 1) / count * largest
        walked = np.array([fit((k + 1) / count).coef_ for k in range(i + 1)])
        contact = _contact_picture(best, gram, w, size, order, largest, walked)
        line = abscissae(points.box())
        scale = _two_features(x, line)
        fitted = Curve(line, scale @ w + model.intercept_, color=VERMILION, width=2.6, label="fit: w₁x + w₂x² + b")
        chart = line_plot(points, [fitted, Dots(x, y, color=BLUE, size=6.0)], "The fit")
        zeros = int(np.sum(np.abs(w) < 1e-9))
        facts = (
            Fact(f"Weights ({w[0]:.4g}, {w[1]:.4g}); {counted(zeros, 'weight')} exactly zero."),
            Fact("The diamond has corners, so weights become zero; the disc has none."),
        )
        caption = f"{'|w₁| + |w₂|' if order == 1 else '‖w‖'} ≤ {size:.3g}: the smallest ellipse that touches the ball."
        return Frame(caption, contact, chart, model, X, y, facts, TWO_FEATURES)

    return Frames(count, at)


TWO_FEATURES = (
    "x, y = X[:, 0], X[:, 1]\nX = np.column_stack([x, x**2])\nX = (X - X.mean(axis=0)) / X.std(axis=0)  # two features"
)


def _two_features(x: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """Return x and x², standardized over the points, at ``at`` (by default at the points)."""
    raw = np.column_stack([x, x**2])
    spread = raw.std(axis=0)
    place = raw if at is None else np.column_stack([at, at**2])
    return (place - raw.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _contact_picture(
    best: np.ndarray, gram: np.ndarray, w: np.ndarray, size: float, order: int, largest: float, walked: np.ndarray
) -> Picture:
    """Return ball, ellipses and the path of the contact point, in the plane of the weights."""
    inverse = np.linalg.inv(gram)
    shift = w - best
    level = float(np.sqrt(max(shift @ gram @ shift, 1e-12)))
    turn = np.linspace(0, 2 * np.pi, 97)
    round_ball = np.column_stack([np.cos(turn), np.sin(turn)])
    ball = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], dtype=float) if order == 1 else round_ball
    marks: list[Any] = [Area(size * ball[:, 0], size * ball[:, 1], color=BLUE, alpha=0.3, label="ball ‖w‖ ≤ t")]
    marks += [
        ellipse(best, inverse, level * share, color=INK, width=1.2, label="equal squared error")
        for share in (0.4, 0.7, 1.0)
    ]
    marks += [
        Curve(walked[:, 0], walked[:, 1], color=VERMILION, width=1.4, dash="dotted", label="path of the solution"),
        Dots([w[0]], [w[1]], color=VERMILION, size=11.0, label="solution"),
        Dots([best[0]], [best[1]], color=INK, marker="cross", size=14.0, label="least squares"),
    ]
    reach = 1.25 * max(largest, float(np.abs(best).max()))
    return Picture("", "w₁", "w₂", tuple(marks), Box(-reach, reach, -reach, reach), show_points=False)


def path_frames(points: Points, p: Any) -> Frames:
    """Return polynomial fits along the path of the penalty, and all coefficients."""
    x, y = points.xy[:, :1], points.xy[:, 1]
    basis = PolynomialBasis(p.degree, scale=True).fit(x)
    X = basis.transform(x)
    if p.penalty == "lasso":
        alphas = np.asarray(lasso_path(X, y, alphas=50, eps=1e-4)[0])
        fit = remembered(lambda a: Lasso(alpha=a, max_iter=20_000).fit(X, y))
    else:
        alphas = np.geomspace(1e3, 1e-4, 50)
        fit = remembered(lambda a: Ridge(alpha=a).fit(X, y))
    alphas = np.array([float(f"{a:.4g}") for a in alphas])
    coefs = remembered(lambda _: np.array([fit(a).coef_ for a in alphas]))
    line = abscissae(points.box())

    def at(i: int) -> Frame:
        model, every = fit(alphas[i]), coefs(0)
        place = np.log10(alphas)
        curves = [
            Curve(
                place,
                every[:, k],
                color=CLASS_COLORS[k % 4],
                dash=("solid", "dashed", "dotted")[k // 4 % 3],
                label=f"x^{k + 1}",
            )
            for k in range(X.shape[1])
        ]
        chart = run_chart("Coefficients along the path", "log₁₀ of the penalty weight", curves, float(place[i]))
        used = int(np.sum(np.abs(model.coef_) > 1e-12))
        marks = [Curve(line, model.predict(basis.transform(line[:, None])), color=VERMILION, width=2.6, label="fit")]
        facts = (Fact(f"{counted(used, 'coefficient')} of {X.shape[1]} not zero."),)
        code = f"x, y = X[:, :1], X[:, 1]\nX = PolynomialBasis({p.degree}, scale=True).fit_transform(x)"
        return Frame(f"Penalty weight {alphas[i]:.4g}.", line_plot(points, marks), chart, model, X, y, facts, code)

    return Frames(len(alphas), at)


def degree_frames(points: Points, p: Any) -> Frames:
    """Return least-squares polynomials of growing degree; every fourth point is held out."""
    held = np.arange(len(points.xy)) % 4 == 3
    if len(np.unique(points.xy[~held, 0])) < 3 or not held.any():
        raise SceneMessage("The degree sweep needs at least four points at different places: click in the plane.")
    train, test = points.xy[~held], points.xy[held]
    path: Any = degree_path(train[:, :1], train[:, 1], p.degree, X_dev=test[:, :1], y_dev=test[:, 1])
    line, box = abscissae(points.box()), points.box()
    degrees = np.asarray(path.degrees, dtype=float)

    def at(i: int) -> Frame:
        values = np.clip(path.predict(line[:, None], int(path.degrees[i])), box.bottom - 9, box.top + 9)
        marks = [
            Curve(line, values, color=VERMILION, width=2.6, label=f"polynomial of degree {path.degrees[i]}"),
            Dots(test[:, 0], test[:, 1], color=INK, size=17.0, hollow=True, label="held out"),
        ]
        held_out = np.asarray(path.dev_errors)
        chart = run_chart(
            "Errors against the degree",
            "degree",
            [
                Curve(
                    degrees, np.log10(np.maximum(path.training_errors, 1e-12)), color=BLUE, label="log₁₀ training error"
                ),
                Curve(
                    degrees,
                    np.log10(np.maximum(held_out, 1e-12)),
                    color=VERMILION,
                    label="log₁₀ held-out error",
                ),
            ],
            float(degrees[i]),
        )
        facts = (
            Fact(f"Training error {path.training_errors[i]:.4g}: it never rises with the degree.", "proved"),
            Fact(f"Held-out error {held_out[i]:.4g}, smallest at degree {path.best_degree}.", "estimate"),
        )
        code = (
            "from surefit import degree_path\n"
            "held = np.arange(len(X)) % 4 == 3\n"
            f"path = degree_path(X[~held, :1], X[~held, 1], {p.degree}, X_dev=X[held, :1], y_dev=X[held, 1])\n"
            "print(path)"
        )
        return Frame(f"Degree {path.degrees[i]}.", line_plot(points, marks), chart, facts=facts, code=code)

    return Frames(len(path.degrees), at)


NORM = Choice("norm", "Ball", {"diamond (lasso)": "l1", "disc (ridge)": "l2"}, "l1")
PENALTY = Choice("penalty", "Penalty", {"lasso": "lasso", "ridge": "ridge"}, "lasso")

SCENES = (
    Scene(
        "contact",
        "Lasso and ridge: contact",
        "Regression",
        "curve",
        "The solution is where the smallest ellipse of equal error touches the ball.",
        contact_frames,
        (NORM,),
        "fenchel_gap",
        "parabola",
    ),
    Scene(
        "coefficient-path",
        "Coefficient path",
        "Regression",
        "curve",
        "Polynomial regression along the penalty: the lasso lets coefficients in one by one.",
        path_frames,
        (PENALTY, Slider("degree", "Degree", steps_of(2, 12, 1), 8)),
        "gap_safe",
        "sine",
    ),
    Scene(
        "degrees",
        "Overfitting: degree sweep",
        "Ideas",
        "curve",
        "The training error falls with the degree; the error on held-out points does not.",
        degree_frames,
        (Slider("degree", "Largest degree", steps_of(3, 20, 1), 14),),
        "least_squares_gap",
        "sine",
    ),
)
