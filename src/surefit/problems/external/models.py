"""Readers for scikit-learn's kernel machines, Gaussian processes, networks, discriminants and naive Bayes models."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.external.registry import derived


@derived("svm")
def read_machine(model: Any) -> dict[str, np.ndarray]:
    """Return support indices, dual coefficients (made dense if sparse) and intercepts of a support vector machine."""
    dual = model.dual_coef_
    dual = dual.toarray() if hasattr(dual, "toarray") else np.asarray(dual)
    return {
        "support_": np.asarray(model.support_).astype(np.int64),
        "dual_coef_": dual.astype(np.float64),
        "intercept_": np.asarray(model.intercept_).astype(np.float64),
    }


@derived("kernel ridge")
def read_kernel_ridge(model: Any) -> dict[str, np.ndarray]:
    """Return the dual coefficients of a kernel ridge regression, with a zero intercept."""
    return {"dual_coef_": np.asarray(model.dual_coef_, dtype=np.float64), "intercept_": np.zeros(1)}


@derived("gaussian process")
def read_gaussian_process(model: Any) -> dict[str, np.ndarray]:
    """Return coefficients, noise, target standardization and evidence of a Gaussian-process regression."""
    return {
        "alpha_": np.asarray(model.alpha_, dtype=np.float64),
        "noise_": np.asarray(model.alpha, dtype=np.float64),
        "y_mean_": np.asarray(model._y_train_mean, dtype=np.float64),
        "y_scale_": np.asarray(model._y_train_std, dtype=np.float64),
        "log_marginal_likelihood_value_": np.asarray(model.log_marginal_likelihood_value_, dtype=np.float64),
    }


@derived("gaussian process classifier")
def read_modes(model: Any) -> dict[str, np.ndarray]:
    """Return the coefficients of each two-class problem, labels minus stored probabilities, and the reported log evidence."""
    inner_model = model.base_estimator_
    problems = [inner_model] if hasattr(inner_model, "pi_") else inner_model.estimators_
    duals = np.array([one.y_train_ - one.pi_ for one in problems], dtype=np.float64)
    return {"dual_coef_": duals, "log_evidence_": np.asarray(model.log_marginal_likelihood_value_, dtype=np.float64)}


@derived("network")
def read_network(model: Any) -> dict[str, np.ndarray]:
    """Return the weights and biases of a network in one vector, and the classes."""
    parts = [np.ravel(part) for part in (*model.coefs_, *model.intercepts_)]
    kept = {"packed_": np.concatenate(parts).astype(np.float64)}
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
        kept["classes_"] = classes.astype(np.float64) if classes.dtype.kind in "biuf" else classes.astype(str)
    return kept


@derived("quadratic discriminant")
def read_quadratic(model: Any) -> dict[str, np.ndarray]:
    """Return the means, axes and variances of the classes as arrays."""
    found = {"means_": np.asarray(model.means_, dtype=np.float64)}
    for name in ("rotations_", "scalings_", "covariance_"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name), dtype=np.float64)
    return found


@derived("naive bayes")
def read_naive_bayes(model: Any) -> dict[str, np.ndarray]:
    """Return the parameters of the classes, and the logarithms of the class priors."""
    if hasattr(model, "theta_"):
        kept: dict[str, Any] = {"theta_": model.theta_, "var_": model.var_, "epsilon_": model.epsilon_}
        kept["class_log_prior_"] = np.log(model.class_prior_)
    else:
        kept = {"feature_log_prob_": model.feature_log_prob_, "class_log_prior_": model.class_log_prior_}
    return {name: np.asarray(value, dtype=np.float64) for name, value in kept.items()}
