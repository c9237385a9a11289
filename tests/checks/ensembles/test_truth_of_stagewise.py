"""Forward stagewise fits against exact scores: losses, derivatives at the factors and the choice of functions, with sixty digits."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.exact_geometry import rational

from surefit import ForwardStagewise
from surefit.losses import Huber

N = 9
TARGETS = {"plain": (1.0, 0.0), "large": (1e6, 0.0), "far": (1.0, 1e6), "small": (1e-6, 0.0)}
SCALES = {"plain": [1.0, 1.0], "large and small": [1e6, 1e-6], "large": [1e9, 1e9]}
MARGIN = ("logistic", "exponential", "hinge", "squared_hinge")


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def number(value):
    return mpf(value.numerator) / mpf(value.denominator)


def loss(name, y, z, delta):
    r, u = y - z, y * z
    return {
        "squared_error": lambda: r * r / 2,
        "absolute_error": lambda: abs(r),
        "huber": lambda: r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2),
        "hinge": lambda: max(1 - u, Fraction(0)),
        "squared_hinge": lambda: max(1 - u, Fraction(0)) ** 2,
        "logistic": lambda: mpmath.log1p(mpmath.exp(-number(u))),
        "exponential": lambda: mpmath.exp(-number(u)),
    }[name]()


def slopes(name, y, z, delta):
    """The derivatives of the loss from the left and from the right."""
    r, u = y - z, y * z
    if name == "absolute_error":
        return (-1 if r >= 0 else 1), (-1 if r > 0 else 1)
    if name == "hinge":
        return (-y if u < 1 or (u == 1 and y > 0) else 0), (-y if u < 1 or (u == 1 and y < 0) else 0)
    both = {
        "squared_error": lambda: -r,
        "huber": lambda: -max(-delta, min(delta, r)),
        "squared_hinge": lambda: -2 * y * max(1 - u, Fraction(0)),
        "logistic": lambda: -number(y) / (1 + mpmath.exp(number(u))),
        "exponential": lambda: -number(y) * mpmath.exp(-number(u)),
    }[name]()
    return both, both


def digits(value):
    return number(value) if isinstance(value, Fraction) else mpf(value)


class Run:
    """The scores of a fit before and after each term, exactly."""

    def __init__(self, model, X, y, weights):
        s = np.ones(N) if weights is None else weights
        kept = np.flatnonzero(s > 0)
        self.s, self.y, self.X = rational(s[kept]), rational(y[kept]), rational(X[kept])
        self.name, self.factors = model.loss_name_, rational(model.factors_)
        self.delta = Fraction(float(model.certificate_.problem.get("delta") or 1.0))
        self.functions = []
        for j, cut in zip(model.columns_.tolist(), model.thresholds_.tolist(), strict=True):
            column = [row[j] for row in self.X]
            self.functions.append(
                column if model.basis == "columns" else [Fraction(1 if v > cut else -1) for v in column]
            )
        self.scores = [[Fraction(0)] * len(kept)]
        for factor, b in zip(self.factors, self.functions, strict=True):
            self.scores.append([z + factor * v for z, v in zip(self.scores[-1], b, strict=True)])

    def mean_loss(self, z):
        return sum(digits(w * loss(self.name, y, v, self.delta)) if self.name not in ("logistic", "exponential")
                   else digits(w) * loss(self.name, y, v, self.delta)
                   for w, y, v in zip(self.s, self.y, z, strict=True)) / digits(sum(self.s))  # fmt: skip

    def along(self, z, b):
        """The derivatives of the loss along ``b`` from the left and from the right, and the sum of their absolute terms."""
        ends, size = [mpf(0), mpf(0)], mpf(0)
        for w, y, v, value in zip(self.s, self.y, z, b, strict=True):
            left, right = (digits(part) for part in slopes(self.name, y, v, self.delta))
            if value < 0:
                left, right = right, left
            ends[0] += digits(w * value) * left
            ends[1] += digits(w * value) * right
            size += abs(digits(w * value)) * min(abs(left), abs(right))
        return ends[0], ends[1], size


def sample(name, target, scale, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N, 2)), 2 + 10 * (seed % 2))
    y = X[:, 0] + 0.5 * rng.normal(size=N)
    factor, shift = TARGETS[target]
    y = np.where(y > 0, 1.0, -1.0) if name in MARGIN else y * factor + shift
    weights = np.where(np.arange(N) == 3, 0.0, rng.uniform(0.1, 5, size=N)) if seed % 2 else None
    return X * SCALES[scale], y, weights


LOSSES = ["squared_error", "absolute_error", "huber", *MARGIN]
CASES = [(name, target) for name in LOSSES for target in (["plain"] if name in MARGIN else TARGETS)]


def fits(name, target, basis):
    for seed, scale in enumerate(SCALES if basis == "columns" else ["plain", "plain"]):
        X, y, weights = sample(name, target, scale, seed)
        for terms in (3, 40):
            model = ForwardStagewise(Huber(0.7) if name == "huber" else name, basis=basis, n_terms=terms).fit(
                X, y, sample_weight=weights
            )
            yield model, Run(model, X, y, weights)


@pytest.mark.parametrize(("name", "target"), CASES)
@pytest.mark.parametrize("basis", ["stumps", "columns"])
def test_losses(name, target, basis):
    for model, run in fits(name, target, basis):
        claim, losses = model.certificate_["stagewise.losses"], [run.mean_loss(z) for z in run.scores]
        assert losses[-1] <= claim.value <= losses[-1] + mpf(10) ** -9 * losses[0]
        assert losses[0] * (1 - mpf(10) ** -9) <= claim.numbers["start"] <= losses[0]
        rise = max([mpf(0), *(b - a for a, b in pairwise(losses))])
        assert rise <= claim.numbers["rise"] <= mpf(10) ** -9 * losses[0] + rise
        assert claim.numbers["terms"] == len(run.factors)


@pytest.mark.parametrize(("name", "target"), CASES)
@pytest.mark.parametrize("basis", ["stumps", "columns"])
def test_factors(name, target, basis):
    near = Fraction(1, 10**6)
    for model, run in fits(name, target, basis):
        worst = mpf(0)
        for factor, b, z in zip(run.factors, run.functions, run.scores, strict=False):
            *_, unit = run.along(z, b)
            sign = 1 if factor > 0 else -1
            ends = [
                run.along([v + factor * (1 + side * near) * w for v, w in zip(z, b, strict=True)], b)
                for side in (-1, 1)
            ]
            before, behind = (ends[0][0], ends[1][1]) if sign > 0 else (-ends[0][1], -ends[1][0])
            worst = max(worst, before / unit if unit else mpf(0), -behind / unit if unit else mpf(0))
        claim = model.certificate_["stagewise.factors"]
        assert worst <= claim.value
        assert claim.value <= 1e-9 or len(run.factors) > 3 or name in ("absolute_error", "hinge")


@pytest.mark.parametrize("target", [*TARGETS])
@pytest.mark.parametrize(
    ("name", "basis"), [("squared_error", "stumps"), ("squared_error", "columns"), ("exponential", "stumps")]
)
def test_choice(name, target, basis):
    for model, run in fits(name, target, basis):
        columns, worst = [list(column) for column in zip(*run.X, strict=True)], mpf(0)
        for b, z in zip(run.functions, run.scores, strict=False):
            slope = [
                digits(w) * digits(slopes(name, y, v, run.delta)[0]) for w, y, v in zip(run.s, run.y, z, strict=True)
            ]
            if basis == "stumps":
                rivals = [[1 if v > cut else -1 for v in column] for column in columns for cut in set(column)]
                best = max(abs(sum(g * h for g, h in zip(slope, rival, strict=True))) for rival in rivals)
                own, unit = abs(sum(g * digits(h) for g, h in zip(slope, b, strict=True))), sum(map(abs, slope))
            else:

                def relative(h, slope=slope, run=run):
                    norm = mpmath.sqrt(digits(sum(w * v * v for w, v in zip(run.s, h, strict=True))))
                    return abs(sum(g * digits(v) for g, v in zip(slope, h, strict=True))) / norm

                best, own = max(map(relative, columns)), relative(b)
                unit = mpmath.sqrt(sum(g * g / digits(w) for g, w in zip(slope, run.s, strict=True)))
            worst = max(worst, (best - own) / unit if unit else mpf(0))
        claim = model.certificate_["stagewise.choice"]
        assert worst <= claim.value and (claim.value <= 1e-9 or len(run.factors) > 3 or target == "far")
