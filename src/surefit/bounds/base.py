"""Result types of bounds: value, object, assumptions, and whether the bound is vacuous."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefit.core.assumptions import confidence_text
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, Rule

#: Relative step by which a bound is moved outward. Roots are found to 14 digits, so that the bound stays on the safe side.
ROUND_OUT = 5e-13

DELTA = Rule("a number > 0 and < 1", lambda v: isinstance(v, (int, float, np.number)) and bool(0 < v < 1))


@dataclass(frozen=True)
class RiskBound:
    """An upper bound on a risk that holds with probability at least ``1 - delta``.

    Parameters
    ----------
    name : str
        Name of the theorem; ``surefit.checks.bounds`` confirms its arithmetic.
    value : float
        The bound, clipped at the largest value that the risk can have.
    delta : float
        Probability with which the statement may fail.
    about : str
        The model whose risk is bounded.
    assumptions : tuple of str
        Assumptions on the data.
    inputs : dict
        The numbers from which the bound was computed; the checker starts from these.
    terms : dict
        The terms of the bound, before clipping.
    ceiling : float
        A bound at or above this value is vacuous (1 for an error rate, or the error of the majority class).
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
        """``1 - delta``; rounds to 1 for a tiny delta (use ``delta`` itself then)."""
        return 1.0 - self.delta

    @property
    def vacuous(self) -> bool:
        """Whether the bound is vacuous: not below the risk of the trivial model."""
        return not self.value < self.ceiling

    @property
    def statement(self) -> str:
        """The bound as one sentence."""
        tail = f", which is vacuous (not below {self.ceiling:.4g})" if self.vacuous else ""
        limit = f"{self.value:.4g}"
        if float(limit) >= self.ceiling > self.value:  # avoid printing a value that rounds up to the ceiling
            limit = f"{self.ceiling:.4g} - {self.ceiling - self.value:.2g}"
        return (
            f"{self.about} <= {limit} with confidence {confidence_text(self.delta)}{tail} "
            f"(assumes {', '.join(self.assumptions)})"
        )

    def compared_with(self, trivial: float) -> RiskBound:
        """Return the same bound, marked as vacuous unless it is below ``trivial`` (e.g. the majority-class error)."""
        return replace(self, ceiling=min(self.ceiling, float(trivial)))

    def __repr__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Deviation:
    """Inequality ``P(deviation > radius) <= delta`` for ``n`` rows; two of the three numbers determine the third.

    ``sides`` is 2 if the deviation is an absolute value. ``width`` is the largest possible deviation: a radius of that size, or a
    ``delta`` of one, is vacuous. ``of_a_risk`` is False if the deviation is not between a risk and its estimate; then ``.risk()`` raises
    an error.

    Examples
    --------
    >>> from surefit.bounds import hoeffding
    >>> deviation = hoeffding(n=1000, delta=0.05)
    >>> round(deviation.radius, 4), deviation.sides, deviation.assumptions
    (0.0429, 2, ('independent', 'range_declared'))
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
        """Probability that the radius is exceeded, at most one."""
        return math.exp(min(0.0, self.log_delta))

    @property
    def confidence(self) -> float:
        """``1 - delta``."""
        return -math.expm1(min(0.0, self.log_delta))

    @property
    def vacuous(self) -> bool:
        """Whether the inequality is vacuous."""
        return not (self.radius < self.width and self.log_delta < 0)

    @property
    def statement(self) -> str:
        """The inequality as one sentence."""
        tail = ", which is vacuous" if self.vacuous else ""
        return (
            f"{self.about} <= {self.radius:.4g} for n = {self.n} with confidence {confidence_text(self.delta)}{tail} "
            f"(assumes {', '.join(self.assumptions)})"
        )

    def risk(self, empirical: float, about: str = "risk of the model") -> RiskBound:
        """Return the empirical risk plus the radius: an upper bound on the risk with the same confidence."""
        if not self.of_a_risk:
            raise InvalidParameter(self.name, "risk", "called on a bound on a mean loss", self.about)
        if not 0 <= empirical <= self.width:
            raise InvalidParameter(self.name, "empirical", f"a number from 0 to {self.width:g}", empirical)
        # A statement about one average needs rows that the model did not see; a statement about a whole class does not.
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
        """Return the bound on the excess risk of the empirical risk minimizer, 2 radius, that a two-sided uniform deviation implies."""
        if self.sides != 2:
            raise InvalidParameter(self.name, "sides", "2 for a statement about the excess risk", self.sides)
        about = "risk of the empirical risk minimizer above the best of its class"
        return replace(self, name=f"{self.name}_excess", radius=2 * self.radius, about=about)

    def __repr__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class NoBound:
    """Result if no theorem gives a bound; it states the reason.

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
        """The reason as one sentence."""
        return f"no bound: {self.reason}"

    def risk(self, empirical: float, about: str = "risk of the model") -> NoBound:
        """Return this object, because no risk is bounded."""
        return self

    def __repr__(self) -> str:
        return self.statement


def check_delta(who: str, delta: float) -> None:
    """Raise ``InvalidParameter`` if delta is not in (0, 1)."""
    if not DELTA.allows(delta):
        raise InvalidParameter(who, "delta", DELTA.words, delta)


def check_count(who: str, errors: int, n: int) -> None:
    """Raise ``InvalidParameter`` unless ``0 <= errors <= n`` and ``n >= 1``."""
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if not (errors == 0 or COUNT.allows(errors)) or errors > n:
        raise InvalidParameter(who, "errors", f"an integer from 0 to n = {n}", errors)


def read_losses(who: str, losses: Any, name: str = "losses") -> np.ndarray:
    """Return losses as a vector of floats in [0, 1]; raise ``InvalidData`` at the first entry outside."""
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
