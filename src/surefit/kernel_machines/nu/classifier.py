from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NOTHING, RANDOM_STATE, Rule, check_params, one_of
from surefit.kernel_machines.nu.training import fit_classes
from surefit.kernel_machines.svc_probability import ProbabilityMixin, fit_slopes, out_of_fold
from surefit.kernel_machines.svc_training import set_model, set_points, two_class_problems
from surefit.kernel_machines.svc_votes import VotesMixin
from surefit.kernel_machines.svm_inputs import read_labels, read_sample
from surefit.kernel_machines.svm_machine import NU, RULES, SupportMixin, record


class NuSVC(
    CertifiedMixin, CallbackSupportMixin, VotesMixin, SupportMixin, ProbabilityMixin, ClassifierMixin, BaseEstimator
):
    r"""Support vector classification with a bound on the fraction of margin errors instead of the parameter C.

    .. math:: P(f, b, \rho) = \tfrac12 \|f\|_k^2 - \nu S \rho + \sum_i s_i \bigl(\rho - t_i (f(x_i) + b)\bigr)_+, \qquad
              \rho \ge 0, \quad S = \textstyle\sum_i s_i,

    with the solution divided by the margin :math:`\rho`: the model is that of :class:`SVC` with ``C_ = 1 / rho``. At
    most the fraction :math:`\nu` of the weight lies inside the margin, and at least the fraction :math:`\nu` belongs to
    support vectors. Hypothesis class: signs of :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: hinge. Optimizer:
    sequential minimal optimization on working sets of the dual with pairs of one class, or for a sequence of C.

    Guarantee: after scaling to margin one, :math:`P - \min P \le` ``dual_gap_`` (summed over the two-class problems)
    for any data (theory: :ref:`nu-gap`).

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        Upper bound on the fraction of rows inside the margin and lower bound on the fraction of support vectors. For
        two classes it can be at most twice the fraction of the smaller one; a larger ``nu`` is reduced to that value
        with a ``DataWarning``.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples.
    degree : int >= 1, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether to leave out rows that are unlikely to change; they are checked again before the fit ends.
    probability : bool, default=False
        Whether to fit the slopes of ``predict_proba`` to out-of-fold scores from five additional fits, as :class:`SVC`
        does.
    tol : float >= 0, default=1e-3
        Relative duality gap: stop when the gap is at most ``tol`` times ``objective_``.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the rows of each class.
    verbose : object, default=False
        Accepted but without effect; use callbacks.
    max_iter : int >= 1 or -1, default=-1
        Maximum number of two-row steps for each problem of the search; -1 means no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For several classes: scores per class, or per pair of classes.
    break_ties : bool, default=False
        Whether to break ties of votes by the scores.
    random_state : int, RandomState or None, default=None
        Accepted but without effect, because the solver is deterministic.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads for kernel rows and scores; it does not affect the result.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, class_weight_, shape_fit_, fit_status_, n_iter_
        As in scikit-learn.
    C_ : ndarray of shape (n_problems,)
        The value of ``C`` for which :class:`SVC` has the same solution.
    dual_gap_, objective_ : float
        Proved bound on the distance from the optimum, and :math:`\tfrac12\|f\|^2 + C \sum_i s_i \xi_i`, summed over the
        problems.
    intercept_interval_, rkhs_norm_, margin_, margin_width_, slack_, sample_gap_, points_, free_support_, bound_support_, on_margin_
        As in :class:`SVC`.
    probability_slopes_ : ndarray
        Slopes of the probabilities, with ``probability=True``.
    kernel_ : Kernel
        The kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, number of steps and gap during the search.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import NuSVC
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = NuSVC(nu=0.5, kernel="linear").fit(X, [0, 0, 1, 1])
    >>> model.predict([[-0.5], [0.5]]).tolist(), model.C_.round(6).tolist()
    ([0, 1], [0.333333])
    """

    _rules = {
        **{name: rule for name, rule in RULES.items() if name not in ("fit_intercept", "warm_start")},
        "nu": NU,
        "probability": BOOLEAN | one_of("deprecated"),
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
        "decision_function_shape": one_of("ovr", "ovo"),
        "break_ties": BOOLEAN,
        "random_state": RANDOM_STATE,
    }
    multi_class = "ovo"

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        max_time=None,
        n_jobs=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter("NuSVC", "break_ties", "False with decision_function_shape='ovo'", True)
        sample = read_sample(self, X, y, sample_weight)
        labels = read_labels(self, sample)
        problems = two_class_problems(labels, 1.0, "ovo")
        found = fit_classes(self, sample, problems)
        fits = [fit for _, fit in found]
        self.C_ = 1.0 / np.array([judged.level for judged, _ in found])
        problems = [one._replace(costs=C * one.costs) for one, C in zip(problems, self.C_, strict=True)]
        set_model(self, sample, labels, problems, fits)
        set_points(self, sample.X.shape[0], problems, fits)
        record(self, "nu_svc", sample, fits, ("C_",), [])
        if self.probability is True:
            scores = out_of_fold(self, sample.X, sample.given, sample.sample_weight)
            self.probability_slopes_ = fit_slopes(scores, labels.codes, labels.weights, len(labels.classes))
        return self
