"""Certificates of Nyström fits: gaps over the whole space of the kernel and over the span, proved by a dual point."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.claims import Claim
from surefit.kernel_machines.svm_inputs import Sample
from surefit.problems import pose
from surefit.problems.stated_gap import DualGapMixin


class SubsetGapMixin(DualGapMixin):
    """Mixin that adds the two gaps stated by the certificate."""

    @property
    def subset_gap_(self) -> float:
        """Proved bound on the distance of the objective from its minimum over the span of the landmarks."""
        return self.certificate_["nystroem.gap"].value


def record_subset(estimator: Any, sample: Sample, witness: dict[str, Any], rank: int, solver: str, **run: Any) -> None:
    """Issue the certificate; ``rank`` directions of the span were used.

    The witness is ``dual``, with one column per function, or ``width``: derivatives of the losses at the scores, smoothed over it.
    """
    witness = {name: np.asarray(value) for name, value in {**witness, "rank": rank}.items()}
    estimator._issue(
        "A",
        [Claim("nystroem.exact_gap", witness=witness), Claim("nystroem.distance"), Claim("nystroem.gap")],
        problem=pose(estimator, sample.X, sample.y, sample.sample_weight),
        model=("landmarks_", "dual_coef_", "intercept_"),
        sample=(sample.X, sample.y, sample.sample_weight),
        run={"solver": solver, **run},
    )
