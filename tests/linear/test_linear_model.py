"""Every convex loss with every penalty: the fit reaches the optimum of an independent solver, with an enclosed gap."""

import numpy as np
import pytest
from scipy import sparse
from tests.checks.gap.terms import DELTA, EPSILON, MARGIN, QUANTILE, objective, optimum, penalty_of, targets
from tests.hard_data import hard_data

import surefit
from surefit import LinearModel, losses
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter
from surefit.penalties import L1, L2, ElasticNetPenalty, L1Ball, Positive, Weighted

FACTORS = np.array([0, 1, 2, 0.5, 1, 1, np.inf, 3])
MILD = np.array([0, 0, 1, 2, 0.5, 1, 1, 1])
PENALTIES = {
    "l1": (L1(0.05), dict(l1=0.05)),
    "l2": (L2(0.05), dict(l2=0.05)),
    "elastic net": (ElasticNetPenalty(0.03, 0.02), dict(l1=0.03, l2=0.02)),
    "none": (None, {}),
    "l1 factors": (Weighted(L1(0.05), FACTORS), dict(l1=0.05, factors=FACTORS)),
    "elastic net factors": (Weighted(ElasticNetPenalty(0.03, 0.02), MILD), dict(l1=0.03, l2=0.02, factors=MILD)),
    "positive l1": (Positive(L1(0.03)), dict(l1=0.03, positive=True)),
    "positive l2": (Positive(L2(0.03)), dict(l2=0.03, positive=True)),
    "l1 ball": (L1Ball(0.8), dict(l1=1.0, radius=0.8)),
}
LOSSES = {
    cls.name: cls(*{"huber": (DELTA,), "pinball": (QUANTILE,)}.get(cls.name, (EPSILON,) * ("epsilon" in cls.__name__.lower())))
    for cls in losses.slope.classes
    if cls.__module__.startswith("surefit.")
}  # fmt: skip


def test_every_registered_penalty_is_covered():
    used = {type(p) for p, _ in PENALTIES.values()} | {type(getattr(p, "base", None)) for p, _ in PENALTIES.values()}
    assert used >= {cls for cls in vars(surefit.penalties).values() if isinstance(cls, type)} - {
        surefit.penalties.ElasticTerms
    }


@pytest.mark.parametrize("name", LOSSES)
def test_fit_reaches_the_optimum_with_every_penalty(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    n, d = 40, 8
    for k, (kind, (penalty, terms)) in enumerate(PENALTIES.items()):
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5 if k % 2 else 1.0)
        intercept = bool((k // 2) % 2)
        y = targets(name, X @ (rng.normal(size=d) * 0.5) + 0.3, rng)
        s = np.where(np.arange(n) < 3, 0.0, rng.random(n) + 0.2)
        rows = sparse.csr_array(X) if k % 2 else X
        model = LinearModel(LOSSES[name], penalty, fit_intercept=intercept).fit(rows, y, sample_weight=s)
        finding = model.verify(rows, y, sample_weight=s)["linear.gap"]
        gap = model.certificate_["linear.gap"]
        assert finding.level == "enclosed" and finding.proved <= gap.value == model.dual_gap_, kind
        p, w, b = penalty_of(d, **terms), np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        best = optimum(name, p, X, y, s / s.sum(), intercept)[0]
        excess = objective(name, p, X, y, s / s.sum(), w, b) - best
        assert excess <= gap.value + 1e-9, kind
        if not (name in MARGIN and kind in ("none", "l1 factors")):  # there rows may be separable
            assert gap.holds, kind


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared_error", "huber", "pinball", "epsilon_insensitive", "logistic", "hinge"])
def test_no_honest_model_is_refused_on_hard_data(loss):
    for data in hard_data():
        y = data.labels if loss in MARGIN else data.y
        if loss in MARGIN and len(set(data.labels)) < 2:
            with pytest.raises(InvalidData, match="one class"):
                LinearModel(loss).fit(data.X, y)
            continue
        for penalty in ("l1", "l2", None):
            model = LinearModel(loss, penalty, alpha=0.01, max_iter=300)
            model.fit(data.X, y, sample_weight=data.weights)
            for finding in model.verify(data.X, y, sample_weight=data.weights).findings:
                assert not finding.proved > finding.claimed, (data.name, penalty)


def test_median_and_quantiles_are_exact():
    y = np.array([3.0, 1.0, 7.0, 2.0, 11.0])
    for q, value in ((0.5, 3.0), (0.1, 1.0), (0.9, 11.0)):
        model = LinearModel(losses.Pinball(q), None, tol=1e-10).fit(np.ones((5, 1)) * np.arange(5)[:, None] * 0, y)
        assert model.intercept_ == pytest.approx(value, abs=1e-6)


def test_classes_are_fitted_one_against_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.argmax(np.column_stack([X, -X.sum(axis=1)]), axis=1)]
    model = LinearModel("hinge", alpha=0.01).fit(X, y)
    assert model.coef_.shape == (3, 2) and model.score(X, y) > 0.8
    one = LinearModel("hinge", alpha=0.01).fit(X, y == "b")
    assert model.coef_[1] == pytest.approx(one.coef_[0], abs=1e-3)
    model.verify(X, y)


def test_changed_models_and_parameters_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 0.0, -1.0] + 0.1 * rng.normal(size=30)
    model = LinearModel("huber", "l1", alpha=0.1).fit(X, y)
    certificate = model.certificate_
    for change in (dict(coef_=-model.coef_), dict(intercept_=model.intercept_ + 1.0), dict(alpha=1e9)):
        old = {name: getattr(model, name) for name in change}
        vars(model).update(change)
        with pytest.raises(CertificateError):
            certificate.verify(X, y, model=model)
        vars(model).update(old)
    assert surefit.Certificate.from_json(certificate.to_json()).verify(X, y)["linear.gap"].ok


def test_parameters_are_explained():
    with pytest.raises(InvalidParameter, match="loss"):
        LinearModel("cubic").fit(np.eye(2), [0.0, 1.0])
    with pytest.raises(InvalidParameter, match="loss"):
        LinearModel(losses.Lp(3.0)).fit(np.eye(2), [0.0, 1.0])
    with pytest.raises(InvalidParameter, match="penalty"):
        LinearModel(penalty="l7").fit(np.eye(2), [0.0, 1.0])
    with pytest.raises(InvalidData, match="targets must be >= 0"):
        LinearModel("poisson").fit(np.eye(2), [-1.0, 1.0])
