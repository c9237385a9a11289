r"""Margin bounds for linear and kernel classifiers and for votes, with a union bound over the choice of the margin."""

import math
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound, check_delta
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, POSITIVE

STEPS = 12  # number of default thresholds, each half of the previous one


def margin(
    margins: Any, radius: float, delta: float = 0.05, *, thresholds: Any = None, trace: float | None = None
) -> RiskBound:
    r"""Return the risk bound of a classifier of bounded norm from its margins :math:`m_i = y_i f(x_i)` on the training rows.

    .. math:: R(f) \le \frac1n \sum_i \min(1, \max(0, 1 - m_i / \rho)) + \frac{2 r \Lambda}{\rho \sqrt n} +
              \sqrt{\frac{\ln(J/\delta)}{2n}},

    the smallest over J declared thresholds :math:`\rho`. With ``trace`` the second term is
    :math:`2 \Lambda \sqrt{\operatorname{tr} K} / (\rho n)` and the third :math:`3 \sqrt{\ln(2J/\delta) / 2n}`.

    Guarantee: simultaneously for every f with :math:`\|f\| \le \Lambda`, if features, kernel, :math:`r` and :math:`\Lambda` were fixed
    before the rows were seen (theory: :ref:`margin-bound`). If f is divided by its norm, then :math:`\Lambda = 1`, the margins are
    distances, and only :math:`r` with :math:`\|x\| \le r` must be declared. An intercept needs a constant feature.

    Parameters
    ----------
    margins : array of shape (n,)
        :math:`y_i f(x_i)`.
    radius : float > 0
        The product :math:`r \Lambda`, which is the largest possible margin.
    delta : float in (0, 1)
        Failure probability.
    thresholds : array, optional
        Declared values of :math:`\rho`; by default ``radius / 2**j``, j = 0..11.
    trace : float, optional
        :math:`\Lambda^2 \operatorname{tr} K` of the kernel matrix on the rows, for the data-dependent form.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import margin
    >>> bound = margin(np.full(5000, 0.5), radius=1.0)
    >>> round(bound.value, 4), bound.inputs["threshold"]
    (0.08, 0.5)
    """
    m = _margins("margin", margins)
    if not POSITIVE.allows(radius):
        raise InvalidParameter("margin", "radius", POSITIVE.words, radius)
    if trace is not None and not 0 <= trace <= len(m) * radius**2 * (1 + 1e-9):
        raise InvalidParameter("margin", "trace", "a number from 0 to n radius^2", trace)
    capacity = radius / math.sqrt(len(m)) if trace is None else math.sqrt(trace) / len(m)
    grid = _thresholds("margin", thresholds, radius)
    inputs = {"radius": float(radius), "trace": trace}
    assumptions = ("iid", "features_fixed_a_priori", "range_declared")
    about = "risk of the classifier of bounded norm"
    return _best("margin", m, grid, capacity, delta, trace is not None, about, assumptions, inputs)


def vote_margin(margins: Any, n_base: int, delta: float = 0.05, *, thresholds: Any = None) -> RiskBound:
    r"""Return the risk bound of a convex vote over a finite base class of :math:`\pm 1` classifiers from its margins in [-1, 1].

    .. math:: R \le \frac1n \sum_i \min(1, \max(0, 1 - m_i / \rho)) + \frac2\rho \sqrt{\frac{2 \ln N}{n}} +
              \sqrt{\frac{\ln(J/\delta)}{2n}}.

    Guarantee: simultaneously for every convex combination (boosting, bagging), if the N base classifiers were fixed before the rows were
    seen, e.g. stumps on a declared grid (theory: :ref:`margin-bound`).

    Parameters
    ----------
    margins : array of shape (n,) in [-1, 1]
        Label times vote, with weights that sum to one.
    n_base : int
        Size N of the base class (not the number of rounds).
    delta, thresholds
        As for :func:`margin`, with radius 1.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import vote_margin
    >>> vote_margin(np.full(2000, 0.3), n_base=1000).vacuous, round(vote_margin(np.full(200_000, 0.3), 1000).value, 3)
    (False, 0.07)
    """
    m = _margins("vote_margin", margins)
    if np.max(np.abs(m)) > 1 + 1e-9:
        raise InvalidData(
            "vote_margin: margins of a convex vote must lie in [-1, 1]; divide them by the sum of the weights."
        )
    if not COUNT.allows(n_base):
        raise InvalidParameter("vote_margin", "n_base", COUNT.words, n_base)
    capacity = math.sqrt(2 * math.log(n_base) / len(m))
    grid = _thresholds("vote_margin", thresholds, 1.0)
    assumptions = ("iid", "class_fixed_a_priori")
    inputs = {"log_n_base": math.log(n_base)}
    return _best("vote_margin", m, grid, capacity, delta, False, "risk of the convex vote", assumptions, inputs)


def ramp_loss(margins: Any, threshold: float) -> np.ndarray:
    r"""Return the ramp loss :math:`\min(1, \max(0, 1 - m / \rho))`, which is at least the 0-1 loss and :math:`1/\rho`-Lipschitz.

    Examples
    --------
    >>> from surefit.bounds import ramp_loss
    >>> ramp_loss([-1.0, 0.0, 0.25, 2.0], 0.5).tolist()
    [1.0, 1.0, 0.5, 0.0]
    """
    return np.clip(1.0 - np.asarray(margins, dtype=np.float64) / threshold, 0.0, 1.0)


def _best(
    name: Any, m: Any, grid: Any, capacity: Any, delta: Any, measured: Any, about: Any, assumptions: Any, inputs: Any
) -> RiskBound:
    check_delta(name, delta)
    log_term = math.log(len(grid)) - math.log(delta) + (math.log(2) if measured else 0.0)
    confidence = (3 if measured else 1) * math.sqrt(log_term / (2 * len(m)))

    def parts(rho: float) -> tuple[float, float]:
        return math.fsum(ramp_loss(m, rho)) / len(m), 2 * capacity / rho

    rho = min(grid, key=lambda rho: sum(parts(rho)))
    empirical, complexity = parts(rho)
    return RiskBound(
        name,
        min(1.0, (empirical + complexity + confidence) * (1 + ROUND_OUT)),
        delta,
        about,
        assumptions,
        inputs={**inputs, "n": len(m), "threshold": rho, "n_thresholds": len(grid)},
        terms={"empirical": empirical, "complexity": complexity, "confidence": confidence},
        arrays={"margins": m},
    )


def _margins(who: str, margins: Any) -> np.ndarray:
    m = np.asarray(margins, dtype=np.float64)
    if m.ndim != 1 or len(m) == 0 or not np.all(np.isfinite(m)):
        raise InvalidData(f"{who}: margins must be a non-empty vector of finite numbers; got shape {m.shape}.")
    return m


def _thresholds(who: str, thresholds: Any, radius: float) -> list[float]:
    if thresholds is None:
        return [float(radius) / 2**j for j in range(STEPS)]
    grid = [float(rho) for rho in np.atleast_1d(np.asarray(thresholds, dtype=np.float64))]
    if not grid or not all(math.isfinite(rho) and rho > 0 for rho in grid):
        raise InvalidParameter(who, "thresholds", "finite numbers > 0, at least one", thresholds)
    return grid
