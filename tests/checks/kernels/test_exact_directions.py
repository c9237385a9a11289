"""Fisher's criterion and principal components in a kernel's space, against matrices with many digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import SAMPLES, column, form, inner, matrix, number, numbers, rbf, require_upper, sample

import surefit

pytestmark = pytest.mark.usefixtures("digits")

GAMMA = {"scales": 1e-12, "offsets": 0.5, "ties": 0.25}
TINY = mpf(10) ** -6


def useful(value, data, kernel="linear"):
    """The largest value that says something; inner products of badly scaled columns leave no digits to the bounds."""
    return mpf("inf") if kernel == "linear" and data != "ties" else value


def kernel_values(name, X, gamma):
    return rbf(X, X, gamma) if name == "rbf" else matrix(X) * matrix(X).T


class Fisher:
    """Means and spread of functions sum_j v_j k(x_j, .), by their coefficients v."""

    def __init__(self, K, c, w):
        self.K, self.c, self.s = K, c, numbers(w)
        self.totals = [sum(v for v, own in zip(self.s, c, strict=True) if own == side) for side in (0, 1)]
        self.divisor = sum(self.totals) - 2

    def means(self, values):
        return [
            sum(s * f for s, f, own in zip(self.s, values, self.c, strict=True) if own == side) / self.totals[side]
            for side in (0, 1)
        ]

    def spread(self, values):
        m = self.means(values)
        return sum(s * (f - m[own]) ** 2 for s, f, own in zip(self.s, values, self.c, strict=True)) / self.divisor

    def criterion(self, v, ridge=0):
        values = self.K * v
        low, high = self.means(values)
        return (high - low) ** 2 / (self.spread(values) + ridge * form(v, self.K))

    def difference(self):
        """Coefficients of the difference of the class means."""
        return mpmath.matrix(
            [s / self.totals[own] * (2 * own - 1) for s, own in zip(self.s, self.c.tolist(), strict=True)]
        )

    def best(self, ridge):
        """The function (Sigma + ridge)^-1 (m_1 - m_0): its coefficients v solve difference = P K v / divisor + ridge v."""
        n = len(self.s)
        A = mpmath.zeros(n)
        for i in range(n):
            for j in range(n):
                same = self.s[j] / self.totals[self.c[i]] if self.c[i] == self.c[j] else mpf(0)
                A[i, j] = self.s[i] * ((i == j) - same) / self.divisor
        return mpmath.lu_solve(A * self.K + ridge * mpmath.eye(n), self.difference())


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("data", SAMPLES)
def test_criterion_with_a_ridge(data, kernel):
    X, _, c, _, w = sample(data)
    for ridge in (1e-4, 1.0):
        model = surefit.KernelFisherDiscriminant(kernel, gamma=GAMMA[data], ridge=ridge).fit(X, c, sample_weight=w)
        fisher, own = Fisher(kernel_values(kernel, X, GAMMA[data]), c, w), column(model.dual_coef_)
        J, most = (fisher.criterion(v, mpf(ridge)) for v in (own, fisher.best(mpf(ridge))))
        claim = model.certificate_["kernel_fisher.gap"]
        require_upper(claim, most - J, useful(1e-4 * most, data, kernel))
        assert useful(1 - TINY, data, kernel) == mpf("inf") or (1 - TINY) * J <= claim.numbers["criterion"]
        assert claim.numbers["criterion"] <= J
        middle = sum(fisher.means(fisher.K * own)) / 2
        truth = abs(number(model.intercept_[0]) + middle)
        require_upper(model.certificate_["kernel_fisher.cut"], truth, useful(1e-4 * (1 + abs(middle)), data, kernel))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # far from the origin little is proved
@pytest.mark.parametrize("data", SAMPLES)
def test_criterion_among_functions_with_enough_spread(data):
    X, _, c, _, w = sample(data)
    model = surefit.KernelFisherDiscriminant("linear", ridge=0.0).fit(X, c, sample_weight=w)
    fisher, own = Fisher(kernel_values("linear", X, None), c, w), column(model.dual_coef_)
    claim, J = model.certificate_["kernel_fisher.restricted_gap"], fisher.criterion(own)
    least = number(claim.numbers["least_spread"])
    # Functions (Sigma + mu)^-1 (m_1 - m_0) are the best ones of their spread and norm.
    found = []
    for power in range(-40, 20, 2):
        v = fisher.best(mpf(10) ** power)
        if fisher.spread(fisher.K * v) >= least * form(v, fisher.K):
            found.append(fisher.criterion(v))
    assert found or data == "scales"  # whose one wide column leaves no function with more spread
    require_upper(claim, max(found, default=J) - J, useful(1e-9 * J, data))
    assert (1 - 100 * TINY) * J <= claim.numbers["criterion"] <= J


@pytest.mark.parametrize("data", SAMPLES)
def test_classes_that_a_function_tells_apart(data):
    X, _, c, _, w = sample(data)
    distinct, first = np.unique(X, axis=0, return_index=True)
    c, w = c[first], np.maximum(w[first], 0.25)
    gamma = 50 * GAMMA[data]
    model = surefit.KernelFisherDiscriminant("rbf", gamma=gamma, ridge=0.0).fit(distinct, c, sample_weight=w)
    fisher, own = Fisher(rbf(distinct, distinct, gamma), c, w), column(model.dual_coef_)
    values = fisher.K * own
    low, high = fisher.means(values)
    truth = mpmath.sqrt(fisher.spread(values)) / abs(high - low)
    require_upper(model.certificate_["kernel_fisher.separation"], truth, 1e-5)


# --- principal components ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("data", SAMPLES)
def test_components(data, kernel):
    X, alpha, q = sample(data, n=8).X, 0.3, 2
    n = len(X)
    model = surefit.KernelPCA(q, kernel=kernel, gamma=GAMMA[data], alpha=alpha, fit_inverse_transform=True).fit(X)
    K, V = kernel_values(kernel, X, GAMMA[data]), matrix(model.eigenvectors_)
    means = [sum(K[i, j] for i in range(n)) / n for j in range(n)]
    whole = sum(means) / n
    M = mpmath.matrix([[K[i, j] - means[i] - means[j] + whole for j in range(n)] for i in range(n)])
    eigenvalues = sorted(mpmath.eigsy(M, eigvals_only=True), reverse=True)
    G = V.T * V
    captured = mpmath.fsum((mpmath.inverse(G) * (V.T * M * V))[k, k] for k in range(q))
    require_upper(
        model.certificate_["kernel_pca.gap"],
        sum(eigenvalues[:q]) - captured,
        useful(1e-4 * eigenvalues[0], data, kernel),
    )
    off = max(min(abs(number(v) - e) for e in eigenvalues) for v in model.eigenvalues_)
    require_upper(model.certificate_["kernel_pca.residual"], off, useful(1e-4 * eigenvalues[0], data, kernel))
    stored = numbers(model._column_means)
    off = max(abs(number(model._mean) - whole), *(abs(a - b) for a, b in zip(stored, means, strict=True)))
    require_upper(model.certificate_["kernel_pca.means"], off, useful(1e-6 * max(map(abs, means)), data, kernel))
    own = model.X_transformed_fit_
    A = kernel_values(kernel, own, GAMMA[data]) + mpf(alpha) * mpmath.eye(n)
    best = [mpmath.lu_solve(A, column(X[:, j])) for j in range(2)]
    apart = [best[j][i] - number(model.dual_coef_[i, j]) for i in range(n) for j in range(2)]
    largest = mpmath.sqrt(sum(inner(b, b) for b in best))
    require_upper(
        model.certificate_["kernel_pca.inverse"], mpmath.sqrt(inner(apart, apart)), useful(1e-3 * largest, data, kernel)
    )
