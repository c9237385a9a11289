"""The account of delta: every statement that may fail spends a share, and the shares never exceed the whole."""

from __future__ import annotations

import math

from surefit.bounds.base import DELTA
from surefit.core.errors import InvalidParameter, SurefitError

#: What a confidence or a coverage may be.
SHARE = DELTA


class DeltaLedger:
    r"""Account of a failure probability :math:`\delta` = 1 - ``confidence``, spent in shares.

    Guarantee: all statements made with shares of one ledger hold together with probability at least ``confidence`` (union
    bound; theory: :ref:`concentration`). The j-th look at the same hold-out rows spends :math:`6 \delta / (\pi j)^2`,
    so that any number of looks can be afforded without fixing it beforehand.

    Parameters
    ----------
    confidence : float, default=0.95
        Probability with which everything bought from this ledger is to hold together.

    Attributes
    ----------
    entries : list of (str, float)
        What each share was spent on.

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
        """The whole."""
        return 1.0 - self.confidence

    @property
    def left(self) -> float:
        """What has not been spent."""
        return self.delta - math.fsum(share for _, share in self.entries)

    def spend(self, what: str, share: float) -> float:
        """Spend ``share`` on the statement ``what``; returns the share."""
        if not 0 < share <= self.left * (1 + 1e-12):
            raise SurefitError(
                f"DeltaLedger: {share:.3g} cannot be spent on {what!r}; {max(self.left, 0.0):.3g} of {self.delta:.3g} is left. "
                "Collect fresh rows, or open a ledger with a smaller confidence before looking."
            )
        self.entries.append((what, share))
        return share

    def look(self, what: str) -> float:
        """Spend the share of the next look at the same rows; returns it."""
        return self.spend(what, 6.0 * self.delta / (math.pi * (len(self.entries) + 1)) ** 2)

    def __repr__(self) -> str:
        return f"DeltaLedger(confidence={self.confidence:g}, {len(self.entries)} statements, {self.left:.3g} left)"
