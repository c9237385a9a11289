"""A curve of training and test errors, with a verdict: underfits, fits, overfits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from surefit.core import tables
from surefit.risk.losses import Loss


@dataclass(frozen=True)
class Curve:
    """Training and test error along a path of models or of sample sizes.

    ``kind`` is ``"complexity"`` (simple models first) or ``"learning"``; ``x`` are the values of ``name``; ``train`` and ``test`` are
    mean losses; ``uncertainty`` is twice the standard error of the test loss, an estimate. ``values`` is the tuple that
    scikit-learn's function of the same name returns. A curve unpacks to it: ``sizes, train_scores, test_scores =
    learning_curve(...)``.
    """

    kind: str
    name: str
    x: tuple
    train: np.ndarray
    test: np.ndarray
    uncertainty: np.ndarray
    loss: Loss
    values: tuple = ()

    @property
    def gaps(self) -> np.ndarray:
        """Test error minus training error."""
        return self.test - self.train

    @property
    def best(self) -> int:
        """Index of the smallest test error; ties are resolved in favor of the first."""
        return int(np.argmin(self.test))

    @property
    def chosen(self) -> int:
        """First index within one standard error of the smallest test error (one-standard-error rule)."""
        return int(np.flatnonzero(self.test <= self.test[self.best] + self.uncertainty[self.best] / 2)[0])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Verdict for each value of ``x``.

        Complexity: ``underfits`` if a richer model has a smaller training error and a test error smaller by more than the uncertainty;
        ``overfits`` if the test error exceeds the training error by more than the uncertainty (of this model or of the
        best model, whichever is smaller) and a simpler model is not worse; otherwise ``fits``. Learning: ``overfits``
        if the gap exceeds the same uncertainty, otherwise ``settled``.
        """
        return tuple(self._verdict(k) for k in range(len(self.x)))

    def _verdict(self, k: int) -> str:
        # An unstable model also has a large uncertainty, which must not hide overfitting.
        gap = self.gaps[k] > min(self.uncertainty[k], self.uncertainty[self.best])
        if self.kind == "learning":
            return "overfits" if gap else "settled"
        richer = (self.train[k + 1 :] < self.train[k]) & (self.test[k + 1 :] < self.test[k] - self.uncertainty[k])
        if np.any(richer):
            return "underfits"
        return "overfits" if gap and np.any(self.test[:k] <= self.test[k]) else "fits"

    @property
    def sentence(self) -> str:
        """Return a summary of the curve in one sentence."""
        if self.kind == "learning":
            gap = f"The gap between training and test error at {self.x[-1]} rows is {self.gaps[-1]:.3g}"
            if self.verdicts[-1] == "overfits":
                return f"{gap}, more than the uncertainty of {self.uncertainty[-1]:.2g}: more rows, or a simpler model, should help."
            return f"{gap}, within the uncertainty of {self.uncertainty[-1]:.2g}: a richer model may help more than additional rows."
        words = [f"{self.name} = {self.x[k]} {verdict}" for k, verdict in enumerate(self.verdicts) if verdict != "fits"]
        end = "; ".join(words) if words else "no value under- or overfits beyond the uncertainty"
        best, chosen = self.x[self.best], self.x[self.chosen]
        return f"The smallest test error is at {self.name} = {best}, the simplest within one standard error is {chosen}; {end}."

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.values)

    def __getitem__(self, place: int) -> np.ndarray:
        return self.values[place]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        marks = [
            ", ".join(word for word, place in (("best", self.best), ("chosen", self.chosen)) if place == k)
            for k in range(len(self.x))
        ]
        rows: list[tuple[str, ...]] = [
            (str(x), f"{a:.4g}", f"{b:.4g}", f"{u:.2g}", verdict, mark)
            for x, a, b, u, verdict, mark in zip(
                self.x, self.train, self.test, self.uncertainty, self.verdicts, marks, strict=True
            )
        ]
        header = (self.name, "train", "test", "+-", "verdict", "")
        return tables.text_table(f"{self.kind} curve, {self.loss.words}", header, rows, self.sentence)
