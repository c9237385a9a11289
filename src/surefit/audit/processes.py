"""Reader for scikit-learn's Gaussian process classification."""

from __future__ import annotations

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.kernels.external import from_scikit_learn


@reader("sklearn", "GaussianProcessClassifier")
def read_process_classifier(model, data: Data, tol: float) -> Reading:
    """Read the modes of Laplace's approximation and the evidence, both at the kernels of the fitted model."""
    attribute(model, "base_estimator_")
    names, _ = labels_of(model, data, None)
    if data.weights is not None:
        raise InvalidData("certify: a GaussianProcessClassifier is fitted without weights; pass none.")
    if len(names) > 2 and model.multi_class != "one_vs_rest":
        raise refuse(model, "multi_class", "'one_vs_rest'")
    problems = [model.base_estimator_] if len(names) == 2 else model.base_estimator_.estimators_
    kernels = [from_scikit_learn(one.kernel_) for one in problems]
    if any(kernel is None for kernel in kernels):
        raise InvalidData(f"certify: the kernel {problems[0].kernel_} of this {type(model).__name__} is not supported.")
    problem = {
        "classes": names,
        "tol": tol,
        "kernels": [kernel.to_record() for kernel in kernels if kernel is not None],
        "pairs": [[1, 0]] if len(names) == 2 else [[k, -1] for k in range(len(names))],
        "objective": "sum_i ln(1 + exp(-t_i f(x_i))) + 1/2 |f|^2, one problem per class against the rest",
    }
    names = [f"gaussian_process_classifier.{name}" for name in ("gap", "evidence", "hyperparameters")]
    state = asking(*names, if_proved=tuple(names[:2]))
    return Reading("B", problem, (), state, derived="gaussian process classifier")
