"""Composable kernel objects; the user guide describes the use of each.

``k(X, Y)`` returns kernel values, ``k.rows(X)`` returns blocks of rows for solvers, and ``k.gram_and_gradient(X)``
returns derivatives for Gaussian processes.
"""

from surefit.kernels.algebra import Power, Product, Scaled, Sum
from surefit.kernels.base import Kernel
from surefit.kernels.brownian import IntegratedBrownian, Min
from surefit.kernels.closure import Exponential, Normalized, PolynomialOf, Warped
from surefit.kernels.constant import Constant, Noise
from surefit.kernels.diffusion import Diffusion
from surefit.kernels.distances import kernel_distances
from surefit.kernels.expansions.eigenpairs import Eigenpairs
from surefit.kernels.expansions.gaussian import (
    gaussian_density_feature,
    gaussian_density_product,
    gaussian_features,
    gaussian_features_error,
)
from surefit.kernels.expansions.karhunen_loeve import brownian_truncation_bound, karhunen_loeve, norm_tail_bound
from surefit.kernels.expansions.mercer import draw_functions, empirical_features, mercer
from surefit.kernels.function import Function
from surefit.kernels.hyperparameters import Hyperparameter
from surefit.kernels.laplacian import Laplacian
from surefit.kernels.linear import DotProduct, Linear
from surefit.kernels.matern import Matern
from surefit.kernels.periodic import Periodic
from surefit.kernels.polynomial import Polynomial
from surefit.kernels.precomputed import Precomputed
from surefit.kernels.rational_quadratic import RationalQuadratic
from surefit.kernels.rbf import RBF
from surefit.kernels.resolve import gamma_of, resolve
from surefit.kernels.rkhs import RKHSFunction
from surefit.kernels.rows import GramRows
from surefit.kernels.sigmoid import Sigmoid
from surefit.kernels.strings.common_words import CommonWords
from surefit.kernels.strings.subsequence import StringSubsequence
from surefit.kernels.untranslated import Untranslated

__all__ = [
    "RBF",
    "CommonWords",
    "Constant",
    "Diffusion",
    "DotProduct",
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
    "Normalized",
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
    "Untranslated",
    "Warped",
    "brownian_truncation_bound",
    "draw_functions",
    "empirical_features",
    "gamma_of",
    "gaussian_density_feature",
    "gaussian_density_product",
    "gaussian_features",
    "gaussian_features_error",
    "karhunen_loeve",
    "kernel_distances",
    "mercer",
    "norm_tail_bound",
    "resolve",
]
