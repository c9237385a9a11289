"""Structural risk minimization: empirical risk plus radius along a nested family, with delta divided among the classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from surefit.bounds.base import Deviation, RiskBound, check_delta
from surefit.bounds.code_length import delta_share
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import one_of

CORRECTIONS = one_of("union", "telescoping", "basel", "none")


@dataclass(frozen=True)
class Structure:
    """Table of a structural risk minimization and its choice (``best``, counted from 0).

    Examples
    --------
    >>> from surefit.bounds import structural_risk, vc
    >>> table = structural_risk([0.40, 0.22, 0.21], lambda k, delta: vc(k + 2, n=100_000, delta=delta))
    >>> table.best, round(table.bound.value, 4)
    (1, 0.3316)
    """

    empirical: tuple[float, ...]
    radii: tuple[float, ...]
    shares: tuple[float, ...]
    best: int
    bound: RiskBound
    correction: str

    @property
    def sums(self) -> tuple[float, ...]:
        """Empirical risk plus radius of each class; the class with the smallest sum is chosen."""
        return tuple(e + r for e, r in zip(self.empirical, self.radii, strict=True))


def structural_risk(
    empirical: Sequence[float],
    deviation_of: Callable[[int, float], Deviation],
    delta: float = 0.05,
    correction: str = "union",
) -> Structure:
    r"""Choose among nested classes by :math:`\hat R(\hat f_k) + \varepsilon_k(\delta_k)`; ties go to the smaller class.

    Guarantee: with :math:`\sum_k \delta_k \le \delta` the bound of the *chosen* class holds with probability at least
    ``1 - delta`` (theory: :ref:`vc-inequality`). ``correction="none"`` gives every class the whole delta, as textbooks
    often do. The bound then holds only for a class that was fixed in advance, which the result states.

    Parameters
    ----------
    empirical : sequence of float
        Empirical risk of the fit in class 0, 1, ...
    deviation_of : callable ``(k, delta) -> Deviation``
        The uniform deviation of class k at confidence ``1 - delta``.
    delta : float in (0, 1)
        Failure probability of the whole table.
    correction : {"union", "telescoping", "basel", "none"}
        Equal shares of delta; shares :math:`1/(k(k+1))`; shares :math:`6/(\pi k)^2`; the whole delta for each.

    Examples
    --------
    >>> from surefit.bounds import finite_class, structural_risk
    >>> table = structural_risk([0.3, 0.1], lambda k, delta: finite_class(10 ** (k + 1), n=500, delta=delta))
    >>> table.best, [round(s, 4) for s in table.sums]
    (1, [0.3818, 0.1948])
    """
    check_delta("structural_risk", delta)
    if not CORRECTIONS.allows(correction):
        raise InvalidParameter("structural_risk", "correction", CORRECTIONS.words, correction)
    if len(empirical) == 0:
        raise InvalidData("structural_risk: empirical must have at least one entry.")
    count = len(empirical)
    shares = [_share(k, count, delta, correction) for k in range(count)]
    deviations = [deviation_of(k, shares[k]) for k in range(count)]
    best = min(range(count), key=lambda k: (empirical[k] + deviations[k].radius, k))
    about = f"risk of the fit chosen from class {best}"
    if correction == "none":
        about += " (if that class had been fixed in advance: no correction for the choice)"
    bound = deviations[best].risk(empirical[best], about)
    bound = replace(bound, delta=delta, inputs={**bound.inputs, "delta_spent": shares[best]})
    radii = tuple(d.radius for d in deviations)
    return Structure(tuple(map(float, empirical)), radii, tuple(shares), best, bound, correction)


def _share(k: int, count: int, delta: float, correction: str) -> float:
    if correction == "none":
        return delta
    return delta / count if correction == "union" else delta_share(k + 1, delta, correction)
