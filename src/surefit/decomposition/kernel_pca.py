from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.guards import memory
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    REAL,
    Rule,
    check_params,
    read_data,
    read_strings,
)
from surefit.kernels import Kernel
from surefit.problems import pose
from surefit.problems.kernels import kernel_in

READ: dict = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
NEGATIVE = 1e-5  # fraction of the largest eigenvalue below which a negative one is rounding, as in scikit-learn
ZERO = 1e-12  # eigenvalues below this fraction of the largest are rounding
LARGEST = 1e150  # squares of larger kernel values overflow


class KernelPCA(CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Kernel principal component analysis.

    .. math:: \max_{V^\top V = I_q} \operatorname{tr}(V^\top \bar K V), \qquad \bar K = H K H, \quad H = I - \tfrac1n 1 1^\top .

    Hypothesis class: projections of the centered features :math:`k(x, \cdot)` onto q dimensions. Loss: squared distance to the projection.
    Optimizer: eigenvalue decomposition of :math:`\bar K`, full or partial.

    Guarantee: the captured variance differs from the maximum over all q directions by at most the gap in the
    certificate, and each eigenvalue is within the stated residual of an eigenvalue of :math:`\bar K` (theory:
    :ref:`eigen-residual`). Signs are fixed: the largest entry of each eigenvector is positive.

    Parameters
    ----------
    n_components : int >= 1 or None, default=None
        Number of components q; None: all components with a non-zero eigenvalue.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="linear"
        Name ("linear", "poly", "rbf", "laplacian", "precomputed"), kernel object, or a function of two samples;
        positive semidefinite. With a kernel on strings, X is a list of strings.
    gamma : float > 0 or None, default=None
        Factor of "rbf", "poly" and "laplacian"; None is 1 / n_features.
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly".
    alpha : float > 0, default=1.0
        Penalty of the kernel ridge regression used by ``inverse_transform`` to predict rows from their components.
    fit_inverse_transform : bool, default=False
        Whether to learn an inverse transform (not with precomputed values or strings).
    kernel_params : dict or None, default=None
        Further arguments of a kernel given as a function.
    copy_X : bool, default=True
        Whether ``X_fit_`` is a copy, so that X may be changed after ``fit``.
    eigen_solver, tol, max_iter, iterated_power, random_state, n_jobs
        Ignored; accepted for compatibility with scikit-learn. Eigenvalues are computed to rounding error.
    remove_zero_eig : bool, default=False
        Drop components whose eigenvalue is zero even if ``n_components`` includes them.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centered Gram matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Eigenvectors.
    X_fit_ : ndarray or sparse matrix
        The training rows (with a precomputed kernel: the matrix).
    kernel_ : Kernel
        The kernel used.
    gamma_ : float or None
        Factor that was used, if the kernel was given by name.
    dual_coef_, X_transformed_fit_ : ndarrays
        Inverse transform, and components of the training rows; with ``fit_inverse_transform``.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    With the linear kernel the components are those of :class:`PCA`:

    >>> import numpy as np
    >>> from surefit import KernelPCA
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    >>> model = KernelPCA().fit(X)
    >>> print(model.eigenvalues_.round(12))
    [9. 1.]
    >>> model.verify(X)["kernel_pca.gap"].level
    'enclosed'
    """

    _rules = {
        "n_components": NOTHING | COUNT,
        "kernel": Rule(
            "the name of a kernel, a kernel of surefit.kernels, or a function of two samples",
            lambda v: isinstance(v, (str, Kernel)) or callable(v),
        ),
        "gamma": NOTHING | POSITIVE,
        "degree": Rule("an integer >= 1", lambda v: REAL.allows(v) and v == int(v) and v >= 1),
        "coef0": REAL,
        "kernel_params": NOTHING | Rule("a dict", lambda v: isinstance(v, dict)),
        "alpha": POSITIVE,
        "fit_inverse_transform": BOOLEAN,
        "eigen_solver": ANYTHING,
        "tol": NON_NEGATIVE,
        "max_iter": NOTHING | COUNT,
        "iterated_power": ANYTHING,
        "remove_zero_eig": BOOLEAN,
        "random_state": RANDOM_STATE,
        "copy_X": BOOLEAN,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Find the components. Returns the estimator."""
        check_params(self)
        X = self._read(X, reset=True)
        who = type(self).__name__
        self.kernel_ = kernel_in(self.get_params(deep=False), X, who=who)
        self._require_usable(X)
        self.gamma_ = getattr(self.kernel_, "gamma", None)
        rows = self.kernel_.rows(X)
        memory.require(who, rows.n, memory.KERNEL, remedy=memory.LANDMARKS)
        K = rows.block(np.arange(rows.n))
        if not np.all(np.abs(K) < LARGEST):
            raise InvalidData(
                f"{who}: some kernel values are not finite, or their squares are not; scale the columns, or change the kernel."
            )
        self._column_means, n = K.mean(axis=0), len(K)
        self._mean = float(self._column_means.mean())
        K += self._mean - self._column_means - self._column_means[:, None]
        wanted = n if self.n_components is None else min(int(self.n_components), n)
        span = None if wanted > n // 4 else [n - wanted, n - 1]
        values, vectors = linalg.eigh(
            K, check_finite=False, subset_by_index=span, driver="evr" if span else "evd", overwrite_a=False
        )
        if len(values) < wanted:  # LAPACK may miss clustered eigenvalues if only some are requested
            values, vectors = linalg.eigh(K, check_finite=False, driver="evd")
        values, vectors = values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
        least = ZERO * max(float(values[0]), 0.0)
        if values[-1] < -NEGATIVE * max(float(values[0]), 0.0):
            raise InvalidData(
                f"{who}: There are significant negative eigenvalues ({values[-1]:.3g} beside {values[0]:.3g}), so the kernel is not "
                "positive semidefinite; choose another kernel, or fewer components."
            )
        values = np.where(values <= least, 0.0, values)
        if self.remove_zero_eig or self.n_components is None:
            vectors, values = vectors[:, values > 0], values[values > 0]
        signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])])
        self.eigenvalues_, self.eigenvectors_, self.X_fit_ = (
            values,
            np.ascontiguousarray(vectors * signs),
            X.copy() if self.copy_X else X,
        )
        self._learn_way_back(X)
        back = ["inverse"] if self.fit_inverse_transform else []
        self._issue(
            "A",
            [Claim(f"kernel_pca.{name}") for name in ("gap", "residual", "means", *back)],
            problem=pose(self, X),
            model=("eigenvalues_", "eigenvectors_", "_column_means", "_mean", *(["dual_coef_"] if back else [])),
            sample=(X, None, None),
            run={"solver": "eigenvalues of the centered Gram matrix"},
        )
        return self

    def fit_transform(self, X, y=None, **params):
        """Fit and return the components of the rows."""
        return self.fit(X).eigenvectors_ * np.sqrt(self.eigenvalues_)

    def transform(self, X) -> np.ndarray:
        """Return the components of the rows."""
        check_is_fitted(self)
        X = self._read(X, reset=False)
        K = self.kernel_.against(X, np.arange(len(self._column_means)), self.X_fit_)
        K = K - K.mean(axis=1, keepdims=True) - self._column_means + self._mean
        with np.errstate(divide="ignore"):
            scale = np.where(self.eigenvalues_ > 0, 1 / np.sqrt(self.eigenvalues_), 0.0)
        return K @ (self.eigenvectors_ * scale)

    def inverse_transform(self, X) -> np.ndarray:
        """Return rows with approximately these components, as predicted by kernel ridge regression."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError("KernelPCA: fit with fit_inverse_transform=True to use inverse_transform.")
        scores = check_array(X, dtype=[np.float64, np.float32])
        return self.kernel_(scores, self.X_transformed_fit_) @ self.dual_coef_

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])

    def _read(self, X, *, reset: bool):
        if isinstance(self.kernel, Kernel) and self.kernel.takes == "strings":
            return read_strings("KernelPCA", X)
        return read_data(self, X, reset=reset, **READ)

    def _require_usable(self, X) -> None:
        kernel = self.kernel_
        if kernel.positive_semidefinite is False:
            raise InvalidParameter(
                "KernelPCA", "kernel", "a positive semidefinite kernel (others have no variance)", self.kernel
            )
        if kernel.takes == "values" and X.shape[0] != X.shape[1]:
            raise InvalidData(f"KernelPCA: a precomputed kernel must be a square matrix; got shape {X.shape}.")
        if self.fit_inverse_transform and kernel.takes != "vectors":
            raise InvalidParameter(
                "KernelPCA",
                "fit_inverse_transform",
                "False if rows are not vectors (Cannot fit_inverse_transform)",
                True,
            )

    def _learn_way_back(self, X) -> None:
        for name in ("dual_coef_", "X_transformed_fit_"):
            self.__dict__.pop(name, None)  # from an earlier fit
        if not self.fit_inverse_transform:
            return
        self.X_transformed_fit_ = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        K = self.kernel_(self.X_transformed_fit_)
        K[np.diag_indices(len(K))] += float(self.alpha)
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        self.dual_coef_ = linalg.solve(K, rows, assume_a="pos", check_finite=False, overwrite_a=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse, tags.input_tags.pairwise = not given, given
        return tags
