from __future__ import annotations

import math

import numpy as np
from scipy import linalg
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NON_NEGATIVE, check_params, read_data
from surefit.core.warn import warn
from surefit.discriminants.base import READ, Labeled, ScoredMixin, finite_moments, read_labeled
from surefit.discriminants.claims import rule_claims
from surefit.discriminants.logistic_form import LogisticForm
from surefit.problems import pose
from surefit.solvers.discriminants.axes import solve_refined


class FisherDiscriminant(CertifiedMixin, ScoredMixin, BaseEstimator):
    r"""Fisher's discriminant for two classes: projection on one direction, with a threshold halfway between the means.

    .. math::

        w = \hat\Sigma^{-1} (m_1 - m_0), \qquad \hat\Sigma = \frac{S_0 + S_1}{n - 2} + \lambda I, \qquad
        \hat y(x) = 1 \iff w^\top \Bigl( x - \frac{m_0 + m_1}{2} \Bigr) > 0 .

    Hypothesis class: half-spaces. Loss: minus the criterion :math:`J(w) = (w^\top (m_1 - m_0))^2 / w^\top \hat\Sigma
    w`, the squared distance of the projected means in units of the within-class variance. Optimizer: one Cholesky
    factorization. The class frequencies do not affect the threshold.

    Guarantee: :math:`J^* - J(w) \le` ``certificate_["discriminant.gap"].value`` (theory: :ref:`rayleigh-gap`). Nothing
    is guaranteed about the error: there are separable distributions for which the error of this rule is one third, for
    any number of rows.

    Parameters
    ----------
    ridge : float >= 0, default=0.0
        The ridge term :math:`\lambda`. If it is zero, a singular :math:`\hat\Sigma` is inverted in the dimensions in
        which the rows vary, with a warning.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The direction :math:`w`.
    intercept_ : ndarray of shape (1,)
        :math:`-w^\top (m_0 + m_1) / 2`.
    means_ : ndarray of shape (2, n_features)
        Class means.
    covariance_ : ndarray of shape (n_features, n_features)
        :math:`\hat\Sigma`, unbiased for :math:`\lambda = 0` if both classes have the same covariance; weights count as repetitions.
    distance_ : float
        :math:`\hat\Delta = \sqrt{J(w)}`, the Mahalanobis distance of the means.
    plug_in_error_ : float
        :math:`\Phi(-\hat\Delta / 2)`: the error if the classes were Gaussian with these parameters. An estimate, not a bound.
    classes_ : ndarray of shape (2,)
        Labels, sorted.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Two triangles that a line separates; Fisher's rule puts two of the six corners on the wrong side:

    >>> from surefit import FisherDiscriminant
    >>> from surefit.data import make_two_triangles
    >>> X, y, _ = make_two_triangles(epsilon=0.2)
    >>> model = FisherDiscriminant().fit(X, y)
    >>> round(1 - model.score(X, y), 4)
    0.3333
    """

    _rules = {"ridge": NON_NEGATIVE}

    coef_: np.ndarray
    intercept_: np.ndarray
    means_: np.ndarray
    covariance_: np.ndarray

    def __init__(self, *, ridge=0.0):
        self.ridge = ridge

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return self._fit(read_labeled(self, X, y, sample_weight))

    def _fit(self, data: Labeled):
        if len(data.classes) != 2:
            raise InvalidData(
                f"FisherDiscriminant: Only binary classification is supported; y has {len(data.classes)} classes. Use "
                "LinearDiscriminantAnalysis."
            )
        m = finite_moments(self, data, "pooled")
        n = float(m.totals.sum())
        if n <= 2:
            raise InvalidData(
                f"FisherDiscriminant: needs weights that sum to more than 2 (two means are fitted); got {n:g}."
            )
        covariance = m.scatters[0] / (n - 2)
        covariance.flat[:: len(covariance) + 1] += float(self.ridge)
        difference = m.means[1] - m.means[0]
        w = solve_refined(covariance, difference[:, None])
        singular = w is None
        w = _minimum_norm(covariance, difference) if w is None else w[:, 0]
        self.classes_, self.means_, self.covariance_ = data.classes, m.means, covariance
        self.coef_, self.intercept_ = w[None, :], np.array([-0.5 * float(w @ (m.means[0] + m.means[1]))])
        self.distance_ = math.sqrt(max(float(w @ difference), 0.0))
        self.plug_in_error_ = float(ndtr(-self.distance_ / 2))
        self._certify(data, singular)
        return self

    def _certify(self, data: Labeled, singular: bool) -> None:
        stated = [Claim("discriminant.moments"), Claim("discriminant.discarded")]
        if singular:
            warn(
                "FisherDiscriminant: the covariance within classes is singular, so its criterion has no maximum; the rule was "
                "computed in the dimensions where rows vary. Set ridge > 0, or use fewer columns than rows.",
                DataWarning,
            )
        else:
            stated = rule_claims(True)
        self._issue(
            "C" if singular else "A",
            [*stated, Claim("discriminant.plug_in")],
            problem=pose(self, data.X, data.y, data.sample_weight),
            model=("classes_", "coef_", "intercept_", "means_"),
            sample=(data.X, data.y, data.sample_weight),
            run={"solver": "minimum norm" if singular else "cholesky", "reason": "converged"},
        )

    def project(self, X) -> np.ndarray:
        """Return the signed distances of the rows from the hyperplane, in the units of ``X``."""
        length = float(np.linalg.norm(self.coef_))
        return self.decision_function(X) / (length or 1.0)

    def whiten(self, X) -> np.ndarray:
        r"""Return :math:`L^{-1} (x - (m_0 + m_1)/2)` with :math:`LL^\top = \hat\Sigma`."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        try:
            L = linalg.cholesky(self.covariance_, lower=True)
        except linalg.LinAlgError:
            raise InvalidData("FisherDiscriminant: the covariance is singular; set ridge > 0 to whiten.") from None
        return linalg.solve_triangular(L, (X - self.means_.mean(axis=0)).T, lower=True).T

    def to_logistic(self) -> LogisticForm:
        """Return the logistic model with the same probabilities as the Gaussian model with equal priors."""
        check_is_fitted(self)
        return LogisticForm(self.coef_.copy(), self.intercept_.copy())

    def _scores(self, X) -> np.ndarray:
        scores = np.asarray(X @ self.coef_[0], dtype=np.float64) + self.intercept_[0]
        return np.column_stack([np.zeros(len(scores)), scores])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _minimum_norm(covariance: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Return the minimum-norm least-squares solution, in columns scaled to unit variance."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    solution = linalg.lstsq(covariance / scale / scale[:, None], difference / scale, cond=1e-12)[0]
    return solution / scale
