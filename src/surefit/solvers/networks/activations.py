r"""Catalog of activations :math:`\sigma`, with values and derivatives computed for arrays in place.

The sigmoids with limits -1 and 1 (``standard``, ``arctan``, ``gaussian``, ``threshold``) have a counterpart :math:`\sigma^* = (\sigma +
1)/2` with limits 0 and 1 (``logistic``, ``cauchy_cdf``, ``normal_cdf``, ``step``). The last of each list is a step
function, which can be evaluated but has no useful gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf, expit, ndtr

from surefit.core.errors import InvalidParameter
from surefit.core.jit import compiled

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


class Activation(NamedTuple):
    """Activation function and its derivative; both write into their last argument."""

    name: str
    value: Callable[[np.ndarray, np.ndarray], Any]  # value(z, out): out = sigma(z)
    multiply_derivative: Callable[[np.ndarray, np.ndarray, np.ndarray], Any] | None  # (z, a, delta): delta *= sigma'(z)
    twin: str | None = None  # the same sigmoid with the other pair of limits

    def after_bias(self, z: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
        """Add the bias to ``z`` in place and write the activation into ``out``."""
        if self.name == "relu":
            _bias_relu(z, bias, out)  # one pass instead of two, because this is the default activation
        else:
            z += bias
            self.value(z, out)


def activation_named(name: str) -> Activation:
    """Return the activation called ``name``.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.networks.activations import activation_named
    >>> out = np.empty(3)
    >>> activation_named("standard").value(np.array([-2.0, 0.0, 2.0]), out)
    >>> bool(np.allclose(out, np.tanh([-1.0, 0.0, 1.0])))
    True
    """
    try:
        return ACTIVATIONS[name]
    except (KeyError, TypeError):
        raise InvalidParameter("network", "activation", f"one of {', '.join(ACTIVATIONS)}", name) from None


def _identity(z, out):
    out[...] = z


def _keep(z, a, delta):
    pass


def _relu(z, out):
    np.maximum(z, 0, out=out)


def _logistic(z, out):
    expit(z, out=out)


def _logistic_derivative(z, a, delta):
    _times_a_one_minus_a(a, delta)


def _tanh(z, out):
    np.tanh(z, out=out)


def _standard(z, out):
    np.multiply(z, 0.5, out=out)
    np.tanh(out, out=out)


def _standard_derivative(z, a, delta):
    _times_one_minus_square(a, delta)
    delta *= 0.5


def _arctan(z, out):
    np.arctan(z, out=out)
    out *= 2 / math.pi


def _arctan_derivative(z, a, delta):
    delta /= (1 + z * z) * (math.pi / 2)


def _cauchy_cdf(z, out):
    np.arctan(z, out=out)
    out *= 1 / math.pi
    out += 0.5


def _cauchy_derivative(z, a, delta):
    delta /= (1 + z * z) * math.pi


def _gaussian(z, out):
    np.multiply(z, _ROOT_HALF, out=out)
    erf(out, out=out)


def _gaussian_derivative(z, a, delta):
    delta *= np.exp(-0.5 * z * z) * (2 * _DENSITY)


def _normal_cdf(z, out):
    ndtr(z, out=out)


def _normal_derivative(z, a, delta):
    delta *= np.exp(-0.5 * z * z) * _DENSITY


def _threshold(z, out):
    out[...] = np.where(z > 0, 1.0, -1.0)


def _step(z, out):
    out[...] = z > 0


# Operations on whole arrays are as fast as a compiled double loop, and acceptable without compilation.
@compiled
def _bias_relu(z, bias, out):
    z += bias
    np.maximum(z, 0, out)


@compiled
def _relu_derivative(z, a, delta):
    delta *= a > 0


@compiled
def _times_one_minus_square(a, delta):
    delta -= delta * (a * a)


@compiled
def _times_a_one_minus_a(a, delta):
    delta *= a - a * a


def _tanh_derivative(z, a, delta):
    _times_one_minus_square(a, delta)


ACTIVATIONS = {
    entry.name: entry
    for entry in (
        Activation("identity", _identity, _keep),
        Activation("logistic", _logistic, _logistic_derivative, "standard"),
        Activation("tanh", _tanh, _tanh_derivative),
        Activation("relu", _relu, _relu_derivative),
        Activation("standard", _standard, _standard_derivative, "logistic"),
        Activation("arctan", _arctan, _arctan_derivative, "cauchy_cdf"),
        Activation("cauchy_cdf", _cauchy_cdf, _cauchy_derivative, "arctan"),
        Activation("gaussian", _gaussian, _gaussian_derivative, "normal_cdf"),
        Activation("normal_cdf", _normal_cdf, _normal_derivative, "gaussian"),
        Activation("threshold", _threshold, None, "step"),
        Activation("step", _step, None, "threshold"),
    )
}

TRAINABLE = tuple(name for name, entry in ACTIVATIONS.items() if entry.multiply_derivative is not None)
