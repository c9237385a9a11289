"""What a logistic fit claims: its gap, labels that could change, distance to the optimum, features proved to be zero."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import column_norms
from surefit.checks.linear_scores import rows_at_risk
from surefit.checks.multinomial import lead_of, softmax
from surefit.core.claims import Claim
from surefit.core.estimator import data_fingerprint

SAFETY = 1e-9  # share of the objective that the checker's rounding may cost before a feature counts as proved zero


def problem_of(estimator, data, *, l1: float, l2: float, C: float, reference: int | None) -> dict:
    """Return the mathematical problem in the checker's words."""
    return {
        "loss": "logistic",
        "l1": l1,
        "l2": l2,
        "C": C,
        "fit_intercept": bool(estimator.fit_intercept),
        "classes": data.named,
        "class_weights": data.class_weights.tolist(),
        "reference": reference,
        "objective": "l1 |w|_1 + l2/2 |w|^2 + C sum_i s_i (-ln p_i); the intercept is never penalised",
    }


def issue(estimator, data, problem, penalty, fit, *, tolerance: float, null: float) -> None:
    """Issue the certificate."""
    binary = len(estimator.coef_) == 1
    family = "linear" if binary else "multinomial"
    n, d = data.X.shape
    gap = max(fit.gap, 0.0) if fit.proved else math.inf
    exists = " A finite estimate exists." if penalty.free else ""
    sentence = f"The objective {fit.objective:.6g} is within {fit.gap:.3g} of the smallest possible one.{exists}"
    if not fit.proved:
        sentence = (
            f"Nothing is claimed about the objective {fit.objective:.6g} but that it is not negative: columns differ so much in "
            "size that rounding hides how far it is from the smallest possible one. Scale the features."
        )
    claims = [
        Claim(
            f"{family}.gap",
            "optimality" if fit.proved else "no_claim",
            sentence,
            value=float(fit.gap) if fit.proved else float(fit.objective),
            limit=tolerance,
            numbers={"objective": float(fit.objective), "null_objective": float(null)},
        )
    ]
    P = _probabilities(estimator, data.X)
    lead = np.abs(P[:, 0] - P[:, 1]) if P.shape[1] == 2 else lead_of(P)
    # a dual point made feasible by a step or a scale is itself as far from these probabilities as the gap allows (Pinsker)
    reach = gap if penalty.l2 > 0.0 and penalty.l1 == 0.0 else 4 * gap
    count = int(np.sum(rows_at_risk(lead * (1 - 1e-9), data.weights * penalty.C, reach)))
    estimator.labels_at_risk_ = count
    claims.append(
        Claim(
            "logistic.labels_at_risk" if binary else "multinomial.labels_at_risk",
            "uncertainty",
            f"{n - count} of {n} training labels are those of the exact optimum; {count} could change.",
            value=float(count),
        )
    )
    if penalty.l2 > 0.0:
        reach = math.sqrt(2 * gap / penalty.l2)
        sentence = f"The coefficients are within {reach:.3g} of those of the exact optimum (Euclidean distance)."
        claims.append(Claim(f"{family}.distance", "optimality", sentence, value=reach))
    model: tuple[str, ...] = ("coef_", "intercept_")
    if penalty.l1 > 0.0 and binary:
        estimator.inactive_ = _inactive(estimator, data, penalty, P, 1.01 * gap + SAFETY * abs(fit.objective))
        left = int(np.sum(~estimator.inactive_))
        sentence = f"{d - left} of {d} features are zero in every exact solution; {np.count_nonzero(estimator.coef_)} are used."
        claims.append(Claim("linear.inactive", "optimality", sentence, value=float(left)))
        model += ("inactive_",)
    elif hasattr(estimator, "inactive_"):
        del estimator.inactive_  # left by an earlier fit
    estimator._issue(
        "A",
        claims,
        problem=problem_of(estimator, data, l1=penalty.l1, l2=penalty.l2, C=penalty.C, reference=problem.reference),
        model=model,
        data=data_fingerprint(data.X, data.y, data.sample_weight),
        run={
            "solver": "Newton's method on the primal, chords and conjugate gradients where cheaper",
            "reason": str(fit.reason),
            "passes": int(fit.n_iter),
            "seconds": float(estimator.history_[-1, 0]) if len(estimator.history_) else 0.0,
        },
    )


def _probabilities(estimator, X) -> np.ndarray:
    scores = np.asarray(X @ estimator.coef_.T, dtype=np.float64) + estimator.intercept_
    if scores.shape[1] == 1:
        p = 1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -700.0, 700.0)))
        return np.column_stack([1.0 - p, p])
    return softmax(scores)


def _inactive(estimator, data, penalty, P: np.ndarray, gap: float) -> np.ndarray:
    """Features whose dual correlation stays below l1 wherever the dual optimum may be."""
    c = data.weights * penalty.C
    theta = c * ((data.codes == 1) - P[:, 1])
    v = np.abs(np.asarray(data.X.T @ theta).ravel())
    if penalty.l2 == 0.0:
        v = v * min(1.0, penalty.l1 / max(v.max(initial=0.0), 1e-300))
    reach = column_norms(data.X, c) * math.sqrt(0.5 * gap)
    return (v + reach < penalty.l1 * (1 - 1e-7)) & (estimator.coef_[0] == 0.0)
