"""Problem of principal component analysis, and the solver that ``"auto"`` selects."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from surefit.problems.base import Given, problem_of


@problem_of("PCA")
def components(given: Given) -> dict[str, Any]:
    """Return the criterion and the number of components, which the fit chooses for a fraction or ``"mle"``."""
    wanted = given.params["n_components"]
    return {
        "criterion": "variance of the rows along the directions",
        "n_components": float(wanted)
        if isinstance(wanted, float)
        else wanted
        if wanted is None or wanted == "mle"
        else int(wanted),
        "svd_solver": _solver(given.X, given.params["svd_solver"], wanted),
    }


def _solver(X: Any, asked: str, wanted: Any) -> str:
    n, d = X.shape
    if asked != "auto" or sparse.issparse(X):
        return "arpack" if asked == "auto" else asked
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or wanted == "mle" or wanted is None:
        return "full"
    return "randomized" if 1 <= wanted < 0.8 * min(n, d) else "full"
