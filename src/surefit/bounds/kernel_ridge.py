r"""Mean squared error of kernel predictors in a ball (:math:`K(x,x) \le r^2`, norm at most :math:`\Lambda`)."""

import math

from surefit.bounds.base import ROUND_OUT, RiskBound, check_delta
from surefit.bounds.code_length import delta_share
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, POSITIVE


def kernel_ridge_mse(
    empirical: float,
    n: int,
    *,
    kernel_radius: float,
    ball_radius: float,
    delta: float = 0.05,
    trace: float | None = None,
    offset: bool = False,
) -> RiskBound:
    r"""Bound the mean squared error of every kernel predictor with norm at most :math:`\Lambda`.

    With :math:`M = 2 r \Lambda` (:math:`3 r \Lambda` with an intercept :math:`|b| \le r \Lambda`) the residuals are within M, and

    .. math:: R \le \hat R + 4M\, \mathfrak R + M^2 \sqrt{\frac{\ln(1/\delta)}{2n}}, \qquad
              R \le \hat R + 4M\, \hat{\mathfrak R} + 3 M^2 \sqrt{\frac{\ln(2/\delta)}{2n}},

    with :math:`\mathfrak R = r\Lambda / \sqrt n` and :math:`\hat{\mathfrak R} = \Lambda \sqrt{\operatorname{tr} K} / n`, plus
    :math:`r \Lambda / \sqrt n` with an intercept. The second form is used when ``trace`` is given.

    Guarantee: holds with probability at least ``1 - delta``, simultaneously for all members (theory:
    :ref:`rademacher`). :math:`r`, :math:`\Lambda` and the kernel must be fixed, and :math:`|y| \le r \Lambda` must be
    *known*, before the rows are seen. For a fitted model, use :func:`kernel_ridge_mse_grid`.

    Parameters
    ----------
    empirical : float >= 0
        Mean squared error on the rows.
    n : int
        Rows.
    kernel_radius, ball_radius : float > 0
        :math:`r` and :math:`\Lambda`.
    delta : float in (0, 1)
        Failure probability.
    trace : float, optional
        Trace of the kernel matrix on the rows.
    offset : bool
        Whether the predictors have an intercept.

    Examples
    --------
    >>> from surefit.bounds import kernel_ridge_mse
    >>> bound = kernel_ridge_mse(0.0, 10_000, kernel_radius=1.0, ball_radius=1.0, offset=True)
    >>> round(bound.value, 6)
    0.350149
    """
    check_delta("kernel_ridge_mse", delta)
    _check("kernel_ridge_mse", empirical, n, kernel_radius, trace)
    if not POSITIVE.allows(ball_radius):
        raise InvalidParameter("kernel_ridge_mse", "ball_radius", POSITIVE.words, ball_radius)
    largest = kernel_radius * ball_radius
    residual = (3 if offset else 2) * largest
    shift = largest / math.sqrt(n) if offset else 0.0
    if trace is None:
        complexity = largest / math.sqrt(n) + shift
        confidence = residual**2 * math.sqrt(-math.log(delta) / (2 * n))
    else:
        complexity = ball_radius * math.sqrt(trace) / n + shift
        confidence = 3 * residual**2 * math.sqrt((math.log(2) - math.log(delta)) / (2 * n))
    total = empirical + 4 * residual * complexity + confidence
    return RiskBound(
        "kernel_ridge_mse",
        min(residual**2, total * (1 + ROUND_OUT)),
        delta,
        "mean squared error of the kernel predictor",
        ("iid", "kernel_fixed", "range_declared", "ball_fixed_a_priori"),
        inputs={
            "empirical": float(empirical),
            "n": int(n),
            "kernel_radius": float(kernel_radius),
            "ball_radius": float(ball_radius),
            "trace": None if trace is None else float(trace),
            "offset": bool(offset),
        },
        terms={"empirical": float(empirical), "complexity": 4 * residual * complexity, "confidence": confidence},
        ceiling=largest**2,  # largest possible risk of the zero predictor
    )


def kernel_ridge_mse_grid(
    empirical: float,
    n: int,
    *,
    norm: float,
    kernel_radius: float,
    target_bound: float,
    delta: float = 0.05,
    first_radius: float = 1.0,
    trace: float | None = None,
    offset: float | None = None,
) -> RiskBound:
    r"""Bound the mean squared error of a *fitted* kernel predictor, whose norm is known only afterwards.

    The balls :math:`\Lambda_k = 2^k \Lambda_0`, :math:`k = 0, 1, \dots` get the shares :math:`\delta / ((k+1)(k+2))`. The smallest ball
    that contains the model (:math:`\|f\|`, :math:`|b|/r`) and the declared targets (:math:`|y|/r`) is used.

    Guarantee: as :func:`kernel_ridge_mse`, simultaneously for all balls (theory: :ref:`rademacher`).

    Parameters
    ----------
    empirical, n, kernel_radius, delta, trace
        As in :func:`kernel_ridge_mse`.
    norm : float >= 0
        RKHS norm of the fitted predictor.
    target_bound : float >= 0
        Declared bound on :math:`|y|`; it must not be computed from the sample.
    first_radius : float > 0
        :math:`\Lambda_0`, declared in advance.
    offset : float, optional
        The fitted intercept, if there is one.

    Examples
    --------
    >>> from surefit.bounds import kernel_ridge_mse_grid
    >>> bound = kernel_ridge_mse_grid(0.01, 10**6, norm=1.7, kernel_radius=1.0, target_bound=1.0)
    >>> bound.inputs["ball_radius"], bound.inputs["delta_spent"], round(bound.value, 4)
    (2.0, 0.008333333333333333, 0.0668)
    """
    check_delta("kernel_ridge_mse_grid", delta)
    _check("kernel_ridge_mse_grid", empirical, n, kernel_radius, trace)
    for name, number in (("norm", norm), ("target_bound", target_bound)):
        if not NON_NEGATIVE.allows(number):
            raise InvalidParameter("kernel_ridge_mse_grid", name, NON_NEGATIVE.words, number)
    if not POSITIVE.allows(first_radius):
        raise InvalidParameter("kernel_ridge_mse_grid", "first_radius", POSITIVE.words, first_radius)
    needed = max(norm, target_bound / kernel_radius, abs(offset or 0.0) / kernel_radius)
    k = max(0, math.ceil(math.log2(needed / first_radius))) if needed > first_radius else 0
    k += first_radius * 2.0**k < needed  # the logarithm may round down
    share = delta_share(k + 1, delta)
    bound = kernel_ridge_mse(
        empirical,
        n,
        kernel_radius=kernel_radius,
        ball_radius=first_radius * 2.0**k,
        delta=share,
        trace=trace,
        offset=offset is not None,
    )
    inputs = {**bound.inputs, "delta_spent": share}
    return RiskBound(
        bound.name,
        bound.value,
        delta,
        bound.about,
        (*bound.assumptions[:-1], "dyadic_balls"),
        inputs,
        bound.terms,
        min(bound.ceiling, float(target_bound) ** 2),
    )


def theory_lambda(kernel_radius: float, n: int, delta: float = 0.05, offset: bool = True) -> float:
    r"""Return the penalty that the bound suggests: :math:`R \le \hat R + \lambda \Lambda^2`.

    Kernel ridge regression penalizes *sums* of squares: its parameter is n times this value. This is a heuristic, since :math:`\Lambda`
    depends on the data after fitting; it over-regularizes.

    Examples
    --------
    >>> from surefit.bounds import theory_lambda
    >>> round(theory_lambda(1.0, 10_000), 8)
    0.35014861
    """
    check_delta("theory_lambda", delta)
    _check("theory_lambda", 0.0, n, kernel_radius, None)
    factor, parts = (3.0, 2.0) if offset else (2.0, 1.0)
    confidence = factor**2 * math.sqrt(-math.log(delta) / 2)
    return kernel_radius**2 / math.sqrt(n) * (4 * factor * parts + confidence)


def _check(who: str, empirical: float, n: int, kernel_radius: float, trace: float | None) -> None:
    if not NON_NEGATIVE.allows(empirical):
        raise InvalidParameter(who, "empirical", NON_NEGATIVE.words, empirical)
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if not POSITIVE.allows(kernel_radius):
        raise InvalidParameter(who, "kernel_radius", POSITIVE.words, kernel_radius)
    if trace is not None and not (NON_NEGATIVE.allows(trace) and trace <= n * kernel_radius**2 * (1 + 1e-9)):
        raise InvalidParameter(who, "trace", "a number from 0 to n kernel_radius^2", trace)
