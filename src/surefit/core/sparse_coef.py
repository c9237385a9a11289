"""Coefficients that may be stored as a sparse matrix; the certificate covers their numbers in either form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted


class SparseCoefMixin:
    """Adds ``sparsify`` and ``densify``."""

    coef_: Any

    def sparsify(self) -> Any:
        """Store ``coef_`` as a sparse matrix, which saves memory where most coefficients are zero. Returns the estimator.

        Predictions and the certificate stay valid; ``partial_fit`` and warm starts need :meth:`densify` first.
        """
        check_is_fitted(self)
        if not sparse.issparse(self.coef_):
            self.coef_ = as_sparse(self.coef_)
        return self

    def densify(self) -> Any:
        """Store ``coef_`` as an array, as ``fit`` does. Returns the estimator."""
        check_is_fitted(self)
        self.coef_ = dense(self.coef_)
        return self

    def _covered_form(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the state that the certificate covers: the numbers, not how they are stored."""
        return covered_form(state, "coef_")


def covered_form(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the state of an estimator with the attribute ``name`` as an array."""
    return {**state, name: dense(state[name])} if sparse.issparse(state.get(name)) else state


def dense(values: Any) -> Any:
    """Return a sparse matrix as an array with the same bits (a sum would lose the sign of zero); anything else as it is."""
    if not sparse.issparse(values):
        return values
    pairs = values.tocoo()
    found = np.zeros(pairs.shape, dtype=pairs.dtype)
    found[pairs.coords] = pairs.data
    return found


def linear_scores(X: Any, coef: Any) -> np.ndarray:
    """Return ``X coef'`` as an array, for any storage of both."""
    found = X @ (dense(coef) if coef.ndim == 1 else coef).T
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)


def as_sparse(values: np.ndarray) -> Any:
    """Return an array as a sparse matrix in CSR format with the same bits."""
    kept = np.nonzero((values != 0) | np.signbit(values))
    if values.ndim == 1 or get_config().get("sparse_interface") == "sparray":
        return sparse.coo_array((values[kept], kept), shape=values.shape).tocsr()
    return sparse.csr_matrix((values[kept], kept), shape=values.shape)
