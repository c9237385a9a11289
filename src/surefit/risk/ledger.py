"""Account of the failure probability: every statement uses a share of delta, and the shares never exceed the total."""

from __future__ import annotations

import math

from surefit.bounds.base import DELTA
from surefit.core.errors import InvalidParameter, SurefitError

#: Rule for a confidence or a coverage.
SHARE = DELTA


class DeltaLedger:
    r"""Account of a failure probability :math:`\delta` = 1 - ``confidence``, divided into shares.

    Guarantee: all statements made with shares of one ledger hold jointly with probability at least ``confidence`` (union bound; theory:
    :ref:`concentration`). The j-th use of the same hold-out rows gets :math:`6 \delta / (\pi j)^2`, so that the number of uses need not
    be fixed in advance.

    Parameters
    ----------
    confidence : float, default=0.95
        Joint confidence of all statements made with this ledger.

    Attributes
    ----------
    entries : list of (str, float)
        Purpose and size of each share.

    Examples
    --------
    >>> from surefit import DeltaLedger
    >>> ledger = DeltaLedger(confidence=0.9)
    >>> round(ledger.look("first model"), 4), round(ledger.look("second model"), 4)
    (0.0608, 0.0152)
    >>> round(ledger.left, 4)
    0.024
    """

    def __init__(self, confidence: float = 0.95):
        if not SHARE.allows(confidence):
            raise InvalidParameter("DeltaLedger", "confidence", SHARE.words, confidence)
        self.confidence = confidence
        self.entries: list[tuple[str, float]] = []

    @property
    def delta(self) -> float:
        """The total failure probability."""
        return 1.0 - self.confidence

    @property
    def left(self) -> float:
        """The remaining failure probability."""
        return self.delta - math.fsum(share for _, share in self.entries)

    def spend(self, what: str, share: float) -> float:
        """Reserve ``share`` of delta for the statement ``what`` and return it."""
        if not 0 < share <= self.left * (1 + 1e-12):
            raise SurefitError(
                f"DeltaLedger: {share:.3g} cannot be spent on {what!r}; {max(self.left, 0.0):.3g} of {self.delta:.3g} is left. "
                "Collect new rows, or start a ledger with a smaller confidence before using the rows."
            )
        self.entries.append((what, share))
        return share

    def look(self, what: str) -> float:
        """Reserve the share of delta for the next use of the same rows and return it."""
        return self.spend(what, 6.0 * self.delta / (math.pi * (len(self.entries) + 1)) ** 2)

    def __repr__(self) -> str:
        return f"DeltaLedger(confidence={self.confidence:g}, {len(self.entries)} statements, {self.left:.3g} left)"
