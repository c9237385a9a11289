"""Common parts of bases: validation, names, and a certificate that states whether the map depends on the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import check_params, read_data
from surefit.problems import pose


class BasisMixin(CertifiedMixin, TransformerMixin):
    """Mixin with ``fit``, ``transform`` and names; a basis defines its fitted attributes, features and names."""

    n_features_in_: int

    def fit(self, X, y=None):
        """Read the number of columns, and compute data-dependent parameters; return the transformer."""
        check_params(self)
        X = read_data(self, X, dtype=np.float64)
        self._place(X)
        self.n_output_features_ = len(self._names([f"x{j}" for j in range(X.shape[1])]))
        self._issue(
            "C",
            [Claim(name) for name in self._claimed],
            problem=pose(self, X),
            model=(*self._numbers, "n_output_features_"),
            sample=(X, None, None),
        )
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column per feature."""
        check_is_fitted(self)
        return self._features(read_data(self, X, reset=False, dtype=np.float64))

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features, derived from those of the columns."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        elif len(input_features) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_}).")
        return np.array(self._names(list(input_features)), dtype=object)

    def _place(self, X: np.ndarray) -> None:
        """Set the fitted attributes of the map from the parameters and, if these depend on the data, from the rows."""

    _numbers: tuple[str, ...] = ()  # fitted attributes that define the map
    _claimed: tuple[str, ...] = ("bases.map",)
    _features: Any  # (X) -> array of features
    _names: Any  # (names of columns) -> names of features
