"""Fitting of ``LinearDiscriminantAnalysis``: scatter matrices, rule, directions, claims."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import clone

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.discriminants.base import Labeled, finite_moments, log_priors, read_priors
from surefit.discriminants.claims import rule_claims
from surefit.solvers.discriminants.axes import (
    TRUSTED,
    Axes,
    Whitening,
    Within,
    between_axes,
    solve_refined,
    whiten_matrix,
    whiten_rows,
    with_fixed_signs,
)
from surefit.solvers.discriminants.moments import Moments, total
from surefit.solvers.discriminants.shrinkage import covariance


class Fitted(NamedTuple):
    """Result of a solver."""

    means: np.ndarray
    priors: np.ndarray
    coef: np.ndarray  # (k, d)
    origin: np.ndarray  # the origin of the means in ``coef``
    covariance: np.ndarray | None
    scalings: np.ndarray | None
    ratios: np.ndarray | None
    claims: list[Claim]
    kept: int | None  # dimensions in which the covariance was inverted; None if it is singular
    route: str


def fit_lda(estimator, data: Labeled) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    n_classes, d = len(data.classes), data.X.shape[1]
    for name in (
        "covariance_",
        "scalings_",
        "explained_variance_ratio_",
        "xbar_",
    ):  # from an earlier fit by another solver
        estimator.__dict__.pop(name, None)
    _require_consistent(estimator, data, min(n_classes - 1, d))
    most = estimator.n_components or min(n_classes - 1, d)
    found = _by_whitening(estimator, data, most) if estimator.solver == "svd" else _by_matrix(estimator, data, most)
    intercept = -0.5 * np.sum((found.means + found.origin) * found.coef, axis=1) + log_priors(found.priors)
    coef = found.coef
    if n_classes == 2:
        coef = coef[1:] - coef[:1]
        with np.errstate(invalid="ignore"):
            intercept = intercept[1:] - intercept[:1]
    estimator.classes_, estimator.means_, estimator.priors_ = data.classes, found.means, found.priors
    estimator.coef_, estimator.intercept_ = coef, intercept
    estimator._max_components = most
    for name, value in (("covariance_", found.covariance), ("scalings_", found.scalings)):
        if value is not None:
            setattr(estimator, name, value)
    if found.ratios is not None:
        estimator.explained_variance_ratio_ = found.ratios[:most]
    if estimator.solver == "svd":
        estimator.xbar_ = found.origin
    _certify(estimator, data, found)
    return estimator


def _by_whitening(estimator, data: Labeled, most: int) -> Fitted:
    rows, d = data.rows, data.X.shape[1]
    few = sum(map(rows.count, range(len(data.classes)))) <= d
    store = estimator.store_covariance
    kind: Any = "each" if store and estimator.priors is not None else "none" if few and not store else "pooled"
    m = finite_moments(estimator, data, kind)
    n = float(m.totals.sum())
    matrix = m.scatters.sum(axis=0) / n if len(m.scatters) else None
    priors = read_priors(estimator, m.totals)
    within, whitening = _whitened(Within(matrix, None), rows, m, n, float(estimator.tol))
    if whitening.axes.shape[1] == 0:
        raise InvalidData(
            f"{type(estimator).__name__}: the rows of each class are equal (no singular value above "
            f"tol={estimator.tol}), so the within-class scatter is zero; pass more rows than classes, or lower tol."
        )
    origin = priors @ m.means
    targets = m.means - origin
    axes, spectrum = between_axes(whitening, np.sqrt(priors)[:, None] * targets, float(estimator.tol))
    coef = targets @ axes.vectors @ axes.vectors.T
    shown = min(most, axes.vectors.shape[1])
    following = float(spectrum[shown]) if shown < len(spectrum) else 0.0 if d > shown else None
    kept = whitening.axes.shape[1]
    claims = rule_claims(kept == d, Axes(axes.vectors[:, :shown], axes.values[:shown]), following)
    return Fitted(
        m.means,
        priors,
        coef,
        origin,
        _mixture(m, priors, estimator.priors is None) if store else None,
        axes.vectors,
        spectrum / spectrum.sum() if spectrum.sum() > 0 else np.zeros(len(spectrum)),
        claims,
        kept,
        "scatter" if within.matrix is not None else "rows",
    )


def _whitened(within: Within, rows, m: Moments, n: float, tol: float) -> tuple[Within, Whitening]:
    """Whiten by the covariance if it is accurate, else by the rows; return the form of W used in the claims."""
    if within.matrix is not None and tol**2 < TRUSTED:
        whitening = whiten_matrix(within.matrix, within.scale)
        if whitening is not None:
            return within, whitening
    by_rows = Within(None, rows.centered(m.means) / np.sqrt(n))
    whitening = whiten_rows(by_rows.rows, by_rows.scale, tol)  # type: ignore[arg-type]
    return by_rows, whitening


def _by_matrix(estimator, data: Labeled, most: int) -> Fitted:
    who, d = type(estimator).__name__, data.X.shape[1]
    simple = estimator.priors is None and estimator.shrinkage != "auto" and estimator.covariance_estimator is None
    m = finite_moments(estimator, data, "pooled" if simple else "each")
    n, priors = float(m.totals.sum()), read_priors(estimator, m.totals)
    W = _within(estimator, data, m, priors, simple)
    if not W.any():
        raise InvalidData(
            f"{who}: the rows of each class are equal, so the within-class scatter is zero; pass more rows than classes."
        )
    axes = between = ratios = following = None
    if estimator.solver == "eigen":
        St = _total(estimator, data, m, n)
        between = St - W
        try:
            values, vectors = linalg.eigh(between, W)
        except linalg.LinAlgError:
            raise InvalidData(
                f"{who}: the covariance within classes is singular; set shrinkage (for example 'auto'), or use solver='svd'."
            ) from None
        ratios = values[::-1] / values.sum()
        axes = Axes(with_fixed_signs(vectors[:, ::-1]), values[::-1])
        following = float(values[::-1][most]) if most < d else None
    center = priors @ m.means  # separately, to avoid cancellation for data far from the origin
    parts = solve_refined(W, np.column_stack([(m.means - center).T, center]))
    coef = None if parts is None else parts[:, :-1] + parts[:, -1:]
    singular = coef is None
    if coef is None:
        coef = axes.vectors @ (axes.vectors.T @ m.means.T) if axes is not None else linalg.lstsq(W, m.means.T)[0]
    claims = [Claim("discriminant.moments"), Claim("discriminant.discarded")]
    if not singular:
        checkable = axes is not None and estimator.covariance_estimator is None  # the user's S_t cannot be checked
        shown = Axes(axes.vectors[:, :most], axes.values[:most]) if axes is not None and checkable else None
        claims = rule_claims(True, shown, following)
    return Fitted(
        m.means,
        priors,
        coef.T.copy(),
        np.zeros(d),
        W,
        None if axes is None else axes.vectors,
        ratios,
        claims,
        None if singular else d,
        estimator.solver,
    )


def _mixture(m: Moments, priors: np.ndarray, pooled: bool) -> np.ndarray:
    """Return the mean of the class covariances, weighted by the priors."""
    if pooled:
        return m.scatters.sum(axis=0) / m.totals.sum()
    return np.einsum("k,kij->ij", priors / m.totals, m.scatters)


def _within(estimator, data: Labeled, m: Moments, priors: np.ndarray, simple: bool) -> np.ndarray:
    shrinkage, external = estimator.shrinkage, estimator.covariance_estimator
    if simple:
        return covariance(_mixture(m, priors, True), shrinkage, m.means[0], 0.0, data.rows, ())
    W = np.zeros(m.scatters.shape[1:])
    for k, prior in enumerate(priors):
        if external is not None:
            C = external_covariance(estimator, data, range(k, k + 1))
        else:
            C = covariance(m.scatters[k] / m.totals[k], shrinkage, m.means[k], m.totals[k], data.rows, [k])
        W += prior * C
    return W


def _total(estimator, data: Labeled, m: Moments, n: float) -> np.ndarray:
    everyone = range(len(m.totals))
    if estimator.covariance_estimator is not None:
        return external_covariance(estimator, data, everyone)
    mean, scatter = total(m)
    return covariance(scatter / n, estimator.shrinkage, mean, n, data.rows, everyone)


def external_covariance(estimator, data: Labeled, classes: range) -> np.ndarray:
    """Return the covariance computed by a clone of the user's estimator for the rows of some classes."""
    chosen = np.sort(data.rows.order[data.rows.ends[classes[0]] : data.rows.ends[classes[-1] + 1]])
    X = data.X[chosen]
    found = clone(estimator.covariance_estimator, safe=False)  # any object with fit, whatever fit returns
    found.fit(X.toarray() if hasattr(X, "toarray") else X)
    if not hasattr(found, "covariance_"):
        raise InvalidParameter(
            type(estimator).__name__, "covariance_estimator", "an estimator that sets covariance_", found
        )
    return np.asarray(found.covariance_, dtype=np.float64)


def _certify(estimator, data: Labeled, found: Fitted) -> None:
    read = ("classes_", "coef_", "intercept_", "means_", "priors_", "scalings_")
    model = [name for name in read if hasattr(estimator, name)]
    if estimator.covariance_estimator is not None:
        model.append("covariance_")
    estimator._issue(
        "C" if found.kept is None else "A" if found.kept == data.X.shape[1] else "B",
        found.claims,
        problem=(),
        model=tuple(model),
        sample=(data.X, data.y, data.sample_weight),
        run={"solver": found.route, "reason": "converged"},
    )


def _require_consistent(estimator, data: Labeled, most: int) -> None:
    who = type(estimator).__name__
    if estimator.n_components is not None and estimator.n_components > most:
        raise InvalidParameter(
            who, "n_components", f"at most min(n_features, n_classes - 1) = {most}", estimator.n_components
        )
    require_consistent_covariance(estimator, data, "'lsqr' or 'eigen'")


def require_consistent_covariance(estimator, data: Labeled, others: str) -> None:
    """Raise an error for inconsistent combinations of solver, shrinkage, covariance estimator and weights."""
    who, external = type(estimator).__name__, estimator.covariance_estimator
    for name in ("shrinkage", "covariance_estimator"):
        if estimator.solver == "svd" and getattr(estimator, name) is not None:
            raise InvalidParameter(who, "solver", f"{others} with {name}", "svd")
    if external is not None and estimator.shrinkage is not None:
        raise InvalidParameter(who, "shrinkage", "None with covariance_estimator", estimator.shrinkage)
    if external is not None and data.sample_weight is not None:
        raise InvalidParameter(
            who, "covariance_estimator", "None with sample_weight, which it does not accept", external
        )
