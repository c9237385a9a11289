import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import COUNT, NON_NEGATIVE, NOTHING, POSITIVE, REAL, Rule, check_params, one_of, read_data
from surefit.kernels import Precomputed
from surefit.perceptrons.base import positions
from surefit.perceptrons.kernel_training import fit_kernel, kernel_scores
from surefit.perceptrons.log import MistakeLogMixin
from surefit.perceptrons.online import RULES

KERNEL = one_of("linear", "rbf", "poly", "laplacian", "precomputed") | Rule(
    "a function of two matrices or a kernel", lambda v: callable(v) and not isinstance(v, type)
)


class KernelPerceptron(CertifiedMixin, CallbackSupportMixin, MistakeLogMixin, ClassifierMixin, BaseEstimator):
    r"""Kernel perceptron: the perceptron in the feature space of a kernel.

    .. math::

        \text{if } t_i f(x_i) \le 0: \quad \alpha_i \leftarrow \alpha_i + 1, \; b \leftarrow b + t_i c^2, \qquad
        f(x) = \sum_j \alpha_j t_j k(x_j, x) + b .

    Hypothesis class: functions of the kernel's feature space plus a constant. Loss: the perceptron loss. Optimizer: one
    row at a time; the scores of all rows are updated after each mistake, and kernel rows are cached.

    Guarantee: with :math:`R^2 = \max k(x_i, x_i)` and a direction of margin :math:`\gamma` in feature space, at most
    :math:`4 R^2 / \gamma^2` updates are made (:math:`c = R`; theory: :ref:`novikoff`). The certificate proves the bound
    for the margin reached. Integer kernel values are added without rounding, so mistake counts are exact. The first
    pass bounds the risk of a random iterate with confidence 0.95 (theory: :ref:`progressive-validation`) if neither the
    kernel nor the intercept depends on later rows. This requires a ``gamma`` other than "scale", and a constant
    :math:`k(x, x)` or a ``bias`` other than "r_squared".

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "laplacian", "precomputed"}, Kernel or callable, default="rbf"
        The kernel: a name, an object of ``surefit.kernels``, or a function that takes two matrices and returns the
        kernel values of their rows.
    degree : int >= 1, default=3
        Degree of ``poly``.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor in ``rbf``, ``poly`` and ``laplacian``, as in scikit-learn's SVC.
    coef0 : float, default=0.0
        Constant in ``poly``.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    bias : {"plain", "augmented", "r_squared"}, default="r_squared"
        Constant feature :math:`c` that represents the intercept: 1, ``bias_constant``, or the feature-space radius.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    threshold : float >= 0, default=0.0
        Margin :math:`\tau` up to which a row is a mistake; the bound becomes :math:`4 (R^2 + \tau) / \gamma^2`.
    mistake : {"<=0", "<0", "sign"}, default="<=0"
        Which margins are mistakes, as in :class:`Perceptron`; used only with ``threshold=0``.
    max_iter : int >= 1, default=1000
        Maximum number of passes.
    tol : float >= 0 or None, default=1e-3
        Stop when the mean perceptron loss of a pass has not improved by ``tol`` for ``n_iter_no_change`` passes. A pass
        without mistakes always ends the fit. None means that the fit continues for ``max_iter`` passes.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the fit stops.
    order : {"cyclic", "shuffled", "random"}, array of int or None, default=None
        Order of the rows: as given, reshuffled for each pass, drawn with replacement, or a permutation of the rows
        that every pass follows. None means "shuffled".
    budget : int >= 1 or None, default=None
        Maximum number of support rows of each two-class problem. A new row replaces the oldest one, and the theorem no
        longer applies.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.
    max_log : int >= 0, default=100000
        Maximum number of mistakes in ``mistake_log_``.

    Attributes
    ----------
    support_ : ndarray of int
        Indices of the rows with nonzero weight.
    support_vectors_ : ndarray or sparse matrix
        Rows with nonzero weight; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        Weights :math:`\alpha_j t_j` of these rows.
    intercept_ : ndarray
        Intercepts :math:`b`.
    gamma_ : float
        Value of ``gamma`` that was used.
    kernel_ : Kernel
        The kernel used.
    classes_, n_updates_, converged_, ending_, mistakes_per_pass_, mistake_counts_, mistake_log_, n_iter_, certificate_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Labels that alternate along a line become separable with the kernel min(x, x'):

    >>> import numpy as np
    >>> from surefit import KernelPerceptron
    >>> X, y = np.array([[1.0], [3.0], [5.0]]), np.array([1, -1, 1])
    >>> model = KernelPerceptron(kernel=lambda A, B: np.minimum(A, B.T), order="cyclic").fit(X, y)
    >>> model.mistake_counts_, model.n_updates_
    (array([5, 9, 5], dtype=int32), 19)
    """

    _rules = {
        **{key: RULES[key] for key in ("fit_intercept", "bias", "bias_constant", "mistake", "max_iter", "tol")},
        **{key: RULES[key] for key in ("n_iter_no_change", "order", "random_state", "max_time", "max_log")},
        "kernel": KERNEL,
        "degree": COUNT,
        "gamma": one_of("scale", "auto") | POSITIVE,
        "coef0": REAL,
        "threshold": NON_NEGATIVE,
        "budget": NOTHING | COUNT,
        "cache_size": POSITIVE,
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        fit_intercept=True,
        bias="r_squared",
        bias_constant=1.0,
        threshold=0.0,
        mistake="<=0",
        max_iter=1000,
        tol=1e-3,
        n_iter_no_change=5,
        order=None,
        budget=None,
        cache_size=200,
        random_state=0,
        max_time=None,
        max_log=100_000,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.bias_constant = bias_constant
        self.threshold = threshold
        self.mistake = mistake
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.order = order
        self.budget = budget
        self.cache_size = cache_size
        self.random_state = random_state
        self.max_time = max_time
        self.max_log = max_log

    @with_callbacks
    def fit(self, X, y):
        """Fit the model; for a precomputed kernel, X is the square kernel matrix. Returns the estimator."""
        check_params(self)
        return fit_kernel(self, X, y)

    def decision_function(self, X) -> np.ndarray:
        """Return the scores: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        scores = kernel_scores(self, X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties (for two classes, a score of zero) go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[positions(self, scores)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.kernel, str)
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags
