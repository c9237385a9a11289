"""What linear regressors share: prediction."""

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.validation import read_data


class LinearRegressorMixin(RegressorMixin):
    """Adds ``predict``, ``sparse_coef_`` and the tag for sparse input."""

    coef_: np.ndarray
    intercept_: float

    def predict(self, X) -> np.ndarray:
        """Return ``X w + b``, one number a row."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        return np.asarray(X @ self.coef_, dtype=np.float64).ravel() + self.intercept_

    @property
    def sparse_coef_(self):
        """The coefficients as a 1 x n_features CSR matrix."""
        return sparse.csr_array(self.coef_.reshape(1, -1))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
