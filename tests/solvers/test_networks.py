"""Networks below the estimators: sigmoids, counts, slopes against central differences, steps by hand."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr

from surefit.core.budget import Budget, Reason
from surefit.core.errors import InvalidParameter
from surefit.solvers.networks.activations import ACTIVATIONS, TRAINABLE, activation_named
from surefit.solvers.networks.architecture import Architecture, expand, read_table
from surefit.solvers.networks.backpropagation import ROWS, Network, predictions, whole_objective
from surefit.solvers.networks.descent import gradient_descent, l_bfgs
from surefit.solvers.networks.outputs import OUTPUTS, Output
from surefit.solvers.networks.steps import Adam, Momentum

Z = np.linspace(-6, 6, 241)


def sigma(name, z):
    out = np.empty_like(z)
    activation_named(name).value(z, out)
    return out


def slope(name, z):
    delta = np.ones((1, len(z)))
    activation_named(name).multiply_derivative(z[None, :], sigma(name, z)[None, :], delta)
    return delta[0]


def test_sigmoids_are_what_the_notes_say():
    assert sigma("standard", Z) == pytest.approx((1 - np.exp(-Z)) / (1 + np.exp(-Z)), abs=1e-15)
    assert sigma("standard", Z) == pytest.approx(np.tanh(Z / 2), abs=1e-15)
    assert sigma("gaussian", Z) == pytest.approx(2 * ndtr(Z) - 1, abs=1e-15)
    assert sigma("arctan", Z) == pytest.approx(2 / np.pi * np.arctan(Z), abs=1e-15)
    assert sigma("logistic", -Z) == pytest.approx(1 - sigma("logistic", Z), abs=1e-15)
    for name in ("standard", "arctan", "gaussian"):
        assert sigma(name, np.array([0.0, 1e8, -1e8])) == pytest.approx([0.0, 1.0, -1.0], abs=1e-7)
    assert sigma("threshold", np.array([-1.0, 0.0, 1e-300])).tolist() == [-1.0, -1.0, 1.0]
    assert sigma("step", np.array([-1.0, 0.0, 1e-300])).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", [name for name, entry in ACTIVATIONS.items() if entry.twin])
def test_twin_is_half_of_one_plus(name):
    low, high = (name, ACTIVATIONS[name].twin)
    star, plain = (low, high) if sigma(low, np.array([-9e9]))[0] > -0.5 else (high, low)
    assert sigma(star, Z) == pytest.approx((sigma(plain, Z) + 1) / 2, abs=1e-15)
    assert ACTIVATIONS[ACTIVATIONS[name].twin].twin == name


@pytest.mark.parametrize("name", TRAINABLE)
def test_slopes_are_those_of_central_differences(name):
    z = Z + 0.0123  # no point on the kink of relu
    assert slope(name, z) == pytest.approx((sigma(name, z + 1e-6) - sigma(name, z - 1e-6)) / 2e-6, abs=1e-8)


def test_jumps_have_no_slope_and_unknown_names_are_refused():
    assert set(ACTIVATIONS) - set(TRAINABLE) == {"threshold", "step"}
    with pytest.raises(InvalidParameter, match="activation must be one of identity, logistic"):
        activation_named("softplus")


def make_problem(output, rng, n=37, sizes=(5, 4, 3, 3), tables=(None, None, None)):
    sizes = (*sizes[:-1], 1) if output.activation == "logistic" and rng.random() < 0.5 else sizes
    X = rng.standard_normal((n, sizes[0]))
    if output.loss in ("half_squares",):
        Y = rng.standard_normal((n, sizes[-1]))
    elif output.loss == "poisson":
        Y = rng.poisson(2.0, (n, sizes[-1])).astype(float)
    elif output.activation == "softmax":
        Y = np.eye(sizes[-1])[rng.integers(sizes[-1], size=n)]
    else:
        Y = rng.integers(2, size=(n, sizes[-1])).astype(float)
    return X, Y, Architecture(sizes, tables)


def objective(architecture, name, output, X, Y, s, alpha):
    network = Network(architecture, activation_named(name), output, np.zeros(architecture.n_parameters), ROWS)

    def at(theta):
        network.theta[:] = theta
        network.follow()
        return whole_objective(network, X, Y, s, alpha)

    return at


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda o: f"{o.activation}-{o.loss}")
@pytest.mark.parametrize("name", ["standard", "gaussian", "relu"])
def test_gradient_is_that_of_central_differences(output, name):
    rng = np.random.default_rng(3)
    mask = rng.random((5, 4)) < 0.6
    shared = np.where(rng.random((4, 3)) < 0.8, rng.integers(4, size=(4, 3)), -1)
    tables = (read_table("t", mask, (5, 4), 0), read_table("t", shared, (4, 3), 1), None)
    X, Y, architecture = make_problem(output, rng, tables=tables)
    at = objective(architecture, name, output, X, Y, rng.random(len(X)), 0.3)
    theta = 0.5 * rng.standard_normal(architecture.n_parameters)
    gradient = at(theta)[1].copy()
    for _ in range(5):
        d = rng.standard_normal(len(theta))
        difference = (at(theta + 1e-5 * d)[0] - at(theta - 1e-5 * d)[0]) / 2e-5
        assert gradient @ d == pytest.approx(difference, rel=1e-6, abs=1e-8)


def test_softmax_of_two_is_logistic_of_the_difference_and_shifts_do_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    architecture = Architecture((3, 2), (None,))
    theta = rng.standard_normal(architecture.n_parameters)
    two = predictions(Network(architecture, activation_named("relu"), Output("softmax", ""), theta, ROWS), X)
    (W,), (b,) = architecture.unpack(theta)
    logistic = 1 / (1 + np.exp(-(X @ (W[:, 1] - W[:, 0]) + b[1] - b[0])))
    assert two[:, 1] == pytest.approx(logistic, abs=1e-14)
    assert two.sum(axis=1) == pytest.approx(np.ones(50), abs=1e-15)
    moved = architecture.pack([W + rng.standard_normal((3, 1))], [b + 7.0])
    shifted = predictions(Network(architecture, activation_named("relu"), Output("softmax", ""), moved, ROWS), X)
    assert shifted == pytest.approx(two, abs=1e-14)


def test_large_scores_overflow_nothing():
    for output in OUTPUTS:
        if output.activation in ("softmax", "logistic"):
            architecture = Architecture((1, 3), (None,))
            at = objective(architecture, "relu", output, np.ones((1, 1)), np.array([[0.0, 0.0, 1.0]]), None, 0.0)
            value, gradient = at(np.array([1e4, -1e4, 5e3, 0.0, 0.0, 0.0]))
            assert np.isfinite(value) and np.isfinite(gradient).all()


@pytest.mark.parametrize("k, d, outputs", [(3, 7, 1), (5, 2, 1), (4, 6, 3)])
def test_parameter_counts(k, d, outputs):
    one_hidden = Architecture((d, k, outputs), (None, None))
    assert one_hidden.n_parameters == one_hidden.n_links == k * (d + 1) + outputs * (k + 1)
    if outputs == 1:
        assert one_hidden.n_parameters == k * (d + 2) + 1
    two_hidden = Architecture((d, k, 2, 1), (None, None, None))
    assert two_hidden.n_parameters == k * (d + 1) + 2 * (k + 1) + (2 + 1)


def test_pack_and_unpack_are_inverse_and_shared_weights_are_equal():
    rng = np.random.default_rng(1)
    table = read_table("t", np.array([[7, -5, 9], [9, 7, -1]]), (2, 3), 0)
    assert table.tolist() == [[0, -1, 1], [1, 0, -1]]
    architecture = Architecture((2, 3, 2), (table, None))
    theta = rng.standard_normal(architecture.n_parameters)
    coefs, intercepts = architecture.unpack(theta)
    assert np.array_equal(architecture.pack(coefs, intercepts), theta)
    assert coefs[0][0, 0] == coefs[0][1, 1] and coefs[0][0, 2] == coefs[0][1, 0]
    assert coefs[0][0, 1] == coefs[0][1, 2] == 0
    assert np.array_equal(expand(table, theta[:2]), coefs[0])
    assert architecture.n_links == 4 + 6 + 5 and architecture.n_parameters == 2 + 6 + 5


@pytest.mark.parametrize(
    "given, words",
    [
        (np.ones((2, 2)), "integer table of shape"),
        (np.zeros((2, 3), bool), None),
        (np.full((2, 3), -1), "at least one"),
    ],
)
def test_bad_tables(given, words):
    if words is None:
        assert read_table("t", given, (2, 3), 0).max() == -1  # a mask may cut everything: a constant layer
    else:
        with pytest.raises(InvalidParameter, match=words):
            read_table("t", given, (2, 3), 0)


def test_sparse_rows_give_the_same_sums():
    rng = np.random.default_rng(5)
    output = Output("softmax", "log_loss")
    X, Y, architecture = make_problem(output, rng)
    X[X < 0.3] = 0
    theta = rng.standard_normal(architecture.n_parameters)
    dense = objective(architecture, "tanh", output, X, Y, None, 0.1)(theta)
    thin = objective(architecture, "tanh", output, sparse.csr_array(X), Y, None, 0.1)(theta)
    assert thin[0] == pytest.approx(dense[0], rel=1e-14) and thin[1] == pytest.approx(dense[1], abs=1e-14)


def test_momentum_by_hand():
    step = Momentum(2, np.float64, rate=0.5, schedule="constant", momentum=0.9, nesterov=False, power=0.5)
    theta = np.array([1.0, 2.0])
    step.move(theta, np.array([2.0, 4.0]), 1, 2.0, 4.0)  # g = (2 + 2 * 1) / 4, 4 / 4 without decay
    assert theta.tolist() == [0.5, 1.5]
    step.move(theta, np.array([2.0, 4.0]), 1, 0.0, 4.0)  # v = 0.9 * -0.5 - 0.25
    assert theta == pytest.approx([0.5 - 0.7, 1.5 - 0.95])


def test_first_step_of_adam_has_the_length_of_the_rate():
    step = Adam(3, np.float64, rate=0.01, beta_1=0.9, beta_2=0.999, epsilon=1e-30)
    theta = np.zeros(3)
    step.move(theta, np.array([5.0, -1e-6, 0.0]), 3, 0.0, 1.0)
    assert theta == pytest.approx([-0.01, 0.01, 0.0])


def test_adaptive_rate_falls_before_it_gives_up():
    step = Momentum(1, np.float64, rate=1e-5, schedule="adaptive", momentum=0.0, nesterov=False, power=0.5)
    assert [step.gives_up() for _ in range(3)] == [False, False, True]
    assert step.rate == pytest.approx(1e-5 / 25)


@pytest.mark.parametrize("solver", ["lbfgs", "gd"])
def test_descent_reaches_the_minimum_of_a_quadratic_and_never_rises(solver):
    A = np.diag([1.0, 4.0, 9.0])
    goal = np.array([1.0, -2.0, 3.0])

    def bowl(x):
        return 0.5 * (x - goal) @ A @ (x - goal), A @ (x - goal)

    budget = Budget(2000)
    if solver == "lbfgs":
        end, losses, reason = l_bfgs(bowl, np.zeros(3), tol=1e-8, max_fun=1000, budget=budget)
    else:
        end, losses, reason = gradient_descent(bowl, np.zeros(3), tol=1e-8, budget=budget, rate=1.0)
    assert reason is Reason.CONVERGED and end == pytest.approx(goal, abs=1e-7)
    assert np.all(np.diff(losses) <= 0)


def test_gradient_descent_on_a_kink_says_that_it_stalled():
    def wrong(x):
        return float(np.sum(np.abs(x))), -np.sign(x) - (x == 0)  # slopes point uphill

    _, losses, reason = gradient_descent(wrong, np.ones(2), tol=1e-8, budget=Budget(10), rate=1.0)
    assert reason is Reason.STALLED and losses == [2.0]
