"""Reads models of the classes' laws of scikit-learn: linear and quadratic discriminants, and naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse
from surefit.audit.stating import claim, proved
from surefit.checks.audited_laws import off_of_laws
from surefit.checks.audited_models import inner
from surefit.checks.base import Data
from surefit.checks.discriminants import pencil
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData

ROUNDING = 1e-9
SINGULAR = 1e-12  # least eigenvalue, columns scaled, below which rows do not vary within classes in some direction


@reader("sklearn", "LinearDiscriminantAnalysis")
def read_linear_discriminant(model, data: Data, tol: float) -> Reading:
    """The rule against the best one for Fisher's criterion; means, priors and offsets."""
    problem = _discriminant(model, data)
    problem["covariance"] = "rows" if model.solver == "svd" else "priors"
    names: tuple[str, ...] = ("means_", "coef_", "intercept_")
    if getattr(model, "covariance_estimator", None) is not None:
        problem["covariance"], names = "given", (*names, "covariance_")
    problem["objective"] = "sum_k prior_k (2 w_k'd_k - w_k'W w_k), d_k = mean_k - mean, W the scatter within classes"

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        off = proved(draft, rows, "discriminant.moments").proved
        words = f"Means, priors and offsets are those of the rows, up to {off:.2g}."
        moments = claim("discriminant.moments", "data_fact", words, _padded(off), limit=ROUNDING)
        p = pencil(*inner(draft, rows))
        if p.lowest <= SINGULAR:
            nothing = "Within classes the rows do not vary in all directions: Fisher's criterion has no largest value, and no gap."
            return [moments, Claim("discriminant.discarded", "no_claim", nothing)]
        value = float(p.priors @ (2 * np.sum(p.rule * p.targets, axis=1) - np.sum((p.rule @ p.W) * p.rule, axis=1)))
        gap = proved(draft, rows, "discriminant.gap")
        words = f"The rule attains {value:.6g} of Fisher's criterion, within {gap.proved:.3g} of the largest possible value."
        numbers = {"criterion": value}
        found = claim(
            "discriminant.gap",
            "optimality",
            words,
            gap.proved,
            limit=tol * max(value, 0.0),
            numbers=numbers,
            level=gap.level,
        )
        return [found, moments]

    return Reading("A", problem, names, state)


@reader("sklearn", "QuadraticDiscriminantAnalysis")
def read_quadratic_discriminant(model, data: Data, tol: float) -> Reading:
    """The likelihood of the classes' Gaussian densities against the largest possible one (of the shrunk covariances, in divergence)."""
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
        found = proved(draft, rows, "quadratic.likelihood")
        words = f"The log-likelihood of the rows is within {found.proved:.3g} of the largest possible one of Gaussian classes."
        limit = tol * rows.X.shape[0]
        return [claim("quadratic.likelihood", "optimality", words, found.proved, limit=limit, level=found.level)]

    return Reading("A", problem, (), state, derived="quadratic discriminant")


@reader("sklearn", "GaussianNB", "BernoulliNB", "MultinomialNB")
def read_naive_bayes(model, data: Data, tol: float) -> Reading:
    """Every parameter is the moment, or the smoothed share, that the likelihood equations make it."""
    law = type(model).__name__ if type(model).__module__.startswith("sklearn") else _known_base(model)
    law = law.removesuffix("NB").lower()
    names, _ = labels_of(model, data, None)
    gaussian = law == "gaussian"
    attribute(model, "theta_" if gaussian else "feature_log_prob_")
    given = model.priors is not None if gaussian else model.class_prior is not None or not model.fit_prior
    problem = {
        "law": law,
        "classes": names,
        "given_priors": bool(given),
        "binarize": None if law != "bernoulli" or model.binarize is None else float(model.binarize),
        "alpha": 0.0 if gaussian else np.asarray(model.alpha, dtype=np.float64).tolist(),
        "objective": "log-likelihood of columns independent within each class"
        + ("; epsilon_ is added to variances" if gaussian else "; alpha is added to counts"),
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        off = off_of_laws(draft, rows)
        words = f"All parameters of the {len(names)} classes are those of their rows, up to {off:.2g}."
        return [Claim("audit.class_laws", "optimality", words, value=_padded(off), limit=ROUNDING)]

    return Reading("A", problem, (), state, derived="naive bayes")


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


def _padded(value: float) -> float:
    return 2 * value + 1e-15
