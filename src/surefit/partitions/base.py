"""What rules on cells share: the partition, its cells and their counts, and what the counts bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import POSITIVE, Rule, check_params, one_of, read_data, read_weights
from surefit.partitions.partitioners import CubicPartition, cell_keys, cell_numbers, fit_partitioner

READ: dict[str, Any] = {"dtype": [np.float64, np.float32]}
SIDE = one_of("auto") | POSITIVE
PARTITIONER = Rule(
    "None, a function of the rows, or an object with fit and one of cells, apply, predict, transform",
    lambda v: v is None or callable(v) or hasattr(v, "fit"),
)


class PartitionBase(CertifiedMixin, BaseEstimator):
    """A rule that is constant on the cells of a partition which did not look at the targets."""

    def _read(self, X, y, sample_weight, **options):
        check_params(self)
        X, y = read_data(self, X, y, **READ, **options)
        weights = read_weights(self, sample_weight, X.shape[0])
        return X, y, weights

    def _partition(self, X, weights) -> np.ndarray:
        """Cut the rows of positive weight into cells; return the weight of each row."""
        taking_part = slice(None) if weights is None else weights > 0
        rows = X[taking_part]
        self.partition_ = fit_partitioner(type(self).__name__, self._partitioner(rows), rows)
        self._known, cells = np.unique(cell_keys(self.partition_, rows), axis=0, return_inverse=True)
        self._training_cells = cells.reshape(-1)
        self.n_cells_ = len(self._known)
        counts = np.ones(X.shape[0]) if weights is None else weights
        self.cell_counts_ = np.bincount(self._training_cells, counts[taking_part], minlength=self.n_cells_)
        return counts[taking_part]

    def _partitioner(self, X) -> Any:
        return self.partitioner if self.partitioner is not None else CubicPartition(_side(self, X))  # type: ignore[attr-defined]

    def apply(self, X) -> np.ndarray:
        """Return the number of each row's cell, -1 where no training row lies."""
        check_is_fitted(self)
        return cell_numbers(self._known, cell_keys(self.partition_, read_data(self, X, reset=False, **READ)))

    def stochastic_error(self, X) -> float:
        r"""Return an estimate, on rows of the same law, of what the counts of the cells bound.

        With :math:`\bar r` the mean target of a cell under the law and targets in [0, 1],
        :math:`E|\hat r - \bar r| \le E[1\{N > 0\} / (2 \sqrt N)] + P(N = 0)`; the right-hand side is averaged over the rows of X,
        which must not be the training rows (theory: :ref:`consistency`).
        """
        cells = self.apply(X)
        counts = np.where(cells < 0, 0.0, self.cell_counts_[np.maximum(cells, 0)])
        return float(np.mean(np.where(counts > 0, 0.5 / np.sqrt(np.maximum(counts, 1e-300)), 1.0)))

    def _certify(self, X, y, weights, claims, **problem) -> None:
        numbers = y.dtype.kind in "biuf"
        self._issue(
            "A",
            claims,
            problem={"cells": self.n_cells_, **problem},
            model=("n_cells_", "cell_counts_"),
            data=data_fingerprint(X, y.astype(np.float64) if numbers else y, weights),
        )


def _side(estimator, X) -> float:
    """Return the side of the cubes: given, or the largest range of a column times n^(-1/(d + 2))."""
    if estimator.side != "auto":
        return float(estimator.side)
    n, d = X.shape
    spread = float(np.max(np.ptp(np.asarray(X, dtype=np.float64), axis=0))) if d else 0.0
    if not np.isfinite(spread):
        raise InvalidData(f"{type(estimator).__name__}: the range of a column overflows; scale the columns of X.")
    return spread * n ** (-1.0 / (d + 2)) if spread > 0 else 1.0
