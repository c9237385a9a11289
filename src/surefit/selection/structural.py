from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline

from surefit.bounds.base import Deviation, NoBound
from surefit.bounds.finite import finite_class
from surefit.bounds.structural import CORRECTIONS, structural_risk
from surefit.bounds.vc_inequality import vc
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.fingerprint import data_fingerprint
from surefit.core.sample import read
from surefit.core.validation import ARRAY, NOTHING, check_labels, check_params, one_of, read_data
from surefit.problems import pose
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.losses import comparable
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, find_units
from surefit.risk.void import why_void

#: Steps after which linear classifiers form a class that was fixed in advance: monomials, and scalings of single columns, which change
#: neither the half-spaces nor the polynomials of a degree.
FIXED = ("MaxAbsScaler", "MinMaxScaler", "PolynomialBasis", "PolynomialFeatures", "RobustScaler", "StandardScaler")


class StructuralRiskMinimizer(CertifiedMixin, DeployedMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Structural risk minimization: choice among nested classes of classifiers by training error plus a capacity term.

    .. math:: \hat k = \arg\min_k \; \hat R_n(\hat f_k) + \varepsilon_k(\delta_k), \qquad \sum_k \delta_k \le \delta,

    where :math:`\varepsilon_k` bounds the uniform deviation of class k, by its VC dimension or, for a finite class, by
    its size. No row is held out, but the bound is large.

    Hypothesis classes, loss and optimizer are those of the estimators; the selection uses 0-1 errors.

    Guarantee: the risk of the chosen model is at most ``risk_bound_`` with probability at least ``confidence``, for every distribution
    of the rows, if the classes were fixed before the rows were seen (theory: :ref:`vc-inequality`).

    Parameters
    ----------
    estimators : list of classifiers or None, default=None
        One classifier per class, from the smallest class to the largest. None: linear classifiers on all monomials up to degree 1, 2 and 3.
    dimensions : list or None, default=None
        VC dimension (or ``surefit.bounds.set_class``) of each class, or its size with ``bound="finite"``. None: the number of weights,
        for classifiers whose last step is linear.
    bound : {"vc", "finite"}, default="vc"
        The uniform deviation.
    theorem : {"rademacher", "double_sample", "symmetrized"}, default="rademacher"
        Form of the VC inequality; the last one is the textbook form.
    correction : {"union", "telescoping", "basel", "none"}, default="union"
        How delta is divided. ``"none"`` assigns the whole delta to every class, as textbooks often do; nothing is then
        claimed for the chosen class.
    confidence : float, default=0.95
        Confidence of the bound.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare; equal rows count once unless they are declared to be draws.

    Attributes
    ----------
    estimator_ : classifier
        The chosen model.
    estimators_ : list
        All fitted models.
    table_ : Structure
        Training errors, deviation bounds, shares of delta and the chosen class; ``table_.sums`` is the minimized
        criterion.
    dimensions_ : list
        Dimensions or sizes used.
    best_index_ : int
        Index of the chosen class; ties are resolved in favor of the smaller class.
    risk_bound_ : float
        Proved upper bound on the risk of the chosen model.
    classes_, certificate_, n_features_in_, feature_names_in_
        As in other estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import StructuralRiskMinimizer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20_000, 2))
    >>> y = (X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6).astype(int)
    >>> model = StructuralRiskMinimizer().fit(X, y)
    >>> model.best_index_ + 1, model.dimensions_, round(model.risk_bound_, 2)
    (2, [3, 6, 10], 0.08)
    """

    _rules = {
        "estimators": NOTHING | ARRAY,
        "dimensions": NOTHING | ARRAY,
        "bound": one_of("vc", "finite"),
        "theorem": one_of("rademacher", "double_sample", "symmetrized"),
        "correction": CORRECTIONS,
        "confidence": SHARE,
        "assume": ASSUME,
    }

    def __init__(
        self,
        estimators=None,
        dimensions=None,
        *,
        bound="vc",
        theorem="rademacher",
        correction="union",
        confidence=0.95,
        assume=(),
    ):
        self.estimators = estimators
        self.dimensions = dimensions
        self.bound = bound
        self.theorem = theorem
        self.correction = correction
        self.confidence = confidence
        self.assume = assume

    def fit(self, X, y):
        """Fit every class and choose one. Returns the estimator."""
        check_params(self)
        read_data(self, X, y, skip_check_array=True)
        y = read_target(type(self).__name__, X, y)
        check_labels(y)
        if self.bound == "vc" and len(np.unique(y)) > 2:
            raise InvalidData("Only binary classification is supported. The type of the target is multiclass.")
        self.estimators_ = [clone(model).fit(X, y) for model in self._family()]
        self.dimensions_ = self._sizes()
        units = find_units(type(self).__name__, X, y, None, self.assume)
        rows = np.sort(np.unique(units.codes, return_index=True)[1])  # one row of each unit
        answers = np.vstack([comparable(model.predict(X)) for model in self.estimators_])[:, rows]
        errors = np.sum(answers != comparable(y)[rows], axis=1)
        delta, n = 1.0 - self.confidence, len(rows)
        self.table_ = structural_risk(
            [k / n for k in errors], lambda k, d: self._deviation(k, n, d), delta, self.correction
        )
        self.best_index_ = self.table_.best
        self.estimator_ = self.estimators_[self.best_index_]
        claim = self._claim(delta, (*units.tags, *self.assume), n, errors)
        # Scaling by all rows does not change a class of linear classifiers; rows ordered in time may be dependent.
        reason = why_void(X, assume=(*self.assume, "fixed_scaling"))
        if reason is not None:
            claim = Claim("risk.void")
        self.unclaimed_ = reason
        self.risk_bound_ = float(claim.value)
        data = read(X, y)
        self._issue(
            "C", [claim], problem=pose(self, X, y), model=("best_index_",),
            data=data_fingerprint(data.X, data.y),
        )  # fmt: skip
        return self

    def _family(self) -> list[Any]:
        if self.estimators is None:
            from surefit.bases.polynomial import PolynomialBasis
            from surefit.linear.logistic.classifier import LogisticRegression

            return [make_pipeline(PolynomialBasis(degree), LogisticRegression()) for degree in (1, 2, 3)]
        return list(self.estimators)

    def _sizes(self) -> list[Any]:
        who = type(self).__name__
        if self.dimensions is None:
            if self.bound == "finite":
                raise InvalidParameter(who, "dimensions", "the size of each class with bound='finite'", None)
            return [weights_of(who, model) for model in self.estimators_]
        sizes = list(self.dimensions)
        if len(sizes) != len(self.estimators_):
            raise InvalidParameter(who, "dimensions", f"one number per class ({len(self.estimators_)})", sizes)
        return sizes

    def _deviation(self, k: int, n: int, delta: float) -> Deviation:
        size = self.dimensions_[k]
        if self.bound == "finite":
            return finite_class(int(size), n=n, delta=delta, sides=1)
        found = vc(size, n=n, delta=delta, theorem=self.theorem)
        if isinstance(found, NoBound):
            raise InvalidParameter(type(self).__name__, f"dimensions[{k}]", f"finite ({found.reason})", size)
        return found

    def _claim(self, delta: float, tags: tuple[str, ...], n: int, errors: np.ndarray) -> Claim:
        table = self.table_
        if self.correction == "none":
            return Claim(
                "selection.smallest_sum", float(table.bound.value), numbers={"best_number": int(table.best) + 1}
            )
        numbers: dict[str, Any] = {
            "n": n,
            "errors": int(errors[table.best]),
            "best": int(table.best),
            "classes": len(table.sums),
        }
        numbers |= {"assumes": [*tags, "class_fixed_a_priori"], "delta": delta}
        return Claim("selection.structural", float(table.bound.value), numbers=numbers)

    def _base(self):
        return self._family()[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.bound == "finite"
        return tags


def weights_of(who: str, model: Any) -> int:
    """Return the VC dimension of linear classifiers on the columns of the last step: its number of weights."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    for step in steps[:-1]:
        if type(step).__name__ not in FIXED:
            raise InvalidParameter(
                who,
                "dimensions",
                f"declared if a step ({type(step).__name__}) may choose its columns from the data",
                None,
            )
    last = steps[-1]
    if not hasattr(last, "coef_") or np.shape(last.coef_)[:-1] not in ((), (1,)):
        raise InvalidParameter(who, "dimensions", f"declared for a {type(last).__name__}, which is not linear", None)
    return int(np.shape(last.coef_)[-1]) + int(bool(getattr(last, "fit_intercept", True)))
