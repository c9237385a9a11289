"""Common parts of grid and randomized search: scikit-learn's search on stored folds, and the correction for the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.fingerprint import data_fingerprint
from surefit.core.guards.refusals import last_line
from surefit.core.routing import route, router_of, routing_enabled, score_params
from surefit.core.sample import read
from surefit.core.validation import ANYTHING, NOTHING, SCORING, Rule, check_params, read_data
from surefit.problems import pose
from surefit.risk.deployed import DeployedMixin, delegates
from surefit.risk.ledger import SHARE
from surefit.risk.parts import fit_part, missing_classes
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, Units, find_units
from surefit.risk.void import why_void
from surefit.selection.drawn_folds import drawing_of
from surefit.selection.search_statement import choice_claim

RULES = {
    "estimator": NOTHING | Rule("an estimator with fit", lambda v: hasattr(v, "fit")),
    "scoring": SCORING | Rule("several of them", lambda v: isinstance(v, (dict, list, set, tuple))),
    "n_jobs": ANYTHING,
    "refit": ANYTHING,
    "cv": ANYTHING,
    "verbose": ANYTHING,
    "pre_dispatch": ANYTHING,
    "error_score": ANYTHING,
    "return_train_score": ANYTHING,
    "confidence": SHARE,
    "assume": ASSUME,
}
#: Fitted attributes with scikit-learn's names.
RESULTS = (
    "best_estimator_",
    "best_index_",
    "best_params_",
    "best_score_",
    "cv_results_",
    "multimetric_",
    "n_splits_",
    "refit_time_",
)


class SearchMixin(CallbackSupportMixin, CertifiedMixin, DeployedMixin):
    """Base of the searches; a subclass builds scikit-learn's object."""

    scoring: Any
    cv: Any
    confidence: float
    assume: tuple[str, ...]
    best_index_: int
    best_params_: dict[str, Any]
    cv_results_: dict[str, Any]
    refit: Any

    _build: Any  # a method of the subclass: scikit-learn's search over the given splits
    _candidates: Any  # a method of the subclass: the parameters of each candidate

    def _share(self) -> float:
        """Return the fraction of delta for the risk."""
        return 1.0 - self.confidence

    def fit(self, X, y=None, **params):
        """Compare all candidates on the folds, refit the best one, and issue the certificate."""
        check_params(self)
        read_data(self, X, y, skip_check_array=True)
        who = type(self).__name__
        passed, fit_by, split_by = self._routed(params)
        target = None if y is None else np.asarray(y)
        if target is not None and (target.ndim < 2 or target.shape[1] == 1):
            target = read_target(who, X, y)
        base = self._base()
        splitter = check_cv(self.cv, y, classifier=is_classifier(base))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, **split_by)]
        promised = splitter.get_n_splits(X, y, **split_by) if hasattr(splitter, "get_n_splits") else len(splits)
        if promised != len(splits):
            raise InvalidData(
                f"{who}: cv.split and cv.get_n_splits return inconsistent results. Expected {promised} splits, "
                f"got {len(splits)}; get_n_splits must return the number of pairs that split yields."
            )
        try:
            search = self._build(splits)
            if getattr(self, "_skl_callbacks", None):
                search.set_callbacks(*self._skl_callbacks)
            search.fit(X, y, **passed)
        except ValueError as error:
            lost = None
            if target is not None:
                lost = next((words for train, _ in splits if (words := missing_classes(base, target, train))), None)
            if not passed and lost is None:
                raise
            given = f" with {', '.join(passed)}" if passed else ""
            without = "" if lost is None else f" (the training rows of a fold contain no row of class {lost})"
            raise InvalidData(
                f"{type(self).__name__}: a candidate could not be fitted{given}{without}: {last_line(error)}"
            ) from error
        for name in RESULTS:
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        if hasattr(search, "best_estimator_"):
            self.estimator_ = search.best_estimator_
        claims, self.ledger_ = self._claims(X, target, splits, splitter, split_by.get("groups"), fit_by, y)
        self.risk_bound_ = float(claims[0].value)
        data = read(X, y)
        self._issue(
            "C",
            claims,
            problem=pose(self, X, y),
            model=("best_index_",) if hasattr(self, "best_index_") else (),
            data=data_fingerprint(data.X, data.y),
        )
        return self

    def _routed(self, params: dict) -> tuple[dict, dict, dict]:
        """Return the metadata of scikit-learn's search on stored folds, of the estimator's ``fit`` and of the splitter."""
        if not routing_enabled():
            fit_by = {name: value for name, value in params.items() if name != "groups"}
            return fit_by, fit_by, {"groups": params.get("groups")}
        routed = route(self, "fit", params)
        inner = router_of(self, **self._scored_parts()).consumes("fit", params)
        passed = {name: value for name, value in params.items() if name in inner}
        return passed, dict(routed.estimator.fit), dict(routed.splitter.split)

    def _scored_parts(self) -> dict[str, Any]:
        scorer = check_scoring(self._base(), scoring=self.scoring)
        return {
            "estimator": (self._base(), {"fit": "fit"}),
            "scorer": (scorer, {"fit": "score", "score": "score"}),
        }

    def get_metadata_routing(self):
        """Return the metadata routing to the estimator, the scorer and the splitter."""
        return router_of(self, **self._scored_parts(), splitter=(self.cv, {"fit": "split"}))

    def _claims(self, X, y: np.ndarray | None, splits: list, splitter, groups, params, given):
        """Return the claims and the division of delta; the chosen candidate is fitted again on every fold for the checker."""
        delta = self._share()
        self.fold_models_: list = []
        self.splits_, self.groups_ = splits, None if groups is None else np.asarray(groups)
        self.unclaimed_ = None
        reason, units = self._why_not(X, y, splits, groups), None
        if reason is None and y is not None:
            units = find_units(type(self).__name__, X, y, groups, self.assume)
            drawing = drawing_of(splitter, y, [test for _, test in splits], units)
            reason = drawing.trouble or _torn(units, splits)
        if reason is not None or units is None or y is None:
            self.unclaimed_ = str(reason)
            return [Claim("selection.unclaimed")], []
        chosen = clone(self._base()).set_params(**clone(self.best_params_, safe=False))
        models = [fit_part(type(self).__name__, chosen, X, y, train, params, given) for train, _ in splits]
        count = len(self.cv_results_["params"])
        claim = choice_claim(
            models, X, y, splits, units=units, drawing=drawing, candidates=count, delta=delta, declared=tuple(self.assume)
        )  # fmt: skip
        if claim.name == "selection.unclaimed":
            self.unclaimed_ = "predictions are not one label per row"
            return [claim], []
        self.fold_models_ = models
        return [claim, Claim("selection.refit")], [(f"each of {count} candidates", delta / count)]

    def _with_draws(self, claims: list[Claim], ledger: list) -> tuple[list[Claim], list]:
        """Add the claims of a subclass about its candidates."""
        return claims, ledger

    def _why_not(self, X, y: np.ndarray | None, splits: list, groups) -> str | None:
        """Return the reason why nothing is claimed, or None."""
        if not is_classifier(self._base()) or not (self.scoring is None or self.scoring == "accuracy"):
            return (
                "the score is not an error rate; pass scoring='accuracy', or use cross_validate with a declared range"
            )
        if y is None or y.ndim > 1:
            return "there is no target" if y is None else "there are several targets"
        if get_tags(self._base()).input_tags.pairwise:
            return "the columns of X are its rows (precomputed kernels or distances)"
        if not hasattr(self, "best_index_"):
            return "no candidate was chosen"
        tested = np.concatenate([test for _, test in splits])
        if len(np.unique(tested)) < len(tested):
            return "the folds test a row twice"
        if not np.all(np.isfinite([self.cv_results_[f"split{k}_test_score"] for k in range(len(splits))])):
            return "a candidate could not be scored"
        return why_void(X, groups=groups, assume=tuple(self.assume))

    @available_if(delegates("predict"))
    def predict(self, X):
        """Return the predictions of the best model."""
        return self._best().predict(X)

    @available_if(delegates("predict_log_proba"))
    def predict_log_proba(self, X):
        """Return the log-probabilities of the classes by the best model."""
        return self._best().predict_log_proba(X)

    @available_if(delegates("transform"))
    def transform(self, X):
        """Return X transformed by the best model."""
        return self._best().transform(X)

    @available_if(delegates("inverse_transform"))
    def inverse_transform(self, X):
        """Return the inverse transform of X by the best model."""
        return self._best().inverse_transform(X)

    @available_if(delegates("score_samples"))
    def score_samples(self, X):
        """Return the score of each row by the best model."""
        return self._best().score_samples(X)

    def _best(self) -> Any:
        """Return the refitted model."""
        if not self.refit:
            raise AttributeError(
                f"{type(self).__name__}: refit=False leaves no model to use; fit it with best_params_."
            )
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base()).target_tags
        tags.target_tags.required, tags.target_tags.multi_output = inner.required, inner.multi_output
        return tags

    @property
    def scorer_(self) -> Any:
        """The scoring function of the candidates, or a dict of functions if there are several scores."""
        wanted = {name: name for name in self.scoring} if isinstance(self.scoring, (list, tuple, set)) else self.scoring
        if isinstance(wanted, dict):
            return {name: check_scoring(self._base(), scoring=scoring) for name, scoring in wanted.items()}
        return check_scoring(self._base(), scoring=wanted)

    def score(self, X, y=None, sample_weight=None, **params) -> float:
        """Return the score of the refitted model by ``scoring``; of several scores, ``refit`` names the one to use.

        ``params`` are routed to the scorer.
        """
        check_is_fitted(self, "estimator_")
        options = score_params(route(self, "score", params, sample_weight=sample_weight), sample_weight)
        scorer = self.scorer_
        scorer = scorer[self.refit] if isinstance(scorer, dict) else scorer
        found = scorer(self.estimator_, X, y, **options)
        return float(found[self.refit] if isinstance(found, dict) else found)


def _torn(units: Units, splits: list) -> str | None:
    """Return the reason why nothing is claimed if a split separates rows of one unit, or None."""
    for train, test in splits:
        if np.intersect1d(units.codes[train], units.codes[test]).size:
            return (
                "equal rows, or rows of one group, are on both sides of a fold; remove the copies, keep them together by "
                "GroupKFold(shuffle=True), or declare assume=('equal_rows_are_draws',)"
            )
    return None
