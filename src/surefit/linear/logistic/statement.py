"""Claims of a logistic fit: gap, labels that are not certified, distance to the optimum, features proved to be zero."""

from __future__ import annotations

from surefit.core.claims import Claim


def issue(estimator, data, penalty, fit) -> None:
    """Issue the certificate of a logistic fit; the checker computes the stated values."""
    chosen = tuple(name for name in ("C_", "l1_ratio_") if hasattr(estimator, name))
    separate = getattr(estimator, "multi_class", "multinomial") == "ovr" and len(estimator.coef_) > 1
    names = ["linear.gap", *["linear.labels"] * (not separate)]
    names += ["logistic.finite_mle"] * penalty.free
    names += ["linear.distance"] * (penalty.l2 > 0 and penalty.everywhere)
    names += ["linear.inactive"] * (penalty.l1 > 0 and len(estimator.coef_) == 1)
    estimator._issue(
        "A",
        [Claim(name) for name in names],
        problem=chosen,
        model=("coef_", "intercept_", *chosen),
        sample=(data.X, data.y, data.sample_weight),
        run={
            "solver": "Newton's method on the primal, chords and conjugate gradients where cheaper",
            "reason": str(fit.reason),
            "passes": int(fit.n_iter),
            "seconds": float(estimator.history_[-1, 0]) if len(estimator.history_) else 0.0,
        },
    )


def issue_average(estimator, data) -> None:
    """Issue the certificate of coefficients that are means over folds."""
    estimator._issue(
        "A",
        [Claim("logistic.averaged")],
        problem=("C_", "l1_ratio_"),
        model=("coef_", "intercept_", "C_", "l1_ratio_"),
        sample=(data.X, data.y, data.sample_weight),
        run={"solver": "means over the folds", "reason": "converged"},
    )
