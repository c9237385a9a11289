"""Attributes ``dual_gap_`` and ``objective_``, which are read from the certificate."""

from __future__ import annotations

import math
from typing import Any

GAPS = ("gap", "stationarity", "budget")  # suffixes of the names of claims about P - min P


class DualGapMixin:
    """Mixin that adds ``dual_gap_``; ``fit`` sets ``objective_``."""

    certificate_: Any

    @property
    def dual_gap_(self) -> float:
        """Proved bound on the objective minus its minimum, from the certificate; infinite if the certificate states none."""
        claim = self._gap_claim()
        return math.inf if claim is None else float(claim.value)

    def _gap_claim(self) -> Any:
        return next((claim for claim in self.certificate_.claims if claim.name.endswith(GAPS)), None)


class StatedGapMixin(DualGapMixin):
    """Mixin that adds ``dual_gap_`` and ``objective_``, for certificates that state both."""

    @property
    def objective_(self) -> float:
        """Objective of the fit, rounded up, from the certificate."""
        claim = self._gap_claim()
        if claim is None:
            raise AttributeError(f"{type(self).__name__}: objective_ needs a problem that has a minimum.")
        return float(claim.numbers["objective"])
