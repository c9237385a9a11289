"""Kernels refuse parameters that no kernel can have, wherever they are used; gamma="scale" has the same bits everywhere."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from surefit import SVC, SVR, KernelRidge, KNeighborsClassifier, KNeighborsRegressor, check_kernel
from surefit.core.errors import InvalidParameter
from surefit.kernels import RBF, Kernel, Linear, Matern, Polynomial, resolve
from surefit.kernels.resolve import exact_sum, variance

X = np.random.default_rng(0).normal(size=(12, 2))
y = (X[:, 0] > 0).astype(int)
NO_KERNELS = [
    RBF(gamma=-1),
    RBF(length_scale=-1.0),
    RBF(length_scale=1.0, gamma=1.0),
    -1.0 * Linear(),
    Linear() + (-2.0) * RBF(),
    Matern(length_scale=-1),
    (RBF() * Matern(length_scale=0.0)) ** 2,
    Polynomial(gamma=-1.0),
]


@pytest.mark.parametrize("kernel", NO_KERNELS, ids=repr)
@pytest.mark.parametrize(
    "use",
    [
        check_kernel,
        lambda kernel, X: SVC(kernel=kernel).fit(X, y),
        lambda kernel, X: SVR(kernel=kernel).fit(X, y),
        lambda kernel, X: KernelRidge(kernel=kernel).fit(X, y),
        lambda kernel, X: KNeighborsClassifier(3, metric=kernel).fit(X, y),
        lambda kernel, X: KNeighborsRegressor(3, metric=kernel).fit(X, y),
        lambda kernel, X: kernel(X),
        lambda kernel, X: kernel.diag(X),
    ],
)
def test_refused_wherever_used(kernel, use):
    with pytest.raises(InvalidParameter, match=r"must be .*; got"):
        use(kernel, X)


class _Wrong(Kernel):
    """Says that it is a kernel, and is none."""

    def _gram(self, A, B):
        return -A @ B.T

    def _diagonal(self, A):
        return -np.einsum("ij,ij->i", A, A)


def test_a_refuted_kernel_is_never_called_one():
    report = check_kernel(_Wrong(), X)
    assert report.holds is False and report.always is False
    assert check_kernel(RBF(), X).always is True


def test_sums_are_exact_in_any_order():
    rng = np.random.default_rng(1)
    for _ in range(100):
        terms = rng.normal(size=rng.integers(1, 200)) * 10.0 ** rng.uniform(-12, 12)
        exact = sum((Fraction(float(term)) for term in terms), Fraction(0))
        assert exact_sum(terms) == exact_sum(rng.permutation(terms)) == pytest.approx(float(exact), rel=1e-15)
    assert exact_sum(np.array([1e308, 1e308, -1e308])) == 1e308
    assert exact_sum(np.zeros(3)) == 0.0


def test_scale_is_one_over_the_variance():
    far = X + 1e8
    entries = [Fraction(float(v)) for v in far.ravel()]
    mean = sum(entries) / len(entries)
    exact = float(sum((v - mean) ** 2 for v in entries) / len(entries))
    assert variance(far) == pytest.approx(exact, rel=1e-12)
    assert resolve("rbf", X=far).gamma == pytest.approx(1 / (2 * exact), rel=1e-12)
    holes = np.where(X > 0, X, 0.0)
    times = np.arange(len(X)) % 3
    for given in (holes, sparse.csr_array(holes)):
        assert variance(given) == pytest.approx(np.var(holes), rel=1e-14)
        assert variance(given, times.astype(float)) == pytest.approx(np.var(np.repeat(holes, times, axis=0)), rel=1e-13)
    assert resolve("rbf", X=np.ones((3, 2))).gamma == 1.0
