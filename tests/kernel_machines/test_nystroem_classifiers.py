"""Classifiers on landmarks: both gaps against exact optima, the dual point by hand, and the certificate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar
from tests.forging import with_claim

from surefit import (
    SVC,
    CertificateError,
    InvalidParameter,
    KernelLogisticRegression,
    NystroemLogisticRegression,
    NystroemSVC,
)
from surefit.checks.kernels.landmarks import count_groups
from surefit.core.errors import ConvergenceWarning
from surefit.kernels import RBF, Sigmoid

BOTH = pytest.mark.parametrize("cls", [NystroemSVC, NystroemLogisticRegression], ids=["hinge", "logistic"])
EXACT = {NystroemSVC: SVC, NystroemLogisticRegression: KernelLogisticRegression}


def problem(seed=0, n=120, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    value = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * rng.standard_normal(n)
    return X, np.digitize(value, [0.0] if classes == 2 else [-0.7, 0.7])


def root_of(K):
    """Functions of the whole space are ``root @ u`` on the rows, with squared norm u'u."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def least_hinge(K, t, c, offset):
    import cvxpy

    u, b = cvxpy.Variable(len(t)), cvxpy.Variable() if offset else 0.0
    slack = cvxpy.pos(1 - cvxpy.multiply(t, root_of(K) @ u + b))
    return cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(u) + c @ slack)).solve(solver=cvxpy.CLARABEL)


def least_logistic(K, t, c, offset):
    columns = np.column_stack([root_of(K), np.full(len(t), float(offset))])
    penalized = np.append(np.ones(len(t)), 0.0)

    def value(u):
        return 0.5 * penalized @ u**2 + c @ np.logaddexp(0.0, -t * (columns @ u))

    def slope(u):
        return penalized * u - columns.T @ (c * t / (1 + np.exp(t * (columns @ u))))

    options = {"maxiter": 5000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(value, np.zeros(len(t) + 1), jac=slope, method="L-BFGS-B", options=options).fun


@BOTH
@pytest.mark.parametrize("offset", [False, True])
def test_every_row_a_landmark_is_the_exact_fit(cls, offset):
    X, y = problem(n=70)
    s = np.random.default_rng(0).uniform(0.5, 2, 70)
    model = cls(2.0, gamma=0.5, n_landmarks=70, fit_intercept=offset, tol=1e-8).fit(X, y, s)
    exact = EXACT[cls](C=2.0, gamma=0.5, fit_intercept=offset, tol=1e-9).fit(X, y, s)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-7)
    assert model.dual_gap_ <= 1e-6 * exact.objective_
    assert model.decision_function(X) == pytest.approx(exact.decision_function(X), abs=2e-3)
    assert model.verify(X, y, s)["nystroem.exact_gap"].level == "enclosed"


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(2, 40),
    offset=st.booleans(),
    loss=st.sampled_from([NystroemSVC, NystroemLogisticRegression]),
    price=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_the_exact_optimum_lies_between_the_bounds(seed, m, offset, loss, price):
    X, y = problem(seed, n=50)
    s = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], 50)
    s[[int(np.argmax(y)), int(np.argmin(y))]] = 1.0
    model = loss(price, gamma=0.7, n_landmarks=m, fit_intercept=offset, random_state=seed).fit(X, y, s)
    used = s > 0
    least = least_hinge if loss is NystroemSVC else least_logistic
    best = least(RBF(gamma=0.7)(X[used]), np.where(y[used] == 1, 1.0, -1.0), price * s[used], offset)
    noise = 1e-6 * best
    assert best - noise <= model.objective_ <= best + model.dual_gap_ + noise
    assert model.dual_gap_ <= model.objective_ * (1 + 1e-9)
    assert model.verify(X, y, s)["nystroem.exact_gap"].proved >= model.objective_ - best - noise


@BOTH
def test_groups_weaken_the_bound_and_many_landmarks_tighten_it(cls, monkeypatch):
    X, y = problem(1, n=600)
    whole = [cls(gamma=0.5, n_landmarks=m, random_state=0).fit(X, y) for m in (10, 40, 160)]
    assert whole[0].dual_gap_ > whole[1].dual_gap_ > whole[2].dual_gap_
    monkeypatch.setattr("surefit.checks.kernels.landmarks.SMALL_GROUP", 20)
    dealt = cls(gamma=0.5, n_landmarks=40, random_state=0, dual="bounded").fit(X, y)
    assert dealt.objective_ == whole[1].objective_
    assert whole[1].dual_gap_ < dealt.dual_gap_ <= dealt.objective_
    assert dealt.verify(X, y)["nystroem.exact_gap"].proved == pytest.approx(dealt.dual_gap_, rel=1e-3)


@BOTH
def test_the_gap_is_the_sum_of_what_the_solver_left_and_what_the_span_misses(cls):
    X, y = problem(2, n=90)
    model = cls(gamma=0.5, n_landmarks=12, fit_intercept=False, random_state=0, tol=1e-5).fit(X, y)
    K, t, marks = RBF(gamma=0.5)(X), np.where(y == 1, 1.0, -1.0), model.landmarks_
    z = model.decision_function(X)
    q = model.certificate_.claims[0].witness["dual"][:, 0]
    losses = np.maximum(1 - t * z, 0) if cls is NystroemSVC else np.logaddexp(0, -t * z)
    primal = losses.sum() + 0.5 * model.dual_coef_[0] @ K[np.ix_(marks, marks)] @ model.dual_coef_[0]

    def gap(scale):
        p = np.abs(scale * q)
        conjugate = -p if cls is NystroemSVC else p * np.log(p) + (1 - p) * np.log1p(-p)
        return primal + conjugate.sum() + 0.5 * scale**2 * q @ K @ q

    least = minimize_scalar(gap, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).fun
    least = min(least, gap(1.0)) * (1 - 1e-12)
    assert model.objective_ == pytest.approx(primal, rel=1e-9)
    assert least <= model.dual_gap_ <= least * (1 + 1e-4)
    R = K - K[:, marks] @ np.linalg.solve(K[np.ix_(marks, marks)], K[marks])
    assert gap(1.0) - model.subset_gap_ == pytest.approx(0.5 * q @ R @ q, rel=1e-5)


@BOTH
def test_functions_are_as_near_as_claimed(cls):
    X, y = problem(3, n=200)
    model = cls(gamma=0.5, n_landmarks=25, random_state=0).fit(X, y)
    exact = EXACT[cls](C=1.0, gamma=0.5, tol=1e-9).fit(X, y)
    grid = np.random.default_rng(0).uniform(-3, 3, (300, 2))
    apart = (model.decision_function(grid) - model.intercept_) - (exact.decision_function(grid) - exact.intercept_)
    reach = model.certificate_["nystroem.distance"].value
    assert reach == pytest.approx(np.sqrt(2 * model.dual_gap_))
    assert np.max(np.abs(apart)) <= reach  # k(x, x) = 1


@BOTH
def test_several_classes_are_one_problem_each(cls):
    X, y = problem(4, n=150, classes=3)
    names = np.array(["low", "middle", "high"])[y]
    each = {"multi_class": "ovr"} if cls is NystroemLogisticRegression else {}
    model = cls(gamma=0.5, n_landmarks=30, random_state=0, class_weight="balanced", **each).fit(X, names)
    assert model.dual_coef_.shape == (3, 30) and model.decision_function(X).shape == (150, 3)
    factors = 150 / (3 * np.bincount(y))  # as often as all other classes
    single = cls(gamma=0.5, n_landmarks=30, random_state=0)
    total = sum(single.fit(X, names == name, factors[y]).objective_ for name in set(names))
    # gamma is given and weights are equal, so the problems are the same ones
    assert model.objective_ == pytest.approx(total, rel=1e-3)
    assert model.score(X, names) > 0.7
    assert model.verify(X, names)["nystroem.gap"].ok
    if cls is NystroemLogisticRegression:
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(150))


@BOTH
def test_precomputed_values_and_sparse_rows(cls):
    X, y = problem(5)
    K = RBF(gamma=0.5)(X)
    plain = cls(gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
    given_values = cls(kernel="precomputed", n_landmarks=20, random_state=0).fit(K, y)
    assert given_values.decision_function(K[:5]) == pytest.approx(plain.decision_function(X[:5]), abs=1e-5)
    assert given_values.verify(K, y)["nystroem.exact_gap"].ok
    rows = sparse.csr_array(X)
    sparse_fit = cls(gamma=0.5, n_landmarks=20, random_state=0).fit(rows, y)
    assert sparse_fit.decision_function(rows) == pytest.approx(plain.decision_function(X), abs=1e-5)
    assert sparse_fit.verify(rows, y)["nystroem.exact_gap"].ok


@BOTH
def test_coordinates_in_float32_change_digits_and_no_truth(cls, monkeypatch):
    X, y = problem(6, n=400)
    plain = cls(gamma=0.5, n_landmarks=40, random_state=0).fit(X, y)
    monkeypatch.setattr("surefit.solvers.kernel_subset.rows.MOST_DOUBLES", 0)
    short = cls(gamma=0.5, n_landmarks=40, random_state=0).fit(X, y)
    assert not np.array_equal(short.dual_coef_, plain.dual_coef_)
    assert short.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    assert short.verify(X, y)["nystroem.gap"].ok and short.certificate_.holds


@BOTH
def test_a_worse_model_and_a_smaller_claim_are_refused(cls):
    X, y = problem(7)
    for change in ("coefficients", "offset", "dual", "rank"):
        model = cls(gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
        old = model.certificate_
        witness = dict(old.claims[0].witness)
        if change == "coefficients":
            model.dual_coef_ = model.dual_coef_ * 0.9
        elif change == "offset":
            model.intercept_ = model.intercept_ + 0.2
        elif change == "dual":
            witness["dual"] = 0.5 * witness["dual"][::-1]
        else:
            witness["rank"] = np.asarray(21)
        names = ("landmarks_", "dual_coef_", "intercept_")
        claims = [replace(old.claims[0], witness=witness), *old.claims[1:]]
        model._issue("A", claims, problem=old.problem, model=names, data=old.data)
        with pytest.raises(CertificateError, match="nystroem|21 directions"):
            model.verify(X, y)


@BOTH
def test_a_dual_point_outside_its_domain_proves_nothing_more(cls):
    X, y = problem(8)
    model = cls(gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
    certificate = model.certificate_
    best = KernelLogisticRegression(gamma=0.5) if cls is NystroemLogisticRegression else SVC(gamma=0.5, tol=1e-8)
    excess = model.objective_ - best.fit(X, y).objective_
    for dual in (1e3, -1.0, 1e-300, 0.0):
        witness = {**certificate.claims[0].witness, "dual": dual * certificate.claims[0].witness["dual"]}
        weaker = with_claim(certificate, "nystroem.exact_gap", witness=witness, value=1e300)
        weaker = with_claim(weaker, "nystroem.distance", value=1e300)
        weaker = with_claim(weaker, "nystroem.gap", value=1e300)
        assert weaker.verify(X, y)["nystroem.exact_gap"].proved >= excess
    for dual in (np.nan, np.inf):
        witness = {**certificate.claims[0].witness, "dual": np.full((len(y), 1), dual)}
        with pytest.raises(CertificateError, match="dual point"):
            with_claim(certificate, "nystroem.exact_gap", witness=witness).verify(X, y)


def test_groups_are_as_large_as_the_values_allow():
    assert [count_groups(n, "auto") for n in (0, 22_000, 100_000, 10**6)] == [1, 1, 20, 1000]
    assert [count_groups(n, "bounded") for n in (1000, 1001, 10**6)] == [1, 2, 1000]
    assert count_groups(10**6, "exact") == 1


@BOTH
def test_a_fit_that_is_cut_short_says_so_and_keeps_its_bounds(cls):
    X, y = problem(9, n=300)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = cls(100.0, gamma=2.0, n_landmarks=60, random_state=0, max_iter=1, tol=1e-9).fit(X, y)
    assert model.certificate_.holds is False
    assert model.verify(X, y)["nystroem.exact_gap"].ok


@BOTH
def test_what_it_refuses(cls):
    X, y = problem(10)
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        cls(kernel=Sigmoid(gamma=1.0)).fit(X, y)
    with pytest.raises(InvalidParameter, match="dual"):
        cls(dual="diagonal").fit(X, y)
    with pytest.raises(ValueError, match="not finite"):
        cls(kernel="poly", degree=300, gamma=1e3).fit(1e3 * X, y)


@BOTH
def test_rows_that_the_kernel_does_not_see_leave_a_constant(cls):
    X, y = np.zeros((40, 1)), np.arange(40) % 4 == 0
    model = cls(kernel="linear").fit(X, y)
    assert model.predict(X).tolist() == [False] * 40
    assert model.dual_gap_ <= 1e-3 * model.objective_
    assert model.verify(X, y)["nystroem.exact_gap"].ok


@BOTH
def test_a_bound_that_says_nothing_says_no_more_than_the_objective(cls):
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.random.default_rng(1).integers(0, 2, 90)
    model = cls(1e5, kernel="laplacian", gamma=3.0, n_landmarks=3, fit_intercept=False, random_state=0).fit(X, y)
    assert 0.9 * model.objective_ < model.dual_gap_ <= model.objective_ * (1 + 1e-12)
    assert model.verify(X, y)["nystroem.exact_gap"].ok


def test_steep_prices_of_rows_that_can_be_separated_are_met_to_the_tolerance():
    X, y = problem(11, n=60)
    model = NystroemSVC(1e4, gamma=5.0, n_landmarks=60, tol=1e-4).fit(X, y)
    exact = SVC(C=1e4, gamma=5.0, tol=1e-9).fit(X, y)
    assert exact.objective_ < 1e-3 * 1e4 * 60  # far below the loss of a constant: tol is relative to the objective
    assert model.objective_ - exact.objective_ <= 1e-4 * model.objective_
    assert model.verify(X, y)["nystroem.exact_gap"].ok


@pytest.mark.parametrize("price", [1e5, 1e6])
def test_steeper_prices_are_reached_from_lower_ones(price):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = NystroemSVC(price, kernel="laplacian", n_landmarks=60, random_state=0).fit(X, y)
    assert model.certificate_.holds
    assert model.subset_gap_ <= 1e-4 * model.objective_
    assert model.verify(X, y)["nystroem.exact_gap"].ok
