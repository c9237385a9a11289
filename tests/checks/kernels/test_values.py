"""The checker's kernel values contain the truth, and check_kernel proves, refutes, or says that it cannot."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from surefit import check_kernel
from surefit.checks import balls
from surefit.checks.enclosure import Enclosed
from surefit.checks.kernels import values as kernel_values
from surefit.checks.kernels.definite import smallest_eigenvalue_bound
from surefit.checks.kernels.values import enclosed_diagonal, enclosed_values, is_rigorous, kernel_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError, DataWarning, InvalidData, InvalidParameter
from surefit.kernels import (
    RBF,
    CommonWords,
    Constant,
    Diffusion,
    Exponential,
    Function,
    IntegratedBrownian,
    Laplacian,
    Linear,
    Matern,
    Min,
    Noise,
    Normalized,
    Periodic,
    Polynomial,
    PolynomialOf,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    StringSubsequence,
    Warped,
)


def plainly(kernel):
    """The name of a case: without addresses, so that every process has the same."""
    return re.sub(r" at 0x\w+", "", repr(kernel))


LONG = np.longdouble
RNG = np.random.default_rng(0)


def squares(A, B):
    return np.sum((A[:, None] - B[None]) ** 2, axis=2)


def inner(A, B):
    return np.sum(A[:, None] * B[None], axis=2)


def minima(A, B):
    return np.minimum(A, B.T)


# The definition of each kernel, in numbers of 64 binary digits.
TRUTH = {
    Linear(): inner,
    Polynomial(3, 0.3, 0.7): lambda A, B: (LONG(0.3) * inner(A, B) + LONG(0.7)) ** 3,
    RBF(gamma=0.37): lambda A, B: np.exp(-LONG(0.37) * squares(A, B)),
    RBF(1.7): lambda A, B: np.exp(-squares(A, B) / (2 * LONG(1.7) ** 2)),
    Laplacian(0.3): lambda A, B: np.exp(-LONG(0.3) * np.sum(np.abs(A[:, None] - B[None]), axis=2)),
    Matern(1.3, nu=0.5): lambda A, B: np.exp(-np.sqrt(squares(A, B)) / LONG(1.3)),
    Matern(1.3, nu=1.5): lambda A, B: (1 + (t := np.sqrt(3 * squares(A, B)) / LONG(1.3))) * np.exp(-t),
    Matern(1.3, nu=2.5): lambda A, B: (1 + (t := np.sqrt(5 * squares(A, B)) / LONG(1.3)) + t * t / 3) * np.exp(-t),
    RationalQuadratic(1.2, 0.8): lambda A, B: (1 + squares(A, B) / (2 * LONG(0.8) * LONG(1.2) ** 2)) ** -LONG(0.8),
    Constant(0.3): lambda A, B: np.full((len(A), len(B)), LONG(0.3)),
    Exponential(Linear()): lambda A, B: np.exp(inner(A, B)),
    PolynomialOf(Linear(), [0.1, 0.2, 0.3]): lambda A, B: (
        LONG(0.1) + LONG(0.2) * inner(A, B) + LONG(0.3) * inner(A, B) ** 2
    ),
    Normalized(Linear()): lambda A, B: inner(A, B) / np.sqrt(np.sum(A * A, axis=1)[:, None] * np.sum(B * B, axis=1)),
    0.3 * RBF(gamma=0.37) + Linear() * Constant(0.1): lambda A, B: (
        LONG(0.3) * np.exp(-LONG(0.37) * squares(A, B)) + inner(A, B) * LONG(0.1)
    ),
    (Linear() + 0.1) ** 2: lambda A, B: (inner(A, B) + LONG(0.1)) ** 2,
}


@pytest.mark.parametrize("kernel", TRUTH, ids=plainly)
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_enclosures_contain_the_truth(kernel, shift, monkeypatch):
    A, B = RNG.normal(size=(12, 3)), RNG.normal(size=(7, 3))
    if kernel.stationary:
        A, B = A + shift, B + shift
    truth = TRUTH[kernel](A.astype(LONG), B.astype(LONG))
    found = enclosed_values(kernel, A, B)
    assert np.all(np.abs(found.mid - truth) <= found.rad + 1e-18 * np.abs(truth))
    assert np.all(found.rad <= 1e-11 * (1 + np.abs(found.mid)) * (1 + shift))
    assert np.all(np.abs(kernel(A, B) - truth) <= 1e-9)
    own = enclosed_diagonal(kernel, A)
    assert np.all(np.abs(own.mid - np.diagonal(TRUTH[kernel](A.astype(LONG), A.astype(LONG)))) <= own.rad + 1e-18)
    thin = enclosed_values(kernel, sparse.csr_array(A), sparse.csr_array(B)) if shift == 0 else found
    assert np.all(np.abs(thin.mid - truth) <= thin.rad + 1e-18 * np.abs(truth))
    monkeypatch.setattr(kernel_values, "DIRECT", 0)  # distances by one matrix product, as for many rows
    fast = enclosed_values(kernel, A, B)
    assert np.all(np.abs(fast.mid - truth) <= fast.rad + 1e-18 * np.abs(truth))
    assert is_rigorous(kernel)


def test_enclosures_on_a_line_and_of_strings():
    a, b = RNG.random((6, 1)), RNG.random((5, 1))
    small, large = np.minimum(a, b.T).astype(LONG), np.maximum(a, b.T).astype(LONG)
    angle = (LONG(np.pi) + LONG(1.2246467991473532e-16)) / LONG(0.7) * (a.astype(LONG) - b.T)
    cases = [
        (Min(), small),
        (Min(-0.1), small + LONG(0.1)),
        (IntegratedBrownian(), small**2 * (3 * large - small) / 6),
        (Periodic(0.9, 0.7), np.exp(-2 / LONG(0.9) ** 2 * np.sin(angle) ** 2)),
    ]
    for kernel, truth in cases:
        found = enclosed_values(kernel, a, b)
        assert np.all(np.abs(found.mid - truth) <= found.rad + 1e-18) and np.max(found.rad) < 1e-13
    words = np.array(["segmentation", "statement", "set", ""], dtype=object)
    for kernel in (StringSubsequence(2, 0.3), StringSubsequence(2, 0.3, normalized=False), Normalized(CommonWords())):
        found = enclosed_values(kernel, words, words)
        assert found.mid == pytest.approx(kernel(words, words), rel=1e-14) and np.max(found.rad) < 1e-12
    assert not np.any(enclosed_values(CommonWords(), words, words).rad)


def test_integers_are_exact():
    A = RNG.integers(-5, 6, (6, 3)).astype(float)
    for kernel in (Linear(), Polynomial(3, 1.0, 1.0), (Linear() + 2.0) * Linear(), Function(lambda A, B: A @ B.T)):
        assert not np.any(enclosed_values(kernel, A, A).rad)


def test_training_values_know_noise_and_given_matrices():
    A, rows, columns = RNG.normal(size=(8, 2)), np.array([1, 5, 2]), np.array([2, 7, 1, 1])
    kernel = RBF() + Noise(0.5)
    assert training_values(kernel, A, rows, columns).mid == pytest.approx(kernel(A)[np.ix_(rows, columns)], rel=1e-13)
    K = RBF()(A)
    assert np.array_equal(training_values(Precomputed(), K, rows, columns).mid, K[np.ix_(rows, columns)])
    noisy = training_values(Precomputed() + Noise(0.5), K, rows, columns).mid
    assert noisy == pytest.approx((K + 0.5 * np.eye(8))[np.ix_(rows, columns)])


def test_a_kernel_comes_back_from_a_certificate():
    def issued(kernel):
        return Certificate("C", "Test", {}, {"kernel": kernel.to_record()}, {}, {}, ())

    kernel = 2.0 * RBF(np.array([1.0, 2.0])) + Noise(0.1)
    again = Certificate.from_json(issued(kernel).to_json())
    assert kernel_of(again)([[1.0, 2.0]]) == kernel([[1.0, 2.0]])
    own = Linear() + Function(minima)
    with pytest.raises(CertificateError, match="verify the model itself"):
        kernel_of(issued(own))

    class Model:
        kernel_ = own

    assert kernel_of(issued(own).of(Model())) is own
    Model.kernel_ = Linear() + Function(inner)
    with pytest.raises(CertificateError, match="not the kernel that its parameters define"):
        kernel_of(issued(own).of(Model()))


# --- check_kernel -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [RBF(), Laplacian(), Matern(), RationalQuadratic(), RBF() * Matern() + 0.1 * Linear()]
)
def test_definite_kernels_are_proved(kernel):
    report = check_kernel(kernel, RNG.normal(size=(40, 3)))
    assert report and report.holds and report.lower_bound == 0.0 and report.level == "enclosed" and report.always
    assert "By construction" in repr(report) and len(report.eigenvalues) == 40


def test_singular_kernels_are_proved_up_to_rounding():
    X = np.repeat(RNG.normal(size=(20, 2)), 2, axis=0)
    for kernel in (Linear(), RBF(), Polynomial(2)):
        report = check_kernel(kernel, X)
        assert report.holds and -1e-11 * report.eigenvalues[0] * len(X) < report.lower_bound < 0


def test_integers_are_decided_exactly():
    texts = ["the cat sat", "the dog sat", "the cat", "the cat sat"]
    report = check_kernel(CommonWords(), texts)
    assert report.holds and report.lower_bound == 0.0 and report.level == "exact"
    assert check_kernel(Linear(), np.arange(10.0)[:, None]).level == "exact"
    assert check_kernel(Min(), np.arange(10.0)[:, None]).lower_bound == 0.0


MATRICES = [
    ([[1, 1, 0], [1, 1, 1], [0, 1, 1]], "vector", -0.4142),
    ([[0, 0], [0, -1]], "diagonal", -1.0),
    ([[1, 1, 0], [1, 1, 0], [0, 0, -1]], "diagonal", -1.0),
    ([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]], "vector", 1 - 0.9 * 2**0.5),
    ([[1, 2], [2, 1]], "determinant", -1.0),
]


@pytest.mark.parametrize("matrix, kind, smallest", MATRICES)
def test_matrices_that_are_refuted(matrix, kind, smallest):
    report = check_kernel(np.array(matrix, dtype=float))
    assert report.holds is False and not report and report.witness["kind"] == kind
    v = report.witness["vector"]
    assert v @ np.array(matrix) @ v < 0 and report.eigenvalues[-1] == pytest.approx(smallest, abs=5e-5)
    assert "not a kernel" in report.sentence()


def test_functions_that_are_refuted():
    points = [[0.0], [1.0], [3.0]]
    absolute = check_kernel(lambda A, B: np.abs(A - B.T), points)
    assert absolute.witness["kind"] == "determinant" and absolute.witness["value"] == -9.0
    assert check_kernel(lambda A, B: -A @ B.T, points).witness["kind"] == "diagonal"
    skew = check_kernel(lambda A, B: A - B.T, points)
    assert skew.witness["kind"] == "asymmetry" and skew.witness["points"] == [0, 2]
    with pytest.warns(DataWarning):
        report = check_kernel(Sigmoid(), [[1.0], [2.0]])
    assert report.witness["value"] == pytest.approx(-0.1683, abs=5e-5) and report.level == "enclosed"
    assert check_kernel(lambda A, B: 1.0 - 2.0 * np.ones((len(A), len(B))), points).holds is False
    assert check_kernel(Function(lambda A, B: np.exp(-((A - B.T) ** 2))), points).level == "recomputed"


def test_other_inputs_and_errors():
    assert check_kernel("rbf", RNG.normal(size=(5, 2))).holds
    assert check_kernel(Diffusion([[0.0, 1.0], [1.0, 0.0]]), [0, 1]).level == "recomputed"
    assert check_kernel(Warped(RBF(), lambda A: A[:, 0]), RNG.normal(size=(5, 2))).holds
    with pytest.raises(InvalidParameter, match="X must be a sample"):
        check_kernel(RBF())
    with pytest.raises(InvalidData, match="square"):
        check_kernel(np.ones((2, 3)))
    with pytest.raises(InvalidData, match="elements 0 and 1 is"):
        check_kernel(lambda A, B: np.where(A == B.T, 1.0, np.inf), [[0.0], [1.0]])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(-8, 1))
def test_the_bound_is_below_the_smallest_eigenvalue(seed, n, log_shift):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.random(n) - 10.0**log_shift
    M = (Q * values) @ Q.T
    M = (M + M.T) / 2
    bound = smallest_eigenvalue_bound(Enclosed(M, np.full((n, n), 1e-13)))
    assert bound <= max(0.0, values.min() + 1e-12)
    assert bound == 0.0 or bound >= 2.1 * values.min() - 1e-9
    report = check_kernel(M)
    if values.min() < -1e-10:
        assert report.holds is False and report.witness["vector"] @ M @ report.witness["vector"] < 0
    elif values.min() > 1e-10:
        assert report.holds is True and report.lower_bound == 0.0


def test_exponentials_of_numbers_hardly_known_stay_numbers():
    # exp(-4e18 +- 1e3) is zero to all digits; exp(-1e4 +- 1e4) is between zero and one, exp(1 +- 1) between one and e^2
    found = balls.exponential(Enclosed(np.array([-4e18, -1e4, 1.0]), np.array([1e3, 1e4, 1.0])))
    assert np.all(np.isfinite(found.rad))
    assert found.rad[0] < 1e-300 and 1.0 <= found.rad[1] < 1.0001
    assert found.mid[2] + found.rad[2] >= np.exp(2) > found.mid[2] + found.rad[2] - 1e-12
