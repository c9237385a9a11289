"""Structural risk minimization: the notes' numbers, shares of delta that add up, and refusals."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.forging import reissued, with_claim

from surefit import CertificateError, InvalidData, InvalidParameter, StructuralRiskMinimizer
from surefit.bounds import set_class, vc
from surefit.selection.structural import weights_of


class Fixed(DecisionTreeClassifier):
    """A classifier that errs on the first ``wrong`` of n rows, whatever it is shown."""

    def __init__(self, wrong=0):
        self.wrong = wrong

    def fit(self, X, y):
        self.classes_, self.y_ = np.unique(y), np.asarray(y)
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) < self.wrong, 1 - self.y_, self.y_)


def disc(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6).astype(int)


def test_the_notes_example():
    # n = 10^4, alpha = .05, V = 2..5, L_emp = .40, .22, .20, .199: sums .6742, .5435, .5662, .6035 (power growth, no correction)
    n = 10_000
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    family = [Fixed(wrong) for wrong in (4000, 2200, 2000, 1990)]
    model = StructuralRiskMinimizer(family, [2, 3, 4, 5], theorem="symmetrized", correction="none").fit(X, y)
    expected = [e + vc(V, n=n, delta=0.05).radius for e, V in zip((0.4, 0.22, 0.2, 0.199), (2, 3, 4, 5), strict=True)]
    assert model.table_.sums == pytest.approx(expected)
    power = [
        e + vc(V, n=n, delta=0.05, form="power").radius
        for e, V in zip((0.4, 0.22, 0.2, 0.199), (2, 3, 4, 5), strict=True)
    ]
    assert power == pytest.approx([0.6742, 0.5435, 0.5662, 0.6035], abs=5e-5)
    assert model.best_index_ == 1 and model.certificate_.claims[0].kind == "estimate"
    paid = StructuralRiskMinimizer(family, [2, 3, 4, 5], theorem="symmetrized").fit(X, y)
    assert paid.risk_bound_ > model.risk_bound_ and sum(paid.table_.shares) == pytest.approx(0.05)
    assert paid.risk_bound_ == pytest.approx(0.22 + vc(3, n=n, delta=0.0125).radius)
    paid.verify(X, y)


@pytest.mark.parametrize("correction", ["union", "telescoping", "basel"])
def test_shares_add_up_and_the_choice_is_the_smallest_sum(correction):
    X, y = disc(4000)
    model = StructuralRiskMinimizer(correction=correction).fit(X, y)
    table = model.table_
    assert sum(table.shares) <= 0.05 * (1 + 1e-12) and model.best_index_ == int(np.argmin(table.sums)) == 1
    assert model.dimensions_ == [3, 6, 10]
    assert np.array_equal(model.predict(X), model.estimators_[1].predict(X))
    assert model.risk_bound_ == pytest.approx(table.sums[1]) and model.risk_bound_ > np.mean(model.predict(X) != y)
    model.verify(X, y)


def test_finite_classes_and_known_growth():
    X, y = disc(2000)
    trees = [DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 2)]
    model = StructuralRiskMinimizer(trees, [800, 640_000], bound="finite").fit(X, y)
    # F03, one-sided: sqrt((ln N + ln(1/delta_k)) / 2n)
    radius = np.sqrt((np.log([800, 640_000]) + np.log(40)) / 4000)
    assert model.table_.radii == pytest.approx(radius)
    model.verify(X, y)
    stump = StructuralRiskMinimizer(trees[:1], [set_class("stumps")]).fit(X[:, :1], y)
    assert stump.table_.radii[0] < StructuralRiskMinimizer(trees[:1], [2]).fit(X[:, :1], y).table_.radii[0] + 1e-12
    stump.verify(X[:, :1], y)


def test_a_tie_goes_to_the_smaller_class():
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    model = StructuralRiskMinimizer([Fixed(10), Fixed(10)], [5, 5], bound="finite").fit(X, y)
    assert model.best_index_ == 0


def test_weights_of_linear_rules():
    X, y = disc(200)
    plain = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), SkLogistic()).fit(X, y)
    assert weights_of("", plain) == 6 and weights_of("", SkLogistic(fit_intercept=False).fit(X, y)) == 2
    for model in (make_pipeline(SplineTransformer(), SkLogistic()), SVC()):
        with pytest.raises(InvalidParameter, match="dimensions must be declared"):
            StructuralRiskMinimizer([model]).fit(X, y)


def test_copies_do_not_buy_confidence():
    X, y = disc(500)
    once = StructuralRiskMinimizer([SkLogistic()]).fit(X, y)
    twice = StructuralRiskMinimizer([SkLogistic()]).fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert twice.certificate_.claims[0].numbers["n"] == 500
    assert twice.table_.radii == once.table_.radii


def test_refusals():
    X, y = disc(100)
    with pytest.raises(InvalidParameter, match="finite"):
        StructuralRiskMinimizer([SVC()], [float("inf")]).fit(X, y)
    with pytest.raises(InvalidParameter, match="one number per class"):
        StructuralRiskMinimizer([SVC()], [3, 4]).fit(X, y)
    with pytest.raises(InvalidParameter, match="size of each class"):
        StructuralRiskMinimizer([SVC()], bound="finite").fit(X, y)
    with pytest.raises(InvalidData, match="binary"):
        StructuralRiskMinimizer().fit(X, np.arange(100) % 3)


def test_forgeries_are_refused():
    X, y = disc(1000)
    model = StructuralRiskMinimizer().fit(X, y)
    claim = model.certificate_.claims[0]
    changed = (
        {"value": claim.value - 1e-3},
        *({"numbers": {**claim.numbers, name: claim.numbers[name] + 1}} for name in ("errors", "n", "best", "classes")),
    )
    for changes in changed:
        with pytest.raises(CertificateError):
            with_claim(model.certificate_, claim.name, **changes).verify(X, y)
    model.table_ = dataclasses.replace(model.table_, shares=tuple(2 * share for share in model.table_.shares))
    with pytest.raises(CertificateError, match="add up to more"):
        reissued(model).verify(X, y)
