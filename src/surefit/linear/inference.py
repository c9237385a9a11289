r"""Standard errors of unpenalized logistic regression, from the Fisher information.

At the maximum of the likelihood the estimate is asymptotically normal around the truth with covariance :math:`I^{-1}`,
:math:`I = \sum_i s_i \tilde x_i \tilde x_i^\top p_i (1 - p_i)` (with several classes, the matrix of second derivatives
with respect to the coefficients of all classes but the reference). This requires that the maximum exists, that the
model is correct, and that there are many rows. A penalty biases the estimate, so no standard errors are reported for
penalized fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, stats
from scipy.special import softmax

from surefit.core import tables
from surefit.core.errors import InvalidParameter, SurefitError
from surefit.linear.score_stability import as_rows
from surefit.problems.labels import class_codes

SINGULAR = 1e-12  # smallest eigenvalue of the scaled information that is treated as positive


@dataclass(frozen=True, eq=False, repr=False)
class Inference:
    """Wald inference about logistic coefficients; one entry per coefficient, intercepts first.

    Attributes
    ----------
    names : list of str
        Names of the coefficients; with several classes, each is preceded by the class.
    estimates, standard_errors, z, p_values : ndarray
        Estimates, standard errors, their ratios, and two-sided p-values.
    low, high : ndarray
        Ends of the intervals at ``confidence``.
    odds_ratios, odds_low, odds_high : ndarray
        Exponentials of ``estimates``, ``low`` and ``high``.
    information : ndarray
        Observed Fisher information: the negative Hessian of the log-likelihood.
    score_information : ndarray
        Sum of outer products of the score vectors; it has the same expectation if the model is correct.
    discrepancy : float
        Largest relative difference between the standard errors from the two estimates of the information. Large values
        indicate a misspecified model.
    confidence : float
        Level of each interval.
    """

    names: list
    estimates: np.ndarray
    standard_errors: np.ndarray
    information: np.ndarray
    score_information: np.ndarray
    confidence: float

    @property
    def covariance(self) -> np.ndarray:
        """Estimated covariance, the inverse of the information."""
        return linalg.inv(self.information)

    @property
    def z(self) -> np.ndarray:
        """Estimates divided by their standard errors."""
        return self.estimates / self.standard_errors

    @property
    def p_values(self) -> np.ndarray:
        """Two-sided p-values of the hypothesis that a coefficient is zero."""
        return 2 * stats.norm.sf(np.abs(self.z))

    @property
    def _reach(self) -> np.ndarray:
        return stats.norm.ppf(0.5 + 0.5 * self.confidence) * self.standard_errors

    @property
    def low(self) -> np.ndarray:
        """Lower ends of the confidence intervals."""
        return self.estimates - self._reach

    @property
    def high(self) -> np.ndarray:
        """Upper ends of the confidence intervals."""
        return self.estimates + self._reach

    @property
    def odds_ratios(self) -> np.ndarray:
        """Factors by which the odds change when a feature increases by one."""
        return np.exp(self.estimates)

    @property
    def odds_low(self) -> np.ndarray:
        """Lower ends of the confidence intervals of the odds ratios."""
        return np.exp(self.low)

    @property
    def odds_high(self) -> np.ndarray:
        """Upper ends of the confidence intervals of the odds ratios."""
        return np.exp(self.high)

    @property
    def discrepancy(self) -> float:
        """Largest relative difference between the standard errors from the two estimates of the information."""
        other = np.sqrt(np.maximum(np.diag(linalg.pinvh(self.score_information)), 0.0))
        return float(np.max(np.abs(other - self.standard_errors) / self.standard_errors))

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        header = (
            "coefficient",
            "estimate",
            "standard error",
            "z",
            "p",
            "odds ratio",
            f"{self.confidence:.0%} interval",
        )
        lines = [
            (name, f"{e:.4g}", f"{s:.3g}", f"{z:.2f}", f"{p:.2g}", f"{o:.4g}", f"{low:.4g} to {high:.4g}")
            for name, e, s, z, p, o, low, high in zip(
                self.names, self.estimates, self.standard_errors, self.z, self.p_values, self.odds_ratios,
                self.odds_low, self.odds_high, strict=True,
            )
        ]  # fmt: skip
        foot = "Wald: asymptotic, assumes a correct model and independent rows; intervals refer to the odds ratios."
        return "Inference about logistic coefficients", header, lines, foot


def wald(model, X, y, sample_weight, confidence: float) -> Inference:
    """Return the Wald inference, or raise an error that explains why it is not available."""
    who = type(model).__name__
    if not (isinstance(confidence, (int, float)) and 0 < confidence < 1):
        raise InvalidParameter(who, "confidence", "a number between 0 and 1", confidence)
    certificate = model.certificate_
    problem = certificate.problem
    reason = _refusal(model, problem)
    if reason:
        raise SurefitError(f"{who}: no standard errors: {reason}")
    certificate.verify(X, y, sample_weight=sample_weight)
    rows = as_rows(X)
    codes = class_codes(np.asarray(y), problem["classes"])
    s = np.ones(rows.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    Z = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)
    Z = np.column_stack([np.ones(len(Z)), Z]) if problem["fit_intercept"] else Z
    scores = np.asarray(rows @ model.coef_.T) + model.intercept_
    P = softmax(np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores, axis=1)
    used = [1] if scores.shape[1] == 1 else [k for k in range(len(model.classes_)) if k != problem["reference"]]
    information, scored = _informations(Z, P, codes, s, used)
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    smallest = linalg.eigvalsh(information / np.outer(scale, scale), subset_by_index=[0, 0])[0]
    if smallest <= SINGULAR:
        raise SurefitError(
            f"{who}: no standard errors: the columns of X depend on each other (or on the intercept), so single coefficients "
            "are not determined; drop columns until they are independent."
        )
    errors = np.sqrt(np.diag(linalg.inv(information)))
    lines = [0] if scores.shape[1] == 1 else used
    own = [
        np.append(model.intercept_[k], model.coef_[k]) if problem["fit_intercept"] else model.coef_[k] for k in lines
    ]
    return Inference(_names(model, problem, lines), np.concatenate(own), errors, information, scored, float(confidence))


def _refusal(model, problem) -> str | None:
    if model.no_finite_mle_:
        return "the likelihood has no maximum (the classes can be separated), so no finite estimate exists."
    own = problem.get("penalty", problem)
    if own["l1"] > 0 or own["l2"] > 0:
        return (
            "the penalty biases the coefficients, and the theory of maximum likelihood does not cover them; fit with C=inf, "
            "or bootstrap the whole procedure."
        )
    if any(weight != 1.0 for weight in problem["class_weights"]):
        return "with class weights the objective is not a likelihood; fit with class_weight=None."
    if len(model.classes_) > 2 and problem.get("reference") is None:
        return "the symmetric form determines differences only; fit with reference=<class> and read coefficients against it."
    if model.certificate_.holds is not True:
        return "the fit did not reach its tolerance; raise max_iter."
    return None


def _informations(Z, P, codes, s, used) -> tuple[np.ndarray, np.ndarray]:
    K, m = len(used), Z.shape[1]
    information = np.empty((K, m, K, m))
    for i, k in enumerate(used):
        for j, other in enumerate(used):
            weights = s * (P[:, k] * (k == other) - P[:, k] * P[:, other])
            information[i, :, j, :] = (Z * weights[:, None]).T @ Z
    errors = np.stack([(codes == k) - P[:, k] for k in used], axis=1)
    scores = (errors[:, :, None] * Z[:, None, :]).reshape(len(Z), K * m)
    return information.reshape(K * m, K * m), (scores * s[:, None]).T @ scores


def _names(model, problem, lines) -> list[str]:
    features = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.coef_.shape[1])]))
    own = (["intercept"] if problem["fit_intercept"] else []) + features
    return own if len(lines) == 1 else [f"{model.classes_[k]}: {name}" for k in lines for name in own]


def odds_of(model, X=None) -> dict:
    """Return the odds ratios and, if X is given, the coefficients per standard deviation of each feature."""
    result = {"odds_ratios": np.exp(model.coef_)}
    if X is not None:
        X = as_rows(X)
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = X.multiply(X) if hasattr(X, "multiply") else np.asarray(X, dtype=np.float64) ** 2
        spread = np.sqrt(np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0.0))
        result["standardized"] = model.coef_ * spread
    return result
