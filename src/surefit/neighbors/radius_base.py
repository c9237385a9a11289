"""Common parts of the radius classifier and regressor: the weights of votes, and rows without neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.validation import NON_NEGATIVE
from surefit.neighbors.base import NeighborsBase
from surefit.neighbors.claims import radius_claims
from surefit.neighbors.radius import RadiusMixin, Within


class RadiusNeighborsBase(RadiusMixin, NeighborsBase):
    """Votes of all training rows within a radius."""

    _rules = {
        **{name: rule for name, rule in NeighborsBase._rules.items() if name not in ("n_neighbors", "kernel")},
        "radius": NON_NEGATIVE,
    }
    weights: Any

    def _claims(self) -> list[Claim]:
        return radius_claims(self, self._fit_X)

    def _ballots(self, X) -> tuple[Within, np.ndarray]:
        """Return the rows within the radius of each query, and the weights of their votes."""
        found = self._found(X, None)
        if self.weights in (None, "uniform"):
            return found, np.ones(len(found.indices))
        if self.weights == "distance":
            same = found.distances == 0
            decided = np.bincount(found.queries, same, minlength=len(found.starts) - 1)[found.queries] > 0
            return found, np.where(decided, same, 1.0 / np.where(same, 1.0, found.distances))
        parts = [np.asarray(self.weights(part), dtype=np.float64) for part in found.parts(found.distances)]
        shares = np.concatenate([np.zeros(0), *parts])
        if shares.shape != found.indices.shape:
            raise InvalidData(f"{type(self).__name__}: weights must return one number per distance.")
        return found, shares
