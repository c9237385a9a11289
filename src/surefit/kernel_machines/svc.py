from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.budget import Reason
from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NON_NEGATIVE, NOTHING, POSITIVE, RANDOM_STATE, Rule, check_params, one_of
from surefit.kernel_machines.svc_budget import fit_budget
from surefit.kernel_machines.svc_hard import refuse
from surefit.kernel_machines.svc_probability import ProbabilityMixin, fit_slopes, out_of_fold
from surefit.kernel_machines.svc_training import fit_problems, set_model, set_points, two_class_problems
from surefit.kernel_machines.svc_votes import VotesMixin
from surefit.kernel_machines.svm_inputs import Sample, read_labels, read_sample
from surefit.kernel_machines.svm_machine import RULES, SupportMixin, record
from surefit.kernel_machines.svm_stability import OneProblem, StabilityMixin
from surefit.kernels import Kernel
from surefit.solvers.smo.problem import classification


class SVC(
    CertifiedMixin,
    CallbackSupportMixin,
    VotesMixin,
    SupportMixin,
    StabilityMixin,
    ProbabilityMixin,
    ClassifierMixin,
    BaseEstimator,
):
    r"""Support vector classification with any kernel and a soft or hard margin.

    .. math:: P(f, b) = \tfrac12 \|f\|_k^2 + C \sum_i s_i \bigl(1 - t_i (f(x_i) + b)\bigr)_+, \qquad t_i = \pm 1,

    over the functions of the kernel's space; ``C=inf`` allows no slack. Hypothesis class: signs of
    :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: hinge. Optimizer: sequential minimal optimization on working sets of
    the dual with second-order pair selection, kernel rows in float32, and refinement in float64. Linear kernels with
    many rows use Newton's method on a smoothed primal.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` (summed over the two-class problems) for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` (theory: :ref:`svm-gap`). ``C=inf`` raises an error with a proof
    if the data have no hard margin (theory: :ref:`hard-margin`).

    Parameters
    ----------
    C : float > 0 or infinity, default=1.0
        Regularization parameter, the weight of the slack; infinity is the hard margin.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples. For a
        string kernel, X is a list of strings.
    degree : int >= 1, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether to leave out rows that are unlikely to change; they are checked again before the fit ends.
    probability : bool, default=False
        Whether to fit the slopes of ``predict_proba`` to out-of-fold scores from five additional fits; the most
        probable class is always the predicted one. The parameter is deprecated in scikit-learn; the value "deprecated"
        means False.
    tol : float >= 0, default=1e-3
        Relative duality gap: stop when the gap is at most ``tol`` times the objective.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for the rows of each class.
    verbose : object, default=False
        If nonzero, print one line per check of the stopping rule.
    max_iter : int >= 1 or -1, default=-1
        Maximum number of two-row steps (linear kernels: Newton steps) for each two-class problem; -1 means no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For several classes: scores per class, or per pair of classes.
    break_ties : bool, default=False
        Whether to break ties of votes by the scores.
    random_state : int, RandomState or None, default=None
        Accepted but without effect, because the solver is deterministic.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`; it is never penalized.
    budget : float >= 0 or None, default=None
        For two classes: minimize the norm subject to this bound on the sum of the slacks, instead of using ``C``; zero
        gives the hard margin.
    multi_class : {"ovo", "ovr"}, default="ovo"
        For several classes: one problem per pair of classes, or one per class against the rest.
    warm_start : bool, default=False
        Whether to start from the dual coefficients of the last fit if the number of rows is the same.
    n_jobs : int or None, default=None
        Number of threads for kernel rows and scores, and for concurrent two-class problems if all their kernel rows fit
        into ``cache_size``. None means one, and -1 means all cores. It does not affect the result.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, class_weight_, shape_fit_, fit_status_, n_iter_
        As in scikit-learn; for ``multi_class="ovr"`` with several classes, ``dual_coef_`` has one row per class.
    intercept_interval_ : ndarray of shape (n_problems, 2)
        Interval of all intercepts that are optimal for the fitted function; ``intercept_`` is its midpoint.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`, summed over the problems.
    rkhs_norm_, margin_, margin_width_ : ndarray of shape (n_problems,)
        :math:`\|f\|_k`, the distance :math:`1 / \|f\|_k` of the margin from the boundary, and the width
        :math:`2 / \|f\|_k` of the band.
    slack_, sample_gap_, points_ : ndarray of shape (n_rows,), or one row per problem
        Slack of each row, its contribution to the gap, and its position: "outside", "on margin", "inside" or
        "misclassified".
    free_support_, bound_support_, on_margin_ : ndarray of int, or a list of them
        Rows with :math:`0 < \alpha < C`, rows with :math:`\alpha = C`, and rows on the margin for any :math:`\alpha`.
    probability_slopes_ : ndarray
        Slopes of the probabilities below and above a score of zero, or one slope for several classes; only with
        ``probability=True``.
    loo_error_bound_ : float
        Fraction of support vectors, an upper bound on the leave-one-out error of the exact optimum.
    C_, budget_min_ : float
        The value of ``C`` used (with ``budget``, the one found), and the smallest feasible budget (0 for nonlinear
        kernels).
    kernel_ : Kernel
        The kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The exclusive-or problem with a quadratic kernel: the optimum is :math:`f(x) = -x_1 x_2` with all multipliers 1/8.

    >>> import numpy as np
    >>> from surefit import SVC
    >>> X, y = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1, 1, 1, -1])
    >>> model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=1.0, tol=1e-10).fit(X, y)
    >>> model.dual_coef_.round(6)
    array([[-0.125, -0.125,  0.125,  0.125]])
    >>> round(model.objective_, 6), model.certificate_.holds
    (0.25, True)
    """

    _rules = {
        **RULES,
        "C": POSITIVE | Rule("infinity", lambda v: isinstance(v, (float, np.floating)) and bool(np.isposinf(v))),
        "probability": BOOLEAN | one_of("deprecated"),
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
        "decision_function_shape": one_of("ovr", "ovo"),
        "break_ties": BOOLEAN,
        "random_state": RANDOM_STATE,
        "budget": NOTHING | NON_NEGATIVE,
        "multi_class": one_of("ovo", "ovr"),
    }

    def __init__(
        self,
        *,
        C=1.0,
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
        fit_intercept=True,
        budget=None,
        multi_class="ovo",
        warm_start=False,
        n_jobs=None,
    ):
        self.C = C
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
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.multi_class = multi_class
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter("SVC", "break_ties", "False with decision_function_shape='ovo'", True)
        sample = read_sample(self, X, y, sample_weight)
        labels = read_labels(self, sample)
        n, strategy = sample.X.shape[0], self.multi_class
        self.C_ = float(np.inf if self.budget == 0 else self.C)
        if self.budget:
            self.C_, one, fit = fit_budget(self, sample, labels)
            problems, fits = [one], [fit]
        else:
            problems = two_class_problems(labels, self.C_, strategy)
            starts = self._last_duals(problems) if self.warm_start and hasattr(self, "_duals") else None
            fits = fit_problems(self, sample, problems, starts)
        for problem, fit in zip(problems, fits, strict=True):
            if not np.isfinite(fit.point.gap) and fit.reason is Reason.STALLED:
                raise refuse("SVC", sample, problem, fit, bool(self.fit_intercept))
        set_model(self, sample, labels, problems, fits)
        set_points(self, n, problems, fits)
        self.loo_error_bound_ = len(self.support_) / n
        more = [Claim("svc.budget")] if self.budget else []
        chosen = () if self.budget is None else ("C_",)
        record(self, "svc", sample, fits, chosen, more + self._statistical_claims(sample))
        self.__dict__.pop("probability_slopes_", None)  # left by an earlier fit
        if self.probability is True:
            scores = out_of_fold(self, sample.X, sample.given, sample.sample_weight)
            self.probability_slopes_ = fit_slopes(scores, labels.codes, labels.weights, len(labels.classes))
        return self

    def _last_duals(self, problems):
        """Return the dual vectors of the last fit if it had the same problems, else None."""
        last = [rows for rows, _ in self._duals]
        same = len(last) == len(problems) and all(map(np.array_equal, last, [problem.rows for problem in problems]))
        return [beta for _, beta in self._duals] if same else None

    def _dual_problem(self, sample: Sample) -> OneProblem:
        one = two_class_problems(read_labels(self, sample), self.C_, "ovo")[0]
        return OneProblem(sample.X, one.rows, classification(one.signs, one.costs, bool(self.fit_intercept)))

    def _statistical_claims(self, sample: Sample) -> list[Claim]:
        """Return the leave-one-out claim and, without weights and with a fixed kernel, the compression bound."""
        chosen_before = isinstance(self.kernel, Kernel) or self.kernel == "linear" or not isinstance(self.gamma, str)
        chosen_before = chosen_before and self.class_weight != "balanced" and not self.budget
        definite = sample.kernel.positive_semidefinite is not False
        plain = len(self.classes_) == 2 and sample.sample_weight is None
        return [Claim("svc.loo")] + [Claim("svc.compression")] * (plain and chosen_before and definite)
