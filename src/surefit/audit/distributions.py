"""Readers for scikit-learn's linear and quadratic discriminant analysis and naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse
from surefit.audit.stating import asking, stated
from surefit.checks.audits.reading import inner
from surefit.checks.discriminants.pencil import pencil
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.sample import Data

SINGULAR = 1e-12  # smallest eigenvalue (columns scaled) below which the within-class scatter is treated as singular


@reader("sklearn", "LinearDiscriminantAnalysis")
def read_linear_discriminant(model, data: Data, tol: float) -> Reading:
    """Read linear discriminants: the rule against the maximizer of Fisher's criterion, and recomputed moments."""
    problem = _discriminant(model, data)
    problem["covariance"] = "rows" if model.solver == "svd" else "priors"
    names: tuple[str, ...] = ("means_", "coef_", "intercept_")
    if getattr(model, "covariance_estimator", None) is not None:
        problem["covariance"], names = "given", (*names, "covariance_")
    problem["objective"] = "sum_k prior_k (2 w_k'd_k - w_k'W w_k), d_k = mean_k - mean, W the scatter within classes"

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        moments = stated(draft, rows, "discriminant.moments")
        if pencil(*inner(draft, rows)).lowest <= SINGULAR:
            return [moments, Claim("discriminant.discarded")]
        return [stated(draft, rows, "discriminant.gap"), moments]

    return Reading("A", problem, names, state)


@reader("sklearn", "QuadraticDiscriminantAnalysis")
def read_quadratic_discriminant(model, data: Data, tol: float) -> Reading:
    """Read quadratic discriminants: the likelihood against the largest possible one (in divergence if shrunk)."""
    problem = {**_discriminant(model, data), "covariance": "rows", "floor": 0.0, "reg_param": float(model.reg_param)}
    attribute(model, "rotations_")
    if getattr(model, "covariance_estimator", None) is not None:
        if not hasattr(model, "covariance_"):
            raise refuse(model, "store_covariance", "True with a covariance_estimator")
        problem["covariance"] = "given"
    problem["objective"] = "log-likelihood of the rows under the Gaussian density of their class"
    shapes = {np.shape(rotation) for rotation in model.rotations_}
    if shapes != {(data.X.shape[1], data.X.shape[1])}:
        raise InvalidData(f"certify: a class of this {type(model).__name__} has fewer rows than columns.")

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        return [stated(draft, rows, "quadratic.likelihood")]

    return Reading("A", problem, (), state, derived="quadratic discriminant")


@reader("sklearn", "GaussianNB", "BernoulliNB", "MultinomialNB")
def read_naive_bayes(model, data: Data, tol: float) -> Reading:
    """Read naive Bayes: parameters against the moments or smoothed frequencies of the likelihood equations."""
    distribution = type(model).__name__ if type(model).__module__.startswith("sklearn") else _known_base(model)
    distribution = distribution.removesuffix("NB").lower()
    names, _ = labels_of(model, data, None)
    gaussian = distribution == "gaussian"
    attribute(model, "theta_" if gaussian else "feature_log_prob_")
    given = model.priors is not None if gaussian else model.class_prior is not None or not model.fit_prior
    problem = {
        "density": distribution,
        "classes": names,
        "given_priors": bool(given),
        "binarize": None if distribution != "bernoulli" or model.binarize is None else float(model.binarize),
        "alpha": 0.0 if gaussian else np.asarray(model.alpha, dtype=np.float64).tolist(),
        "objective": "log-likelihood of columns independent within each class"
        + ("; epsilon_ is added to variances" if gaussian else "; alpha is added to counts"),
    }

    return Reading("A", problem, (), asking("naive_bayes.likelihood", "naive_bayes.parameters"), derived="naive bayes")


def _known_base(model) -> str:
    return next(kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn"))


def _discriminant(model, data: Data) -> dict[str, Any]:
    names, _ = labels_of(model, data, None)
    if data.weights is not None:
        raise InvalidData(f"certify: a {type(model).__name__} is fitted without weights; pass none.")
    shrinkage = getattr(model, "shrinkage", None)
    return {
        "classes": names,
        "priors": [float(p) for p in attribute(model, "priors_")],
        "given_priors": model.priors is not None,
        "shrinkage": shrinkage if shrinkage is None or isinstance(shrinkage, str) else float(shrinkage),
        "between": "means",
        "components": 0,
    }
