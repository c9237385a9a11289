"""Prediction shared by the linear regressors."""

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.sparse_coef import linear_scores
from surefit.core.validation import read_data


class LinearRegressorMixin(RegressorMixin):
    """Mixin that adds ``predict``, ``sparse_coef_`` and the tag for sparse input."""

    coef_: np.ndarray
    intercept_: float

    def predict(self, X) -> np.ndarray:
        """Return ``X w + b``: one number per row, or one per row and target."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        scores = linear_scores(X, self.coef_)
        return (scores.ravel() if self.coef_.ndim == 1 else scores) + self.intercept_

    @property
    def sparse_coef_(self):
        """The coefficients as a CSR matrix, one row per target."""
        return sparse.csr_array(np.atleast_2d(self.coef_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
