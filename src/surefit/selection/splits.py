"""Training, development and test split, with a record of the uses of the test rows."""

from __future__ import annotations

import math

import numpy as np
from sklearn.model_selection import train_test_split

from surefit.core.errors import InvalidData, InvalidParameter, SurefitError


class ThreeWaySplit:
    """Three disjoint sets of rows that cover the data; every use of the test rows is recorded.

    Attributes
    ----------
    train, dev : ndarray of int
        Rows for fitting, and rows for choosing hyperparameters.
    n_test : int
        Number of test rows.
    test_uses : list of str
        Purpose of each use of the test rows.
    """

    def __init__(self, train: np.ndarray, dev: np.ndarray, test: np.ndarray):
        self.train, self.dev, self._test = train, dev, test
        self.n_test = len(test)
        self.test_uses: list[str] = []

    def use_test(self, purpose: str) -> np.ndarray:
        """Return the test rows and record the purpose."""
        if not isinstance(purpose, str) or not purpose:
            raise InvalidParameter("ThreeWaySplit", "purpose", "a sentence that states the purpose", purpose)
        self.test_uses.append(purpose)
        return self._test

    def interval(self, losses, *, upper: float, delta: float = 0.05, part: str = "test", candidates: int = 1):
        r"""Return an interval that contains the expected loss with probability at least :math:`1 - \delta`.

        The interval follows from Hoeffding's inequality, for losses from 0 to ``upper`` on rows that did not influence
        any choice: :math:`|\text{mean} - \text{expectation}| \le B \sqrt{\ln(2k / \delta) / (2m)}`. On the development
        rows, k is the number of candidates that were compared; on the test rows, at least the number of uses.
        """
        losses = np.asarray(losses, dtype=np.float64)
        if part not in ("dev", "test"):
            raise InvalidParameter("ThreeWaySplit", "part", "'dev' or 'test'", part)
        if not 0 < delta < 1:
            raise InvalidParameter("ThreeWaySplit", "delta", "a number between 0 and 1", delta)
        if not (isinstance(candidates, (int, np.integer)) and candidates >= 1):
            raise InvalidParameter("ThreeWaySplit", "candidates", "an integer >= 1", candidates)
        rows = self.n_test if part == "test" else len(self.dev)
        if losses.shape != (rows,):
            raise InvalidData(f"ThreeWaySplit: expected one loss per {part} row ({rows}); got shape {losses.shape}.")
        if losses.min() < 0 or losses.max() > upper:
            raise InvalidData(
                f"ThreeWaySplit: losses must lie from 0 to upper={upper:g}; they range from {losses.min():g} to {losses.max():g}. Clip "
                "the loss at a bound declared in advance."
            )
        if part == "test":
            if not self.test_uses:
                raise SurefitError("ThreeWaySplit: the test rows have not been used; get them with use_test(purpose).")
            candidates = max(candidates, len(self.test_uses))
        half_width = upper * math.sqrt(math.log(2 * candidates / delta) / (2 * rows))
        mean = float(losses.mean())
        return max(mean - half_width, 0.0), min(mean + half_width, upper)

    def __repr__(self) -> str:
        times = len(self.test_uses)
        return (
            f"ThreeWaySplit(train={len(self.train)}, dev={len(self.dev)}, test={self.n_test}, test used {times} times)"
        )


def three_way_split(n_rows: int, *, dev=0.2, test=0.2, stratify=None, random_state=None) -> ThreeWaySplit:
    """Split rows into training, development and test rows at random.

    Parameters
    ----------
    n_rows : int >= 3
        Number of rows.
    dev, test : float
        Fractions of the development and test rows, both above 0, together below 1.
    stratify : array of shape (n_rows,) or None, default=None
        Labels by which the split is stratified.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    ThreeWaySplit

    Examples
    --------
    >>> from surefit import three_way_split
    >>> split = three_way_split(100, random_state=0)
    >>> split
    ThreeWaySplit(train=60, dev=20, test=20, test used 0 times)
    >>> len(split.use_test("error of the final model")), split.test_uses
    (20, ['error of the final model'])
    """
    if not (isinstance(n_rows, (int, np.integer)) and n_rows >= 3):
        raise InvalidParameter("three_way_split", "n_rows", "an integer >= 3", n_rows)
    for name, share in (("dev", dev), ("test", test)):
        if not (isinstance(share, (int, float)) and 0 < share < 1):
            raise InvalidParameter("three_way_split", name, "a fraction between 0 and 1", share)
    sizes = [max(1, round(n_rows * share)) for share in (dev, test)]
    if dev + test >= 1 or sum(sizes) >= n_rows:
        raise InvalidParameter("three_way_split", "dev + test", "fractions that leave rows for training", dev + test)
    labels = None if stratify is None else np.asarray(stratify)
    if labels is not None and len(labels) != n_rows:
        raise InvalidData(f"three_way_split: stratify must have one label per row ({n_rows}); got {len(labels)}.")
    rows = np.arange(n_rows)
    rest, held = train_test_split(rows, test_size=sizes[1], stratify=labels, random_state=random_state)
    own = None if labels is None else labels[rest]
    train, chosen = train_test_split(rest, test_size=sizes[0], stratify=own, random_state=random_state)
    return ThreeWaySplit(np.sort(train), np.sort(chosen), np.sort(held))
