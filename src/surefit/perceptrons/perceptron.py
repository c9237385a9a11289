from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ANYTHING, BOOLEAN, NON_NEGATIVE, POSITIVE, Rule, check_params, one_of
from surefit.perceptrons.base import LinearClassifierMixin
from surefit.perceptrons.linear import fit_linear, partial_fit_linear
from surefit.perceptrons.log import MistakeLogMixin
from surefit.perceptrons.online import CLASS_WEIGHT, OPEN_FRACTION, RULES

NO_PENALTY = Rule("None (a penalized perceptron has no mistake bound; use LinearSVC)", lambda v: v is None)


class Perceptron(CertifiedMixin, CallbackSupportMixin, MistakeLogMixin, LinearClassifierMixin, BaseEstimator):
    r"""Rosenblatt's perceptron, with a bound on the number of mistakes.

    .. math:: \text{if } t_i (x_i^\top w + b) \le 0: \qquad w \leftarrow w + \eta\, t_i x_i, \quad b \leftarrow b + \eta\, t_i c^2

    Hypothesis class: affine functions. Loss: the perceptron loss :math:`(-t f)_+`. Optimizer: one row at a time, until
    a pass makes no mistake.

    Guarantee: on separable data there are at most :math:`(R / \gamma)^2` updates (theory: :ref:`novikoff`). The
    certificate states this bound for the margin reached, a two-sided bound on the largest possible margin, and a risk
    bound from the mistakes of the first pass. On other data, only claims that do not require separability are made.

    Parameters
    ----------
    penalty : None
        Must be None; penalties are not supported.
    alpha, l1_ratio
        Accepted for compatibility with scikit-learn and ignored, because there is no penalty.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=1000
        Maximum number of passes.
    tol : float >= 0 or None, default=1e-3
        Stop when the mean perceptron loss of a pass has not improved by ``tol`` for ``n_iter_no_change`` passes. A pass
        without mistakes always ends the fit. None means that the fit continues for ``max_iter`` passes.
    shuffle : bool, default=True
        Whether each pass processes the rows in a new random order.
    verbose : int, default=0
        If positive, print one line per pass.
    eta0 : float > 0, default=1.0
        Step size :math:`\eta`. From a zero start it only scales the weights.
    n_jobs : int or None, default=None
        Number of threads for more than two classes; the result is bitwise identical for any number.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    early_stopping : bool, default=False
        Whether to hold out rows and to stop when the accuracy on them has not improved by ``tol`` for
        ``n_iter_no_change`` passes.
    validation_fraction : float in (0, 1), default=0.1
        Fraction of the rows to hold out.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the fit stops.
    class_weight : dict, "balanced" or None, default=None
        Factors of the step on rows of each class.
    warm_start : bool, default=False
        Whether to start from the weights of the last fit.
    order : {"cyclic", "shuffled", "random"}, array of int or None, default=None
        Order of the rows: as given, reshuffled for each pass, drawn with replacement, or a permutation of the rows
        that every pass follows. None means that ``shuffle`` decides; partitioned rows are processed as given.
    mistake : {"<=0", "<0", "sign"}, default="<=0"
        Which margins :math:`m = t f(x)` are mistakes. By default a margin of zero is a mistake. ``"sign"`` is the
        textbook rule :math:`\operatorname{sign}(f) \ne t` with :math:`\operatorname{sign}(0) = 1`.
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature :math:`c` that represents the intercept: 1, ``bias_constant``, or :math:`R = \max \|x_i\|`.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    multi_class : {"ovr", "joint"}, default="ovr"
        For more than two classes: one problem per class against the rest, or one joint problem with a weight vector per
        class.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.
    max_log : int >= 0, default=100000
        Maximum number of mistakes in ``mistake_log_``; the counts include all mistakes.
    confidence : float in (0, 1), default=0.95
        Confidence of the risk bound.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights :math:`w`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts :math:`b`.
    classes_ : ndarray
        The labels, sorted; for two classes, the second is the positive class.
    n_updates_ : int
        Number of updates.
    converged_ : bool
        Whether the last pass made no mistake, so that the rows are separated.
    ending_ : str
        Why the fit ended: separated, plateau, cycle, max_iter, max_time, interrupted, callback.
    mistakes_per_pass_ : ndarray of shape (n_iter,)
        Number of updates of each pass.
    mistake_counts_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        Number of updates on each row; with ``eta0=1`` the weights are the initial weights plus ``sum(counts * t * x)``.
    mistake_log_ : dict of ndarrays
        One entry per mistake: problem, pass, row, margin (before the update), squared_norm (after it).
    n_iter_ : int
        Number of passes.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``fit`` accepts no ``sample_weight``: in an online algorithm, no factor of the step is equivalent to processing a
    row twice. Repeat rows, or use :class:`BatchPerceptron`, in which an integer weight is equivalent to repeating the
    row.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Perceptron
    >>> X = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]])
    >>> y = np.array([1, 1, -1, -1])
    >>> model = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
    >>> model.coef_, model.n_updates_, model.n_iter_
    (array([[3., 1.]]), 2, 2)
    >>> model.verify(X, y)["perceptron.replay"].level
    'exact'
    """

    _rules = {
        **RULES,
        "penalty": NO_PENALTY,
        "alpha": ANYTHING,
        "l1_ratio": ANYTHING,
        "shuffle": BOOLEAN,
        "verbose": NON_NEGATIVE,
        "eta0": POSITIVE,
        "early_stopping": BOOLEAN,
        "validation_fraction": OPEN_FRACTION,
        "class_weight": CLASS_WEIGHT,
        "multi_class": one_of("ovr", "joint"),
    }

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        order=None,
        mistake="<=0",
        bias="plain",
        bias_constant=1.0,
        multi_class="ovr",
        max_time=None,
        max_log=100_000,
        confidence=0.95,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.order = order
        self.mistake = mistake
        self.bias = bias
        self.bias_constant = bias_constant
        self.multi_class = multi_class
        self.max_time = max_time
        self.max_log = max_log
        self.confidence = confidence

    @with_callbacks
    def fit(self, X, y, coef_init=None, intercept_init=None):
        """Fit the model, starting from ``coef_init`` and ``intercept_init`` if given. Returns the estimator."""
        check_params(self)
        return fit_linear(self, X, y, coef_init, intercept_init, average=False)

    def partial_fit(self, X, y, classes=None):
        """Process new rows once, in the given order; the first call requires all ``classes``. Returns the estimator."""
        check_params(self)
        return partial_fit_linear(self, X, y, classes, average=False)
