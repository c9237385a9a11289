"""Kernels as composable objects; see the guide for what each is for.

``k(X, Y)`` gives values, ``k.rows(X)`` blocks of rows for solvers, ``k.gram_and_gradient(X)`` slopes for Gaussian processes.
"""

from surefit.kernels.algebra import Power, Product, Scaled, Sum
from surefit.kernels.base import Hyperparameter, Kernel
from surefit.kernels.constant import Constant, Noise
from surefit.kernels.function import Function
from surefit.kernels.laplacian import Laplacian
from surefit.kernels.linear import Linear
from surefit.kernels.matern import Matern
from surefit.kernels.periodic import Periodic
from surefit.kernels.polynomial import Polynomial
from surefit.kernels.precomputed import Precomputed
from surefit.kernels.rational_quadratic import RationalQuadratic
from surefit.kernels.rbf import RBF
from surefit.kernels.resolve import gamma_of, resolve
from surefit.kernels.rows import GramRows
from surefit.kernels.sigmoid import Sigmoid

__all__ = [
    "RBF",
    "Constant",
    "Function",
    "GramRows",
    "Hyperparameter",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Noise",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "gamma_of",
    "resolve",
]
