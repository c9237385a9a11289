"""What grid and random search share: scikit-learn's search on folds that are kept, and the price of having compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from surefit.bounds.base import RiskBound, confidence_text
from surefit.bounds.binomial import holdout
from surefit.bounds.resampling import k_fold
from surefit.checks.base import read
from surefit.checks.risk_rows import row_keys
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import ANYTHING, NOTHING, Rule, check_params
from surefit.risk.claims import no_claim, sentence
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.units import ASSUME, sign_of_scaling

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
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        if np.asarray(y).dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        base = self._base()
        splitter = check_cv(self.cv, y, classifier=is_classifier(base))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, params.pop("groups", None))]
        try:
            search = self._build(splits).fit(X, y, **params)
        except ValueError as error:
            if not params:
                raise
            raise InvalidData(
                f"{type(self).__name__}: a candidate could not be fitted with {', '.join(params)}: {error}"
            ) from error
        for name in RESULTS:
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        if hasattr(search, "best_estimator_"):
            self.estimator_ = search.best_estimator_
        claims, self.ledger_ = self._claims(X, np.asarray(y), splits, "Stratified" in type(splitter).__name__)
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

    def _claims(self, X, y: np.ndarray, splits: list, stratified: bool) -> tuple[list[Claim], list[tuple[str, float]]]:
        delta = self._share()
        about = "the candidate that was chosen"
        reason = self._why_not(X, y, splits)
        if reason is not None:
            return [no_claim("selection.search", about, reason)], []
        sizes = np.array([len(test) for _, test in splits])
        scores = np.column_stack([self.cv_results_[f"split{k}_test_score"] for k in range(len(splits))])
        errors = np.rint((1.0 - scores) * sizes).astype(np.int64)
        count = len(errors)
        claim = choice_claim(errors, sizes, self.best_index_, delta, stratified, tuple(self.assume))
        refusal = no_claim(
            "selection.refit",
            "the model refitted on all rows",
            "the candidate's fold models were tested, not the refit",
        )
        return [claim, refusal], [(f"each of {count} candidates", delta / count)]

    def _why_not(self, X, y: np.ndarray, splits: list) -> str | None:
        """Why nothing is claimed, or None."""
        if not is_classifier(self._base()) or not (self.scoring is None or self.scoring == "accuracy"):
            return (
                "the score is not an error rate; pass scoring='accuracy', or use cross_validate with a declared range"
            )
        if not hasattr(self, "best_index_"):
            return "no candidate was chosen"
        tested = np.concatenate([test for _, test in splits])
        if len(np.unique(tested)) < len(tested):
            return "the folds test a row twice"
        if not np.all(np.isfinite([self.cv_results_[f"split{k}_test_score"] for k in range(len(splits))])):
            return "a candidate could not be scored"
        scaled = None if "fixed_scaling" in self.assume else sign_of_scaling(X)
        if scaled is not None:
            return f"{scaled}, so it was scaled with numbers taken from all rows; put the scaler into a Pipeline"
        if "equal_rows_are_draws" not in self.assume:
            data = read(X, y)
            keys = row_keys(data.X, data.y)
            for train, test in splits:
                if {keys[i] for i in train.tolist()}.intersection(keys[i] for i in test.tolist()):
                    return (
                        "equal rows are on both sides of a fold; remove the copies, keep them together by GroupKFold, or declare "
                        "assume=('equal_rows_are_draws',)"
                    )
        return None

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


def choice_claim(
    errors: np.ndarray, sizes: np.ndarray, best: int, delta: float, stratified: bool, declared: tuple[str, ...]
) -> Claim:
    """Return the claim about the chosen candidate: every candidate was given an equal share of delta."""
    count = len(errors)
    bound: RiskBound
    if len(sizes) == 1:
        bound, about = (
            holdout(int(errors[best, 0]), int(sizes[0]), delta / count),
            "the chosen candidate, fitted on the training part",
        )
        free = holdout(int(errors[best, 0]), int(sizes[0]), delta).value
    else:
        bound, about = k_fold(errors[best], sizes, delta / count), "the fold models of the chosen candidate, on average"
        free = k_fold(errors[best], sizes, delta).value
    assumptions = ("iid", *declared, *(tag for tag in bound.assumptions if tag != "iid"))
    if stratified:
        assumptions = (*(a for a in assumptions if a != "folds_drawn_independently_of_rows"), "classes_in_these_shares")
    price = bound.value - free
    empty = ", which is vacuous" if bound.vacuous else ""
    return Claim(
        "selection.search",
        "risk_bound",
        f"probability of error of {about} <= {bound.value:.4g} with confidence {confidence_text(delta)}{empty}, of which "
        f"{price:.2g} is the price of having compared {count} candidates, {sentence(assumptions)}",
        value=bound.value,
        about=about,
        assumptions=assumptions,
        confidence=1.0 - delta,
        numbers={
            **bound.terms,
            **bound.inputs,
            "bound": bound.name,
            "delta": delta,
            "delta_spent": delta / count,
            "best": int(best),
            "price": price,
        },
        witness={"errors": errors, "sizes": sizes},
    )


def draws_claim(draws: int, delta: float) -> Claim:
    """Return the statement that one of the draws is among the best of the whole search space, by whatever score."""
    fraction = -math.expm1(math.log(delta) / draws)
    return Claim(
        "selection.random_draws",
        "uncertainty",
        f"one of the {draws} draws is among the best {fraction:.4g} of the search space with confidence {confidence_text(delta)}, if the "
        "draws are independent",
        value=fraction,
        about="the search",
        assumptions=("independent_draws",),
        confidence=1.0 - delta,
        numbers={"draws": draws, "delta": delta},
    )
