"""Problems of naive Bayes: densities, smoothing, and given priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of
from surefit.problems.labels import names_of

SMALLEST_ALPHA = 1e-10  # without ``force_alpha``, as in scikit-learn


@problem_of("GaussianNB")
def gaussian(given: Given) -> dict[str, Any]:
    """Return the problem of Gaussian naive Bayes: a fraction of the largest variance is added to all variances."""
    priors = given.params["priors"]
    return {**_shared(given, "gaussian", priors), "var_smoothing": float(given.params["var_smoothing"])}


@problem_of("MultinomialNB")
def multinomial(given: Given) -> dict[str, Any]:
    """Return the problem of multinomial naive Bayes: ``alpha`` is added to each count."""
    return _discrete(given, "multinomial")


@problem_of("BernoulliNB")
def bernoulli(given: Given) -> dict[str, Any]:
    """Return the problem of Bernoulli naive Bayes: columns are binarized at a threshold, if one is given."""
    threshold = given.params["binarize"]
    return {**_discrete(given, "bernoulli"), "binarize": None if threshold is None else float(threshold)}


@problem_of("ComplementNB")
def complement(given: Given) -> dict[str, Any]:
    """Return the problem of complement naive Bayes, which counts features outside each class."""
    return {**_discrete(given, "complement"), "norm": bool(given.params["norm"])}


def _discrete(given: Given, density: str) -> dict[str, Any]:
    params, priors = given.params, given.params["class_prior"]
    if priors is None and not params["fit_prior"]:
        count = len(given.chosen["classes_"])
        priors = np.full(count, 1.0 / count)
    alpha = np.asarray(params["alpha"], dtype=np.float64)
    if not params["force_alpha"]:
        alpha = np.maximum(alpha, SMALLEST_ALPHA)
    return {**_shared(given, density, priors), "binarize": None, "alpha": alpha.tolist()}


def _shared(given: Given, density: str, priors: Any) -> dict[str, Any]:
    return {
        "density": density,
        "classes": names_of(np.asarray(given.chosen["classes_"])),
        "priors": None if priors is None else np.asarray(priors, dtype=np.float64).tolist(),
    }
