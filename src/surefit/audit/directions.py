"""Reads principal components of scikit-learn."""

from __future__ import annotations

from surefit.audit.reading import Reading, attribute, reader
from surefit.audit.stating import claim, proved
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@reader("sklearn", "PCA", "IncrementalPCA")
def read_pca(model, data: Data, tol: float) -> Reading:
    """Variance that the directions capture, against the best possible."""
    q = len(attribute(model, "components_"))
    total = float(attribute(model, "explained_variance_").sum())

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        gap, residual, defect = (proved(draft, rows, f"eigen.{n}") for n in ("gap", "residual", "orthonormal"))
        claims = [
            claim(
                "eigen.gap",
                "optimality",
                f"No other {q} directions capture more variance by more than {gap.proved:.3g} (these: {total:.6g}).",
                gap.proved,
                limit=tol * total,
            ),
            claim(
                "eigen.residual",
                "optimality",
                f"Every explained variance is within {residual.proved:.3g} of an eigenvalue of the covariance matrix.",
                residual.proved,
                limit=tol * total,
            ),
        ]
        if defect.ok:
            words = f"The directions are orthonormal up to {defect.proved:.3g}, and mean_ is the mean of the rows."
            claims.append(claim("eigen.orthonormal", "data_fact", words, defect.proved))
        return claims

    problem = {"n_components": q, "objective": "variance of the rows along the directions"}
    return Reading("A", problem, ("components_", "explained_variance_", "mean_"), state)
