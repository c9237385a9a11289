from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.guards import memory
from surefit.core.validation import BOOLEAN, FRACTION, NON_NEGATIVE, check_params, one_of
from surefit.core.warn import warn
from surefit.discriminants.base import (
    PRIORS,
    Labeled,
    ScoredMixin,
    finite_moments,
    log_priors,
    read_labeled,
    read_priors,
)
from surefit.discriminants.class_axes import class_axes
from surefit.discriminants.lda import COVARIANCE_ESTIMATOR, SHRINKAGE
from surefit.discriminants.lda_training import external_covariance, require_consistent_covariance
from surefit.problems import pose
from surefit.solvers.discriminants.shrinkage import covariance

BLOCK = 4096  # rows whose whitened copy is held in memory at a time


class QuadraticDiscriminantAnalysis(CertifiedMixin, ScoredMixin, BaseEstimator):
    r"""Quadratic discriminant analysis: Gaussian classes with their own covariances and quadratic boundaries.

    .. math::

        \hat y(x) = \arg\max_k \; -\tfrac12 (x - m_k)^\top C_k^{-1} (x - m_k) - \tfrac12 \ln\det C_k + \ln \pi_k

    where :math:`m_k` and :math:`C_k` are the mean and the covariance (divisor :math:`n_k`) of class k.

    Hypothesis class: quadratic surfaces. Loss: negative log-likelihood of Gaussian classes, minimized in closed form.
    Optimizer: one symmetric eigenvalue problem per class.

    Guarantee: without shrinkage, the log-likelihood is within ``certificate_["quadratic.likelihood"].value`` of its
    maximum over Gaussian densities. With shrinkage, the densities are that close to those of the shrunk covariances
    (theory: :ref:`gaussian-likelihood-gap`). Gaussian classes are an assumption.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        As in scikit-learn, "svd" accepts ``reg_param``, and "eigen" accepts ``shrinkage`` and ``covariance_estimator``.
        The computation is the same.
    shrinkage : float from 0 to 1, "auto" or None, default=None
        Shrinkage of each covariance toward a multiple of the identity: this fraction, or the estimate of Ledoit and
        Wolf for standardized columns. Only for "eigen".
    priors : array of shape (n_classes,) or None, default=None
        Prior probabilities; None uses the class frequencies.
    reg_param : float from 0 to 1, default=0.0
        With "svd": replace :math:`C_k` by :math:`(1 - r) C_k + r I`.
    store_covariance : bool, default=False
        Whether to store ``covariance_``.
    tol : float >= 0, default=1e-4
        Smallest variance along any direction. Smaller variances are raised to ``tol``, with a warning; this gives the
        maximum likelihood among Gaussian densities whose variances are at least ``tol``. With zero, a singular
        covariance raises an error.
    covariance_estimator : estimator or None, default=None
        Estimator with ``covariance_``; a clone is fitted to the rows of each class. Only for "eigen", without
        ``shrinkage`` or weights.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities.
    rotations_ : list of ndarrays of shape (n_features, n_features)
        Principal axes of each class, as columns.
    scalings_ : list of ndarrays of shape (n_features,)
        Variances along the axes, largest first.
    covariance_ : list of ndarrays of shape (n_features, n_features)
        Covariances; if ``store_covariance``.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = QuadraticDiscriminantAnalysis(tol=1e-6).fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.verify(X, y)["quadratic.likelihood"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {
        "solver": one_of("svd", "eigen"),
        "shrinkage": SHRINKAGE,
        "priors": PRIORS,
        "reg_param": FRACTION,
        "store_covariance": BOOLEAN,
        "tol": NON_NEGATIVE,
        "covariance_estimator": COVARIANCE_ESTIMATOR,
    }

    means_: np.ndarray
    priors_: np.ndarray
    rotations_: list[np.ndarray]
    scalings_: list[np.ndarray]

    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return self._fit(read_labeled(self, X, y, sample_weight))

    def _fit(self, data: Labeled):
        require_consistent_covariance(self, data, "'eigen'")
        remedy = "Use LinearDiscriminantAnalysis, GaussianNB, or fewer columns."
        memory.require(type(self).__name__, data.X.shape[1], len(data.classes) + 1, remedy=remedy, what="columns")
        m = finite_moments(self, data, "each")
        read_priors(self, m.totals)  # rejects values that are not probabilities
        problem = pose(self, data.X, data.y, data.sample_weight)
        self.classes_, self.means_, self.priors_ = data.classes, m.means, np.array(problem["priors"])
        self.rotations_, self.scalings_, stored, flat = [], [], [], []
        for k, name in enumerate(data.classes.tolist()):
            C = self._covariance(data, m.scatters[k] / m.totals[k], k, float(m.totals[k]))
            axes = class_axes(
                C, self._drawn(m.scatters[k], float(m.totals[k])), data.rows, k, m.means[k], float(self.tol)
            )
            if axes.flat:
                flat.append(name)
                self._require_floor(flat)
            self.rotations_.append(axes.rotation)
            self.scalings_.append(axes.variances)
            stored.append((axes.rotation * axes.variances) @ axes.rotation.T if axes.flat else C)
        self._remark(flat)
        self.__dict__.pop("covariance_", None)
        if self.store_covariance or self.covariance_estimator is not None:
            self.covariance_ = stored
        self._certify(data, problem)
        return self

    def _covariance(self, data: Labeled, C: np.ndarray, k: int, weight: float) -> np.ndarray:
        if self.covariance_estimator is not None:
            return external_covariance(self, data, range(k, k + 1))
        if self.solver == "eigen":
            return covariance(C, self.shrinkage, self.means_[k], weight, data.rows, [k])
        C *= 1 - float(self.reg_param)
        C.flat[:: len(C) + 1] += float(self.reg_param)
        return C

    def _drawn(self, scatter: np.ndarray, weight: float) -> tuple[float, float] | None:
        """Return the factor of the covariance and the amount added to each variance; None for a regularization of another form."""
        if self.covariance_estimator is not None or self.shrinkage == "auto":
            return None
        if self.solver == "svd":
            return 1 - float(self.reg_param), float(self.reg_param)
        share = float(self.shrinkage or 0.0)
        return 1 - share, share * float(np.trace(scatter)) / weight / len(scatter)

    def _require_floor(self, flat: list) -> None:
        if self.tol == 0:
            raise InvalidData(
                f"QuadraticDiscriminantAnalysis: the covariance matrix of class {flat[0]!r} is singular; raise {self._remedy} or tol."
            )

    def _remark(self, flat: list) -> None:
        if flat:
            others = f" (and of {len(flat) - 1} others)" if len(flat) > 1 else ""
            warn(
                f"QuadraticDiscriminantAnalysis: the covariance matrix of class {flat[0]!r}{others} is not of full rank: variances "
                f"up to tol={self.tol:g} were raised to it. Raise {self._remedy}, or scale the columns.",
                DataWarning,
            )

    @property
    def _remedy(self) -> str:
        return "shrinkage" if self.solver == "eigen" else "reg_param"

    def _certify(self, data: Labeled, problem: dict) -> None:
        model = ("classes_", "means_", "priors_", "rotations_", "scalings_")
        self._issue(
            "A",
            [Claim("quadratic.likelihood")],
            problem=problem,
            model=(*model, "covariance_") if self.covariance_estimator is not None else model,
            sample=(data.X, data.y, data.sample_weight),
            run={"solver": self.solver, "reason": "converged"},
        )

    def _scores(self, X) -> np.ndarray:
        scores = np.empty((X.shape[0], len(self.classes_)))
        roots = [R / np.sqrt(s) for R, s in zip(self.rotations_, self.scalings_, strict=True)]
        for start in range(0, X.shape[0], BLOCK):
            rows = X[start : start + BLOCK]
            block = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
            for k, T in enumerate(roots):
                scores[start : start + BLOCK, k] = np.sum(((block - self.means_[k]) @ T) ** 2, axis=1)
        volumes = np.array([np.sum(np.log(s)) for s in self.scalings_])
        return -0.5 * (scores + volumes) + log_priors(self.priors_)
