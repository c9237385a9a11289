"""Generated data sets, each with sliders for its parameters."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from surefit.data import make_two_gaussians, make_two_triangles, make_xor
from surefit.lab.scene import Points, Slider, steps_of

COUNT = Slider("n", "Points n", (4, 6, 8, 10, 20, 30, 40, 60, 80, 120, 200, 300, 500), 60)
NOISE = Slider("noise", "Noise", steps_of(0.0, 1.0, 0.05), 0.3)
SEPARATION = Slider("separation", "Separation", steps_of(0.0, 2.0, 0.1), 1.0)
SEED = Slider("seed", "Seed", steps_of(0, 50, 1), 0)


class Generator(NamedTuple):
    """A named data set; ``make(rng, p)`` returns its points."""

    name: str
    make: Callable[[np.random.Generator, Any], Points]
    sliders: tuple[Slider, ...] = (COUNT, NOISE, SEPARATION, SEED)
    kind: str = "classes"  # or "curve" or "cloud"

    def defaults(self) -> dict[str, Any]:
        """Return the initial values of its sliders."""
        return {slider.name: slider.value for slider in self.sliders}

    def sample(self, values: dict[str, Any], fresh: int = 0) -> Points:
        """Return the points for these values; with ``fresh`` > 0, that many new points from the same distribution."""
        p = SimpleNamespace(**{"n": 60, "noise": 0.3, "separation": 1.0, "seed": 0, **self.defaults(), **values})
        p.n = fresh or int(p.n)
        return self.make(np.random.default_rng((int(p.seed), fresh)), p)


def two_gaussians(rng: np.random.Generator, p: Any) -> Points:
    """Return two Gaussian classes with centers on the diagonal."""
    sample = make_two_gaussians(
        p.n, distance=0.1 + p.separation, variance=0.02 + p.noise, random_state=int(rng.integers(2**31))
    )
    return Points.of(sample.X, sample.y > 0)


def unequal(rng: np.random.Generator, p: Any) -> Points:
    """Return a narrow Gaussian class inside a wide one."""
    y = np.arange(p.n) % 2
    scale = np.where(y == 1, 0.35 + 0.3 * p.noise, 1.2)[:, None] * np.array([1.0, 0.7])
    return Points.of(np.clip(scale * rng.standard_normal((p.n, 2)) + np.outer(y, [p.separation, 0.0]), -3, 3), y)


def circles(rng: np.random.Generator, p: Any) -> Points:
    """Return a disc inside a ring."""
    y = np.arange(p.n) % 2
    radius = np.where(y == 1, 1.1 + p.separation, 0.6) + 0.5 * p.noise * rng.standard_normal(p.n)
    turn = rng.uniform(0, 2 * np.pi, p.n)
    return Points.of(np.clip(np.column_stack([radius * np.cos(turn), radius * np.sin(turn)]), -3, 3), y)


def moons(rng: np.random.Generator, p: Any) -> Points:
    """Return two interleaved half-moons."""
    y = np.arange(p.n) % 2
    turn = rng.uniform(0, np.pi, p.n)
    x = np.where(y == 1, 0.75 + 1.5 * np.cos(turn), -0.75 + 1.5 * np.cos(turn))
    height = np.where(
        y == 1, 0.3 * p.separation - 1.5 * np.sin(turn) + 0.5 * (1 - p.separation), 1.5 * np.sin(turn) - 0.5
    )
    return Points.of(np.clip(np.column_stack([x, height]) + p.noise * rng.standard_normal((p.n, 2)), -3, 3), y)


def xor(rng: np.random.Generator, p: Any) -> Points:
    """Return the XOR problem: the four corners of a square, with labels that no line separates."""
    sample = make_xor(p.n, random_state=int(rng.integers(2**31)))
    return Points.of(2.5 * sample.X + 0.5 * p.noise * rng.standard_normal(sample.X.shape), sample.y > 0)


def spiral(rng: np.random.Generator, p: Any) -> Points:
    """Return two spirals."""
    y = np.arange(p.n) % 2
    t = np.sqrt(rng.uniform(0.02, 1, p.n))
    turn = 2.4 * np.pi * t + np.pi * y
    xy = 2.7 * t[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return Points.of(np.clip(xy + 0.4 * p.noise * rng.standard_normal((p.n, 2)), -3, 3), y)


def three_classes(rng: np.random.Generator, p: Any) -> Points:
    """Return three Gaussian classes at the corners of a triangle."""
    y = np.arange(p.n) % 3
    center = (0.4 + 1.2 * p.separation) * np.column_stack([np.cos(2.1 * y + 0.5), np.sin(2.1 * y + 0.5)])
    return Points.of(np.clip(center + (0.1 + p.noise) * rng.standard_normal((p.n, 2)), -3, 3), y)


def triangles(rng: np.random.Generator, p: Any) -> Points:
    """Return two separable triangles that Fisher's discriminant does not separate."""
    sample = make_two_triangles(max(0.05, 0.2 * p.separation))
    return Points.of(sample.X, sample.y > 0)


def blobs(rng: np.random.Generator, p: Any) -> Points:
    """Return three Gaussian groups without classes."""
    return Points.of(three_classes(rng, p).xy)


def slanted(rng: np.random.Generator, p: Any) -> Points:
    """Return one elongated Gaussian sample."""
    z = rng.standard_normal((p.n, 2)) * np.array([1.0, 0.1 + 0.6 * p.noise])
    turn = np.array([[0.85, 0.53], [-0.53, 0.85]])
    return Points.of(np.clip(z @ turn, -3, 3))


def sine(rng: np.random.Generator, p: Any) -> Points:
    """Return a wave with noise."""
    x = np.sort(rng.uniform(-2.8, 2.8, p.n))
    return Points.of(np.column_stack([x, np.clip(1.5 * np.sin(1.6 * x) + p.noise * rng.standard_normal(p.n), -3, 3)]))


def parabola(rng: np.random.Generator, p: Any) -> Points:
    """Return a parabola with a slope and noise."""
    x = np.sort(rng.uniform(-2.5, 2.5, p.n))
    y = 0.7 * x + 0.25 * p.separation * x**2 - 1 + p.noise * rng.standard_normal(p.n)
    return Points.of(np.column_stack([x, np.clip(y, -3, 3)]))


def step(rng: np.random.Generator, p: Any) -> Points:
    """Return a step with noise."""
    x = np.sort(rng.uniform(-2.8, 2.8, p.n))
    y = np.where(x > 0, p.separation, -p.separation) + p.noise * rng.standard_normal(p.n)
    return Points.of(np.column_stack([x, np.clip(y, -3, 3)]))


def few(rng: np.random.Generator, p: Any) -> Points:
    """Return a few points at arbitrary places."""
    return Points.of(rng.uniform(-2, 2, (min(p.n, 14), 2)))


def triangle(rng: np.random.Generator, p: Any) -> Points:
    """Return three points, which half-planes shatter."""
    return Points.of([[-1.5, -1.0], [1.5, -1.0], [0.0, 1.6]])


def square(rng: np.random.Generator, p: Any) -> Points:
    """Return four points, which half-planes do not shatter."""
    return Points.of([[-1.5, -1.5], [1.5, -1.5], [1.5, 1.5], [-1.5, 1.5]])


SMALL = (COUNT._replace(values=(4, 6, 8, 10, 12, 14), value=10), SEED)

GENERATORS = {
    "two-gaussians": Generator("Two Gaussians", two_gaussians),
    "unequal": Generator("Unequal Gaussians", unequal),
    "circles": Generator("Disc and ring", circles),
    "moons": Generator("Half-moons", moons, (COUNT._replace(value=120), NOISE._replace(value=0.25), SEPARATION, SEED)),
    "xor": Generator("XOR square", xor, (COUNT, NOISE, SEED)),
    "spiral": Generator("Spirals", spiral, (COUNT._replace(value=120), NOISE._replace(value=0.1), SEED)),
    "three-classes": Generator("Three classes", three_classes),
    "triangles": Generator("Two triangles", triangles, (SEPARATION,)),
    "blobs": Generator("Three clouds", blobs, kind="cloud"),
    "ellipse": Generator("Slanted cloud", slanted, (COUNT, NOISE, SEED), "cloud"),
    "sine": Generator("Wave", sine, (COUNT._replace(value=40), NOISE, SEED), "curve"),
    "parabola": Generator("Parabola", parabola, (COUNT._replace(value=40), NOISE, SEPARATION, SEED), "curve"),
    "step": Generator("Step", step, (COUNT._replace(value=40), NOISE, SEPARATION, SEED), "curve"),
    "few": Generator("A few points", few, SMALL, "cloud"),
    "triangle": Generator("Three points", triangle, (), "cloud"),
    "square": Generator("Four points", square, (), "cloud"),
}
