"""Kernels as composable objects; see the guide for what each is for.

``k(X, Y)`` gives values, ``k.rows(X)`` blocks of rows for solvers, ``k.gram_and_gradient(X)`` slopes for Gaussian processes.
"""

from surefit.kernels.algebra import Power, Product, Scaled, Sum
from surefit.kernels.base import Kernel
from surefit.kernels.brownian import IntegratedBrownian, Min
from surefit.kernels.closure import Exponential, Normalised, PolynomialOf, Warped
from surefit.kernels.common_words import CommonWords
from surefit.kernels.constant import Constant, Noise
from surefit.kernels.diffusion import Diffusion
from surefit.kernels.distances import kernel_distances
from surefit.kernels.eigenpairs import Eigenpairs
from surefit.kernels.function import Function
from surefit.kernels.hyperparameters import Hyperparameter
from surefit.kernels.laplacian import Laplacian
from surefit.kernels.linear import Linear
from surefit.kernels.matern import Matern
from surefit.kernels.mercer import draw_functions, empirical_features, mercer
from surefit.kernels.periodic import Periodic
from surefit.kernels.polynomial import Polynomial
from surefit.kernels.precomputed import Precomputed
from surefit.kernels.rational_quadratic import RationalQuadratic
from surefit.kernels.rbf import RBF
from surefit.kernels.resolve import gamma_of, resolve
from surefit.kernels.rkhs import RKHSFunction
from surefit.kernels.rows import GramRows
from surefit.kernels.sigmoid import Sigmoid
from surefit.kernels.string_subsequence import StringSubsequence

__all__ = [
    "RBF",
    "CommonWords",
    "Constant",
    "Diffusion",
    "Eigenpairs",
    "Exponential",
    "Function",
    "GramRows",
    "Hyperparameter",
    "IntegratedBrownian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Min",
    "Noise",
    "Normalised",
    "Periodic",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "RKHSFunction",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "StringSubsequence",
    "Sum",
    "Warped",
    "draw_functions",
    "empirical_features",
    "gamma_of",
    "kernel_distances",
    "mercer",
    "resolve",
]
