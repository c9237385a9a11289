"""Distances in the feature space of a kernel."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels.apart import apart
from surefit.kernels.base import Kernel
from surefit.kernels.resolve import resolve


def kernel_distances(kernel, X, Y=None) -> np.ndarray:
    r"""Return the distances between elements in the feature space of a kernel.

    .. math:: d(x, y) = \|\phi(x) - \phi(y)\| = \sqrt{k(x, x) + k(y, y) - 2 k(x, y)} .

    Guarantee: never NaN, and zero for an element with itself. For kernels on vectors, the square is computed from differences of the
    elements (Gaussian: :math:`-2\,\mathrm{expm1}(-\gamma \|x - y\|^2)`), so the distances of nearby elements are accurate. The same holds
    for sums, products, powers and exponentials of such kernels. Other kernels use the formula, and negative rounding errors become zero
    (theory: :ref:`rkhs`).

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel of ``surefit.kernels``, a name ("rbf", "poly", ... with ``gamma="scale"``), or a function of two samples.
    X : sample
        Elements, one per row (a list for kernels on strings, the square matrix for precomputed values).
    Y : sample or None, default=None
        Other elements; None: the elements of X.

    Returns
    -------
    ndarray of shape (n_X, n_Y)
        Distances.

    Examples
    --------
    >>> from surefit import kernel_distances
    >>> from surefit.kernels import RBF, Min
    >>> kernel_distances(Min(), [[1.0], [5.0]])
    array([[0., 2.],
           [2., 0.]])
    >>> print(kernel_distances(RBF(gamma=0.5), [[0.0]], [[1e-12]]))
    [[1.e-12]]
    """
    kernel = resolve(kernel, gamma="scale", X=X, who="kernel_distances")
    require_features("kernel_distances", kernel)
    A = kernel.read(X)
    if Y is None:
        squares = apart(kernel, A, A).squares
        np.fill_diagonal(squares, 0.0)
        return np.sqrt(squares)
    if kernel.takes == "values":
        raise InvalidParameter(
            "kernel_distances", "Y", "None with precomputed values, which do not contain k(y, y)", type(Y)
        )
    B = kernel.read(Y)
    if kernel.takes == "vectors" and A.shape[1] != B.shape[1]:
        raise InvalidData(
            f"kernel_distances: X and Y must have the same columns; they have {A.shape[1]} and {B.shape[1]}."
        )
    return np.sqrt(apart(kernel, A, B).squares)


def require_features(who: str, kernel: Kernel) -> None:
    """Raise ``InvalidParameter`` if a function is known not to be a kernel, because it has no features."""
    if kernel.positive_semidefinite is False:
        raise InvalidParameter(who, "kernel", "a positive semidefinite kernel (others have no feature space)", kernel)
