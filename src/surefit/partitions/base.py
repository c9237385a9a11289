"""Common parts of partitioning estimators: the partition, its cells and their counts, and a bound from the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.distinct import unique_rows
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import POSITIVE, Rule, check_params, one_of, read_data, read_weights
from surefit.partitions.partitioners import CubicPartition, cell_keys, cell_numbers, fit_partitioner
from surefit.problems import pose
from surefit.problems.partitions import cube_side

READ: dict[str, Any] = {"dtype": [np.float64, np.float32]}
SIDE = one_of("auto") | POSITIVE
PARTITIONER = Rule(
    "None, a function of the rows, or an object with fit and one of cells, apply, predict, transform",
    lambda v: v is None or callable(v) or hasattr(v, "fit"),
)


class PartitionBase(CertifiedMixin, BaseEstimator):
    """Estimator that is constant on the cells of a partition that does not depend on the targets."""

    def _read(self, X, y, sample_weight, **options):
        check_params(self)
        X, y = read_data(self, X, y, **READ, **options)
        weights = read_weights(self, sample_weight, X.shape[0])
        return X, y, weights

    def _partition(self, X, weights) -> np.ndarray:
        """Assign the rows of positive weight to cells; return the weight of each row."""
        taking_part = slice(None) if weights is None else weights > 0
        rows = X[taking_part]
        self.partition_ = fit_partitioner(type(self).__name__, self._partitioner(rows), rows)
        self._known, cells = unique_rows(cell_keys(self.partition_, rows), return_inverse=True)
        self._training_cells = cells.reshape(-1)
        self.n_cells_ = len(self._known)
        counts = np.ones(X.shape[0]) if weights is None else weights
        self.cell_counts_ = np.bincount(self._training_cells, counts[taking_part], minlength=self.n_cells_)
        return counts[taking_part]

    def _partitioner(self, X) -> Any:
        return self.partitioner if self.partitioner is not None else CubicPartition(self._side(X))  # type: ignore[attr-defined]

    def _side(self, X) -> float:
        return cube_side(self.side, X, type(self).__name__)  # type: ignore[attr-defined]

    def apply(self, X) -> np.ndarray:
        """Return the index of the cell of each row; -1 for a cell without training rows."""
        check_is_fitted(self)
        return cell_numbers(self._known, cell_keys(self.partition_, read_data(self, X, reset=False, **READ)))

    def stochastic_error(self, X) -> float:
        r"""Return an estimate of the stochastic error from the counts of the cells, on rows from the same distribution.

        Let :math:`\bar r` be the mean target of a cell under the distribution, with targets in [0, 1]. Then
        :math:`E|\hat r - \bar r| \le E[1\{N > 0\} / (2 \sqrt N)] + P(N = 0)`. The right-hand side is averaged over the
        rows of X, which must not be the training rows (theory: :ref:`consistency`).
        """
        cells = self.apply(X)
        counts = np.where(cells < 0, 0.0, self.cell_counts_[np.maximum(cells, 0)])
        return float(np.mean(np.where(counts > 0, 0.5 / np.sqrt(np.maximum(counts, 1e-300)), 1.0)))

    @property
    def cell_keys_(self) -> np.ndarray:
        """Key of each cell as a row of numbers: the integer coordinates of a cube, or the output of the partitioner."""
        return self._known

    @property
    def side_(self) -> float:
        """Side of the cubes; nan for other partitioners."""
        return float(getattr(self.partition_, "side", np.nan)) if self.partitioner is None else np.nan  # type: ignore[attr-defined]

    def _certify(self, X, y, weights, names: tuple[str, str], *model: str) -> None:
        cells = {} if self.partitioner is None else {"cells": self._training_cells}  # type: ignore[attr-defined]
        read_as = y.astype(np.float64) if y.dtype.kind in "biuf" else y
        self._issue(
            "A",
            [Claim(names[0], witness=cells), Claim(names[1])],
            problem=pose(self, X, read_as, weights, "side_"),
            model=("n_cells_", "cell_counts_", "cell_keys_", "side_", *model),
            sample=(X, read_as, weights),
        )
