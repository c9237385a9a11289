"""What every bound returns: a number, what it is about, what it assumes, and whether it says anything at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, Rule

#: Relative step by which a limit found by root search is moved outwards, so that a checker confirms it in plain floats.
ROUND_OUT = 1e-9

DELTA = Rule("a number > 0 and < 1", lambda v: isinstance(v, (int, float, np.number)) and bool(0 < v < 1))


@dataclass(frozen=True)
class RiskBound:
    """An upper limit of a risk that holds with probability at least ``1 - delta``.

    Parameters
    ----------
    name : str
        Which theorem; ``surefit.checks`` knows how to confirm ``"bounds." + name``.
    value : float
        The limit, clipped at the largest value the risk can have.
    delta : float
        Probability with which the statement may fail.
    about : str
        Whose risk it is.
    assumptions : tuple of str
        What must be true of the world.
    inputs : dict
        The numbers the limit was computed from; the checker starts from these.
    terms : dict
        The parts the limit is made of, before clipping.
    ceiling : float
        At or above this value the statement says nothing (1 for an error rate, or the error of the majority class).
    arrays : dict of str to ndarray
        Evidence that does not fit in ``inputs`` (losses in order, margins, ...).

    Examples
    --------
    >>> from surefit.bounds import holdout
    >>> bound = holdout(errors=12, n=400, delta=0.05)
    >>> bound
    risk of the model that saw none of the test rows <= 0.04815 with confidence 0.95 (assumes iid, rows_untouched)
    >>> bound.vacuous, bound.compared_with(0.04).vacuous
    (False, True)
    """

    name: str
    value: float
    delta: float
    about: str
    assumptions: tuple[str, ...]
    inputs: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, float] = field(default_factory=dict)
    ceiling: float = 1.0
    arrays: dict[str, np.ndarray] = field(default_factory=dict, compare=False)

    @property
    def confidence(self) -> float:
        """``1 - delta``; rounds to 1 for a tiny delta, which ``delta`` itself keeps."""
        return 1.0 - self.delta

    @property
    def vacuous(self) -> bool:
        """Whether the statement says nothing: the limit is not below what is true of the trivial model."""
        return not self.value < self.ceiling

    @property
    def statement(self) -> str:
        """One sentence a reader can quote."""
        tail = f", which is vacuous (not below {self.ceiling:.4g})" if self.vacuous else ""
        limit = f"{self.value:.4g}"
        if float(limit) >= self.ceiling > self.value:  # close to saying nothing is not saying nothing
            limit = f"{self.ceiling:.4g} - {self.ceiling - self.value:.2g}"
        return (
            f"{self.about} <= {limit} with confidence {confidence_text(self.delta)}{tail} "
            f"(assumes {', '.join(self.assumptions)})"
        )

    def compared_with(self, trivial: float) -> RiskBound:
        """Return the same bound, called vacuous unless it beats ``trivial`` (e.g. the majority-class error)."""
        return replace(self, ceiling=min(self.ceiling, float(trivial)))

    def claim(self, limit: float | None = None) -> Claim:
        """Return the bound as a claim of a certificate."""
        return Claim(
            f"bounds.{self.name}",
            "risk_bound",
            self.statement,
            value=self.value,
            limit=limit,
            about=self.about,
            assumptions=self.assumptions,
            confidence=self.confidence,
            numbers={**self.terms, **self.inputs, "delta": self.delta, "ceiling": self.ceiling},
            witness=dict(self.arrays),
        )

    def __repr__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Deviation:
    """An inequality ``P(deviation > radius) <= delta`` for ``n`` rows; two of the three numbers determine the third.

    ``sides`` is 2 when the deviation is an absolute value. ``width`` is the largest deviation there can be: a radius of
    that size, or a ``delta`` of one, says nothing. ``of_a_risk`` is False where the deviation is not between a risk and its
    estimate; then ``.risk()`` refuses.
    """

    name: str
    n: int
    radius: float
    log_delta: float
    about: str
    assumptions: tuple[str, ...]
    sides: int = 1
    width: float = 1.0
    inputs: dict[str, Any] = field(default_factory=dict)
    of_a_risk: bool = True

    @property
    def delta(self) -> float:
        """Probability with which the radius may be exceeded, at most one."""
        return math.exp(min(0.0, self.log_delta))

    @property
    def confidence(self) -> float:
        """``1 - delta``."""
        return -math.expm1(min(0.0, self.log_delta))

    @property
    def vacuous(self) -> bool:
        """Whether the inequality says nothing."""
        return not (self.radius < self.width and self.log_delta < 0)

    @property
    def statement(self) -> str:
        """One sentence a reader can quote."""
        tail = ", which is vacuous" if self.vacuous else ""
        return (
            f"{self.about} <= {self.radius:.4g} for n = {self.n} with confidence {confidence_text(self.delta)}{tail} "
            f"(assumes {', '.join(self.assumptions)})"
        )

    def risk(self, empirical: float, about: str = "risk of the model") -> RiskBound:
        """Add the radius to an empirical risk: the upper limit that holds with the same confidence."""
        if not self.of_a_risk:
            raise InvalidParameter(self.name, "risk", "asked of a bound on a mean loss", self.about)
        if not 0 <= empirical <= self.width:
            raise InvalidParameter(self.name, "empirical", f"a number from 0 to {self.width:g}", empirical)
        # A statement about one average needs rows that the model did not see; one about a whole class does not.
        unseen = () if "class_fixed_a_priori" in self.assumptions else ("rows_untouched",)
        given = {"n": self.n, "empirical": float(empirical), "width": self.width, "sides": self.sides}
        return RiskBound(
            self.name,
            value=min(self.width, (empirical + self.radius) * (1 + ROUND_OUT)),
            delta=self.delta,
            about=about,
            assumptions=(*self.assumptions, *unseen),
            inputs={**self.inputs, **given},
            terms={"empirical": float(empirical), "radius": self.radius},
            ceiling=self.width,
        )

    def erm_excess(self) -> Deviation:
        """Return what a two-sided uniform deviation says of the empirical risk minimiser: excess risk <= 2 radius."""
        if self.sides != 2:
            raise InvalidParameter(self.name, "sides", "2 for a statement about the excess risk", self.sides)
        about = "risk of the empirical risk minimiser above the best of its class"
        return replace(self, name=f"{self.name}_excess", radius=2 * self.radius, about=about)

    def __repr__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class NoBound:
    """The answer where no theorem gives a number; it says why instead of inventing one.

    Examples
    --------
    >>> from surefit.bounds import NoBound
    >>> NoBound("vc", "an infinite VC dimension admits no distribution-free bound")
    no bound: an infinite VC dimension admits no distribution-free bound
    """

    name: str
    reason: str

    vacuous = True

    @property
    def statement(self) -> str:
        """One sentence a reader can quote."""
        return f"no bound: {self.reason}"

    def risk(self, empirical: float, about: str = "risk of the model") -> NoBound:
        """Return itself: nothing follows about any risk."""
        return self

    def claim(self, limit: float | None = None) -> Claim:
        """Return the refusal as a claim that proves nothing and says so."""
        return Claim(f"bounds.{self.name}", "no_claim", self.statement)

    def __repr__(self) -> str:
        return self.statement


def confidence_text(delta: float) -> str:
    """``0.95``, or ``1 - 1e-12`` where the decimals would round to one."""
    return f"{1 - delta:.4g}" if delta >= 1e-3 or delta == 0 else f"1 - {delta:.3g}"


def check_delta(who: str, delta: float) -> None:
    """Refuse a delta outside (0, 1)."""
    if not DELTA.allows(delta):
        raise InvalidParameter(who, "delta", DELTA.words, delta)


def check_count(who: str, errors: int, n: int) -> None:
    """Refuse counts that are not ``0 <= errors <= n``, ``n >= 1``."""
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if not (errors == 0 or COUNT.allows(errors)) or errors > n:
        raise InvalidParameter(who, "errors", f"an integer from 0 to n = {n}", errors)


def read_losses(who: str, losses, name: str = "losses") -> np.ndarray:
    """Return losses as a vector of floats in [0, 1], or say where they are not."""
    vector = np.asarray(losses, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0:
        raise InvalidData(f"{who}: {name} must be a non-empty vector; got shape {vector.shape}.")
    bad = np.flatnonzero(~((vector >= 0) & (vector <= 1)))
    if len(bad):
        raise InvalidData(
            f"{who}: {name} must lie in [0, 1]; entry {bad[0]} is {vector[bad[0]]!r}. "
            "Clip or divide by a range that was declared before the data were seen."
        )
    return vector
