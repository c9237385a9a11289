"""Gaussian mixtures against sixty digits: the gain of one further step of expectation maximization, and the norm of the score."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.forging import proved

from surefit import GaussianMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # stopped after a few steps
N, D, K = 12, 2, 2
SHAPES = {
    "plain": ([1.0, 1.0], [0.0, 0.0]),
    "large and small": ([1e3, 1e-2], [0.0, 0.0]),
    "far": ([1.0, 1.0], [1e4, -1e4]),
}


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def digits(values):
    values = np.asarray(values, dtype=np.float64)
    return [mpf(float(v)) for v in values] if values.ndim == 1 else [digits(row) for row in values]


class Mixture:
    """Weights, means and precisions ``P P'`` of a mixture, with many digits."""

    def __init__(self, weights, means, precisions, log_roots):
        self.weights, self.means, self.precisions, self.log_roots = weights, means, precisions, log_roots

    @classmethod
    def of(cls, model, means):
        factors = []
        for k in range(K):
            P = model.precisions_cholesky_
            P = {"full": lambda P=P, k=k: P[k], "tied": lambda P=P: P, "diag": lambda P=P, k=k: np.diag(P[k]),
                 "spherical": lambda P=P, k=k: P[k] * np.eye(D)}[model.covariance_type]()  # fmt: skip
            factors.append(mpmath.matrix(digits(P)))
        logs = [sum(mpmath.log(P[j, j]) for j in range(D)) for P in factors]
        return cls(digits(model.weights_), digits(means), [P * P.T for P in factors], logs)

    def log_terms(self, row):
        for k in range(K):
            off = mpmath.matrix([a - b for a, b in zip(row, self.means[k], strict=True)])
            form = (off.T * self.precisions[k] * off)[0]
            yield mpmath.log(self.weights[k]) + self.log_roots[k] - form / 2 - D * mpmath.log(2 * mpmath.pi) / 2

    def expectations(self, X):
        """Mean log-likelihood, and the shares of the components in each row."""
        total, shares = mpf(0), []
        for row in X:
            terms = [mpmath.exp(t) for t in self.log_terms(row)]
            total += mpmath.log(sum(terms))
            shares.append([t / sum(terms) for t in terms])
        return total / len(X), shares


def moments(X, shares, about):
    """Masses, first and second moments of the components about given points."""
    for k in range(K):
        off = [mpmath.matrix([a - b for a, b in zip(row, about[k], strict=True)]) for row in X]
        mass = sum(share[k] for share in shares)
        first = sum((share[k] * d for share, d in zip(shares, off, strict=True)), mpmath.zeros(D, 1)) / mass
        second = sum((share[k] * d * d.T for share, d in zip(shares, off, strict=True)), mpmath.zeros(D, D)) / mass
        yield mass, first, second


def further(mixture, X, shares, kind, floor):
    """The mixture after one maximization step, with the variance floor."""
    found = list(moments(X, shares, mixture.means))
    means = [
        [m + s for m, s in zip(mean, step, strict=True)]
        for mean, (_, step, _) in zip(mixture.means, found, strict=True)
    ]
    covariances = [second - step * step.T for _, step, second in found]
    if kind == "tied":
        pooled = sum((mass * C for (mass, *_), C in zip(found, covariances, strict=True)), mpmath.zeros(D, D)) / len(X)
        covariances = [pooled] * K
    if kind in ("diag", "spherical"):
        covariances = [mpmath.diag([C[j, j] for j in range(D)]) for C in covariances]
    covariances = [C + mpf(floor) * mpmath.eye(D) for C in covariances]
    if kind == "spherical":
        covariances = [sum(C[j, j] for j in range(D)) / D * mpmath.eye(D) for C in covariances]
    logs = [-mpmath.log(mpmath.det(C)) / 2 for C in covariances]
    return Mixture([mass / len(X) for mass, *_ in found], means, [C**-1 for C in covariances], logs)


def score(mixture, X, shares, kind):
    """Norm of the gradient of the mean log-likelihood in the information of a row whose component is known."""
    square, pooled = mpf(0), mpmath.zeros(D, D)
    for k, (mass, first, second) in enumerate(moments(X, shares, mixture.means)):
        share, w, A = mass / len(X), mixture.weights[k], mixture.precisions[k]
        square += (share - w) ** 2 / w + share**2 / w * (first.T * A * first)[0]
        excess = A * second - mpmath.eye(D)
        pooled += share * (A * second)
        if kind == "full":
            square += share**2 / w / 2 * sum((excess * excess)[j, j] for j in range(D))
        elif kind == "diag":
            square += share**2 / w / 2 * sum(excess[j, j] ** 2 for j in range(D))
        elif kind == "spherical":
            square += share**2 / w / 2 * D * (sum(excess[j, j] for j in range(D)) / D) ** 2
    if kind == "tied":
        excess = pooled - mpmath.eye(D)
        square += sum((excess * excess)[j, j] for j in range(D)) / 2
    return mpmath.sqrt(square)


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_further_step_and_score(shape, kind):
    scale, shift = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N, D)) + np.where(np.arange(N)[:, None] < N // 2, 0.0, [2.5, 1.0])) * scale + shift
    X[3] = X[2]
    rows = digits(X)
    for max_iter, move in ((1, 0.0), (3, 0.0), (200, 0.0), (200, 0.05)):
        model = GaussianMixture(
            K, covariance_type=kind, max_iter=max_iter, tol=1e-9, reg_covar=1e-6, random_state=0
        ).fit(X)
        means = model.means_ + move * X.std(axis=0)
        here = Mixture.of(model, means)
        value, shares = here.expectations(rows)
        gain = further(here, rows, shares, kind, model.reg_covar).expectations(rows)[0] - value
        names = ("mixture.step", "mixture.score")
        stated = [model.certificate_[name].value for name in names] if not move else [
            proved(model, name, X, means_=means).value for name in names]  # fmt: skip
        length = score(here, rows, shares, kind)
        assert gain <= stated[0] <= 1.01 * gain + 1e-5 and length <= stated[1] <= 1.01 * length + 1e-5
        assert not move or (gain > 1e-5 and length > 1e-3)
    claim = model.certificate_["mixture.step"]
    assert claim.numbers["components"] == K
