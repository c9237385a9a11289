"""Dense or sparse storage of coefficients; the certificate covers their values in either form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from surefit.core.issuing.state import dense
from surefit.core.threads import rows_times


class SparseCoefMixin:
    """Mixin that adds ``sparsify`` and ``densify``."""

    coef_: Any
    _in_either_form = "coef_"

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a sparse matrix, which saves memory if most coefficients are zero; return the estimator.

        Predictions and the certificate stay valid; ``partial_fit`` and warm starts need :meth:`densify` first.
        """
        check_is_fitted(self)
        if not sparse.issparse(self.coef_):
            self.coef_ = as_sparse(self.coef_)
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` to an array, as returned by ``fit``; return the estimator."""
        check_is_fitted(self)
        self.coef_ = dense(self.coef_)
        return self


def linear_scores(X: Any, coef: Any) -> np.ndarray:
    """Return ``X coef'`` as an array, for dense or sparse ``X`` and ``coef``."""
    if not (sparse.issparse(X) or sparse.issparse(coef)):
        return np.asarray(rows_times(X, coef.T), dtype=np.float64)
    found = X @ (dense(coef) if coef.ndim == 1 else coef).T
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)


def as_sparse(values: np.ndarray) -> Any:
    """Return an array as a sparse matrix in CSR format with the same bits."""
    kept = np.nonzero((values != 0) | np.signbit(values))
    if values.ndim == 1 or get_config().get("sparse_interface") == "sparray":
        return sparse.coo_array((values[kept], kept), shape=values.shape).tocsr()
    return sparse.csr_matrix((values[kept], kept), shape=values.shape)
