"""Claim: the numbers of one statement about a fitted model. Its text comes from the catalog."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.core import catalog
from surefit.core.catalog import Entry
from surefit.core.text import agreeing


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of a certificate, as data.

    The sentence, the kind, the assumptions and the verdict are computed from these fields by the catalog entry for ``name``.

    Parameters
    ----------
    name : str
        Dotted name of the catalog entry, for example ``"kernel_ridge.gap"``.
    value : float
        The number that the statement is about. NaN means that the checker inserts the value it proves when the
        certificate is issued.
    limit : float or None
        Bound that was requested for ``value`` (upper, or lower for a lower bound); None if none was requested.
    numbers : dict
        Further numbers of the statement; ``verify`` compares each of them, too.
    witness : dict of str to ndarray
        Arrays from which the claim can be re-derived (a dual point, a Farkas vector, a mistake log).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Lasso
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> claim = Lasso(alpha=1 / 3).fit(X, y).certificate_.claims[0]
    >>> claim.kind, claim.holds
    ('optimality', True)
    """

    name: str
    value: float = math.nan
    limit: float | None = None
    numbers: dict[str, Any] = field(default_factory=dict)
    witness: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def entry(self) -> Entry:
        """The catalog entry for this name."""
        return catalog.entry(self.name)

    @property
    def kind(self) -> str:
        """Kind of the claim, one of ``surefit.core.catalog.KINDS``."""
        return self.entry.kind

    @property
    def statement(self) -> str:
        """The statement as one sentence, with its numbers filled in."""
        return agreeing(self.entry.statement(self))

    @property
    def about(self) -> str:
        """Object that the statement is about."""
        about = self.entry.about
        return about if isinstance(about, str) else about(self)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions about the data under which the claim holds; empty for numerical facts."""
        found = self.entry.assumptions
        return found if isinstance(found, tuple) else found(self)

    @property
    def confidence(self) -> float | None:
        """1 - delta for statistical claims, None for deterministic ones."""
        return 1.0 - self.numbers["delta"] if "delta" in self.numbers else None

    @property
    def holds(self) -> bool | None:
        """Whether ``value`` is within ``limit``; None without a limit."""
        if self.limit is None or self.value != self.value:
            return None
        return bool(self.value >= self.limit if self.entry.side == "lower" else self.value <= self.limit)

    @property
    def slack(self) -> float | None:
        """``limit - value``; negative if the limit is exceeded."""
        return None if self.limit is None else self.limit - self.value

    @property
    def verdict(self) -> str:
        """Short verdict for the table."""
        if self.kind in ("estimate", "no_claim"):
            return self.kind.replace("_", " ")
        if self.limit is None:
            return "stated"
        return {True: "holds", False: "does not hold", None: "undecided"}[self.holds]
