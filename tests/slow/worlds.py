"""Laws with known truth, on which every statistical statement can be put to the test."""

import math

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

UNLUCKY = 1e-4  # a correct bound fails a test with at most this probability


def allowed(trials: int, delta: float) -> int:
    """Upper 1e-4 quantile of the number of violations of a bound that fails with probability delta."""
    return int(binom.ppf(1 - UNLUCKY, trials, delta))


class Gaussians:
    """World A: two classes t = -1, 1, equally likely, x ~ N(t mu e_1, I_d); the risk of a linear rule is exact."""

    def __init__(self, d: int, mu: float):
        self.d, self.mu = d, mu

    def draw(self, rng, n):
        t = rng.integers(0, 2, size=n) * 2.0 - 1.0
        X = rng.normal(size=(n, self.d))
        X[:, 0] += t * self.mu
        return X, t

    def below(self, w, b, level=0.0) -> float:
        """P(t f(x) < level) of f = <w, x> + b; level 0 is the risk."""
        norm = np.linalg.norm(w)
        if norm == 0:
            return 0.5 * (float(b < level) + float(-b < level))
        return float(0.5 * ndtr((level - w[0] * self.mu - b) / norm) + 0.5 * ndtr((level - w[0] * self.mu + b) / norm))


def centroid_rule(X, t):
    """Weights and offset of the rule that picks the nearer class mean; one class only: a constant."""
    if np.all(t > 0) or np.all(t < 0):
        return np.zeros(X.shape[1]), float(t[0])
    plus, minus = X[t > 0].mean(axis=0), X[t < 0].mean(axis=0)
    w = plus - minus
    return w, float(-w @ (plus + minus) / 2)


def errors(w, b, X, t) -> int:
    return int(np.sum(t * (X @ w + b) <= 0))


class Lattice:
    """World C: finitely many unit vectors with known probabilities of the positive label; every risk is a finite sum."""

    def __init__(self, size: int, d: int, seed: int):
        rng = np.random.default_rng(seed)
        self.points = rng.normal(size=(size, d))
        self.points /= np.linalg.norm(self.points, axis=1, keepdims=True)
        self.positive = ndtr(4 * self.points[:, 0] + 0.3)

    def draw(self, rng, n):
        index = rng.integers(0, len(self.points), size=n)
        t = np.where(rng.random(n) < self.positive[index], 1.0, -1.0)
        return index, self.points[index], t

    def mean(self, loss_if_positive, loss_if_negative) -> float:
        """Expected loss from the losses at each point under either label."""
        return float(np.mean(self.positive * loss_if_positive + (1 - self.positive) * loss_if_negative))

    def risk(self, scores) -> float:
        return self.mean(scores <= 0, -scores <= 0)


class Wave:
    """World D: y = 1/2 + 0.3 sin(2 pi x) + U(-0.1, 0.1), x uniform on [0, 1]; squared errors by quadrature."""

    noise = 0.1

    def __init__(self):
        nodes, weights = np.polynomial.legendre.leggauss(60)
        self.nodes, self.weights = (nodes + 1) / 2, weights / 2

    @staticmethod
    def truth(x):
        return 0.5 + 0.3 * np.sin(2 * math.pi * x)

    def draw(self, rng, n):
        x = rng.random(n)
        return x, self.truth(x) + rng.uniform(-self.noise, self.noise, size=n)

    def mse(self, prediction_at_nodes) -> float:
        return float(self.weights @ (prediction_at_nodes - self.truth(self.nodes)) ** 2) + self.noise**2 / 3
