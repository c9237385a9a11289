from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.threads import one_blas_thread
from surefit.core.validation import COUNT, N_JOBS, NOTHING, POSITIVE, RANDOM_STATE, REAL, Rule, check_params, read_data
from surefit.feature_maps.nystroem import RANK, NystroemFeatures
from surefit.feature_maps.reading import KERNEL, READ, resolved

FEW = 512  # landmarks up to which one thread of BLAS finds the eigenvectors at least as fast as several


class Nystroem(NystroemFeatures):
    r"""Nystroem features with uniformly drawn landmarks, as in scikit-learn.

    .. math:: \phi(x) = K_{zz}^{-1/2} \bigl(k(z_1, x), \dots, k(z_m, x)\bigr) .

    The inner products are those of :class:`NystroemFeatures` for the same landmarks; the features differ by a rotation.
    Directions with eigenvalues below 1e-8 times the largest are dropped, because rounding would dominate them.

    Guarantee: :math:`|k(x, x') - \phi(x)^\top \phi(x')| \le \sqrt{r(x) r(x')}` with the residual
    :math:`r(x) = k(x, x) - \|\phi(x)\|^2` that :meth:`kernel_residual` returns. The certificate states the largest error over all pairs of
    training rows, and the sum of their residuals, including rounding (theory: :ref:`nystroem-features`). With more than
    500 rows, these are 500 evenly spaced rows, as the certificate states, because the fit itself uses only the landmarks. The certificate
    of :class:`NystroemFeatures` covers all rows.

    Parameters
    ----------
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", an object, or a function of two samples; positive semidefinite.
    gamma : float > 0 or None, default=None
        Factor of "rbf", "poly" and "laplacian"; None is 1 / n_features.
    coef0 : float or None, default=None
        Constant of "poly"; None is 1.
    degree : float >= 1 or None, default=None
        Degree of "poly", an integer; None is 3.
    kernel_params : dict or None, default=None
        Further arguments of a kernel given as a function.
    n_components : int >= 1, default=100
        Number of landmarks m; all rows if there are fewer.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks; an integer draws the same landmarks as in scikit-learn.
    n_jobs : int or None, default=None
        Number of threads of ``transform``; None means 1 and -1 all cores. Results do not depend on it.

    Attributes
    ----------
    component_indices_ : ndarray of shape (n_landmarks,)
        Row indices of the landmarks.
    components_ : ndarray or sparse matrix
        The landmarks.
    normalization_ : ndarray of shape (n_landmarks, n_landmarks)
        :math:`K_{zz}^{-1/2}`.
    kernel_ : Kernel
        The kernel used.
    max_error_, trace_ : float
        Upper bound on the error over all pairs of training rows, and the sum of their residuals; with more than 500 rows,
        over 500 evenly spaced rows.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Nystroem
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> features = Nystroem(gamma=1.0, n_components=40, random_state=0).fit(X)
    >>> features.transform(X).shape, features.max_error_ < 0.01
    ((200, 40), True)
    """

    _rules = {
        "kernel": KERNEL,
        "gamma": NOTHING | POSITIVE,
        "coef0": NOTHING | REAL,
        "degree": NOTHING | Rule("an integer >= 1", lambda v: REAL.allows(v) and v == int(v) and v >= 1),
        "kernel_params": NOTHING | Rule("a dict", lambda v: isinstance(v, dict)),
        "n_components": COUNT,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draw the landmarks and measure the error on the rows. Returns the transformer."""
        check_params(self)
        X = read_data(self, X, **READ)
        self.kernel_ = kernel = resolved(self, X)
        if kernel.positive_semidefinite is False:
            raise InvalidParameter("Nystroem", "kernel", "a positive semidefinite kernel", self.kernel)
        A = kernel.read(X)
        order = check_random_state(self.random_state).permutation(A.shape[0])
        self.component_indices_ = order[: min(int(self.n_components), A.shape[0])]
        self.components_ = A[self.component_indices_]
        K = np.asarray(kernel(self.components_, self.components_), dtype=np.float64)
        with one_blas_thread() if len(K) <= FEW else nullcontext():
            values, U = np.linalg.eigh(K)
        kept = values > RANK * max(float(values[-1]), 0.0)
        if not kept.any():
            raise InvalidParameter("Nystroem", "kernel", "a kernel that is not zero on all rows", self.kernel)
        root = U[:, kept] / np.sqrt(values[kept]) @ U[:, kept].T
        self.normalization_ = 0.5 * (root + root.T)
        self._issue(
            "C",
            [Claim("feature_map.pairs"), Claim("feature_map.trace")],
            problem=(),
            model=("component_indices_", "normalization_"),
            sample=(X, None, None),
        )
        return self

    def _threads(self) -> int | None:
        return self.n_jobs
