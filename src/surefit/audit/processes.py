"""Reads classification by Gaussian processes of scikit-learn."""

from __future__ import annotations

import math

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse
from surefit.audit.stating import claim, proved
from surefit.checks.audited_processes import evidence_of
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.kernels.foreign import from_scikit_learn


@reader("sklearn", "GaussianProcessClassifier")
def read_process_classifier(model, data: Data, tol: float) -> Reading:
    """The modes of Laplace's approximation, and the evidence, at the kernels that the model has; nothing about better ones."""
    attribute(model, "base_estimator_")
    names, _ = labels_of(model, data, None)
    if data.weights is not None:
        raise InvalidData("certify: a GaussianProcessClassifier is fitted without weights; pass none.")
    if len(names) > 2 and model.multi_class != "one_vs_rest":
        raise refuse(model, "multi_class", "'one_vs_rest'")
    problems = [model.base_estimator_] if len(names) == 2 else model.base_estimator_.estimators_
    kernels = [from_scikit_learn(one.kernel_) for one in problems]
    if any(kernel is None for kernel in kernels):
        raise InvalidData(
            f"certify: the kernel {problems[0].kernel_} of this {type(model).__name__} has no translation here."
        )
    problem = {
        "classes": names,
        "kernels": [kernel.to_record() for kernel in kernels if kernel is not None],
        "pairs": [[1, 0]] if len(names) == 2 else [[k, -1] for k in range(len(names))],
        "objective": "sum_i ln(1 + exp(-t_i f(x_i))) + 1/2 |f|^2, one problem a class against the rest",
    }
    reported = float(model.log_marginal_likelihood_value_)
    null = data.X.shape[0] * math.log(2) * len(problems)

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        gap = proved(draft, rows, "gaussian_process_classifier.gap")
        nothing = Claim("gaussian_process_classifier.global", "no_claim", "Nothing is claimed about other kernels.")
        if not math.isfinite(gap.proved):
            words = "The kernel is not known to be positive semidefinite: no bound on the mode."
            return [Claim("gaussian_process_classifier.gap", "no_claim", words), nothing]
        words = (
            f"The modes are within {gap.proved:.3g} of the smallest objective, all {len(kernels)} problems together."
        )
        first = claim(
            "gaussian_process_classifier.gap",
            "optimality",
            words,
            1.001 * gap.proved,
            limit=tol * null,
            level=gap.level,
        )
        off = abs(evidence_of(draft, rows) - reported)
        words = f"The log evidence {reported:.8g} that the model states is off by {off:.2g} (Laplace's approximation, modes computed anew)."
        numbers = {"log_evidence": reported}
        value, limit = 1.01 * off + 1e-9 * (1 + abs(reported)), tol * null
        evidence = claim(
            "gaussian_process_classifier.evidence", "data_fact", words, value, limit=limit, numbers=numbers
        )
        return [first, evidence, nothing]

    return Reading("B", problem, (), state, derived="gaussian process classifier")
