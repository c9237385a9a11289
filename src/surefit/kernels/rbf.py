"""Gaussian kernel, parametrized by gamma (support vector machines) or by a length scale (Gaussian processes)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidParameter
from surefit.core.threads import blocks, map_parts
from surefit.core.validation import BOUNDS, NOTHING, POSITIVE
from surefit.kernels.base import Kernel
from surefit.kernels.expansions.eigenpairs import Eigenpairs, check_count, gaussian_eigenpairs
from surefit.kernels.hyperparameters import Hyperparameter
from surefit.kernels.rows import GramRows
from surefit.kernels.strings.lengths import LENGTHS, by_length, in_units
from surefit.kernels.vectors import TILE, dense, from_center, negative_half_squares, products, square_norms


class RBF(Kernel):
    r"""Gaussian kernel :math:`k(x, x') = \exp(-\gamma \|x - x'\|^2) = \exp(-\|x - x'\|^2 / (2 \ell^2))`.

    Pass ``gamma`` or ``length_scale``; :math:`2 \gamma \ell^2 = 1`. Other texts write :math:`\exp(-\|x - x'\|^2 / \sigma^2)`
    (:math:`\gamma = 1/\sigma^2`), :math:`\exp(-\beta \|x - x'\|^2 / 2)` (:math:`\gamma = \beta / 2`), :math:`\exp(-\|x - x'\|^2 / c)`
    (:math:`\gamma = 1/c`), or :math:`\exp(-\|x - x'\|^2 / (2 \ell))` (pass ``length_scale=sqrt(l)``). With one length scale per column,
    each column has its own weight.

    Guarantee: strictly positive definite on distinct points (theory: :ref:`mercer`); the diagonal of k(X) is exactly one.

    Parameters
    ----------
    length_scale : float > 0, array of one per column, or None, default=None
        Distance at which the kernel has decreased to 0.61; None: 1, or the value that corresponds to ``gamma``.
    length_scale_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range of a Gaussian process for the length scale. With ``gamma``, the corresponding range of gamma is used.
    gamma : float > 0 or None, default=None
        Factor of the squared distance, instead of ``length_scale``.

    Examples
    --------
    >>> from surefit.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> bool((RBF(gamma=0.5)([[0.0], [3.0]]) == RBF(length_scale=1.0)([[0.0], [3.0]])).all())
    True
    """

    stationary = True
    _rules = {"length_scale": NOTHING | LENGTHS, "length_scale_bounds": BOUNDS, "gamma": NOTHING | POSITIVE}

    def __init__(self, length_scale=None, length_scale_bounds=(1e-5, 1e5), *, gamma=None) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.gamma = gamma

    def require_valid(self) -> None:
        """Raise ``InvalidParameter`` if a length scale or gamma is not positive, or if both are given."""
        super().require_valid()
        if self.gamma is not None and self.length_scale is not None:
            raise InvalidParameter("RBF", "gamma", "None if length_scale is given (2 gamma length_scale^2 = 1)", self)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether gamma, if given, is positive."""
        return self.gamma is None or self.gamma > 0

    @property
    def lengths(self) -> np.ndarray:
        """The length scales, as a zero-dimensional array or with one entry per column."""
        if self.gamma is None:
            return np.asarray(1.0 if self.length_scale is None else self.length_scale, dtype=np.float64)
        return np.asarray(1.0 / np.sqrt(2.0 * self.gamma))

    def _own_units(self, A):
        """Return the sample divided by its length scales if there is one per column; a common length scale is applied at the end."""
        return in_units("RBF", A, self.lengths) if self.lengths.ndim else A

    @property
    def _factor(self) -> float:
        """The factor of half the squared distance in units of :meth:`_own_units`."""
        if self.gamma is not None:
            return 2.0 * self.gamma
        return 1.0 if self.lengths.ndim else float(1.0 / self.lengths**2)

    def _finish(self, tile: np.ndarray) -> None:
        """Convert -|x - y|^2 / 2 to kernel values."""
        if self.lengths.ndim == 0:
            tile *= tile.dtype.type(self._factor)
        np.exp(tile, out=tile)

    def _prepared(self, A, dtype):
        return RBFRows(self, A, dtype)

    def _gram(self, A, B):
        A, B = from_center(A, B)
        same = A is B
        B = self._own_units(B)
        A = B if same else self._own_units(A)
        values = products(A, B)
        b = (square_norms(B) / 2).astype(values.dtype)
        negative_half_squares(values, b if same else (square_norms(A) / 2).astype(values.dtype), b, self._finish)
        return values

    def combined(self, Z, support, support_vectors, coefficients):
        """Return the sums in tiles that stay in the cache; with two additional columns, a product is minus half the squared distances."""
        sums = np.empty((Z.shape[0], coefficients.shape[1]))
        if sparse.issparse(Z) or sparse.issparse(support_vectors) or len(sums) * len(support) < TILE:
            return super().combined(Z, support, support_vectors, coefficients)
        A, B = (self._own_units(each) for each in from_center(self.read(Z), self.read(support_vectors)))
        left = np.column_stack([A, -0.5 * square_norms(A), np.ones(len(A))])
        left *= self._factor
        columns = np.vstack([B.T, np.ones(len(B)), -0.5 * square_norms(B)])
        step = max(1, 2 * TILE // len(B))
        tile = np.empty((step, len(B)))
        for start, stop in blocks(len(A), step):
            values = np.matmul(left[start:stop], columns, out=tile[: stop - start])
            sums[start:stop] = np.exp(values, out=values) @ coefficients
        return sums if np.isfinite(sums).all() else super().combined(Z, support, support_vectors, coefficients)

    def _diagonal(self, A):
        return np.ones(A.shape[0])

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The length scales, or gamma."""
        if self.gamma is None:
            return RBF(self.lengths[()], self.length_scale_bounds)._own("length_scale")
        (length,) = RBF(1.0, self.length_scale_bounds)._own("length_scale")
        return (Hyperparameter("gamma", float(self.gamma), 0.5 / length.high**2, 0.5 / length.low**2, length.fixed),)

    def eigenpairs(self, count: int, scale: float = 1.0) -> Eigenpairs:
        """Return the eigenpairs for one column under a normal distribution with standard deviation ``scale`` (Hermite functions)."""
        if self.lengths.size != 1:
            raise InvalidParameter(
                "RBF", "length_scale", "a single number (eigenpairs exist for one column only)", self
            )
        if not POSITIVE.allows(scale):
            raise InvalidParameter("RBF", "scale", POSITIVE.words, scale)
        return gaussian_eigenpairs(float(self.lengths.ravel()[0]), float(scale), check_count("RBF", count))

    def _derivatives(self, A, K):
        if self.lengths.ndim == 0:
            sign = 1.0 if self.gamma is not None else -2.0  # k = exp(-s): d k / d log gamma = -s k = k log k
            return [lambda: sign * _times_log(K)]
        Z = self._own_units(dense(A))
        return by_length(K, Z, self.lengths)


class RBFRows(GramRows):
    """Rows of a Gaussian Gram matrix, computed by one matrix product and an exponential in place."""

    def __init__(self, kernel: RBF, A, dtype=np.float64):
        self.kernel, self.dtype, self.sample = kernel, np.dtype(dtype), A
        self.n, self.diagonal = A.shape[0], np.ones(A.shape[0])
        near = kernel._own_units(from_center(A, A)[1])
        self.A = near.astype(self.dtype, copy=False)
        self.halves = (square_norms(self.A) / 2).astype(self.dtype)

    def _values(self, indices):
        values = products(self.A[indices], self.A)
        negative_half_squares(values, self.halves[indices], self.halves, self.kernel._finish)
        return values


def _times_log(K: np.ndarray) -> np.ndarray:
    """Return ``K log K``, zero where K is zero."""
    values = np.empty_like(K)

    def part(start: int, stop: int) -> None:
        some, logs = K[start:stop], values[start:stop]
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(some, out=logs)
            logs *= some
        logs[some == 0.0] = 0.0

    map_parts(part, K.shape, 1)
    return values
