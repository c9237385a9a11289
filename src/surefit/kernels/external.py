"""Translation of kernels of scikit-learn's Gaussian processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.kernels.algebra import Power, Product, Scaled, Sum
from surefit.kernels.base import Kernel
from surefit.kernels.constant import Constant, Noise
from surefit.kernels.linear import DotProduct, Linear
from surefit.kernels.matern import Matern
from surefit.kernels.periodic import Periodic
from surefit.kernels.rational_quadratic import RationalQuadratic
from surefit.kernels.rbf import RBF
from surefit.kernels.untranslated import Untranslated

HOME = "sklearn.gaussian_process.kernels"


def from_scikit_learn(kernel: Any) -> Kernel | None:
    """Return the equivalent kernel of surefit, or None if the argument is not a kernel of scikit-learn.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> from surefit.kernels import resolve
    >>> resolve(2.0 * RBF(3.0) + WhiteKernel(0.1))
    2.0 * RBF(length_scale=3.0) + Noise(variance=0.1)
    """
    if not any(kind.__module__ == HOME for kind in type(kernel).__mro__):
        return None
    translate = TRANSLATIONS.get(type(kernel).__name__) if type(kernel).__module__ == HOME else None
    return Untranslated(kernel) if translate is None else translate(kernel)


def _product(k) -> Kernel:
    for constant, other in ((k.k1, k.k2), (k.k2, k.k1)):
        if type(constant).__name__ == "ConstantKernel":
            return Scaled(_known(other), float(constant.constant_value), constant.constant_value_bounds)
    return Product(_known(k.k1), _known(k.k2))


def _matern(k) -> Kernel:
    if np.isinf(k.nu):
        return RBF(k.length_scale, k.length_scale_bounds)
    if k.nu not in (0.5, 1.5, 2.5):
        return Untranslated(k)
    return Matern(k.length_scale, k.length_scale_bounds, float(k.nu))


def _dot_product(k) -> Kernel:
    return DotProduct(float(k.sigma_0), k.sigma_0_bounds) if k.sigma_0 > 0 else Linear()


def _known(kernel) -> Kernel:
    translated = from_scikit_learn(kernel)
    if translated is None:
        raise InvalidParameter("resolve", "kernel", "made of scikit-learn's own kernels", kernel)
    return translated


TRANSLATIONS: dict[str, Any] = {
    "RBF": lambda k: RBF(k.length_scale, k.length_scale_bounds),
    "Matern": _matern,
    "RationalQuadratic": lambda k: RationalQuadratic(k.length_scale, k.alpha, k.length_scale_bounds, k.alpha_bounds),
    "ExpSineSquared": lambda k: Periodic(k.length_scale, k.periodicity, k.length_scale_bounds, k.periodicity_bounds),
    "ConstantKernel": lambda k: Constant(float(k.constant_value), k.constant_value_bounds),
    "WhiteKernel": lambda k: Noise(float(k.noise_level), k.noise_level_bounds),
    "DotProduct": _dot_product,
    "Sum": lambda k: Sum(_known(k.k1), _known(k.k2)),
    "Product": _product,
    "Exponentiation": lambda k: Power(_known(k.kernel), int(k.exponent)),
}
