"""What a fitted mixture of Gaussians claims, in words and numbers."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.solvers.gaussian_em import MixtureFit, Stationarity

ROUNDING = 1e-9  # share of the log-likelihood that rounding may take


def make_claims(best: MixtureFit, at_end: Stationarity, tol: float, floor: float) -> list[Claim]:
    """State the likelihood, its stationarity, the log of the fit, and what is not claimed."""
    value = at_end.mean_log_likelihood
    rounding = ROUNDING * (1 + abs(value))
    k = len(best.parameters.weights)
    log = np.append(best.log, value)
    fall = float(np.max(-np.diff(log), initial=0.0))
    gain = max(at_end.step_gain, 0.0)
    floored = (
        f" {at_end.at_floor} of {k} components are at the covariance floor {floor:.3g}." if at_end.at_floor else ""
    )
    return [
        Claim(
            "mixture.step",
            "optimality",
            f"One further step raises the mean log-likelihood by {gain:.3g}.{floored}",
            value=gain + rounding,
            limit=tol + rounding,
            numbers={"at_floor": at_end.at_floor},
        ),
        Claim(
            "mixture.score",
            "optimality",
            f"The gradient of the mean log-likelihood has norm {at_end.score_norm:.3g}, in units of the information "
            "of a row whose component is known.",
            value=at_end.score_norm + ROUNDING,
        ),
        Claim(
            "mixture.likelihood",
            "data_fact",
            f"The mean log-likelihood of the rows is {value:.9g}.",
            value=-value,
        ),
        Claim(
            "mixture.monotone",
            "process_fact",
            f"In {best.n_iter} steps the mean log-likelihood never fell by more than {fall:.3g} (rounding, and at most "
            f"{best.allowed:.3g} by the covariance floor).",
            value=fall,
            limit=rounding + best.allowed,
            about="the steps of the best start",
            witness={"log": log},
        ),
        Claim(
            "mixture.global",
            "no_claim",
            "Nothing is claimed about other parameters: the likelihood has many local maxima, and is unbounded without a floor.",
        ),
    ]
