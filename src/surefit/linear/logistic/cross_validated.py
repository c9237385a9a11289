from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter, with_callbacks
from surefit.core.errors import InvalidData, InvalidParameter, SurefitError
from surefit.core.routing import route, router_of, score_params
from surefit.core.rows import take_values
from surefit.core.threads import map_blocks, one_blas_thread
from surefit.core.validation import ANYTHING, ARRAY, BOOLEAN, COUNT, SCORING, check_params, one_of
from surefit.linear.linear_classifier import Labeled, read_labeled
from surefit.linear.logistic.classifier import RULES, LogisticMixin, LogisticRegression
from surefit.linear.logistic.folds import of_all_classes, rows_of, scorer_of, split_rows
from surefit.linear.logistic.penalty import Penalty
from surefit.linear.logistic.training import make_problem, null_objective, read_reference, record, record_average, solve
from surefit.solvers.newton import centered


class LogisticRegressionCV(LogisticMixin, BaseEstimator):
    r"""Logistic regression whose penalty is chosen by cross-validation.

    Every fit of every fold is solved to the same relative gap, so the choice does not depend on where the solver stops.
    Fits are warm-started along the path from strong to weak penalties.

    Hypothesis class: half-spaces (cells of a linear partition). Loss: logistic. Optimizer: Newton's method along paths,
    one per fold.

    Guarantee: that of :class:`LogisticRegression` for the final fit (theory: :ref:`fenchel-gap`). The cross-validation
    score is an estimate, not a bound.

    Parameters
    ----------
    Cs : int or array, default=10
        Values of ``C`` to compare, or the number of values on a logarithmic grid from 1e-4 to 1e4.
    l1_ratios : array, default=(0.0,)
        Shares of the l1 norm to compare.
    fit_intercept : bool, default=True
        Whether to fit an unpenalized intercept.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn. The default is 5 stratified folds, or fewer if the smallest class has fewer rows.
    penalty : {"deprecated"}, default="deprecated"
        Deprecated as in scikit-learn; use ``l1_ratios`` instead.
    scoring : str, callable or None, default=None
        Score to maximize; None means accuracy.
    dual, solver, intercept_scaling, random_state
        Accepted for compatibility with scikit-learn; the solver is chosen automatically.
    verbose : int, default=0
        If nonzero, print one line per check of the gap.
    tol : float >= 0, default=1e-6
        Relative duality gap of every fit.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps of every fit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_jobs : int or None, default=None
        Number of threads over the folds; the result is bitwise identical for any number.
    refit : bool, default=True
        Whether to fit all rows with the best penalty. If False, ``coef_``, ``C_`` and ``l1_ratio_`` are means over the
        folds, each at its own best penalty. Averaged coefficients minimize no objective, so the certificate states no
        gap.
    use_legacy_attributes : {False}, default=False
        Only False is accepted: attributes have the shapes announced for scikit-learn 1.10.
    reference : class label or None, default=None
        As for :class:`LogisticRegression`.
    max_time : float > 0 or None, default=None
        Time limit of the cross-validation in seconds; ``fit`` raises an error if it expires before all folds are
        complete.
    rule : {"best", "1se"}, default="best"
        Choose the penalty with the best mean score, or the strongest penalty within one standard error of it.

    Attributes
    ----------
    C_, l1_ratio_ : float
        Chosen penalty.
    Cs_, l1_ratios_ : ndarray
        Values that were compared.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_Cs)
        Test scores.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_Cs, n_classes or 1, n_features or n_features + 1)
        Coefficients of every fit of every fold, with the intercept last if there is one.
    classes_, coef_, intercept_, dual_gap_, labels_at_risk_, inactive_, certificate_, history_, n_iter_
        Attributes of the final fit, as for :class:`LogisticRegression`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0]).fit(X, y)
    >>> model.C_, model.scores_.shape
    (1.0, (5, 1, 2))
    """

    _rules = {
        **{name: rule for name, rule in RULES.items() if name not in ("penalty",)},
        "penalty": one_of("deprecated"),
        "Cs": COUNT | ARRAY,
        "l1_ratios": ARRAY,
        "cv": ANYTHING,
        "scoring": SCORING,
        "refit": BOOLEAN,
        "use_legacy_attributes": one_of(False),
        "rule": one_of("best", "1se"),
        "dual": BOOLEAN,
    }

    def __init__(
        self,
        *,
        Cs=10,
        l1_ratios=(0.0,),
        fit_intercept=True,
        cv=None,
        dual=False,
        penalty="deprecated",
        scoring=None,
        solver="lbfgs",
        tol=1e-6,
        max_iter=100,
        class_weight=None,
        n_jobs=None,
        verbose=0,
        refit=True,
        intercept_scaling=1.0,
        random_state=None,
        use_legacy_attributes=False,
        reference=None,
        max_time=None,
        rule="best",
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.reference = reference
        self.max_time = max_time
        self.rule = rule

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **params):
        """Choose the penalty by cross-validation and fit all rows with it; ``params`` are routed to ``scoring`` and ``cv``."""
        check_params(self)
        self.Cs_, self.l1_ratios_ = self._grid()
        data = read_labeled(self, X, y, sample_weight)
        reference = read_reference(self, data)
        routed = route(self, "fit", params, sample_weight=sample_weight)
        folds, scored_by = split_rows(self, data, routed.splitter.split), score_params(routed, data.sample_weight)
        reporter = progress_reporter(self, data.X, data.y)
        with Budget(self.max_iter, self.max_time, reporter) as budget, one_blas_thread():

            def one(start: int, _stop: int):
                return self._fold_scores(data, folds[start], reference, scored_by, budget)

            lines = map_blocks(one, len(folds), 1, self.n_jobs)
            if any(line is None for line in lines):
                if budget.stopped is Reason.INTERRUPTED:
                    raise KeyboardInterrupt
                raise SurefitError(
                    f"{type(self).__name__}: the fit ended before all folds were compared, so there is no penalty to choose; "
                    "increase max_time, or use fewer folds or values."
                )
            self.scores_ = np.array([line[0] for line in lines])
            self.coefs_paths_ = np.array([line[1] for line in lines])
            if not self.refit:
                return self._averaged(data, reporter)
            self.C_, self.l1_ratio_ = self._choice()
            penalty = Penalty(self.l1_ratio_, 1.0 - self.l1_ratio_, self.C_)
            problem = make_problem(data, penalty.C, reference)
            null = null_objective(problem, data.X.shape[0], bool(self.fit_intercept))
            frame = centered(data.X, bool(self.fit_intercept))
            fit = solve(
                frame, problem, penalty, intercept=bool(self.fit_intercept), tolerance=self.tol * null,
                budget=Budget(self.max_iter),
            )  # fmt: skip
            fit = frame.with_rounding(fit, problem.scores, penalty.l1, penalty.l2, self.tol * null)
        if reporter is not None:
            reporter.finish()
        return record(self, data, problem, penalty, fit, null)

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        who = type(self).__name__
        Cs = np.logspace(-4, 4, self.Cs) if COUNT.allows(self.Cs) else np.asarray(self.Cs, dtype=np.float64)
        ratios = np.asarray(self.l1_ratios, dtype=np.float64)
        if Cs.ndim != 1 or len(Cs) == 0 or not np.all(np.isfinite(Cs)) or np.any(Cs <= 0):
            raise InvalidParameter(who, "Cs", "a count or a list of finite numbers > 0", self.Cs)
        if ratios.ndim != 1 or len(ratios) == 0 or not np.all((ratios >= 0) & (ratios <= 1)):
            raise InvalidParameter(who, "l1_ratios", "a list of numbers from 0 to 1", self.l1_ratios)
        return Cs, ratios

    def _fold_scores(self, data: Labeled, fold, reference, scored_by: dict, budget: Budget):
        """Return the scores and coefficients of one fold, with warm starts from strong to weak penalties."""
        train, test = fold
        part = rows_of(data, train)
        present = np.unique(part.codes)
        if len(present) < 2:
            raise InvalidData(
                f"{type(self).__name__}: a fold has rows of one class only; use fewer folds, or stratified ones with shuffling."
            )
        if len(present) < len(data.classes):  # the fit of this fold never predicts the missing classes
            part, reference = (
                part._replace(classes=data.classes[present], codes=np.searchsorted(present, part.codes)),
                None,
            )
        scorer = scorer_of(self.scoring, data.classes)
        intercept = bool(self.fit_intercept)
        frame = centered(part.X, intercept)
        judge = clone(LogisticRegression())
        judge.classes_, judge.no_finite_mle_, judge.n_features_in_ = data.classes, False, data.X.shape[1]
        options = take_values(scored_by, test, len(data.y))
        X_test, y_test = data.X[test], data.classes[data.codes[test]]
        result = np.empty((len(self.l1_ratios_), len(self.Cs_)))
        height = 1 if len(data.classes) == 2 else len(data.classes)
        path = np.empty((*result.shape, height, data.X.shape[1] + intercept))
        for r, ratio in enumerate(self.l1_ratios_):
            start = None
            for k in np.argsort(self.Cs_, kind="stable"):
                penalty = Penalty(float(ratio), 1.0 - float(ratio), float(self.Cs_[k]))
                problem = make_problem(part, penalty.C, reference)
                tolerance = self.tol * null_objective(problem, len(train), intercept)
                fit = solve(
                    frame, problem, penalty, intercept=intercept, tolerance=tolerance, budget=budget, start=start
                )
                if budget.stopped is not None:
                    return None
                start = problem.unpack(fit)
                judge.coef_, judge.intercept_ = of_all_classes(*start, present, len(data.classes))
                path[r, k, :, : data.X.shape[1]] = judge.coef_
                path[r, k, :, data.X.shape[1] :] = np.reshape(judge.intercept_, (-1, 1))[:, :intercept]
                result[r, k] = scorer(judge, X_test, y_test, **options)
        return result, path

    def score(self, X, y, sample_weight=None, **params) -> float:
        """Return the score selected by ``scoring``, to which ``params`` are routed; the default is the accuracy."""
        check_is_fitted(self)
        routed = route(self, "score", params, sample_weight=sample_weight)
        return float(scorer_of(self.scoring, self.classes_)(self, X, y, **score_params(routed, sample_weight)))

    def get_metadata_routing(self):
        """Return the metadata routing to the scorer and the splitter."""
        scorer = get_scorer("accuracy" if self.scoring is None else self.scoring), {"fit": "score", "score": "score"}
        return router_of(self, own=True, scorer=scorer, splitter=(self.cv, {"fit": "split"}))

    def _averaged(self, data: Labeled, reporter) -> LogisticRegressionCV:
        """Set the coefficients to the mean over the folds of those with the best score."""
        if reporter is not None:
            reporter.finish()
        folds, d = np.arange(len(self.scores_)), data.X.shape[1]
        order = np.argsort(self.Cs_, kind="stable")
        lines = np.swapaxes(self.scores_[:, :, order], 1, 2).reshape(
            len(folds), -1
        )  # ties go to the stronger penalty and the first l1 ratio
        c, r = np.divmod(np.argmax(lines, axis=1), len(self.l1_ratios_))
        mean = self.coefs_paths_[folds, r, order[c]].mean(axis=0)
        self.C_, self.l1_ratio_ = float(self.Cs_[order[c]].mean()), float(self.l1_ratios_[r].mean())
        return record_average(self, data, mean[:, :d], mean[:, d] if self.fit_intercept else np.zeros(len(mean)))

    def _choice(self) -> tuple[float, float]:
        """Return the C and the l1 ratio chosen by the rule; ties go to the stronger penalty and the first l1 ratio."""
        means = self.scores_.mean(axis=0)
        order = np.argsort(self.Cs_, kind="stable")
        r, at = divmod(int(np.argmax(means[:, order])), means.shape[1])
        if self.rule == "1se":
            folds = self.scores_.shape[0]
            error = self.scores_[:, r, order[at]].std(ddof=1) / np.sqrt(folds)
            at = int(np.flatnonzero(means[r, order] >= means[r, order[at]] - error)[0])
        return float(self.Cs_[order[at]]), float(self.l1_ratios_[r])
