"""From the parameters of ``PCA`` to axes, measured errors, fitted attributes and claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.decomposition.latent_dimension import components_for_share, minka_dimension
from surefit.solvers.principal_axes import (
    Axes,
    Centred,
    Measured,
    all_axes,
    centre,
    lanczos_axes,
    measure,
    randomised_axes,
)

LARGEST = 1e150  # entries beyond this have squares that overflow when they are added up


def fit_pca(estimator, X) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    n, d = X.shape
    method = _method(estimator, X)
    wanted = _wanted(estimator, n, d, method)
    rows = centre(X)
    _require_finite_squares(type(estimator).__name__, X, rows)
    random = generator(estimator.random_state)
    axes = _axes(estimator, rows, method, wanted, random)
    ratios = axes.variances / axes.total_variance if axes.total_variance > 0 else np.zeros(len(axes.variances))
    if wanted == "mle":
        wanted = minka_dimension(axes.variances, n)
    elif 0 < wanted < 1:
        wanted = min(components_for_share(ratios, wanted), len(ratios))
    q = int(wanted)
    kind = X.dtype
    estimator.mean_ = rows.mean.astype(kind)
    estimator.components_ = np.ascontiguousarray(axes.components[:q], dtype=kind)
    estimator.explained_variance_ = axes.variances[:q].astype(kind)
    estimator.explained_variance_ratio_ = ratios[:q].astype(kind)
    estimator.singular_values_ = np.sqrt(axes.variances[:q] * (n - 1)).astype(kind)
    estimator.noise_variance_ = kind.type(_noise(axes, q, min(n, d)))
    estimator.n_components_, estimator.n_samples_ = q, n
    V = estimator.components_.astype(np.float64)
    measured = measure(rows, V, estimator.explained_variance_.astype(np.float64), axes.spectrum, random)
    estimator._issue(
        "A",
        _claims(axes, measured, q, n, kind),
        problem={"n_components": q, "method": method},
        model=("components_", "explained_variance_", "mean_"),
        data=data_fingerprint(X),
        run={"solver": method, "reason": "converged"},
    )
    return estimator


def _noise(axes: Axes, q: int, most: int) -> float:
    """Return the mean variance of the directions left out, by the spectrum if it is known."""
    if q >= most:
        return 0.0
    if axes.spectrum is not None:
        return float(np.mean(axes.spectrum[q:]))
    return max(axes.total_variance - float(np.sum(axes.variances)), 0.0) / (most - q)


def generator(random_state) -> Any:
    """Return the generator of random numbers that a parameter ``random_state`` stands for."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def _method(estimator, X) -> str:
    n, d = X.shape
    method, wanted = estimator.svd_solver, estimator.n_components
    if sparse.issparse(X):
        if method not in ("auto", "arpack", "covariance_eigh"):
            raise InvalidParameter(
                type(estimator).__name__, "svd_solver", "'arpack' or 'covariance_eigh' for sparse X", method
            )
        return "arpack" if method == "auto" else method
    if method != "auto":
        return method
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or wanted == "mle" or wanted is None:
        return "full"
    return "randomized" if 1 <= wanted < 0.8 * min(n, d) else "full"


def _wanted(estimator, n: int, d: int, method: str) -> Any:
    who, wanted, most = type(estimator).__name__, estimator.n_components, min(n, d)
    if n < 2:
        raise InvalidData(f"{who}: X has 1 sample (n_samples = {n}); a variance needs at least two rows.")
    if wanted is None:
        return most - 1 if method == "arpack" else most
    if wanted == "mle":
        if n < d or method not in ("full", "covariance_eigh"):
            raise InvalidData(
                f"{who}: n_components='mle' is only supported if n_samples >= n_features and with svd_solver 'full' or "
                f"'covariance_eigh'; here X is {n} x {d} and the solver {method!r}."
            )
        return wanted
    least, most = (0, most) if method in ("full", "covariance_eigh") else (1, most - (method == "arpack"))
    if not least <= wanted <= most:
        strictly = " (strictly less than min(n_samples, n_features))" if method == "arpack" else ""
        raise InvalidData(
            f"{who}: n_components={wanted!r} must be between {least} and {most}{strictly} for X of {n} x {d} with "
            f"svd_solver={method!r}."
        )
    return wanted


def _require_finite_squares(who: str, X, rows: Centred) -> None:
    largest = float(np.max(np.abs(X.data if sparse.issparse(X) else X), initial=0.0))
    if not largest < LARGEST or not np.isfinite(rows.mean).all():
        raise InvalidData(f"{who}: the squares of X overflow; divide X by its largest absolute value and fit again.")


def _axes(estimator, rows: Centred, method: str, wanted, random) -> Axes:
    if method in ("full", "covariance_eigh"):
        return all_axes(rows, method)
    if method == "arpack":
        return lanczos_axes(rows, int(wanted), estimator.tol, random)
    power = estimator.iterated_power
    if power == "auto":
        power = 7 if wanted < 0.1 * min(rows.X.shape) else 4
    return randomised_axes(rows, int(wanted), estimator.n_oversamples, power, random)


def _claims(axes: Axes, measured: Measured, q: int, n: int, kind) -> list[Claim]:
    total = axes.total_variance
    digits = 64 * float(np.finfo(kind).eps) * max(axes.components.shape)
    share = measured.captured / total if total > 0 else 1.0
    largest = float(axes.variances[0]) if len(axes.variances) else 0.0
    surely = "" if measured.confidence is None else f" (with confidence {measured.confidence})"
    claims = [
        Claim(
            "eigen.gap",
            "optimality",
            f"No {q} directions capture more variance than these by more than {measured.gap:.3g}{surely}; these capture "
            f"{100 * share:.6g} % of {total:.6g}.",
            value=measured.gap,
            limit=digits * total if axes.spectrum is not None else None,
            confidence=measured.confidence,
            numbers={"captured": measured.captured, "outside": measured.outside, "total": total},
        ),
        Claim(
            "eigen.residual",
            "optimality",
            f"Each explained variance is within {measured.residual:.3g} of an eigenvalue of the covariance matrix.",
            value=measured.residual + digits * largest / 64,
            limit=digits * largest if axes.spectrum is not None else None,
        ),
        Claim(
            "eigen.orthonormal",
            "feasibility",
            f"The directions are orthonormal up to {measured.defect:.3g} (Frobenius norm of V V' - I).",
            value=measured.defect + digits / 64,
            limit=digits,
        ),
    ]
    cut = _cut(axes, measured, q)
    if cut is not None:
        claims.append(
            Claim(
                "eigen.complete",
                "optimality",
                f"Exactly {q} eigenvalues of the covariance matrix exceed {cut:.6g}: none was missed.",
                value=0.0,
                limit=0.0,
                numbers={"threshold": cut, "count": q},
            )
        )
    return claims


def _cut(axes: Axes, measured: Measured, q: int) -> float | None:
    """Return a number well between the last variance kept and the first left out, or None if there is no room."""
    if axes.spectrum is None or not 0 < q < len(axes.spectrum):
        return None
    above, below = float(axes.variances[q - 1]), float(axes.spectrum[q])
    room = max(measured.residual, 1e-9 * float(axes.variances[0]))
    return math.fsum([above, below]) / 2 if above - below > 8 * room else None
