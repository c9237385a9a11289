"""Bounds on new rows that come with an audit: hold-out rows recounted, out-of-bag votes, support vectors, rows left out."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import beta
from sklearn import ensemble, linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.forging import with_claim

from surefit import (
    Certificate,
    CertificateError,
    DataWarning,
    InvalidData,
    InvalidParameter,
    Ridge,
    certify,
    risk_certificate,
)
from surefit.bounds import conformal_rank
from surefit.checks.audits.free import support_of_optimum
from surefit.core.sample import read

CANCER, BENIGN = load_breast_cancer(return_X_y=True)
CANCER = CANCER / CANCER.max(axis=0)
NAMES = np.where(BENIGN == 1, "benign", "malignant")
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, None)


@pytest.mark.parametrize("labels", [BENIGN, NAMES], ids=["numbers", "texts"])
def test_hold_out_rows_give_the_clopper_pearson_limit(labels):
    model = linear_model.LogisticRegression(solver="newton-cholesky").fit(CANCER[TRAIN], labels[TRAIN])
    certificate = certify(model, CANCER[TRAIN], labels[TRAIN], X_holdout=CANCER[TEST], y_holdout=labels[TEST])
    claim, m = certificate["audit.risk.holdout"], len(labels) - 300
    wrong = int(np.sum(model.predict(CANCER[TEST]) != labels[TEST]))
    assert (claim.numbers["errors"], claim.numbers["n"]) == (wrong, m)
    assert claim.value == pytest.approx(beta.ppf(0.95, wrong + 1, m - wrong), rel=1e-6)
    assert claim.value == risk_certificate(model, CANCER[TEST], labels[TEST]).claims[0].value
    assert "audit.gap" in [c.name for c in certificate.claims]
    stored = Certificate.from_json(certificate.to_json())
    assert stored.verify(CANCER[TRAIN], labels[TRAIN], model=model)["audit.risk.holdout"].ok


def test_forged_hold_out_evidence_is_refused():
    model = linear_model.LogisticRegression().fit(CANCER[TRAIN], BENIGN[TRAIN])
    honest = certify(model, CANCER[TRAIN], BENIGN[TRAIN], X_holdout=CANCER[TEST], y_holdout=BENIGN[TEST])
    claim, name = honest["audit.risk.holdout"], "audit.risk.holdout"
    better = {**claim.witness, "holdout_y": model.predict(CANCER[TEST])}
    rows = {**claim.witness, "holdout_X": np.vstack([CANCER[:1], CANCER[TEST][1:]])}
    fewer = {**claim.numbers, "errors": claim.numbers["errors"] - 1}
    for changes, message in (
        ({"value": 0.9 * claim.value}, "does not follow"),
        ({"witness": better}, "errors is 0"),
        ({"witness": rows}, "1 hold-out row is a training row"),
        ({"numbers": fewer}, "errors is"),
    ):
        with pytest.raises(CertificateError, match=message):
            with_claim(honest, name, **changes).verify(CANCER[TRAIN], BENIGN[TRAIN])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "single"])
def test_training_rows_are_refused_however_they_are_stored(kind):
    whole = np.round(CANCER * 256) / 256  # exact in single precision
    model = linear_model.LogisticRegression().fit(whole[TRAIN], BENIGN[TRAIN])
    with pytest.raises(InvalidData, match="10 of the 279 hold-out rows"):
        certify(model, whole[TRAIN], BENIGN[TRAIN], X_holdout=kind(whole[290:]), y_holdout=BENIGN[290:])


def test_any_predictor_is_certified_by_hold_out_rows_alone():
    search = GridSearchCV(linear_model.Ridge(), {"alpha": [0.1, 1.0]}).fit(DIABETES[TRAIN], PROGRESS[TRAIN])
    theil = linear_model.TheilSenRegressor(random_state=0, max_subpopulation=50, n_subsamples=20)
    for model in (search, theil.fit(DIABETES[TRAIN], PROGRESS[TRAIN])):
        certificate = certify(
            model,
            DIABETES[TRAIN],
            PROGRESS[TRAIN],
            X_holdout=DIABETES[TEST],
            y_holdout=PROGRESS[TEST],
            y_range=(0, 400),
        )
        assert [claim.name for claim in certificate.claims] == ["audit.risk.holdout"]
        error = np.mean((np.clip(model.predict(DIABETES[TEST]), 0, 400) - PROGRESS[TEST]) ** 2)
        assert error < certificate.claims[0].value < 400**2
        certificate.verify(DIABETES[TRAIN], PROGRESS[TRAIN])


def test_a_fit_that_cannot_be_judged_is_tested_all_the_same():
    """Early stopping keeps rows aside that the model does not name: the fit is refused, the hold-out rows still count."""
    model = ensemble.HistGradientBoostingClassifier(max_iter=3, early_stopping=True, random_state=0)
    model.fit(CANCER[TRAIN], BENIGN[TRAIN])
    with pytest.raises(InvalidData, match="early_stopping or categories"):
        certify(model, CANCER[TRAIN], BENIGN[TRAIN])
    certificate = certify(model, CANCER[TRAIN], BENIGN[TRAIN], X_holdout=CANCER[TEST], y_holdout=BENIGN[TEST])
    assert [claim.name for claim in certificate.claims] == ["audit.risk.holdout", "audit.fit"]
    assert "early_stopping or categories" in certificate.run["not_read"]
    assert certificate["audit.risk.holdout"].numbers["errors"] == np.sum(model.predict(CANCER[TEST]) != BENIGN[TEST])
    certificate.verify(CANCER[TRAIN], BENIGN[TRAIN])


def test_our_own_models_gain_the_claim():
    model = Ridge().fit(DIABETES[TRAIN], PROGRESS[TRAIN])
    more = certify(model, DIABETES[TRAIN], PROGRESS[TRAIN], X_holdout=DIABETES[TEST], y_holdout=PROGRESS[TEST])
    assert [c.name for c in more.claims] == [*(c.name for c in model.certificate_.claims), "audit.risk.quantile"]
    errors = np.sort(np.abs(model.predict(DIABETES[TEST]) - PROGRESS[TEST]))
    assert more["audit.risk.quantile"].value == pytest.approx(errors[conformal_rank(len(errors), 0.1, 0.05) - 1])
    more.verify(DIABETES[TRAIN], PROGRESS[TRAIN])


def test_what_is_refused_or_not_claimed():
    model = linear_model.LogisticRegression().fit(CANCER[TRAIN], BENIGN[TRAIN])
    with pytest.raises(InvalidData, match="without y_holdout"):
        certify(model, CANCER[TRAIN], BENIGN[TRAIN], X_holdout=CANCER[TEST])
    with pytest.raises(InvalidParameter, match="confidence"):
        certify(model, CANCER[TRAIN], BENIGN[TRAIN], confidence=1.0)
    scaled = StandardScaler().fit_transform(CANCER[TEST])
    with pytest.warns(DataWarning, match="Pipeline"):
        claim = certify(model, CANCER[TRAIN], BENIGN[TRAIN], X_holdout=scaled, y_holdout=BENIGN[TEST]).claims[-1]
    assert (claim.name, claim.kind) == ("risk.void", "no_claim")
    assert certify(model, CANCER[TRAIN], BENIGN[TRAIN]).claims[-1].name == "audit.risk"
    piped = make_pipeline(StandardScaler(), svm.SVC(gamma=0.1)).fit(CANCER[TRAIN], BENIGN[TRAIN])
    assert "Steps before" in certify(piped, CANCER[TRAIN], BENIGN[TRAIN]).claims[-1].statement
    for unfixed in (svm.SVC(), svm.SVC(gamma=1.0, class_weight="balanced")):
        last = certify(unfixed.fit(CANCER[TRAIN], BENIGN[TRAIN]), CANCER[TRAIN], BENIGN[TRAIN]).claims[-1]
        assert last.kind == "no_claim" and "depend on the rows" in last.statement


# --- what comes free ------------------------------------------------------------------------------------------------------


def test_support_vectors_of_the_exact_optimum_are_all_counted():
    X, y = CANCER[TRAIN], BENIGN[TRAIN]
    exact = svm.SVC(gamma=1.0, C=10.0, tol=1e-10).fit(X, y)
    rough = svm.SVC(gamma=1.0, C=10.0, tol=0.01).fit(X, y)
    for model in (exact, rough):
        certificate = certify(model, X, y)
        claim = certificate["audit.svm_compression"]
        assert claim.numbers["size"] == len(exact.support_)
        assert claim.about == "this fitted model"
        certificate.verify(X, y)
    shift = np.abs(rough.decision_function(CANCER) - exact.decision_function(CANCER)).max()
    assert 0 < shift <= support_of_optimum(certify(rough, X, y), read(X, y))[1]
    with pytest.raises(CertificateError, match="svm_compression"):
        z = {**claim.numbers, "size": claim.numbers["size"] - 5}
        with_claim(certificate, "audit.svm_compression", numbers=z).verify(X, y)
    linear = certify(svm.SVC(kernel="linear").fit(X, y), X, y)["audit.svm_compression"]
    assert linear.about == "the exact optimum of this problem"


def test_two_points_have_two_support_vectors():
    X, y = np.array([[-1.0], [1.0], [3.0], [-3.0]]), np.array([0, 1, 1, 0])
    certificate = certify(svm.SVC(kernel="linear", C=10.0, tol=1e-10).fit(X, y), X, y)
    assert certificate["audit.svm_compression"].numbers["size"] == 2


def test_votes_out_of_bag_by_the_forest_s_own_trees():
    X, y = CANCER[TRAIN], BENIGN[TRAIN]
    model = ensemble.RandomForestClassifier(25, max_depth=3, oob_score=True, random_state=0).fit(X, y)
    certificate = certify(model, X, y, confidence=0.9)
    assert certificate["audit.forest.out_of_bag"].value == pytest.approx(1 - model.oob_score_)
    losses, fewest = [], []
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(300), drawn)
        losses.append(np.mean(1 - tree.predict_proba(X[out])[np.arange(len(out)), y[out]]))
        fewest.append(len(out))
    claim = certificate["audit.forest.vote"]
    assert claim.numbers["empirical"] == pytest.approx(np.mean(losses))
    assert claim.numbers["n"] == min(fewest)
    q, p = np.mean(losses), claim.value / 2
    needed = np.log(2 * np.sqrt(min(fewest)) / 0.1) / min(fewest)
    assert q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p)) == pytest.approx(needed, rel=1e-6)
    certificate.verify(X, y)
    with pytest.raises(CertificateError, match="forest.vote"):
        with_claim(certificate, "audit.forest.vote", value=0.9 * claim.value).verify(X, y)
    assert "vacuous" not in claim.statement
    coins = np.random.default_rng(0).integers(0, 2, 300)
    assert "vacuous" in certify(model.fit(X, coins), X, coins)["audit.forest.vote"].statement
    whole = ensemble.ExtraTreesClassifier(5, random_state=0).fit(X, y)
    assert "grown on all rows" in certify(whole, X, y).claims[-1].statement


def test_copies_take_the_free_bounds_away_unless_they_are_draws():
    X, y = np.vstack([CANCER[:200], CANCER[:5]]), np.append(BENIGN[:200], BENIGN[:5])
    for model, name in (
        (ensemble.RandomForestClassifier(10, max_depth=3, random_state=0), "audit.forest.vote"),
        (svm.SVC(gamma=1.0), "audit.svm_compression"),
    ):
        model.fit(X, y)
        assert "copies of one observation" in certify(model, X, y).claims[-1].statement
        declared = certify(model, X, y, assume=("equal_rows_are_draws",))
        assert "separate draws" in declared[name].statement
        declared.verify(X, y)
        assert "equal_rows_are_draws" in declared[name].assumptions
        with pytest.raises(CertificateError, match=name):
            with_claim(declared, name, numbers={**declared[name].numbers, "draws": False}).verify(X, y)
    with pytest.raises(InvalidParameter, match="assume"):
        certify(model, X, y, assume=("anything",))


def test_out_of_bag_error_of_a_regression():
    with pytest.warns(UserWarning, match="OOB"):
        model = ensemble.RandomForestRegressor(8, oob_score=lambda y, f: np.mean((y - f) ** 2), random_state=0)
        model.fit(DIABETES, PROGRESS)
    found = certify(model, DIABETES, PROGRESS)["audit.forest.out_of_bag"]
    heard = model.oob_prediction_ != 0
    assert found.value == pytest.approx(np.mean((PROGRESS - model.oob_prediction_)[heard] ** 2))


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        linear_model.Ridge(alpha=0.3),
        linear_model.Ridge(alpha=0.3, fit_intercept=False),
        KernelRidge(kernel="rbf", gamma=3.0, alpha=0.1),
        GaussianProcessRegressor(RBF(0.3) + WhiteKernel(0.5), optimizer=None),
    ],
    ids=["squares", "ridge", "no intercept", "kernel ridge", "process"],
)
def test_rows_left_out_one_at_a_time_by_refits(model):
    X, y = DIABETES[:40], PROGRESS[:40]
    certificate = certify(model.fit(X, y), X, y)
    claim = next(c for c in certificate.claims if c.name.endswith("leave_one_out"))
    certificate.verify(X, y)
    keep = np.arange(40)
    errors = [model.fit(X[keep != i], y[keep != i]).predict(X[[i]])[0] - y[i] for i in range(40)]
    assert claim.value == pytest.approx(np.mean(np.square(errors)), rel=1e-6)
    certificate = certify(model.fit(X, y), X, y)
    with pytest.raises(CertificateError, match="leave_one_out"):
        with_claim(certificate, claim.name, value=0.9 * claim.value).verify(X, y)


def test_a_row_that_decides_alone_leaves_nothing_to_say():
    X, y = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])
    model = linear_model.LinearRegression(fit_intercept=False).fit(X, y)
    assert "determines its own prediction" in certify(model, X, y).claims[-1].statement
