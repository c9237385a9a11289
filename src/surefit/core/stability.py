"""Bounds on the distance of scores from those of the exact optimum, and the labels that are not certified."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PredictionStability:
    """Scores with a proved bound on their distance from the scores of the exact optimum, one per row.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.stability import PredictionStability
    >>> stability = PredictionStability(scores=np.array([0.5, -0.01, 2.0]), bounds=np.array([0.1, 0.1, 0.1]))
    >>> stability.labels_at_risk()
    array([False,  True, False])
    """

    scores: np.ndarray
    bounds: np.ndarray

    def labels_at_risk(self, threshold: float = 0.0) -> np.ndarray:
        """Return a mask of the rows whose score could be on the other side of ``threshold`` at the exact optimum."""
        return np.abs(self.scores - threshold) <= self.bounds

    def count_at_risk(self, threshold: float = 0.0) -> int:
        """Return the number of labels that could differ at the exact optimum."""
        return int(self.labels_at_risk(threshold).sum())

    @property
    def largest(self) -> float:
        """Largest bound over all rows."""
        return float(np.max(self.bounds, initial=0.0))
