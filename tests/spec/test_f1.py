"""Items F01 to F25: regression risk, Rademacher and pseudo-dimension bounds, least squares, kernel ridge regression."""

import warnings
from itertools import product

import numpy as np
import pytest

import surefit as sf

approx = pytest.approx
K2, Y2 = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])


def test_F01():
    r = np.linspace(-2, 2, 9)
    assert sf.losses.value(sf.losses.Lp(2.0), 0.0, r) == approx(r**2) and sf.losses.value(
        sf.losses.Lp(1.0), 0.0, r
    ) == approx(np.abs(r))
    assert sf.losses.lipschitz_on(sf.losses.Lp(3.0), 2.0) == 12 and sf.losses.bound_on(sf.losses.Lp(3.0), 2.0) == 8
    assert (
        sf.losses.lipschitz_on(sf.losses.Squared(), 5.0) == 5
        and sf.losses.bound_on(sf.losses.EpsilonInsensitive(0.5), 3.0) == 2.5
    )
    each = sf.losses.value(sf.losses.Lp(3.0), np.array([0.0, 1.0, 4.0]), np.array([1.0, 1.0, 2.0]))
    samples = [np.mean([each[i] for i in drawn]) for drawn in product(range(3), repeat=2)]
    assert np.mean(samples) == approx(each.mean())  # the mean over all samples of size 2 is the risk


def test_F02():
    rng = np.random.default_rng(0)
    y, z = rng.uniform(-1, 1, 50), rng.uniform(-3, 3, 50)
    clipped = sf.losses.clip(z, -1, 1)
    assert np.all((y - clipped) ** 2 <= (y - z) ** 2) and ((y - clipped) ** 2).max() <= sf.losses.bound_on(
        sf.losses.Lp(2.0), 2.0
    )
    with pytest.raises(sf.InvalidData):
        sf.bounds.holdout_loss([0.2, 1.3])


def test_F03():
    assert sf.bounds.finite_class(100, n=1000, delta=0.05, sides=1).radius == approx(0.06164780, abs=5e-9)
    assert sf.bounds.finite_class(100, n=1000, delta=0.05).radius == approx(0.06439740, abs=5e-9)


def test_F04():
    one, two = (sf.bounds.finite_class(50, n=n, delta=0.05).radius for n in (500, 1000))
    assert one / two == approx(np.sqrt(2))
    shares = [sf.bounds.delta_share(k, 0.05) for k in range(1, 200)]
    assert sum(shares) <= 0.05


def test_F05():
    assert sf.bounds.lp_lipschitz(2, 1.0) == 2 and sf.bounds.lp_lipschitz(1, 7.0) == 1
    assert sf.losses.lipschitz_on(sf.losses.Lp(2.0), 1.0) == 2 and (1 - 0.99**2) / 0.01 == approx(1.99)


def test_F06():
    rng = np.random.default_rng(0)
    H, c = rng.uniform(-0.5, 0.5, (5, 8)), rng.uniform(-0.5, 0.5, 8)
    plain, shifted = sf.bounds.empirical_rademacher(H), sf.bounds.empirical_rademacher(H - c)
    squares = sf.bounds.empirical_rademacher((H - c) ** 2)
    M = np.abs(H - c).max()
    assert plain.value == approx(shifted.value) and squares.value <= 2 * M * plain.value + 1e-12
    assert sf.bounds.empirical_rademacher(H[:1]).value == approx(0, abs=1e-12)
    massart = sf.bounds.massart(H)
    assert plain.value <= float(getattr(massart, "value", massart)) + 1e-12


def test_F07():
    p, M, n, delta, R = 2, 1.5, 400, 0.05, 0.03
    bound = sf.bounds.rademacher_risk(0.2, R, n, delta, lipschitz=sf.bounds.lp_lipschitz(p, M), loss_bound=M**p)
    assert bound.value == approx(
        0.2 + 2 * p * M ** (p - 1) * R + 3 * M**p * np.sqrt(np.log(2 / delta) / (2 * n)), rel=1e-6
    )


def test_F08():
    exact = sf.bounds.kernel_ball_rademacher(np.eye(2), 1.0, 1.0).value
    assert exact == approx((np.sqrt(2) + 1) / 2) and exact == approx(1.20710678, abs=5e-9)
    assert exact <= sf.bounds.kernel_ball_trace(2.0, 2, 1.0, 1.0) <= 2 / np.sqrt(2) + 1e-12


def test_F09():
    values = np.array(list(product((0.0, 1.0), repeat=2)))
    found = sf.bounds.pseudo_shatters(values, [0, 1])
    assert found and found.dimension == 2


def test_F10():
    def dimension(values):
        found = sf.bounds.pseudo_dimension(np.asarray(values, dtype=float))
        return int(getattr(found, "dimension", found))

    def common(values):
        found = sf.bounds.common_threshold_dimension(np.asarray(values, dtype=float))
        return int(getattr(found, "dimension", found))

    assert (dimension([[1.0, 2.0]]), common([[1.0, 2.0]])) == (0, 1)
    shifted = [[a, 10 + b] for a in (0, 1) for b in (0, 1)]
    assert (dimension(shifted), common(shifted)) == (2, 1)
    chain = [[10 * k + bit for bit in pattern] for k, pattern in enumerate(product((0, 1), repeat=3))]
    assert (dimension(chain), common(chain)) == (1, 3)


def test_F11():
    for d in (1, 3):
        assert (
            sf.bounds.linear_pseudo_dimension(d) == d + 1 and sf.bounds.linear_pseudo_dimension(d, intercept=False) == d
        )
        witness = sf.bounds.affine_witness(d)
        assert witness.holds and len(witness.patterns) == 2 ** (d + 1) and np.all(witness.thresholds == 0)
        points = np.random.default_rng(d).integers(-5, 6, (d + 2, d))
        parts = sf.bounds.radon_partition(points)  # d + 2 points are never shattered
        for group in (parts.positive, parts.negative):
            assert [sum(parts.weights[i] * int(points[i, j]) for i in group) for j in range(d)] == list(parts.point)


def test_F12():
    x = np.random.default_rng(0).standard_normal((20, 2))
    features = sf.KernelPolynomialFeatures(2).fit_transform(x)
    found = sf.bounds.vector_space_pseudo_dimension(features)
    assert int(getattr(found, "dimension", found)) == 6
    assert sf.bounds.squared_loss_pseudo_dimension(3) == min(3 * 6 // 2, int(9.3288 * 3))


def test_F13():
    x = np.random.default_rng(0).exponential(size=30)
    assert sf.bounds.mean_by_tails(x) == approx(x.mean())


def test_F14():
    found = sf.bounds.pseudo_dimension_deviation(3, n=10_000, delta=0.05)
    assert found.radius == approx(0.14787883 + 0.01223873, abs=5e-8)


def test_F15():
    x, y = np.array([0.0, 1.0, 4.0]), np.array([1.0, 3.0, 2.0])
    slope = np.cov(x, y, bias=True)[0, 1] / x.var()
    assert sf.LinearRegression().fit(x[:, None], y).coef_[0] == approx(slope)


def test_F16():
    found = sf.least_squares_solutions([[2.0]], [5.0])
    assert (found.joint_coef[0], found.joint_intercept) == approx((2, 1)) and (found.coef[0], found.intercept) == (0, 5)
    moved, b = found.solution([1.3])
    assert 2 * moved[0] + b == approx(5) and np.hypot(moved[0], b) > np.hypot(2, 1)
    assert found.null_space.shape == (2, 1) and not found.unique
    away = np.append(moved, b) - (2, 1)  # Pythagoras: the smallest solution and the null space are orthogonal
    assert moved @ moved + b**2 == approx(5 + away @ away) and away @ (2, 1) == approx(0, abs=1e-12)
    X = np.random.default_rng(0).standard_normal((6, 2))
    unique = sf.least_squares_solutions(X, X @ [1.0, -1.0] + 2)
    assert unique.unique and np.append(unique.coef, unique.intercept) == approx([1, -1, 2])


def test_F17():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.standard_normal(200)
    assert sf.LinearRegression().fit(X, y).coef_ == approx(np.linalg.lstsq(sf.augment(X), y, rcond=None)[0][:5])
    # O(m N^2 + N^3): a clock that counts the multiplications of the normal equations has these exponents
    counted = [0.0]

    class Counting(sf.LinearRegression):
        def fit(self, X, y):
            counted[0] += X.shape[0] * X.shape[1] ** 2
            return super().fit(X, y)

    study = sf.timing_study(Counting(), (50, 100, 200), (2, 4), repeats=2, clock=lambda: counted[0])
    assert (study.row_exponent, study.column_exponent) == approx((1, 2))
    assert study.predict(1000, 10) == approx(1000 * 10**2)
    real = sf.timing_study(sf.LinearRegression(), (100, 10000), (2, 20))
    assert np.all(real.seconds > 0) and np.isfinite([real.row_exponent, real.column_exponent]).all()


def test_F18():
    study = sf.interpolation_study(20, (5, 20, 60), repeats=4)
    assert study.peak == 20 and study.least_squares.max() > 3 * study.ridge.max()


def test_F19():
    values = [
        sf.bounds.kernel_ridge_mse(
            0.0, 10**4, kernel_radius=1.0, ball_radius=1.0, delta=0.05, offset=True, trace=t
        ).value
        for t in (None, 10**4, 5000)
    ]
    assert values == approx([0.35014861, 0.60668741, 0.57154022], abs=5e-8)
    plain = sf.bounds.kernel_ridge_mse(0.0, 10**4, kernel_radius=1.0, ball_radius=1.0, delta=0.05)
    assert plain.value == approx(0.12895494, abs=5e-8)


def test_F20():
    lam = sf.bounds.theory_lambda(1.0, 10**4, 0.05)
    assert lam == approx(0.35014861, abs=5e-9) and 10**4 * lam == approx(
        3501.4861, abs=5e-4
    )  # KernelRidge takes the sum


def test_F21():
    norms = [sf.KernelRidge(lam, kernel="precomputed").fit(K2, Y2).rkhs_norm_ for lam in (0.1, 1.0, 10.0)]
    assert norms[0] > norms[1] > norms[2]


def test_F22():
    squares = [sf.KernelRidge(lam, kernel="precomputed").fit(K2, Y2).rkhs_norm_ ** 2 for lam in (0.1, 1.0, 10.0)]
    assert squares == approx([0.56931055, 0.21875, 0.01300797], abs=5e-9)
    ball = sf.KernelRidge(kernel="precomputed", radius=np.sqrt(0.21875)).fit(K2, Y2)
    assert ball.multiplier_ == approx(1.0, rel=1e-6)
    idle = sf.KernelRidge(kernel="precomputed", radius=5.0).fit(K2, Y2)  # least squares keeps the radius: lambda = 0
    assert idle.multiplier_ == 0 and idle.rkhs_norm_**2 == approx(2 / 3)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    flat = sf.KernelRidge(kernel="linear", radius=50.0).fit(X, y)  # a singular Gram matrix, the ball idle
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    assert flat.multiplier_ == 0 and flat.rkhs_norm_ == approx(np.linalg.norm(w)) and flat.verify(X, y)


def test_F23():
    model = sf.KernelRidge(1.0, kernel="precomputed").fit(K2, Y2)
    assert Y2 - model.predict(K2) == approx(model.dual_coef_)  # multiplier = residual
    idle = sf.KernelRidge(kernel="precomputed", radius=10.0).fit([[1.0]], [0.1])  # independent features, yet lambda = 0
    assert idle.predict([[1.0]])[0] == approx(0.1) and idle.multiplier_ == 0
    active = sf.KernelRidge(kernel="precomputed", radius=0.5).fit(K2, Y2)
    assert active.multiplier_ > 0 and active.rkhs_norm_ == approx(0.5)  # complementary slackness
    assert Y2 - active.predict(K2) == approx(active.multiplier_ * active.dual_coef_)


def test_F24():
    model = sf.KernelRidge(1.0, kernel="precomputed").fit(K2, Y2)
    assert model.rkhs_norm_**2 == approx(model.dual_coef_ @ K2 @ model.dual_coef_)
    assert sf.kkt_report(model, K2, Y2).stationarity < 1e-12
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    for lam in (1.0, 1e-4, 1e-10):  # with the linear kernel the expansion is the weight form, however small lambda is
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rounding keeps the gap large where the Gram matrix is singular
            expansion = sf.KernelRidge(lam, kernel="linear").fit(X, y)
        weights = sf.Ridge(lam, fit_intercept=False).fit(X, y).coef_
        assert expansion.rkhs_norm_ == approx(np.linalg.norm(weights), rel=1e-6)


def test_F25():
    best = sf.kernel_ridge_dual(K2, Y2, 1.0, radius=np.sqrt(0.21875))
    assert best.value == approx(0.078125) and best.derivative == approx(0, abs=1e-12)
    assert 0.5 * best.norm**2 == approx(0.109375)
    value = [sf.kernel_ridge_dual(K2, Y2, lam, radius=0.4).value for lam in (1 - 1e-6, 1 + 1e-6)]
    slope = sf.kernel_ridge_dual(K2, Y2, 1.0, radius=0.4).derivative
    assert (value[1] - value[0]) / 2e-6 == approx(slope, abs=1e-6)
    assert sf.kernel_ridge_dual(K2, Y2, 0.0, [1.0, 0.0]) == -np.inf
    # weak duality: any (lambda, mu) is below the half sum of squares of any function of norm at most the radius
    feasible = sf.KernelRidge(kernel="precomputed", radius=0.4).fit(K2, Y2)
    primal = 0.5 * np.sum((Y2 - feasible.predict(K2)) ** 2)
    for lam, mu in product((0.1, 1.0, 3.0), ([0.1, 0.2], [0.8, -0.1], [-1.0, 2.0])):
        assert sf.kernel_ridge_dual(K2, Y2, lam, mu, radius=0.4) <= primal + 1e-12
    best = sf.kernel_ridge_dual(K2, Y2, feasible.multiplier_, radius=0.4)
    assert best.value == approx(primal, abs=1e-9) and best.derivative == approx(0, abs=1e-6)  # no gap at the optimum
