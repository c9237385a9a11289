"""Smoothing in one dimension: kernel ridge regression, Gaussian processes and smoothing splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.gaussian_processes.regressor import GaussianProcessRegressor
from surefit.kernel_machines.kernel_ridge import KernelRidge
from surefit.kernels import RBF, Matern
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION
from surefit.lab.picture import Area, Curve, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, Slider, log_values, schedule, steps_of
from surefit.lab.scenes.draw import abscissae, line_plot, remembered, rings, run_chart
from surefit.splines.smoothing_spline import SmoothingSpline


def band(line: np.ndarray, mean: np.ndarray, deviation: np.ndarray, label: str) -> Area:
    """Return the area within two standard deviations of a curve."""
    low, high = mean - 2 * deviation, mean + 2 * deviation
    return Area(
        np.concatenate([line, line[::-1]]), np.concatenate([low, high[::-1]]), color=BLUE, alpha=0.22, label=label
    )


def process_frames(points: Points, p: Any) -> Frames:
    """Return the posterior for an increasing number of points."""
    x, y = points.xy[:, :1], points.xy[:, 1]
    kernel = {"rbf": lambda: RBF(p.length), "matern": lambda: Matern(p.length, nu=1.5)}[p.kernel]()
    line = abscissae(points.box())
    shown = schedule(len(y), 40)
    fit = remembered(lambda k: GaussianProcessRegressor(kernel, alpha=p.noise**2, optimizer=None).fit(x[:k], y[:k]))

    def at(i: int) -> Frame:
        k = shown[i]
        model = fit(k) if k else GaussianProcessRegressor(kernel, alpha=p.noise**2, optimizer=None)
        mean, deviation = model.predict(line[:, None], return_std=True)
        samples = (
            model.sample_y(line[::4, None], n_samples=p.samples, random_state=0) if p.samples else np.zeros((61, 0))
        )
        marks: list[Any] = [band(line, mean, deviation, "mean ± 2 standard deviations")]
        marks += [
            Curve(line[::4], samples[:, s], color=GREEN, width=1.0, alpha=0.7, label="samples")
            for s in range(p.samples)
        ]
        marks += [Curve(line, mean, color=VERMILION, width=2.6, label="posterior mean")]
        if 0 < k < len(y):
            marks.append(rings(points, [k - 1], VERMILION, "newest point"))
        chart = Picture(
            "Posterior standard deviation",
            "x",
            "standard deviation",
            (Curve(line, deviation, color=BLUE),),
            show_points=False,
        )
        if k == 0:
            return Frame("The prior, before any point.", line_plot(points, marks), chart)
        facts = (Fact(f"Log evidence {float(model.log_marginal_likelihood_value_):.5g}.", "estimate"),)
        caption = f"Posterior after {k} of {len(y)} points."
        code = f"x, y = X[:{k}, :1], X[:{k}, 1]\nX = x"
        return Frame(caption, line_plot(points, marks), chart, model, x[:k], y[:k], facts, code)

    return Frames(len(shown), at)


def spline_frames(points: Points, p: Any) -> Frames:
    """Return splines from a large smoothing parameter to the chosen one."""
    x, y = points.xy[:, 0], points.xy[:, 1]
    line = abscissae(points.box())
    lams = [float(f"{lam:.3g}") for lam in np.geomspace(1e3, 1e-7, 41)]
    if p.lam == "gcv":
        best = SmoothingSpline(degree=p.degree).fit(x, y)
        end = int(np.argmin(np.abs(np.log(np.array(lams)) - np.log(float(best.lam_)))))
        lams = [*lams[:end], "gcv"]  # type: ignore[list-item]
    fit = remembered(lambda lam: SmoothingSpline(degree=p.degree, lam=lam).fit(x, y))
    degrees_of_freedom_all = remembered(lambda _: np.array([float(fit(lam).edof_) for lam in lams]))

    def at(i: int) -> Frame:
        model = fit(lams[i])
        mean, deviation = model.predict(line, return_std=True)
        deviation = np.nan_to_num(deviation)
        marks = [
            band(line, mean, deviation, "mean ± 2 standard deviations"),
            Curve(line, mean, color=VERMILION, width=2.6, label="spline"),
        ]
        place = np.log10([float(fit(lam).lam_) for lam in lams])
        chart = run_chart(
            "Degrees of freedom",
            "log₁₀ λ",
            [Curve(place, degrees_of_freedom_all(0), color=BLUE, label="effective degrees of freedom")],
            float(place[i]),
        )
        facts = (Fact(f"{float(model.edof_):.3g} effective degrees of freedom for {len(y)} points."),)
        chosen = " (chosen by generalized cross-validation)" if lams[i] == "gcv" else ""
        code = "x, y = X[:, 0], X[:, 1]\nX = x"
        return Frame(f"λ = {float(model.lam_):.3g}{chosen}.", line_plot(points, marks), chart, model, x, y, facts, code)

    return Frames(len(lams), at)


def kernel_ridge_frames(points: Points, p: Any) -> Frames:
    """Return kernel ridge regression from a strong penalty to the chosen one."""
    x, y = points.xy[:, :1], points.xy[:, 1]
    line = abscissae(points.box())
    alphas = [float(f"{a:.3g}") for a in np.geomspace(100.0, p.alpha, 16)]
    fit = remembered(lambda a: KernelRidge(alpha=a, kernel="rbf", gamma=p.gamma, fit_intercept=True).fit(x, y))
    norm = remembered(lambda a: float(fit(a).rkhs_norm_))
    error = remembered(lambda a: float(np.mean((fit(a).predict(x) - y) ** 2)))

    def at(i: int) -> Frame:
        model = fit(alphas[i])
        marks = [Curve(line, model.predict(line[:, None]), color=VERMILION, width=2.6, label="fit")]
        norms, errors = [norm(a) for a in alphas], [error(a) for a in alphas]
        place = np.log10(alphas)
        chart = run_chart(
            "Error against size of the function",
            "log₁₀ α",
            [
                Curve(place, norms, color=BLUE, label="norm ‖f‖"),
                Curve(place, errors, color=INK, label="training error"),
            ],
            float(place[i]),
        )
        facts = (Fact(f"Norm of the function {norms[i]:.4g}, mean squared training error {errors[i]:.4g}."),)
        code = "x, y = X[:, :1], X[:, 1]\nX = x"
        return Frame(f"α = {alphas[i]:.3g}.", line_plot(points, marks), chart, model, x, y, facts, code)

    return Frames(len(alphas), at)


SCENES = (
    Scene(
        "gaussian-process",
        "Gaussian process",
        "Smoothing",
        "curve",
        "A prior over functions becomes a posterior, point by point; the band is two standard deviations.",
        process_frames,
        (
            Choice("kernel", "Kernel", {"Gaussian": "rbf", "Matérn 3/2": "matern"}, "rbf"),
            Slider("length", "Length scale", log_values(0.1, 10), 1.0),
            Slider("noise", "Noise level", log_values(0.01, 1), 0.32),
            Slider("samples", "Samples drawn", steps_of(0, 5, 1), 3),
        ),
        "gp_evidence",
        "sine",
    ),
    Scene(
        "spline",
        "Smoothing spline",
        "Smoothing",
        "curve",
        "Trades the sum of squares against curvature; λ can be chosen by generalized cross-validation.",
        spline_frames,
        (
            Choice("degree", "Spline", {"cubic": 3, "linear": 1}, 3),
            Choice("lam", "λ", {"chosen by GCV": "gcv", "whole range": "all"}, "gcv"),
        ),
        "smoothing_splines",
        "sine",
    ),
    Scene(
        "kernel-ridge",
        "Kernel ridge regression",
        "Smoothing",
        "curve",
        "Least squares in the space of a Gaussian kernel, with a penalty on the norm of the function.",
        kernel_ridge_frames,
        (
            Slider("alpha", "Penalty α", log_values(0.0001, 10, 2), 0.01),
            Slider("gamma", "γ of the kernel", log_values(0.01, 100), 1.0),
        ),
        "representer",
        "sine",
    ),
)
