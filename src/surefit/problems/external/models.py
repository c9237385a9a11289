"""Kernel machines, Gaussian processes, networks, discriminants and naive Bayes of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.external.registry import derived


@derived("svm")
def read_machine(model: Any) -> dict[str, np.ndarray]:
    """Support, coefficients and intercepts of scikit-learn's kernel machines; sparse rows have sparse coefficients."""
    dual = model.dual_coef_
    dual = dual.toarray() if hasattr(dual, "toarray") else np.asarray(dual)
    return {
        "support_": np.asarray(model.support_).astype(np.int64),
        "dual_coef_": dual.astype(np.float64),
        "intercept_": np.asarray(model.intercept_).astype(np.float64),
    }


@derived("kernel ridge")
def read_kernel_ridge(model: Any) -> dict[str, np.ndarray]:
    """Coefficients of scikit-learn's kernel ridge regression, which has no intercept."""
    return {"dual_coef_": np.asarray(model.dual_coef_, dtype=np.float64), "intercept_": np.zeros(1)}


@derived("gaussian process")
def read_gaussian_process(model: Any) -> dict[str, np.ndarray]:
    """Coefficients, noise and standardization of scikit-learn's regression by Gaussian processes."""
    return {
        "alpha_": np.asarray(model.alpha_, dtype=np.float64),
        "noise_": np.asarray(model.alpha, dtype=np.float64),
        "y_mean_": np.asarray(model._y_train_mean, dtype=np.float64),
        "y_scale_": np.asarray(model._y_train_std, dtype=np.float64),
        "log_marginal_likelihood_value_": np.asarray(model.log_marginal_likelihood_value_, dtype=np.float64),
    }


@derived("gaussian process classifier")
def read_modes(model: Any) -> dict[str, np.ndarray]:
    """Coefficients of each two-class problem: labels minus the probabilities that the model stores; and the evidence it states."""
    inner_model = model.base_estimator_
    problems = [inner_model] if hasattr(inner_model, "pi_") else inner_model.estimators_
    duals = np.array([one.y_train_ - one.pi_ for one in problems], dtype=np.float64)
    return {"dual_coef_": duals, "log_evidence_": np.asarray(model.log_marginal_likelihood_value_, dtype=np.float64)}


@derived("network")
def read_network(model: Any) -> dict[str, np.ndarray]:
    """Weights and thresholds in one vector, and the classes."""
    parts = [np.ravel(part) for part in (*model.coefs_, *model.intercepts_)]
    kept = {"packed_": np.concatenate(parts).astype(np.float64)}
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
        kept["classes_"] = classes.astype(np.float64) if classes.dtype.kind in "biuf" else classes.astype(str)
    return kept


@derived("quadratic discriminant")
def read_quadratic(model: Any) -> dict[str, np.ndarray]:
    """Axes and variances of each class, which scikit-learn keeps in lists."""
    found = {"means_": np.asarray(model.means_, dtype=np.float64)}
    for name in ("rotations_", "scalings_", "covariance_"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name), dtype=np.float64)
    return found


@derived("naive bayes")
def read_naive_bayes(model: Any) -> dict[str, np.ndarray]:
    """Parameters of the classes; prior probabilities as logarithms."""
    if hasattr(model, "theta_"):
        kept: dict[str, Any] = {"theta_": model.theta_, "var_": model.var_, "epsilon_": model.epsilon_}
        kept["class_log_prior_"] = np.log(model.class_prior_)
    else:
        kept = {"feature_log_prob_": model.feature_log_prob_, "class_log_prior_": model.class_log_prior_}
    return {name: np.asarray(value, dtype=np.float64) for name, value in kept.items()}
