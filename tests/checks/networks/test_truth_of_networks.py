"""Gradients, links and last layers of small networks against sixty digits: derivatives by differences, optima by Newton's method."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.exact_geometry import eliminated
from tests.forging import proved

from surefit import MLPClassifier, MLPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # not fitted to the end
N = 9
STEP = mpf(10) ** -20  # of the differences; their error is its square
ACTIVATIONS = {
    "relu": lambda z: max(z, mpf(0)),
    "tanh": mpmath.tanh,
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
}
SCALES = {"plain": [1.0, 1.0], "large and small": [20.0, 1e-3]}


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def digits(values):
    return [mpf(float(v)) for v in np.ravel(values)]


class Network:
    """A fitted network with many digits; weights first, then intercepts, as one list of numbers."""

    def __init__(self, model, X, y, weights):
        self.alpha, self.sigma = mpf(model.alpha), ACTIVATIONS[model.activation]
        self.shapes = [matrix.shape for matrix in model.coefs_]
        self.start = [v for part in (*model.coefs_, *model.intercepts_) for v in digits(part)]
        self.n_weights = sum(a * b for a, b in self.shapes)
        self.X, self.y, self.s = (
            [digits(row) for row in X],
            digits(y),
            digits(np.ones(N) if weights is None else weights),
        )
        self.kind = "logistic" if isinstance(model, MLPClassifier) else model.loss

    def layers(self, numbers):
        at, bias = 0, self.n_weights
        for a, b in self.shapes:
            yield [numbers[at + i * b : at + (i + 1) * b] for i in range(a)], numbers[bias : bias + b]
            at, bias = at + a * b, bias + b

    def features(self, numbers, row):
        *hidden, _ = self.layers(numbers)
        for W, b in hidden:
            row = [self.sigma(b[k] + sum(v * W[j][k] for j, v in enumerate(row))) for k in range(len(b))]
        return row

    def loss(self, f, y):
        if self.kind == "logistic":
            return mpmath.log(1 + mpmath.exp(f if y == 0 else -f))
        if self.kind == "poisson":  # half the deviance
            return mpmath.exp(f) - y * f + (y * mpmath.log(y) - y if y else 0)
        return (f - y) ** 2 / 2

    def objective(self, numbers, squares=None):
        *_, (W, b) = self.layers(numbers)
        total = self.alpha / 2 * (sum(v**2 for v in numbers[: self.n_weights]) if squares is None else squares)
        for row, y, s in zip(self.X, self.y, self.s, strict=True):
            h = self.features(numbers, row)
            total += s * self.loss(b[0] + sum(v * w[0] for v, w in zip(h, W, strict=True)), y)
        return total / sum(self.s)

    def derivative(self, places, squares=lambda numbers: None):
        """The derivative along a step of the numbers at ``places``, together."""
        ends = []
        for sign in (1, -1):
            moved = list(self.start)
            for i in places:
                moved[i] += sign * STEP
            ends.append(self.objective(moved, squares(moved)))
        return (ends[0] - ends[1]) / (2 * STEP)


def sample(scale, kind, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=N)
    y = {"regression": y, "counts": np.round(np.exp(y)), "classes": (y > 0).astype(int)}[kind]
    weights = np.where(np.arange(N) % 4 == 1, 0.0, rng.uniform(0.5, 3, size=N)) if seed % 2 else None
    return X * SCALES[scale], y, weights


def network(kind, **options):
    options = {"hidden_layer_sizes": (3,), "max_iter": 25, "random_state": 0, "alpha": 0.1, **options}
    if kind == "classes":
        return MLPClassifier(**options)
    return MLPRegressor(loss="poisson" if kind == "counts" else "squared_error", **options)


@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("kind", ["regression", "counts", "classes"])
@pytest.mark.parametrize("activation", [*ACTIVATIONS])
def test_gradient(scale, kind, activation):
    for seed in (0, 1):
        X, y, weights = sample(scale, kind, seed)
        model = network(kind, activation=activation).fit(X, y, sample_weight=weights)
        net, claim = Network(model, X, y, weights), model.certificate_["network.gradient"]
        parts = [abs(net.derivative([i])) for i in range(len(net.start))]
        norm = mpmath.sqrt(sum(v * v for v in parts))
        assert max(parts) <= claim.value <= 1.0001 * max(parts) + 1e-9
        assert norm <= claim.numbers["norm"] <= 1.0001 * norm + 1e-9


@pytest.mark.parametrize("mirrored", [False, True])
def test_links_and_their_gradient(mirrored):
    X, y, _ = sample("plain", "regression")
    table = np.array([[0, -1, 2], [2, 1, 0]]) if mirrored else np.array([[0, -1, -1], [1, 1, 3]])
    model = network("regression", activation="tanh", links=[table, None]).fit(X, y)
    W, claim = model.coefs_[0], model.certificate_["network.links"]
    wrong = int(np.count_nonzero(W[table < 0])) + sum(
        len(set(W[table == k].tolist())) - 1 for k in set(table[table >= 0])
    )
    free, linked = len(set(table[table >= 0].tolist())), int((table >= 0).sum())
    assert claim.value == wrong == 0
    assert claim.numbers == {"links": linked + 3 + 3 + 1, "parameters": free + 3 + 3 + 1}
    net, flat = Network(model, X, y, None), table.ravel()
    shared = [np.flatnonzero(flat == k).tolist() for k in sorted(set(flat[flat >= 0].tolist()))]
    first = [places[0] for places in shared] + list(range(6, 9))  # a shared weight is penalized once
    parts = [
        abs(net.derivative(places, lambda numbers: sum(numbers[i] ** 2 for i in first)))
        for places in [*shared, *([i] for i in range(6, len(net.start)))]
    ]
    assert max(parts) <= model.certificate_["network.gradient"].value <= 1.0001 * max(parts) + 1e-9
    packed = model.certificate_.model["packed_"].copy()
    packed[:6][flat < 0] = 1e-300  # off the links
    assert proved(model, "network.links", X, y, packed_=packed).value == np.count_nonzero(table < 0)


def best_last_layer(net):
    """The smallest objective over the last layer, by Newton's method on a convex function."""
    rows = [[*net.features(net.start, row), mpf(1)] for row in net.X]
    p, S = len(rows[0]), sum(net.s)
    v = [mpf(0)] * p
    for _ in range(60):
        f = [sum(a * b for a, b in zip(v, row, strict=True)) for row in rows]
        mean = [{"logistic": 1 / (1 + mpmath.exp(-z)), "poisson": mpmath.exp(z)}.get(net.kind, z) for z in f]
        bend = [{"logistic": m * (1 - m), "poisson": m}.get(net.kind, mpf(1)) for m in mean]
        slope = [sum(s * (m - y) * row[j] for s, m, y, row in zip(net.s, mean, net.y, rows, strict=True))
                 + (net.alpha * v[j] if j < p - 1 else 0) for j in range(p)]  # fmt: skip
        if max(map(abs, slope)) < mpf(10) ** -40:
            break
        H = [[sum(s * c * row[i] * row[j] for s, c, row in zip(net.s, bend, rows, strict=True))
              + (net.alpha if i == j < p - 1 else 0) for j in range(p)] for i in range(p)]  # fmt: skip
        v = [a - b for a, b in zip(v, eliminated(H, slope), strict=True)]
    assert max(map(abs, slope)) < mpf(10) ** -30

    def objective(v):
        f = [sum(a * b for a, b in zip(v, row, strict=True)) for row in rows]
        return (sum(s * net.loss(z, y) for s, z, y in zip(net.s, f, net.y, strict=True))
                + net.alpha / 2 * sum(a * a for a in v[:-1])) / S  # fmt: skip

    *_, (W, b) = net.layers(net.start)
    return objective([*(w[0] for w in W), b[0]]), objective(v)


@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("kind", ["regression", "counts", "classes"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_no_other_last_layer_gains_more(scale, kind, activation):
    finite = 0
    for seed, max_iter in ((0, 25), (1, 25), (0, 800)):
        X, y, weights = sample(scale, kind, seed)
        model = network(kind, activation=activation, max_iter=max_iter, solver="lbfgs", alpha=1.0)
        model.fit(X, y, sample_weight=weights)
        own, best = best_last_layer(Network(model, X, y, weights))
        claim = model.certificate_["network.output_gap"]
        assert own - best <= claim.value and own <= claim.numbers["objective"] <= own + mpf(10) ** -9 * (1 + own)
        finite += np.isfinite(claim.value)
    assert finite
