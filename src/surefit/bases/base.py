"""What bases share: reading, names, and a certificate that says whether the map looked at the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import check_params, read_data


class BasisMixin(CertifiedMixin, TransformerMixin):
    """Adds ``fit``, ``transform`` and names; a basis says what it learns from rows, its features and their names."""

    n_features_in_: int

    def fit(self, X, y=None):
        """Read the number of columns, and place what is to be placed by the rows. Returns the transformer."""
        check_params(self)
        X = read_data(self, X, dtype=np.float64)
        looked = self._place(X)
        self.n_output_features_ = len(self._names([f"x{j}" for j in range(X.shape[1])]))
        words = (
            "The map was placed by the training rows: bounds that need a map fixed beforehand hold for other rows only."
            if looked
            else "The map was fixed before the rows were seen; only their number of columns was read."
        )
        self._issue(
            "C",
            [Claim("bases.map", "no_claim", words), *self._extra_claims(X)],
            problem=self._problem(),
            model=("n_output_features_",),
            data=data_fingerprint(X),
        )
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column each."""
        check_is_fitted(self)
        return self._features(read_data(self, X, reset=False, dtype=np.float64))

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features, made of those of the columns."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        elif len(input_features) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_}).")
        return np.array(self._names(list(input_features)), dtype=object)

    def _place(self, X: np.ndarray) -> bool:
        """Learn from the rows; return whether anything but their width was used."""
        return False

    def _extra_claims(self, X: np.ndarray) -> list[Claim]:
        return []

    def _problem(self) -> dict[str, Any]:
        return {}

    _features: Any  # (X) -> array of features
    _names: Any  # (names of columns) -> names of features
