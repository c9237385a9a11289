from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import POSITIVE, check_params, one_of
from surefit.perceptrons.base import LinearClassifierMixin
from surefit.perceptrons.linear import fit_linear, partial_fit_linear
from surefit.perceptrons.log import MistakeLogMixin
from surefit.perceptrons.online import CLASS_WEIGHT, RULES


class AveragedPerceptron(CertifiedMixin, CallbackSupportMixin, MistakeLogMixin, LinearClassifierMixin, BaseEstimator):
    r"""Averaged perceptron, whose weights are the mean of the weights after every row.

    .. math:: \bar w = \frac1T \sum_{s=1}^T w_s, \qquad w_s \text{ the weights after step } s.

    Hypothesis class: affine functions. Loss: the perceptron loss. Optimizer: one row at a time; the average is updated
    lazily, with one more addition per update.

    Guarantee: the certificate proves that ``coef_`` is this mean, and makes the claims of :class:`Perceptron` about the
    underlying run (theory: :ref:`novikoff`). On separable data the last weights separate the rows; their mean need not.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=1000
        Maximum number of passes.
    tol : float >= 0 or None, default=1e-3
        Stop when the mean perceptron loss of a pass has not improved by ``tol`` for ``n_iter_no_change`` passes. A pass
        without mistakes always ends the fit. None means that the fit continues for ``max_iter`` passes.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the fit stops.
    order : {"cyclic", "shuffled", "random"}, array of int or None, default=None
        Order of the rows: as given, reshuffled for each pass, drawn with replacement, or a permutation of the rows
        that every pass follows. None means "shuffled"; partitioned rows are processed as given.
    eta0 : float > 0, default=1.0
        Step size; from a zero start it only scales the weights.
    mistake : {"<=0", "<0", "sign"}, default="<=0"
        Which margins are mistakes, as in :class:`Perceptron`.
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature that represents the intercept: 1, ``bias_constant``, or the largest norm of a row.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    class_weight : dict, "balanced" or None, default=None
        Factors of the step on rows of each class.
    multi_class : {"ovr", "joint"}, default="ovr"
        For more than two classes: one problem per class against the rest, or one joint problem with a weight vector per
        class.
    n_jobs : int or None, default=None
        Number of threads for more than two classes; the result is bitwise identical for any number.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    warm_start : bool, default=False
        Whether to start from the last weights of the previous fit; only the new steps are averaged.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.
    max_log : int >= 0, default=1000000
        Maximum number of mistakes in ``mistake_log_``.
    confidence : float in (0, 1), default=0.95
        Confidence of the risk bound, which refers to the weights of the first pass and not to their mean.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The mean weights, with shapes as in :class:`Perceptron`.
    last_coef_, last_intercept_ : ndarray
        The weights after the last step.
    classes_, n_updates_, converged_, ending_, mistakes_per_pass_, mistake_counts_, mistake_log_, n_iter_, certificate_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Only the first row is a mistake, so the weight is 1 after every row, and so is the mean.

    >>> import numpy as np
    >>> from surefit import AveragedPerceptron
    >>> X, y = np.array([[1.0], [-1.0], [3.0]]), np.array([1, -1, 1])
    >>> model = AveragedPerceptron(fit_intercept=False, order="cyclic", mistake="<=0").fit(X, y)
    >>> model.last_coef_, model.coef_
    (array([[1.]]), array([[1.]]))
    """

    _rules = {**RULES, "eta0": POSITIVE, "class_weight": CLASS_WEIGHT, "multi_class": one_of("ovr", "joint")}

    def __init__(
        self,
        *,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        n_iter_no_change=5,
        order=None,
        eta0=1.0,
        mistake="<=0",
        bias="plain",
        bias_constant=1.0,
        class_weight=None,
        multi_class="ovr",
        n_jobs=None,
        random_state=0,
        warm_start=False,
        max_time=None,
        max_log=1_000_000,
        confidence=0.95,
    ):
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.order = order
        self.eta0 = eta0
        self.mistake = mistake
        self.bias = bias
        self.bias_constant = bias_constant
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.max_time = max_time
        self.max_log = max_log
        self.confidence = confidence

    @with_callbacks
    def fit(self, X, y, coef_init=None, intercept_init=None):
        """Fit the model, starting from ``coef_init`` and ``intercept_init`` if given. Returns the estimator."""
        check_params(self)
        return fit_linear(self, X, y, coef_init, intercept_init, average=True)

    def partial_fit(self, X, y, classes=None):
        """Process new rows once, in the given order; the first call requires all ``classes``. Returns the estimator."""
        check_params(self)
        return partial_fit_linear(self, X, y, classes, average=True)
