from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.metaestimators import available_if

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.issuing.state import dense
from surefit.core.validation import N_JOBS, NOTHING, Rule, check_params, one_of, read_data, read_weights
from surefit.linear.linear_classifier import READ, Labeled, LinearClassifierMixin, class_factors, read_labeled
from surefit.linear.sgd.rules import RULES, set_aside, starting_point, take_points
from surefit.linear.sgd.training import Pace, descend, finish, read_plan, warn_if_stopped
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.sgd.passes import Walk


def _has_probabilities(estimator) -> bool:
    if estimator.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"SGDClassifier: loss={estimator.loss!r} gives no probabilities; use 'log_loss'.")
    return True


class SGDClassifier(CertifiedMixin, StatedGapMixin, CallbackSupportMixin, LinearClassifierMixin, BaseEstimator):
    r"""Linear classification by stochastic gradient descent: one row per step.

    .. math:: P(w, b) = \frac{1}{S}\sum_i s_i\,\phi\bigl(t_i, x_i^\top w + b\bigr)
              + \alpha\Bigl(\rho\|w\|_1 + \frac{1 - \rho}{2}\|w\|^2\Bigr), \qquad S = \sum_i s_i,\; t_i = \pm 1.

    Several classes are fitted one against the rest. Hypothesis class: half-spaces. Loss: given by ``loss``. Optimizer:
    steps :math:`w \leftarrow w - \eta_t (\phi'(t_i, z_i)\, x_i + \alpha(1-\rho) w)`, with the cumulative penalty method
    for the l1 norm.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (summed over the classes) for any data, even after an early
    stop (theory: :ref:`fenchel-gap`, :ref:`gradient-descent`). With ``shuffle=True`` the fit does not depend on the
    order of the rows, and an integer weight is equivalent to repeating the row.

    Parameters
    ----------
    loss : str, default="hinge"
        Loss of the score: "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"; or a regression loss
        with the labels -1 and 1 as targets: "squared_error", "huber", "epsilon_insensitive",
        "squared_epsilon_insensitive".
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Norm of the penalty.
    alpha : float >= 0, default=0.0001
        Weight of the penalty; also sets the steps of ``learning_rate="optimal"``.
    l1_ratio : float from 0 to 1 or None, default=0.15
        Share :math:`\rho` of the l1 norm with ``penalty="elasticnet"``.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    max_iter : int >= 1, default=1000
        Maximum number of passes over the rows.
    tol : float >= 0 or None, default=1e-3
        A pass counts as an improvement if the mean objective during the pass decreases by at least ``tol``. None means
        that all ``max_iter`` passes are run.
    shuffle : bool, default=True
        Whether each pass processes the rows in a new random order.
    verbose : int, default=0
        If nonzero, print one line per check of the stopping rule.
    epsilon : float >= 0, default=0.1
        Half-width of the epsilon-insensitive tube, and threshold of the Huber loss.
    n_jobs : int or None, default=None
        Number of threads over the classes; it does not affect the result.
    random_state : int, RandomState or None, default=None
        Seed for the order of the rows and for the choice of the validation rows.
    learning_rate : {"optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"}, default="optimal"
        Step sizes: :math:`1 / (\alpha (t_0 + t))`, ``eta0``, ``eta0`` :math:`/ t^p`, ``eta0`` divided by five whenever
        passes stop improving, or passive-aggressive steps with aggressiveness ``eta0``.
    eta0 : float > 0, default=0.01
        Initial step size.
    power_t : float >= 0, default=0.5
        Exponent :math:`p` of ``learning_rate="invscaling"``.
    early_stopping : bool, default=False
        Whether to set aside validation rows and to stop when their score stops improving.
    validation_fraction : float between 0 and 1, default=0.1
        Fraction of the rows set aside for validation.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the descent stops.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    average : bool or int >= 1, default=False
        Whether to return the mean of the coefficients over all steps; an integer averages from that step on.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the current point is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    classes_ : ndarray
        Labels.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,), or one row per class
        Coefficients and intercepts; for two classes, those of the score of ``classes_[1]``.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P` itself.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them. After ``partial_fit`` it refers to the last
        rows.
    history_ : ndarray of shape (n_passes, 3)
        Time in seconds, pass number, and the mean objective during the pass (with ``early_stopping``, the negative
        validation score).
    n_iter_ : int
        Number of passes, the maximum over the classes.
    t_ : float
        Number of steps plus one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SGDClassifier
    >>> X, y = np.array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]]), np.array([0, 0, 1, 1])
    >>> model = SGDClassifier(alpha=0.1, random_state=0).fit(X, y)
    >>> model.predict([[0.5, 1.0], [-0.5, -1.0]])
    array([1, 0])
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _rules = {
        **RULES,
        "loss": one_of(
            "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber",
            "epsilon_insensitive", "squared_epsilon_insensitive",
        ),
        "n_jobs": N_JOBS,
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
    }  # fmt: skip

    def __init__(
        self,
        loss="hinge",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
        max_time=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        before = (
            (dense(getattr(self, "coef_", None)), getattr(self, "intercept_", None))
            if self.warm_start
            else (None, None)
        )
        data = read_labeled(self, X, y, sample_weight)
        lines = 1 if len(data.classes) == 2 else len(data.classes)
        W, b = starting_point(self, (coef_init, intercept_init), before, (lines, data.X.shape[1]))
        plan = read_plan(self)
        walks = [Walk(W[k], float(b[k]), plan.average, plan.l1) for k in range(lines)]
        self.classes_ = data.classes
        results = self._descend(data, plan, walks, self.max_iter, stop=True)
        warn_if_stopped(self, results)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Make one pass over new rows; the first call requires all labels in ``classes``. Returns the estimator."""
        check_params(self)
        data = self._read_stream(X, y, classes, sample_weight)
        lines, plan = 1 if len(data.classes) == 2 else len(data.classes), read_plan(self)
        if hasattr(self, "_walks"):
            walks = [Walk.resume(state, plan.average, plan.l1) for state in self._walks]
        else:
            walks = [Walk(np.zeros(data.X.shape[1]), 0.0, plan.average, plan.l1) for _ in range(lines)]
        self.classes_ = data.classes
        self._descend(data, plan, walks, 1, stop=False)
        return self

    def _descend(self, data: Labeled, plan, walks: list[Walk], max_iter: int, stop: bool):
        positives = [1] if len(walks) == 1 else range(len(walks))
        splitter = StratifiedShuffleSplit(
            1, test_size=self.validation_fraction if self.early_stopping else None, random_state=self.random_state
        )
        aside = set_aside(self, splitter, data.codes)
        paces = [
            Pace(np.where(data.codes == k, 1.0, -1.0), walk, aside) for k, walk in zip(positives, walks, strict=True)
        ]
        factors = None if self.class_weight is None else data.class_weights[data.codes]
        codes = data.codes.astype(np.float64)
        results = descend(self, data.X, codes, plan, paces, factors, data.sample_weight, max_iter, stop)
        self.coef_, self.intercept_ = take_points(self, walks)
        finish(self, data.X, data.y, data.sample_weight, plan, paces, results)
        return results

    def _read_stream(self, X, y, classes, sample_weight) -> Labeled:
        """Read the rows of a ``partial_fit`` call; their labels must be among those of the first call."""
        first = not hasattr(self, "classes_")
        if self.early_stopping:
            raise InvalidParameter("SGDClassifier", "early_stopping", "False in partial_fit", True)
        if self.class_weight == "balanced":
            raise InvalidParameter("SGDClassifier", "class_weight", "None or a dictionary in partial_fit", "balanced")
        if first and classes is None:
            raise InvalidParameter("SGDClassifier", "classes", "all labels, in the first call to partial_fit", None)
        known = np.unique(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(classes), known):
            raise InvalidParameter("SGDClassifier", "classes", f"the same as on last call, {known.tolist()}", classes)
        if len(known) < 2:
            raise InvalidParameter("SGDClassifier", "classes", "labels of at least two classes", classes)
        X, given = read_data(self, X, y, reset=first, **READ)
        codes = np.minimum(np.searchsorted(known, given), len(known) - 1)
        strange = np.flatnonzero(known[codes] != given)
        if len(strange):
            raise InvalidData(
                f"SGDClassifier: row {strange[0]} has the label {given[strange[0]]!r}, which is not among the classes "
                f"{known.tolist()} of the first call."
            )
        y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
        weights = read_weights(self, sample_weight, X.shape[0])
        factors = class_factors(self, codes, known, weights)
        return Labeled(X, y, codes, known, weights, factors, factors[codes])

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Return class probabilities; for several classes, one-versus-rest probabilities normalized to sum to one."""
        scores = self.decision_function(X)
        if self.loss == "log_loss":
            P = 1.0 / (1.0 + np.exp(-np.clip(scores, -700.0, 700.0)))
        else:
            P = (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        if P.ndim == 1:
            return np.column_stack([1.0 - P, P])
        total = P.sum(axis=1, keepdims=True)
        return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / P.shape[1])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of the probability of each class; minus infinity if it is zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
