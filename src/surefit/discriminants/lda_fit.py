"""From labelled rows to a linear discriminant: scatter matrices, rule, directions, claims."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import clone

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.discriminants.base import Labelled, finite_moments, log_priors, read_priors
from surefit.discriminants.claims import Evidence, claims, moments_claim, rounding_of
from surefit.solvers.class_moments import Moments, centred_rows, total
from surefit.solvers.discriminant_axes import (
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
from surefit.solvers.shrunk_covariance import covariance


class Fitted(NamedTuple):
    """What a solver found."""

    means: np.ndarray
    priors: np.ndarray
    coef: np.ndarray  # (k, d)
    origin: np.ndarray  # the point from which the means were taken in ``coef``
    covariance: np.ndarray | None
    scalings: np.ndarray | None
    ratios: np.ndarray | None
    evidence: Evidence | None  # None if the covariance is singular and nothing was inverted
    route: str


def fit_lda(estimator, data: Labelled) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    n_classes, d = len(data.classes), data.X.shape[1]
    for name in (
        "covariance_",
        "scalings_",
        "explained_variance_ratio_",
        "xbar_",
    ):  # of an earlier fit by another solver
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


def _by_whitening(estimator, data: Labelled, most: int) -> Fitted:
    rows, d = data.rows, data.X.shape[1]
    few = len(rows.order) <= d
    store = estimator.store_covariance
    kind: Any = "each" if store and estimator.priors is not None else "none" if few and not store else "pooled"
    m = finite_moments(estimator, data, kind)
    n = float(m.totals.sum())
    matrix = m.scatters.sum(axis=0) / n if len(m.scatters) else None
    priors = read_priors(estimator, m.totals)
    within, whitening = _whitened(Within(matrix, None), rows, m, n, float(estimator.tol))
    if whitening.axes.shape[1] == 0:
        raise InvalidData(
            f"{type(estimator).__name__}: the rows of each class are all alike (no singular value above tol={estimator.tol}), so "
            "there is no scatter to measure distances by; give more rows than classes, or lower tol."
        )
    origin = priors @ m.means
    targets = m.means - origin
    axes, spectrum = between_axes(whitening, np.sqrt(priors)[:, None] * targets, float(estimator.tol))
    coef = targets @ axes.vectors @ axes.vectors.T
    shown = min(most, axes.vectors.shape[1])
    following = float(spectrum[shown]) if shown < len(spectrum) else 0.0 if d > shown else None
    evidence = Evidence(
        within,
        whitening.lowest,
        whitening.axes.shape[1],
        priors,
        targets,
        coef,
        None,
        Axes(axes.vectors[:, :shown], axes.values[:shown]) if whitening.axes.shape[1] == d else axes,
        following,
        rounding_of(len(rows.order), d),
        m.means,
    )
    return Fitted(
        m.means,
        priors,
        coef,
        origin,
        _mixture(m, priors, estimator.priors is None) if store else None,
        axes.vectors,
        spectrum / spectrum.sum() if spectrum.sum() > 0 else np.zeros(len(spectrum)),
        evidence,
        "scatter" if within.matrix is not None else "rows",
    )


def _whitened(within: Within, rows, m: Moments, n: float, tol: float) -> tuple[Within, Whitening]:
    """Whiten by the matrix where it can be trusted, else by the rows; return the form of W that the claims are about."""
    if within.matrix is not None and tol**2 < TRUSTED:
        whitening = whiten_matrix(within.matrix, within.scale)
        if whitening is not None:
            return within, whitening
    by_rows = Within(None, centred_rows(rows, m.means) / np.sqrt(n))
    whitening = whiten_rows(by_rows.rows, by_rows.scale, tol)  # type: ignore[arg-type]
    return by_rows, whitening


def _by_matrix(estimator, data: Labelled, most: int) -> Fitted:
    who, rows, d = type(estimator).__name__, data.rows, data.X.shape[1]
    simple = estimator.priors is None and estimator.shrinkage != "auto" and estimator.covariance_estimator is None
    m = finite_moments(estimator, data, "pooled" if simple else "each")
    n, priors = float(m.totals.sum()), read_priors(estimator, m.totals)
    W = _within(estimator, data, m, priors, simple)
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
    coef = solve_refined(W, m.means.T)
    singular = coef is None
    if coef is None:
        coef = axes.vectors @ (axes.vectors.T @ m.means.T) if axes is not None else linalg.lstsq(W, m.means.T)[0]
    evidence = None
    if not singular:
        scaled = Within(W, None).scale
        lowest = float(linalg.eigvalsh(W / scaled / scaled[:, None], check_finite=False)[0])
        mean, average = priors @ m.means, priors @ coef.T
        checkable = axes is not None and estimator.covariance_estimator is None  # else S_t is nobody's but the user's
        shown = Axes(axes.vectors[:, :most], axes.values[:most]) if axes is not None and checkable else None
        evidence = Evidence(
            Within(W, None), lowest, d, priors, m.means - mean, coef.T - average, between, shown, following,
            rounding_of(len(rows.order), d), m.means,
        )  # fmt: skip
    return Fitted(
        m.means,
        priors,
        coef.T.copy(),
        np.zeros(d),
        W,
        None if axes is None else axes.vectors,
        ratios,
        evidence,
        estimator.solver,
    )


def _mixture(m: Moments, priors: np.ndarray, pooled: bool) -> np.ndarray:
    """Return the covariances of the classes, mixed by the priors."""
    if pooled:
        return m.scatters.sum(axis=0) / m.totals.sum()
    return np.einsum("k,kij->ij", priors / m.totals, m.scatters)


def _within(estimator, data: Labelled, m: Moments, priors: np.ndarray, simple: bool) -> np.ndarray:
    shrinkage, foreign = estimator.shrinkage, estimator.covariance_estimator
    if simple:
        return covariance(_mixture(m, priors, True), shrinkage, m.means[0], 0.0, data.rows, ())
    W = np.zeros(m.scatters.shape[1:])
    for k, prior in enumerate(priors):
        if foreign is not None:
            C = foreign_covariance(estimator, data, range(k, k + 1))
        else:
            C = covariance(m.scatters[k] / m.totals[k], shrinkage, m.means[k], m.totals[k], data.rows, [k])
        W += prior * C
    return W


def _total(estimator, data: Labelled, m: Moments, n: float) -> np.ndarray:
    everyone = range(len(m.totals))
    if estimator.covariance_estimator is not None:
        return foreign_covariance(estimator, data, everyone)
    mean, scatter = total(m)
    return covariance(scatter / n, estimator.shrinkage, mean, n, data.rows, everyone)


def foreign_covariance(estimator, data: Labelled, classes: range) -> np.ndarray:
    """Return the covariance that a copy of the user's estimator finds for the rows of some classes."""
    chosen = np.sort(data.rows.order[data.rows.ends[classes[0]] : data.rows.ends[classes[-1] + 1]])
    X = data.X[chosen]
    found = clone(estimator.covariance_estimator).fit(X.toarray() if hasattr(X, "toarray") else X)
    if not hasattr(found, "covariance_"):
        raise InvalidParameter(
            type(estimator).__name__, "covariance_estimator", "an estimator that sets covariance_", found
        )
    return np.asarray(found.covariance_, dtype=np.float64)


def _certify(estimator, data: Labelled, found: Fitted) -> None:
    foreign = estimator.covariance_estimator is not None
    if found.evidence is not None:
        stated = [*claims(found.evidence), moments_claim()]
    else:
        words = "The covariance within classes is singular: Fisher's criterion has no maximum, or many; nothing is claimed of it."
        stated = [moments_claim(), Claim("discriminant.discarded", "no_claim", words)]
    estimator._issue(
        "C" if found.evidence is None else "A" if found.evidence.kept == data.X.shape[1] else "B",
        stated,
        problem={
            "classes": data.named,
            "priors": [float(p) for p in found.priors],
            "given_priors": estimator.priors is not None,
            "covariance": "given" if foreign else "pooled" if estimator.solver == "svd" else "priors",
            "shrinkage": None if foreign else estimator.shrinkage,
            "between": "means" if estimator.solver == "svd" else "total",
            "components": int(estimator._max_components),
        },
        model=tuple(
            name
            for name in ("coef_", "intercept_", "means_", "priors_", "scalings_", "covariance_")
            if hasattr(estimator, name) and (name != "covariance_" or foreign)
        ),
        data=data_fingerprint(data.X, data.y, data.sample_weight),
        run={"solver": found.route, "reason": "converged"},
    )


def _require_consistent(estimator, data: Labelled, most: int) -> None:
    who = type(estimator).__name__
    if estimator.n_components is not None and estimator.n_components > most:
        raise InvalidParameter(
            who, "n_components", f"at most min(n_features, n_classes - 1) = {most}", estimator.n_components
        )
    require_consistent_covariance(estimator, data, "'lsqr' or 'eigen'")


def require_consistent_covariance(estimator, data: Labelled, others: str) -> None:
    """Refuse combinations of solver, shrinkage, covariance estimator and weights that contradict each other."""
    who, foreign = type(estimator).__name__, estimator.covariance_estimator
    for name in ("shrinkage", "covariance_estimator"):
        if estimator.solver == "svd" and getattr(estimator, name) is not None:
            raise InvalidParameter(who, "solver", f"{others} with {name}", "svd")
    if foreign is not None and estimator.shrinkage is not None:
        raise InvalidParameter(who, "shrinkage", "None with covariance_estimator", estimator.shrinkage)
    if foreign is not None and data.sample_weight is not None:
        raise InvalidParameter(who, "covariance_estimator", "None with sample_weight, which it cannot take", foreign)
