r"""Linear system of a support: :math:`(G_{AA} + B_A)\, d = s`, solved for a sequence of supports.

The factorization of one support is reused for similar supports. If :math:`A` is the factorized support without the columns :math:`R` and
with new columns :math:`N`, the step solves

.. math:: \begin{pmatrix} H & C & E \\ C^\top & D & 0 \\ E^\top & 0 & 0 \end{pmatrix}
          \begin{pmatrix} d \\ d_N \\ \lambda \end{pmatrix} = \begin{pmatrix} s \\ s_N \\ 0 \end{pmatrix},

where :math:`H` is factorized, :math:`C` and :math:`D` are the new columns of the Gram matrix, and :math:`E` contains the unit vectors of
:math:`R`: a triangular solve and a small system instead of a Cholesky factorization.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from surefit.core.jit import compiled

SINGULAR = 1e-13  # squared distance of a column (of length one) from the span of others at which it counts as dependent
RIDGE = 1e-12  # added to a singular Gram matrix
FEW_CHANGES = 1 / 24  # fraction of a support: for more changes, a new factorization is cheaper


class SupportSystem:
    """The last factorization, and solutions for similar supports."""

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """Drop the factorization, because column numbers have changed."""
        self._base = np.empty(0, dtype=np.int64)
        self._factor = np.empty((0, 0))
        self._curvatures = np.empty(0)
        self.singular = True

    def flops(self, support: np.ndarray, curvatures: np.ndarray) -> float:
        """Return the number of floating-point operations of :meth:`solve`."""
        changes = self._count_changes(support, curvatures)
        return len(support) ** 3 / 3 if changes is None else len(self._base) ** 2 * (changes + 4.0)

    def is_near(self, support: np.ndarray, curvatures: np.ndarray) -> bool:
        """Return whether the current factorization can be used for ``support``."""
        return self._count_changes(support, curvatures) is not None

    def _count_changes(self, support: np.ndarray, curvatures: np.ndarray) -> int | None:
        if self.singular or not np.array_equal(self._curvatures, curvatures[self._base]):
            return None
        common = len(np.intersect1d(self._base, support, assume_unique=True))
        changes = len(self._base) + len(support) - 2 * common
        return changes if changes <= FEW_CHANGES * len(self._base) else None

    def solve(self, gram: np.ndarray, support: np.ndarray, curvatures: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the step of ``support`` for right-hand sides ``right``."""
        if self.is_near(support, curvatures):
            step = self._solve_near(gram, support, curvatures, right)
            if step is not None:
                return step
        self._factorize(gram, support, curvatures)
        return lapack.dpotrs(self._factor, right, lower=0)[0]

    def _factorize(self, gram: np.ndarray, support: np.ndarray, curvatures: np.ndarray) -> None:
        for ridge in (0.0, RIDGE, 1e3 * RIDGE):
            block = np.empty((len(support), len(support)))
            _lower_block(gram, support, curvatures[support] + ridge, block)
            factor, failed = lapack.dpotrf(block.T, lower=0, clean=0, overwrite_a=1)
            if not failed and np.min(np.diag(factor)) ** 2 > SINGULAR:
                break
        self._base, self._factor, self._curvatures = support, factor, curvatures[support]
        self.singular = ridge > 0.0

    def _solve_near(self, gram, support, curvatures, right) -> np.ndarray | None:
        full = np.zeros(len(curvatures))
        full[support] = right
        inside = np.zeros(len(curvatures), dtype=bool)
        inside[support] = True
        removed = (~inside[self._base]).nonzero()[0]
        inside[self._base] = False
        added = inside.nonzero()[0]
        n_added, n_changes = len(added), len(added) + len(removed)
        border = np.zeros((len(self._base), n_changes + 1), order="F")
        border[:, :n_added] = gram[np.ix_(added, self._base)].T
        border[removed, n_added + np.arange(len(removed))] = 1.0
        border[:, -1] = full[self._base]
        halved = lapack.dtrtrs(self._factor, border, lower=0, trans=1, overwrite_b=1)[0]
        border, main = halved[:, :-1], halved[:, -1]
        small = -border.T @ border
        own = small[:n_added, :n_added]
        own += gram[np.ix_(added, added)] + np.diag(curvatures[added])
        extra = np.concatenate([full[added], np.zeros(len(removed))]) - border.T @ main
        try:
            if np.min(np.diag(np.linalg.cholesky(own)), initial=1.0) ** 2 <= SINGULAR:
                return None  # a new column depends on the others
            extra = np.linalg.solve(small, extra)
        except np.linalg.LinAlgError:
            return None
        main = lapack.dtrtrs(self._factor, main - border @ extra, lower=0, trans=0)[0]
        full[self._base], full[added] = main, extra[:n_added]
        return full[support]


@compiled
def _lower_block(gram, support, diagonal, block):
    for i in range(len(support)):
        row = gram[support[i]]
        for k in range(i + 1):
            block[i, k] = row[support[k]]
        block[i, i] += diagonal[i]
