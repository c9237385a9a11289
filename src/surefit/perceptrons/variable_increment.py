from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NON_NEGATIVE, check_params
from surefit.perceptrons.base import LinearClassifierMixin
from surefit.perceptrons.log import MistakeLogMixin
from surefit.perceptrons.online import RULES
from surefit.perceptrons.scheduled import fit_scheduled
from surefit.perceptrons.schedules import SCHEDULE


class VariableIncrementPerceptron(
    CertifiedMixin, CallbackSupportMixin, MistakeLogMixin, LinearClassifierMixin, BaseEstimator
):
    r"""Perceptron with a step-size schedule and a margin threshold.

    .. math:: \text{if } t_i (x_i^\top w + b) \le \tau: \qquad w \leftarrow w + \eta(k)\, t_i x_i, \quad k = 1, 2, \dots

    Hypothesis class: affine functions. Loss: the perceptron loss. Optimizer: one row at a time, with step size
    :math:`\eta(k)` at update :math:`k`.

    Guarantee: on separable data the run ends if :math:`\sum \eta = \infty` and
    :math:`\sum \eta^2 / (\sum \eta)^2 \to 0` (theory: :ref:`variable-increment`); :func:`check_schedule` decides this,
    and the certificate proves the underlying inequality after every update.

    Parameters
    ----------
    schedule : str or callable, default="inverse_sqrt"
        Step sizes :math:`\eta(k)`: ``constant``, ``linear`` (k), ``inverse`` (1/k), ``inverse_sqrt``, a
        :class:`PowerSchedule`, a :class:`GeometricSchedule`, or a function of an array of update numbers, starting at
        1.
    threshold : float >= 0, default=0.0
        Functional margin :math:`\tau` (not divided by the norm of the weights) up to which a row is a mistake.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=1000
        Maximum number of passes.
    tol : float >= 0 or None, default=1e-3
        Stop when the mean perceptron loss of a pass has not improved by ``tol`` for ``n_iter_no_change`` passes. A pass
        without mistakes always ends the fit. None means that the fit continues for ``max_iter`` passes.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the fit stops.
    order : {"cyclic", "shuffled", "random"} or None, default=None
        Order of the rows: as given, reshuffled for each pass, or drawn with replacement. None means "shuffled".
    mistake : {"<=0", "<0", "sign"}, default="<=0"
        Which margins are mistakes, as in :class:`Perceptron`; used only with ``threshold=0``.
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature that represents the intercept: 1, ``bias_constant``, or the largest norm of a row.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    n_jobs : int or None, default=None
        Number of threads for more than two classes; the result is bitwise identical for any number.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    warm_start : bool, default=False
        Whether to start from the weights of the last fit; the schedule is restarted.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.
    max_log : int >= 0, default=100000
        Maximum number of mistakes in ``mistake_log_``.
    confidence : float in (0, 1), default=0.95
        Confidence of the risk bound.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The weights, with shapes as in :class:`Perceptron`.
    schedule_report_ : dict
        Result of :func:`check_schedule`.
    classes_, n_updates_, converged_, ending_, mistakes_per_pass_, mistake_counts_, mistake_log_, n_iter_, certificate_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import VariableIncrementPerceptron
    >>> X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1, -1])
    >>> model = VariableIncrementPerceptron(schedule="inverse", fit_intercept=False, order="cyclic").fit(X, y)
    >>> model.coef_, model.n_updates_  # steps 1 and 1/2
    (array([[ 2. , -0.5]]), 2)
    >>> model.certificate_["perceptron.prefix"].holds
    True
    """

    _rules = {**RULES, "schedule": SCHEDULE, "threshold": NON_NEGATIVE}

    def __init__(
        self,
        *,
        schedule="inverse_sqrt",
        threshold=0.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        n_iter_no_change=5,
        order=None,
        mistake="<=0",
        bias="plain",
        bias_constant=1.0,
        n_jobs=None,
        random_state=0,
        warm_start=False,
        max_time=None,
        max_log=100_000,
        confidence=0.95,
    ):
        self.schedule = schedule
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.order = order
        self.mistake = mistake
        self.bias = bias
        self.bias_constant = bias_constant
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.max_time = max_time
        self.max_log = max_log
        self.confidence = confidence

    @with_callbacks
    def fit(self, X, y):
        """Fit the model. Returns the estimator."""
        check_params(self)
        return fit_scheduled(self, X, y)
