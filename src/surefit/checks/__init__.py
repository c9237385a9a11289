"""The trusted checker: it re-derives every claim from (model, data) and shares no numerical code with the solvers.

Every module of this package registers its checkers when it is imported, at the first use of a claim.
"""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from surefit.checks.base import Verification, stated, verify
from surefit.checks.judge import Finding

#: Folders of the checkers, by the start of a claim's name. Claims with another start are found in all modules.
HOMES = {
    "adaboost": "ensembles",
    "agglomerative": "clusters",
    "bayesian_linear": "bayes",
    "bayesian_logistic": "processes",
    "bayesian_ridge": "bayes",
    "boosted_trees": "ensembles",
    "discriminant": "discriminants",
    "eigen": "decomposition",
    "forest": "ensembles",
    "gaussian_process": "processes",
    "gaussian_process_classifier": "processes",
    "k_means": "clusters",
    "kernel_logistic": "kernels",
    "kernel_model": "linear",
    "kernel_ridge": "kernels",
    "kernel_softmax": "kernels",
    "knn": "neighbors",
    "linear": "linear",
    "logistic": "linear",
    "mixture": "clusters",
    "multi_task": "linear",
    "naive_bayes": "discriminants",
    "nearest_centroid": "neighbors",
    "network": "networks",
    "nu_svc": "kernels",
    "nu_svr": "kernels",
    "one_class": "kernels",
    "perceptron": "perceptrons",
    "quadratic": "discriminants",
    "risk": "risk",
    "risk.unclaimed": "risk.unclaimed",  # a claim of most fits, in one module
    "selection": "risk",
    "separation": "separation",
    "smoothing_spline": "splines",
    "stump": "ensembles",
    "svc": "kernels",
    "svr": "kernels",
    "tree": "trees",
}


def load(claim: str) -> None:
    """Import the checkers of ``claim``, or all checkers if its folder is not known."""
    _import(HOMES.get(claim) or HOMES.get(claim.partition(".")[0], ""))


@cache
def _import(place: str) -> None:
    module = import_module(f"{__name__}.{place}".rstrip("."))
    for found in walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        import_module(found.name)


__all__ = ["Finding", "Verification", "load", "stated", "verify"]
