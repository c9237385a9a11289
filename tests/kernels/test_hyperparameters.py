"""What Gaussian processes need of a kernel: logarithms of free hyper-parameters, slopes, copies and records."""

import json
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs

from surefit.core import encoding
from surefit.core.errors import InvalidParameter
from surefit.kernels import (
    RBF,
    Constant,
    Function,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Noise,
    Periodic,
    Polynomial,
    RationalQuadratic,
    resolve,
)


def plainly(kernel):
    """The name of a case: without addresses, so that every process has the same."""
    return re.sub(r" at 0x\w+", "", repr(kernel))


X = np.random.default_rng(3).normal(size=(12, 3))
LENGTHS = np.array([0.7, 1.4, 2.5])
SMOOTH = [
    RBF(1.3),
    RBF(gamma=0.4),
    RBF(LENGTHS),
    Laplacian(0.7),
    Matern(1.3, nu=0.5),
    Matern(1.3, nu=1.5),
    Matern(LENGTHS, nu=0.5),
    Matern(LENGTHS, nu=2.5),
    RationalQuadratic(1.2, 0.8),
    Periodic(1.1, 2.3),
    Constant(2.0),
    Noise(0.3),
    2.0 * RBF(1.3) + Noise(0.1),
    RBF(1.3) * Periodic(1.1, 2.3) + 0.5 * Linear(),
    (Linear() + 2.0) ** 3,
    3.0 * (RBF(LENGTHS) + Noise(0.2)) ** 2,
]


@pytest.mark.parametrize("kernel", SMOOTH, ids=plainly)
def test_slopes_are_those_of_finite_differences(kernel):
    K, slopes = kernel.gram_and_gradient(X)
    assert np.array_equal(K, kernel(X)) and len(slopes) == len(kernel.theta)
    h = 1e-6
    for j, slope in enumerate(slopes):
        step = h * (np.arange(len(kernel.theta)) == j)
        up, down = kernel.with_theta(kernel.theta + step)(X), kernel.with_theta(kernel.theta - step)(X)
        assert slope == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-8 * np.max(np.abs(K)))
        assert np.array_equal(slopes[j], slope)


TRANSLATED = [
    theirs.RBF(1.3, (1e-2, 1e3)),
    theirs.RBF(LENGTHS),
    theirs.Matern(1.3, nu=0.5),
    theirs.Matern(LENGTHS, nu=1.5),
    theirs.Matern(LENGTHS, nu=2.5),
    theirs.RationalQuadratic(1.2, 0.8),
    theirs.ConstantKernel(2.0) * theirs.RBF(1.3, "fixed") + theirs.WhiteKernel(0.1),
    theirs.RBF(1.3) * theirs.RationalQuadratic(0.5),
    theirs.RBF(1.3) ** 2,
]


@pytest.mark.parametrize("external", TRANSLATED, ids=plainly)
def test_agrees_with_gaussian_process_kernels_and_their_gradients(external):
    kernel = resolve(external)
    K, gradient = external(X, eval_gradient=True)
    mine, slopes = kernel.gram_and_gradient(X)
    assert mine == pytest.approx(K, rel=1e-12)
    assert kernel(X, X[:4]) == pytest.approx(external(X, X[:4]), rel=1e-7)
    assert kernel.diag(X) == pytest.approx(external.diag(X))
    assert kernel.theta == pytest.approx(external.theta)
    assert kernel.bounds == pytest.approx(external.bounds)
    assert len(slopes) == gradient.shape[2]
    for j, slope in enumerate(slopes):
        assert slope == pytest.approx(gradient[:, :, j], rel=1e-9, abs=1e-11)


def test_one_column_periods_and_dot_products():
    external = theirs.ExpSineSquared(1.1, 2.3) + theirs.DotProduct(0.5)
    kernel = resolve(external)
    assert kernel(X[:, :1]) == pytest.approx(external(X[:, :1]), rel=1e-12)
    assert kernel.bounds[-1] == pytest.approx(external.bounds[-1])


def test_a_sine_of_the_euclidean_distance_is_no_kernel_but_the_sum_of_sines_is():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 3, 7)] * 2), axis=-1).reshape(-1, 2)
    assert np.linalg.eigvalsh(theirs.ExpSineSquared(0.7, 1.3)(grid))[0] < -1e-3
    assert np.linalg.eigvalsh(Periodic(0.7, 1.3)(grid))[0] > -1e-12


def test_fixed_ones_are_left_alone():
    kernel = 2.0 * RBF(1.3, "fixed") + Noise(0.1)
    names = [(h.name, h.fixed) for h in kernel.hyperparameters]
    assert names == [("left__factor", False), ("left__kernel__length_scale", True), ("right__variance", False)]
    other = kernel.with_theta(np.log([5.0, 0.2]))
    assert other.left.factor == pytest.approx(5.0) and other.left.kernel.length_scale == 1.3
    assert kernel.left.factor == 2.0, "a copy was changed, not the kernel"
    assert kernel.bounds.shape == (2, 2) and Linear().bounds.shape == (0, 2) and len(Linear().theta) == 0
    with pytest.raises(InvalidParameter, match="an array of 2 numbers"):
        kernel.with_theta([0.0])


def test_bounds_of_gamma_match_those_of_the_length():
    (gamma,) = RBF(gamma=2.0, length_scale_bounds=(0.1, 10.0)).hyperparameters
    assert (gamma.low, gamma.high) == pytest.approx((0.005, 50.0))


def test_parameters_nest_as_in_scikit_learn():
    kernel = RBF(gamma=1.0) + 2.0 * Polynomial(2)
    kernel.set_params(left__gamma=3.0, right__kernel__degree=4)
    assert repr(kernel) == "RBF(gamma=3.0) + 2.0 * Polynomial(degree=4)"
    assert clone(kernel) == kernel and hash(clone(kernel)) == hash(kernel)
    assert clone(kernel).set_params(left__gamma=4.0) != kernel
    assert repr((Linear() + 1.0) * RBF() ** 2) == "(Linear() + Constant()) * (RBF() ** 2)"


@pytest.mark.parametrize("kernel", [*SMOOTH, Polynomial(2, 0.5, 0.0)], ids=plainly)
def test_a_record_survives_json(kernel):
    text = json.dumps(encoding.encode(kernel.to_record()))
    again = Kernel.from_record(encoding.decode(json.loads(text)))
    assert np.array_equal(again(X), kernel(X))
    assert again == Kernel.from_record(again.to_record())


def test_a_function_cannot_be_read_from_a_record():
    kernel = Linear() + Function(np.outer)
    assert kernel.to_record()["params"]["right"]["params"]["function"] == {"function": "outer"}
    with pytest.raises(InvalidParameter, match="a function \\(a record"):
        Kernel.from_record(kernel.to_record())
    with pytest.raises(InvalidParameter, match="a dict returned by to_record"):
        Kernel.from_record({"kernel": "os.system", "params": {}})


def test_model_files_may_contain_every_kernel():
    from surefit import SKOPS_TRUSTED
    from surefit.kernels.base import CLASSES

    own = {f"{cls.__module__}.{name}" for name, cls in CLASSES.items() if cls.__module__.startswith("surefit.")}
    assert own == {name for name in SKOPS_TRUSTED if name.startswith("surefit.kernels.")} - {
        "surefit.kernels.rkhs.RKHSFunction"
    }


def test_a_model_with_a_kernel_survives_a_file(tmp_path):
    from surefit import KernelPerceptron, load, save

    y = np.sign(X[:, 0])
    model = KernelPerceptron(kernel=2.0 * RBF(LENGTHS) + Linear()).fit(X, y)
    save(model, tmp_path / "model.surefit")
    again = load(tmp_path / "model.surefit")
    assert np.array_equal(again.decision_function(X), model.decision_function(X)) and again.kernel_ == model.kernel_
    again.verify(X, y)
