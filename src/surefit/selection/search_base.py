"""What grid and random search share: scikit-learn's search on folds that are kept, and the price of having compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from surefit.checks.base import read
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import ANYTHING, NOTHING, Rule, check_params
from surefit.risk.claims import no_claim
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.parts import fit_part, missing_classes
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, Units, find_units
from surefit.risk.void import why_void
from surefit.selection.drawn_folds import drawing_of
from surefit.selection.search_claims import choice_claim

RULES = {
    "estimator": NOTHING | Rule("an estimator with fit", lambda v: hasattr(v, "fit")),
    "scoring": ANYTHING,
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
#: Attributes that a search leaves behind, by the names of scikit-learn.
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


class SearchMixin(CertifiedMixin, DeployedMixin):
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

    def _share(self) -> float:
        """Share of delta for the risk."""
        return 1.0 - self.confidence

    def fit(self, X, y=None, **params):
        """Compare all candidates on the folds, refit the best one, and state what the comparison proves."""
        check_params(self)
        validate_data(self, X, y, skip_check_array=True)
        who, groups = type(self).__name__, params.pop("groups", None)
        target = np.asarray(y)
        if target.ndim < 2 or target.shape[1] == 1:  # several targets are searched as by scikit-learn, without a claim
            target = read_target(who, X, y)
        base = self._base()
        splitter = check_cv(self.cv, y, classifier=is_classifier(base))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
        try:
            search = self._build(splits).fit(X, y, **params)
        except ValueError as error:
            lost = next((words for train, _ in splits if (words := missing_classes(base, target, train))), None)
            if not params and lost is None:
                raise
            given = f" with {', '.join(params)}" if params else ""
            without = "" if lost is None else f" (the training rows of a fold hold none of class {lost})"
            raise InvalidData(
                f"{type(self).__name__}: a candidate could not be fitted{given}{without}: {error}"
            ) from error
        for name in RESULTS:
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        if hasattr(search, "best_estimator_"):
            self.estimator_ = search.best_estimator_
        claims, self.ledger_ = self._claims(X, target, splits, splitter, groups, params)
        self.risk_bound_ = float(claims[0].value)
        data = read(X, y)
        self._issue(
            "C",
            claims,
            problem={"procedure": type(self).__name__, "ledger": [list(entry) for entry in self.ledger_]},
            model=("best_index_",) if hasattr(self, "best_index_") else (),
            data=data_fingerprint(data.X, data.y),
        )
        return self

    def _claims(self, X, y: np.ndarray, splits: list, splitter, groups, params):
        """Return the claims and the ledger; the chosen candidate is fitted once more on every fold, to be asked by the checker."""
        delta, about = self._share(), "the candidate that was chosen"
        self.fold_models_: list = []
        reason, units = self._why_not(X, y, splits, groups), None
        if reason is None:
            units = find_units(type(self).__name__, X, y, groups, self.assume)
            drawing = drawing_of(splitter, y, [test for _, test in splits], units)
            reason = drawing.trouble or _torn(units, splits)
        if reason is not None or units is None:
            return [no_claim("selection.search", about, str(reason))], []
        chosen = clone(self._base()).set_params(**clone(self.best_params_, safe=False))
        self.fold_models_ = [fit_part(type(self).__name__, chosen, X, y, train, params) for train, _ in splits]
        count = len(self.cv_results_["params"])
        claim = choice_claim(
            self.fold_models_, X, y, splits, units=units, drawing=drawing, candidates=count, delta=delta, declared=tuple(self.assume)
        )  # fmt: skip
        refusal = no_claim(
            "selection.refit",
            "the model refitted on all rows",
            "the candidate's fold models were tested, not the refit",
        )
        return [claim, refusal], [(f"each of {count} candidates", delta / count)]

    def _why_not(self, X, y: np.ndarray, splits: list, groups) -> str | None:
        """Why nothing is claimed, or None."""
        if not is_classifier(self._base()) or not (self.scoring is None or self.scoring == "accuracy"):
            return (
                "the score is not an error rate; pass scoring='accuracy', or use cross_validate with a declared range"
            )
        if y.ndim > 1:
            return "there are several targets"
        if not hasattr(self, "best_index_"):
            return "no candidate was chosen"
        tested = np.concatenate([test for _, test in splits])
        if len(np.unique(tested)) < len(tested):
            return "the folds test a row twice"
        if not np.all(np.isfinite([self.cv_results_[f"split{k}_test_score"] for k in range(len(splits))])):
            return "a candidate could not be scored"
        return why_void(X, groups=groups, assume=tuple(self.assume))

    @property
    def scorer_(self) -> Any:
        """The function by which candidates were scored."""
        return check_scoring(self._base(), scoring=self.scoring)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Return the score of the refitted model by ``scoring``; of several, by the one that ``refit`` names."""
        check_is_fitted(self, "estimator_")
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = self.scorer_(self.estimator_, X, y, **options)
        return float(found[self.refit] if isinstance(found, dict) else found)


def _torn(units: Units, splits: list) -> str | None:
    """Why a split proves nothing if it puts parts of one unit on both sides."""
    for train, test in splits:
        if np.intersect1d(units.codes[train], units.codes[test]).size:
            return (
                "equal rows, or rows of one group, are on both sides of a fold; remove the copies, keep them together by "
                "GroupKFold(shuffle=True), or declare assume=('equal_rows_are_draws',)"
            )
    return None
