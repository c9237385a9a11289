"""The kernel perceptron: exact counts, the linear kernel as the plain perceptron, caches and budgets."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from surefit import CertificateError, DataWarning, Invalidated, InvalidData, KernelPerceptron, Perceptron
from surefit.data import make_alternating, make_xor
from surefit.kernels import RBF, Laplacian, Linear, Min, Polynomial, Precomputed, RationalQuadratic


def plainly(kernel):
    """The name of a case: without addresses, so that every process has the same."""
    return re.sub(r" at 0x\w+", "", repr(kernel))


def smaller(A, B):
    return np.minimum(A, B.T)


def cyclic(**options):
    return KernelPerceptron(**{"order": "cyclic", "tol": None, **options})


TABLE = {
    2: (7, [4, 3]),
    3: (19, [5, 9, 5]),
    4: (27, [6, 8, 8, 5]),
    5: (55, None),
    6: (63, None),
    8: (117, None),
    10: (187, None),
}


@pytest.mark.parametrize("n", TABLE)
def test_alternating_labels_in_exact_arithmetic(n):
    X, y, truth = make_alternating(n)
    model = cyclic(kernel=smaller).fit(X, y)
    updates, counts = TABLE[n]
    assert model.n_updates_ == updates <= truth["novikoff_bound"]
    assert counts is None or model.mistake_counts_.tolist() == counts
    assert np.min(y * model.decision_function(X)) > 0
    found = model.verify(X, y)
    assert found["perceptron.kernel_replay"].level == "exact"
    # For points scaled by 2n - 1 the interpolant with constant 1 has margin 1 and this squared norm, constant included.
    bracket = model.certificate_["perceptron.kernel_margin"]
    known = 1 / np.sqrt(truth["square_norm_with_constant"] + 1)
    assert known <= bracket.numbers["up"] / np.sqrt(2 * n - 1) * (1 + 1e-12)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_alternating_labels_by_rational_numbers(n):
    x = [Fraction(2 * i + 1, 2 * n - 1) for i in range(n)]
    y = [1 if i % 2 == 0 else -1 for i in range(n)]
    alpha, b, R2 = [0] * n, Fraction(0), max(x)
    while True:
        clean = True
        for i in range(n):
            if y[i] * (sum(a * t * min(z, x[i]) for a, t, z in zip(alpha, y, x, strict=True)) + b) <= 0:
                alpha[i] += 1
                b += y[i] * R2
                clean = False
        if clean:
            break
    assert cyclic(kernel=smaller).fit(*make_alternating(n)[:2]).mistake_counts_.tolist() == alpha


def test_known_norms_of_the_alternating_interpolant():
    for n in (3, 6, 9):
        X, y, truth = make_alternating(n, scaled=True)
        K = np.minimum(X, X.T)
        assert y @ np.linalg.solve(K, y) == pytest.approx(truth["square_norm"])
        cuts = [np.mean(np.where(X[:, 0] > s, 1, -1) != y) for s in np.append(X[:, 0], 0.0)]
        assert min(*cuts, *(1 - c for c in cuts)) == pytest.approx(truth["best_cut_error"])


def test_ties_that_rounding_decides_are_remarked():
    X, y, _ = make_alternating(2, scaled=True)
    with pytest.warns(DataWarning, match="within rounding of zero"):
        model = cyclic(kernel=smaller).fit(X, y)
    assert model.n_updates_ != 7 and model.certificate_.grade == "C"


@pytest.mark.parametrize("bias", ["plain", "r_squared"])
@pytest.mark.parametrize("intercept", [True, False])
def test_linear_kernel_is_the_plain_perceptron(bias, intercept):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (60, 4)).astype(float), rng.integers(0, 3, 60)
    options = {"bias": bias, "fit_intercept": intercept, "order": "cyclic", "tol": None, "max_iter": 4}
    dual, primal = KernelPerceptron(kernel="linear", **options).fit(X, y), Perceptron(**options).fit(X, y)
    assert np.array_equal(dual.mistake_counts_, primal.mistake_counts_)
    assert np.array_equal(dual.intercept_, primal.intercept_)
    assert np.array_equal(dual.dual_coef_ @ X[dual.support_], primal.coef_)
    assert dual.decision_function(X) == pytest.approx(primal.decision_function(X))
    assert dual.verify(X, y)["perceptron.kernel_replay"].level == "exact"


def test_explicit_features_give_the_same_counts():
    rng = np.random.default_rng(1)
    X = 2 * rng.standard_normal((50, 2))
    y = (X[:, 0] ** 2 + 2 * X[:, 1] ** 2 > 12).astype(int)
    features = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    dual = cyclic(kernel="poly", degree=2, gamma=1.0, coef0=0.0, bias="plain", max_iter=200).fit(X, y)
    primal = Perceptron(order="cyclic", tol=None, max_iter=200).fit(features, y)
    assert np.array_equal(dual.mistake_counts_, primal.mistake_counts_)


def test_exclusive_or_with_the_quadratic_kernel():
    X, y, truth = make_xor()
    model = cyclic(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    assert model.converged_ and np.array_equal(model.predict(X), y)
    scores = model.decision_function(X)
    assert np.array_equal(np.sign(scores), np.sign(truth["product_coef"] * X[:, 0] * X[:, 1]))
    assert (
        model.certificate_["perceptron.kernel_margin"].value
        <= np.sqrt(2)
        <= model.certificate_["perceptron.kernel_margin"].numbers["up"]
    )
    model.verify(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_precomputed_kernel_sparse_rows_and_small_caches_change_nothing(kernel):
    X, y = load_iris(return_X_y=True)
    options = {"max_iter": 6, "tol": None, "order": "cyclic"}
    model = KernelPerceptron(kernel=kernel, gamma=0.125, **options).fit(X, y)
    from sklearn.metrics.pairwise import pairwise_kernels

    extra = {} if kernel == "linear" else {"gamma": 0.125}
    extra = {**extra, "degree": 3, "coef0": 0.0} if kernel == "poly" else extra
    gram = pairwise_kernels(X, metric=kernel, **extra)
    other = KernelPerceptron(kernel="precomputed", **options).fit(gram, y)
    assert np.array_equal(model.mistake_counts_, other.mistake_counts_)
    assert other.decision_function(gram) == pytest.approx(model.decision_function(X))
    tight = KernelPerceptron(kernel=kernel, gamma=0.125, cache_size=1e-6, **options).fit(X, y)
    assert np.array_equal(model.mistake_counts_, tight.mistake_counts_)
    thin = KernelPerceptron(kernel=kernel, gamma=0.125, **options).fit(sparse.csr_array(X), y)
    assert thin.decision_function(sparse.csr_array(X)) == pytest.approx(model.decision_function(X), rel=1e-6, abs=1e-6)
    for fitted, data in ((model, X), (other, gram), (thin, sparse.csr_array(X))):
        fitted.verify(data, y)


def test_budget_bounds_the_support_and_drops_the_oldest():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    free = KernelPerceptron(max_iter=5, tol=None).fit(X, y)
    assert len(free.support_) > 6
    model = KernelPerceptron(max_iter=5, tol=None, budget=6).fit(X, y)
    assert len(model.support_) <= 6 and model.certificate_.grade == "C"
    # the scores kept during the run are those of the rows that are left
    K = np.exp(-model.gamma_ * np.sum((X[:, None] - X[model.support_]) ** 2, axis=2))
    assert model.decision_function(X) == pytest.approx(K @ model.dual_coef_[0] + model.intercept_[0])
    model.verify(X, y)
    large = KernelPerceptron(max_iter=5, tol=None, budget=100).fit(X, y)
    assert np.array_equal(large.dual_coef_, free.dual_coef_)


def test_threshold_asks_for_a_margin_and_pays_for_it():
    X, y, _ = make_alternating(4)
    model = cyclic(kernel=smaller, threshold=2.0, max_iter=10**5).fit(X, y)
    assert model.converged_ and np.min(y * model.decision_function(X)) > 2
    claim = model.certificate_["perceptron.kernel_novikoff"]
    radius = 2 * 7.0
    assert claim.value <= claim.limit == pytest.approx((radius + 2 * 2.0) / claim.numbers["gamma_low"] ** 2)
    model.verify(X, y)


def test_a_function_is_verified_with_the_model_only():
    X, y, _ = make_alternating(3)
    certificate = cyclic(kernel=smaller).fit(X, y).certificate_
    assert certificate.verify(X, y)["perceptron.kernel_replay"].ok
    with pytest.raises(CertificateError, match="verify the model itself"):
        type(certificate).from_json(certificate.to_json()).verify(X, y)


@pytest.mark.parametrize(
    "kernel, match",
    [(lambda A, B: np.zeros(3), "must return an array of shape"), (lambda A, B: -A @ B.T, "k\\(x, x\\)")],
)
def test_bad_kernels(kernel, match):
    with pytest.raises(InvalidData, match=match):
        KernelPerceptron(kernel=kernel).fit([[1.0], [2.0]], [0, 1])


def test_a_matrix_that_is_no_kernel_is_remarked_and_certifies_nothing():
    gram = np.array([[1.0, -2.0], [-2.0, -0.5]])
    with pytest.warns(DataWarning, match="not positive semidefinite"):
        model = KernelPerceptron(kernel="precomputed", max_iter=3, tol=None).fit(gram, [0, 1])
    assert {claim.kind for claim in model.certificate_.claims} == {"no_claim"}
    model.verify(gram, [0, 1])


def test_own_kernels_are_assumed_to_be_kernels():
    X, y, _ = make_alternating(3)
    claim = cyclic(kernel=smaller).fit(X, y).certificate_["perceptron.kernel_margin"]
    assert claim.assumptions == ("positive_semidefinite_kernel",)
    assert (
        KernelPerceptron(kernel="linear").fit(X, [0, 0, 1]).certificate_["perceptron.kernel_margin"].assumptions == ()
    )


KERNELS = [Min(), Polynomial(2), 2.0 * RBF(length_scale=1.5) + Linear(), Laplacian(0.5), RationalQuadratic(2.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=plainly)
def test_kernels_as_objects(kernel):
    X = np.random.default_rng(3).random((60, 1)) * 4
    y = np.sign(np.sin(2 * X[:, 0]))
    model = KernelPerceptron(kernel=kernel, max_iter=20, tol=None).fit(X, y)
    same = KernelPerceptron(kernel=lambda A, B: kernel(A, B), max_iter=20, tol=None).fit(X, y)
    assert np.array_equal(model.mistake_counts_, same.mistake_counts_) and model.kernel_ is kernel
    facts = [claim for claim in model.certificate_.claims if claim.kind != "risk_bound"]
    assert all(claim.assumptions == () for claim in facts)
    again = type(model.certificate_).from_json(model.certificate_.to_json())
    assert again.verify(X, y)["perceptron.kernel_replay"].ok
    with pytest.raises(Invalidated, match="parameter kernel"):
        model.set_params(kernel=kernel + 1.0).verify(X, y)


def test_precomputed_object_is_the_name():
    X, y = load_iris(return_X_y=True)
    K = RBF(gamma=0.5)(X)
    a, b = (KernelPerceptron(kernel=k, max_iter=3, tol=None).fit(K, y) for k in ("precomputed", Precomputed()))
    assert np.array_equal(a.dual_coef_, b.dual_coef_) and np.array_equal(a.predict(K), b.predict(K))
    b.verify(K, y)


def test_precomputed_kernel_must_be_square():
    with pytest.raises(InvalidData, match="square"):
        KernelPerceptron(kernel="precomputed").fit(np.ones((3, 2)), [0, 1, 1])


def test_wide_kernel_separates_everything():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    model = KernelPerceptron(gamma=50.0, threshold=0.25, tol=None).fit(X, y)
    assert model.converged_ and model.score(X, y) == 1.0 and model.certificate_.grade == "A"
    assert model.n_updates_ <= model.certificate_["perceptron.kernel_novikoff"].limit
    model.verify(X, y)


def two_clouds(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    X = rng.normal(size=(n, 2))
    X[:, 0] += 1.2 * y
    return X, y


FIXED = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear", "bias": "plain"},
    "object, no offset": {"kernel": Laplacian(gamma=0.5), "fit_intercept": False},
    "polynomial, as it comes": {"kernel": "poly", "gamma": "auto", "bias": "augmented", "order": "cyclic"},
}


@pytest.mark.parametrize("options", FIXED.values(), ids=FIXED)
def test_the_first_pass_bounds_the_risk_of_a_random_iterate(options):
    X, y = two_clouds(300)
    model = KernelPerceptron(max_iter=2, tol=None, **options).fit(X, y)
    claim = model.certificate_["perceptron.kernel_risk"]
    assert claim.numbers["errors"] == model.mistakes_per_pass_[0] and claim.kind == "risk_bound"
    assert claim.numbers["errors"] / 300 < claim.value < 1 and claim.confidence == 0.95
    assert model.verify(X, y)["perceptron.kernel_risk"].ok


def test_the_linear_kernel_bounds_the_risk_as_the_perceptron_does():
    X, y = two_clouds(200, seed=1)
    options = {"max_iter": 1, "tol": None, "bias": "plain", "order": "cyclic"}
    kernel, plain = KernelPerceptron(kernel="linear", **options).fit(X, y), Perceptron(**options).fit(X, y)
    assert kernel.certificate_["perceptron.kernel_risk"].value == plain.certificate_["perceptron.risk"].value


@pytest.mark.parametrize(
    "options",
    [
        {"gamma": "scale"},  # the width knows all rows
        {"kernel": "linear"},  # so does the radius
        {"gamma": 0.5, "order": "random"},  # rows are met twice
        {"gamma": 0.5, "threshold": 0.1},  # not every update is an error
        {"gamma": 0.5, "budget": 5},  # no log to replay
    ],
    ids=str,
)
def test_no_bound_for_a_run_that_looked_ahead(options):
    X, y = two_clouds(60)
    model = KernelPerceptron(max_iter=2, tol=None, **options).fit(X, y)
    assert "perceptron.kernel_risk" not in [claim.name for claim in model.certificate_.claims]
    assert "risk.unclaimed" in [claim.name for claim in model.certificate_.claims]


@pytest.mark.parametrize("lie", ["fewer errors", "smaller bound", "hidden mistakes", "other order"])
def test_a_false_risk_is_refused(lie):
    X, y = two_clouds(80, seed=2)
    model = KernelPerceptron(gamma=0.5, max_iter=1, tol=None, order="cyclic").fit(X, y)
    certificate = model.certificate_
    claims = {claim.name: claim for claim in certificate.claims}
    claim, replay = claims["perceptron.kernel_risk"], claims["perceptron.kernel_replay"]
    if lie == "fewer errors":
        claim = replace(claim, numbers={**claim.numbers, "errors": claim.numbers["errors"] - 1})
    elif lie == "smaller bound":
        claim = replace(claim, value=claim.value - 0.01)
    elif lie == "hidden mistakes":
        replay = replace(replay, witness={**replay.witness, "after_pass": np.array([1])})
        claim = replace(claim, numbers={**claim.numbers, "errors": 1})
    else:
        claim = replace(claim, witness={"order": np.zeros(80, dtype=np.int64)})
    forged = replace(certificate, claims=(replay, claim), seal="", subject=None)
    with pytest.raises(CertificateError):
        forged.verify(X, y)
