"""Reader for scikit-learn's principal component analysis."""

from __future__ import annotations

from surefit.audit.reading import Reading, attribute, reader
from surefit.audit.stating import asking
from surefit.core.sample import Data


@reader("sklearn", "PCA", "IncrementalPCA")
def read_pca(model, data: Data, tol: float) -> Reading:
    """Read PCA: the variance that the directions capture, compared with the largest possible."""
    q = len(attribute(model, "components_"))
    problem = {"criterion": "variance of the rows along the directions", "n_components": q, "tol": tol}
    names = ("gap", "residual", "orthonormal", "mean")
    return Reading(
        "A", problem, ("components_", "explained_variance_", "mean_"), asking(*(f"eigen.{n}" for n in names))
    )
