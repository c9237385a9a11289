from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.threads import blas_threads, map_blocks, one_blas_thread
from surefit.core.validation import COUNT, POSITIVE, RANDOM_STATE, REAL, Rule, check_params, one_of, read_data
from surefit.feature_maps.reading import KERNEL, READ, VALUES, resolved
from surefit.problems import pose
from surefit.solvers.kernel_subset.landmarks import choose
from surefit.solvers.kernel_subset.squares import span_of

RANK = 1e-8  # directions below this fraction of the largest eigenvalue are dropped, since rounding would dominate them


class NystroemFeatures(CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Nystroem features of any kernel, from its values with a subset of the rows (landmarks).

    .. math:: \phi(x) = W^\top \bigl(k(z_1, x), \dots, k(z_m, x)\bigr), \qquad W = U \Lambda^{-1/2}, \quad K_{zz} = U \Lambda U^\top ,

    with m landmarks :math:`z_j` drawn from the rows. :math:`q(x, x') = \phi(x)^\top \phi(x')` is the inner product of the projections of
    :math:`k(x, \cdot)` and :math:`k(x', \cdot)` on the span of the landmarks. The function q is also a kernel, and it
    is exact at the landmarks.

    Guarantee: :math:`|k(x, x') - q(x, x')| \le \sqrt{r(x) r(x')}` for any two elements, with the residual :math:`r(x) = k(x, x) - q(x, x)
    \ge 0` that :meth:`kernel_residual` returns. The certificate states the largest error over all pairs of training rows, and the sum of
    their residuals, including rounding (theory: :ref:`nystroem-features`). A linear model on the features uses the *approximate* kernel;
    :class:`NystroemSVC`, :class:`NystroemLogisticRegression` and :class:`NystroemRidge` bound the gap to the exact problem.

    Parameters
    ----------
    n_components : int >= 1, default=100
        Number of landmarks m; all rows if there are fewer. The number of features is m minus the number of directions
        that are zero up to rounding.
    landmarks : {"pivoted", "uniform"}, default="pivoted"
        How landmarks are drawn: with probability proportional to the residual given the earlier landmarks (among 20 000 rows), or
        uniformly.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", an object, or a function of two samples; positive semidefinite.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    component_indices_ : ndarray of shape (n_landmarks,)
        Row indices of the landmarks.
    components_ : ndarray or sparse matrix
        The landmarks.
    normalization_ : ndarray of shape (n_landmarks, n_output_features)
        :math:`W`.
    kernel_ : Kernel
        The kernel used.
    max_error_, trace_ : float
        Upper bound on :math:`|k - q|` over all pairs of training rows, and :math:`\sum_i r(x_i)`.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import NystroemFeatures
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> features = NystroemFeatures(15, gamma=1.0, random_state=0).fit(X)
    >>> phi = features.transform(X)
    >>> error = np.abs(np.exp(-((X - X.T) ** 2)) - phi @ phi.T).max()
    >>> bool(error <= features.max_error_ < 0.01), features.verify(X)["feature_map.pairs"].level
    (True, 'enclosed')
    """

    _rules = {
        "n_components": COUNT,
        "landmarks": one_of("pivoted", "uniform"),
        "kernel": KERNEL,
        "gamma": one_of("scale", "auto") | POSITIVE,
        "degree": Rule("an integer >= 1", lambda v: REAL.allows(v) and v == int(v) and v >= 1),
        "coef0": REAL,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components=100,
        *,
        landmarks="pivoted",
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        random_state=None,
    ):
        self.n_components = n_components
        self.landmarks = landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the landmarks and measure the error on the rows. Returns the transformer."""
        check_params(self)
        X = read_data(self, X, **READ)
        self.kernel_ = kernel = resolved(self, X)
        if kernel.positive_semidefinite is False:
            raise InvalidParameter("NystroemFeatures", "kernel", "a positive semidefinite kernel", self.kernel)
        A = kernel.read(X)
        draws, every = check_random_state(self.random_state), np.arange(A.shape[0])
        self.component_indices_ = choose(kernel, A, every, int(self.n_components), self.landmarks, draws)
        span = span_of(kernel, A, self.component_indices_, RANK)
        if span.whiten.shape[1] == 0:
            raise InvalidParameter("NystroemFeatures", "kernel", "a kernel that is not zero on all rows", self.kernel)
        self.components_, self.normalization_ = A[self.component_indices_], span.whiten
        self._issue(
            "C",
            [Claim("feature_map.pairs"), Claim("feature_map.trace")],
            problem=pose(self, X),
            model=("component_indices_", "normalization_"),
            sample=(X, None, None),
        )
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column per feature."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        features = np.empty((X.shape[0], self._n_features_out))

        def part(start: int, stop: int) -> None:
            np.matmul(self.kernel_(X[start:stop], self.components_), self.normalization_, out=features[start:stop])

        threads = self._threads()
        with one_blas_thread():
            map_blocks(part, X.shape[0], max(1, VALUES // len(self.component_indices_)), threads)
        return features

    def _threads(self) -> int | None:
        """Return the number of threads that share the rows in ``transform``."""
        return blas_threads()

    def kernel_residual(self, X) -> np.ndarray:
        """Return ``r(x) = k(x, x) - q(x, x)`` for each row; negative rounding errors become zero."""
        squares = np.sum(self.transform(X) ** 2, axis=1)
        return np.maximum(self.kernel_.diag(read_data(self, X, reset=False, **READ)) - squares, 0.0)

    @property
    def _n_features_out(self) -> int:
        return self.normalization_.shape[1]

    @property
    def max_error_(self) -> float:
        """Upper bound on the error of inner products over all pairs of training rows."""
        return self.certificate_["feature_map.pairs"].value

    @property
    def trace_(self) -> float:
        """Upper bound on the sum of the residuals."""
        return self.certificate_["feature_map.trace"].value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
