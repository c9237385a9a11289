"""Kernels on a sample: eigenpairs by quadrature, features from the Gram matrix, draws of the Gaussian process."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.kernels.base import Kernel
from surefit.kernels.expansions.eigenpairs import Eigenpairs, check_count


def mercer(kernel: Kernel, X, weights=None, count: int | None = None) -> Eigenpairs:
    r"""Return eigenpairs of a kernel under the measure that puts ``weights`` on the elements of ``X``.

    The eigenvectors of :math:`\sqrt{w_i} k(x_i, x_j) \sqrt{w_j}` give the functions on the sample; elsewhere
    :math:`\phi_j(x) = \lambda_j^{-1} \sum_i w_i k(x, x_i) \phi_j(x_i)`. With the points and weights of a quadrature
    rule, these pairs approach the eigenpairs of the integral operator.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : sample
        The points.
    weights : array of float > 0, optional
        Weights of the points; default 1/n each.
    count : int >= 1, optional
        Number of pairs; by default all pairs whose eigenvalue exceeds the rounding error.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.kernels import Min, mercer
    >>> X = (np.arange(200)[:, None] + 0.5) / 200
    >>> mercer(Min(), X, count=2).values.round(4), Min().eigenpairs(2).values.round(4)
    (array([0.4053, 0.045 ]), array([0.4053, 0.045 ]))
    """
    K = kernel(X)
    n = len(K)
    w = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or not np.all((w > 0) & np.isfinite(w)):
        raise InvalidData(f"mercer: weights must be {n} finite numbers > 0, one per element; got {weights!r}.")
    roots = np.sqrt(w)
    values, V = np.linalg.eigh(roots[:, None] * K * roots)
    values, V = values[::-1], V[:, ::-1]
    known = int(np.sum(values > n * np.finfo(float).eps * max(values[0], 0.0)))
    m = known if count is None else min(check_count("mercer", count), known)
    values, coefficients = values[:m], roots[:, None] * V[:, :m] / values[:m]
    return Eigenpairs(values, lambda Z: kernel(Z, X) @ coefficients)


def empirical_features(kernel: Kernel, X) -> np.ndarray:
    r"""Return features with :math:`\Phi \Phi^\top = k(X)`, one row per element; on a sample, every kernel has finitely many features.

    Negative eigenvalues, which are rounding errors for a positive semidefinite kernel, are set to zero.

    Examples
    --------
    >>> from surefit.kernels import RBF, empirical_features
    >>> F = empirical_features(RBF(), [[0.0], [1.0]])
    >>> (F @ F.T).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    values, V = np.linalg.eigh(kernel(X))
    return V[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))


def draw_functions(kernel: Kernel, X, size: int = 1, random_state=None) -> np.ndarray:
    r"""Draw from the centered Gaussian process with this covariance at the elements of ``X``.

    Return an array of shape (size, n). With :class:`Min`, the draws are paths of Brownian motion; with
    :class:`IntegratedBrownian`, they are paths of its integral. The draws do not belong to the RKHS of the kernel:
    their norm grows without bound with the number of points.

    Examples
    --------
    >>> from surefit.kernels import Min, draw_functions
    >>> draw_functions(Min(), [[0.0], [0.5], [1.0]], random_state=0)[:, 0]
    array([0.])
    """
    F = empirical_features(kernel, X)
    rng = random_state if isinstance(random_state, np.random.Generator) else np.random.default_rng(random_state)
    return rng.standard_normal((check_count("draw_functions", size), F.shape[1])) @ F.T + 0.0
