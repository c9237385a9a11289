"""Paired comparison of two models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Paired difference of the mean losses of two models.

    ``difference`` is the mean loss of the first model minus that of the second. ``interval`` covers the difference of
    the fold models' mean risks with the stated confidence. ``p_value`` (Student's test with the variance corrected for
    overlapping training sets) is an estimate.
    """

    first: str
    second: str
    difference: float
    standard_error: float
    p_value: float
    interval: tuple[float, float]
    confidence: float

    @property
    def decided(self) -> bool:
        """Whether the interval excludes zero: one model is proved to be better on average."""
        return self.interval[0] > 0 or self.interval[1] < 0

    def __repr__(self) -> str:
        low, high = self.interval
        word = "decided" if self.decided else "undecided"
        return (
            f"{self.first} - {self.second}: {self.difference:+.4g} in [{low:.4g}, {high:.4g}] with confidence "
            f"{self.confidence:g} ({word}); estimated p-value {self.p_value:.3g}"
        )
