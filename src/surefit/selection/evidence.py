from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from surefit.bases.polynomial import PolynomialBasis
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ARRAY, NOTHING, POSITIVE, check_params, read_data, read_weights
from surefit.linear.bayesian import BayesianLinearRegression
from surefit.problems import pose
from surefit.selection.bic import bic


class Candidate(NamedTuple):
    """One model in the comparison."""

    name: str
    n_parameters: int
    log_evidence: float
    bic: float  # larger is better


class EvidenceSelector(CertifiedMixin, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    r"""Selection of a feature map by the evidence of Bayesian linear regression.

    .. math:: \hat\jmath = \min \operatorname*{argmax}_j \ln \int p(y | X, w, \phi_j) \, p(w) \, dw

    Hypothesis class: linear functions of the features of each candidate, with a normal prior on the coefficients. Loss: negative log
    evidence. Optimizer: exhaustive search over the candidates, each in closed form.

    Guarantee: the checker encloses the evidence of every candidate with its own posterior. The interpretation assumes that prior and
    noise are correct, and depends on the scale of the features, which is part of the prior (theory: :ref:`laplace-approximation`).

    Parameters
    ----------
    candidates : list of transformers, dict of them, or None, default=None
        Feature maps to compare; ``"passthrough"`` uses the columns themselves. None: compare the columns with the
        polynomial features of degree two.
    noise_variance : float > 0, default=1.0
        Variance of the noise.
    prior_variance : float > 0, default=1.0
        Variance of each coefficient, including the intercept.

    Attributes
    ----------
    results_ : list of Candidate
        Name, number of parameters, log evidence and BIC of each candidate.
    best_index_ : int
        Index of the best candidate; ties are resolved in favor of the first.
    best_estimator_ : Pipeline
        The chosen features with their :class:`surefit.BayesianLinearRegression`, used for prediction.
    log_bayes_factors_ : ndarray
        Log evidence of the best minus that of each candidate.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import EvidenceSelector, PolynomialBasis
    >>> x = np.linspace(-1, 1, 30)[:, None]
    >>> y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 2 + 0.3 * np.cos(50 * x[:, 0])
    >>> degrees = {f"degree {k}": PolynomialBasis(k) for k in (1, 2, 5)}
    >>> model = EvidenceSelector(degrees, noise_variance=0.05, prior_variance=4.0).fit(x, y)
    >>> model.results_[model.best_index_].name
    'degree 2'
    """

    _rules = {"candidates": NOTHING | ARRAY, "noise_variance": POSITIVE, "prior_variance": POSITIVE}

    def __init__(self, candidates=None, *, noise_variance=1.0, prior_variance=1.0):
        self.candidates = candidates
        self.noise_variance = noise_variance
        self.prior_variance = prior_variance

    def fit(self, X, y, sample_weight=None):
        """Compare the candidates on all rows and keep the best. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        weights = read_weights(self, sample_weight, X.shape[0])
        named = self._named()
        fits = [(name, self._fit_one(maker, X, y, weights)) for name, maker in named]
        count = float(len(y) if weights is None else weights.sum())
        self.results_ = [self._judge(name, model, X, y, weights, count) for name, model in fits]
        evidence = np.array([result.log_evidence for result in self.results_])
        self.best_index_ = int(np.argmax(evidence))
        self.log_bayes_factors_ = evidence[self.best_index_] - evidence
        self.best_estimator_ = fits[self.best_index_][1]
        self._issue(
            "A",
            [self._claim(fits, X)],
            problem=pose(self, X, y, weights),
            model=("best_index_", "log_bayes_factors_"),
            sample=(X, y, weights),
        )
        return self

    def _named(self) -> list[tuple[str, Any]]:
        if self.candidates is None:
            return [("columns", "passthrough"), ("products", PolynomialBasis(2))]
        given = self.candidates.items() if hasattr(self.candidates, "items") else ((str(c), c) for c in self.candidates)
        named = [(str(name), maker) for name, maker in given]
        for name, maker in named:
            if not (maker == "passthrough" or (hasattr(maker, "fit") and hasattr(maker, "transform"))):
                raise InvalidParameter("EvidenceSelector", f"candidate {name}", "a transformer or 'passthrough'", maker)
        if not named:
            raise InvalidParameter("EvidenceSelector", "candidates", "at least one transformer", self.candidates)
        return named

    def _fit_one(self, maker, X, y, weights) -> Pipeline:
        regression = BayesianLinearRegression(noise_variance=self.noise_variance, prior_variance=self.prior_variance)
        model = make_pipeline(maker if maker == "passthrough" else clone(maker), regression)
        return model.fit(X, y, bayesianlinearregression__sample_weight=weights)

    def _judge(self, name, model, X, y, weights, count) -> Candidate:
        regression = model[-1]
        evidence = float(regression.log_evidence_)
        if not np.isfinite(evidence):
            raise InvalidData(f"EvidenceSelector: the evidence of {name} is not finite; scale its features.")
        # The likelihood at the posterior mean approximates the maximum likelihood.
        residual = y - model.predict(X)
        s = np.ones(len(y)) if weights is None else weights
        noise = float(self.noise_variance)
        fitted = -0.5 * count * np.log(2 * np.pi * noise) - 0.5 * float(s @ residual**2) / noise
        k = len(regression.posterior_mean_)
        return Candidate(name, k, evidence, bic(fitted, k, count))

    def _claim(self, fits, X) -> Claim:
        features = {f"features_{j}": np.array(_dense(model[:-1].transform(X))) for j, (_, model) in enumerate(fits)}
        return Claim("evidence.best", witness=features)

    def predict(self, X, return_std=False):
        """Return the predictions of the best candidate, and their standard deviations if requested."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, dtype=np.float64)
        return self.best_estimator_.predict(X, return_std=return_std)


def _dense(values):
    return values.toarray() if hasattr(values, "toarray") else values
