"""Every kernel class states what it is, checks its parameters, and can be copied, compared and written down."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import PairwiseKernel

from surefit import kernels
from surefit.core.errors import InvalidParameter
from surefit.kernels import RBF, Kernel, Linear
from surefit.kernels.base import CLASSES

OWN = {name: cls for name, cls in CLASSES.items() if cls.__module__.startswith("surefit.kernels")}
ARGUMENTS = {
    "Diffusion": ([[0.0, 1.0], [1.0, 0.0]],),
    "Exponential": (Linear(),),
    "Function": (np.minimum.outer,),
    "Normalized": (Linear(),),
    "PolynomialOf": (Linear(), [1.0, 2.0]),
    "Power": (Linear(), 2),
    "Product": (Linear(), RBF()),
    "Scaled": (Linear(), 2.0),
    "Sum": (Linear(), RBF()),
    "Untranslated": (PairwiseKernel(metric="laplacian"),),
    "Warped": (Linear(), np.ravel),
}
each_kernel = pytest.mark.parametrize("name", OWN)


def made(name: str) -> Kernel:
    return OWN[name](*ARGUMENTS.get(name, ()))


def test_every_class_is_public():
    assert set(OWN) <= set(kernels.__all__)


@each_kernel
def test_documentation_states_parameters_and_an_example(name):
    text = inspect.getdoc(OWN[name])
    parameters = set(inspect.signature(OWN[name]).parameters)
    assert ">>>" in text and all(parameter in text.split("Examples")[0] for parameter in parameters)
    assert set(OWN[name]._rules) == parameters, "every parameter has a rule"
    assert ":math:" in text or ".. math::" in text


@each_kernel
def test_copies_are_equal_and_records_come_back(name):
    kernel = made(name)
    assert clone(kernel) == kernel and hash(clone(kernel)) == hash(kernel) and kernel != Kernel()
    if name not in ("Function", "Untranslated", "Warped"):
        again = Kernel.from_record(kernel.to_record())
        assert type(again) is type(kernel) and again.to_record() == Kernel.from_record(again.to_record()).to_record()
    assert kernel.positive_semidefinite in (True, False, None) and isinstance(kernel.stationary, bool)
    assert len(kernel.theta) == len(kernel.bounds)


@each_kernel
def test_a_wrong_parameter_is_named(name):
    kernel = made(name)
    for parameter in OWN[name]._rules:
        wrong = clone(kernel).set_params(**{parameter: object()})
        with pytest.raises(InvalidParameter, match=f"{name}: {parameter} must be"):
            wrong.diag([[1.0], [2.0]])
