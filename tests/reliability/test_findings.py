"""Faults that the fuzz run found, each with the smallest data that showed it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit.checks.neighbors.distances import distances
from surefit.core.errors import CertificateError, ConvergenceWarning, InvalidData, InvalidParameter

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=20)
LABELS = np.repeat([0, 1], 10)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (surefit.Certified(surefit.Ridge(), y_range=2), "y_range must be None, or two finite numbers"),
        (surefit.Certified(surefit.Ridge(), y_range=["a", "b"]), "y_range must be None, or two finite numbers"),
        (surefit.AgglomerativeClustering(connectivity=2), "connectivity must be .* or a function of X"),
        (surefit.KNeighborsRegressor(p=0.001), "p must be such that powers .* or inf"),
        (surefit.NearestNeighbors(p=1e6), "p must be such that powers .* or inf"),
        (surefit.DecisionTreeClassifier(class_weight=1e12), "class_weight must be .* a dict of class weights"),
        (surefit.DecisionTreeClassifier(class_weight={7: 2.0}), "class_weight must be"),
        (
            surefit.RandomForestClassifier(2, categorical_features=2),
            "categorical_features must be a list of column numbers",
        ),
        (surefit.KernelModel(kernel="l2"), "kernel must be one of"),
        (surefit.AdaBoostClassifier(learning_rate=1e6), "learning_rate must be smaller, because the vote"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_a_wrong_parameter_is_refused_in_a_sentence(model, words):
    with pytest.raises(InvalidParameter, match=words) as caught:
        model.fit(X, LABELS)
    assert "\n" not in str(caught.value)


def test_right_values_of_these_parameters_are_accepted():
    for p in (0.5, 3, 60, np.inf):
        assert surefit.KNeighborsRegressor(p=p).fit(X, Y).verify(X, Y)
    assert surefit.DecisionTreeClassifier(class_weight={0: 1.0, 1: 3.0}).fit(X, LABELS).verify(X, LABELS)
    for links in (np.ones((20, 20)), sparse.csr_matrix(np.ones((20, 20))), lambda X: np.ones((len(X), len(X)))):
        assert surefit.AgglomerativeClustering(connectivity=links).fit(X).verify(X)


def test_distances_whose_powers_underflow_are_enclosed():
    rows = np.array([[0.0], [1e-6], [1e-5], [1e-4], [3.0]])
    found = distances(
        {"kernel": None, "metric": "minkowski", "options": {"p": 60.0}}, rows, np.array([0]), np.arange(5)
    )
    assert found.mid[0, 1] == 0.0
    assert np.all(np.abs(found.mid[0] - rows[:, 0]) <= found.rad[0]) and found.rad[0, 3] < 1e-14


@pytest.mark.parametrize("free", [False, True])
def test_the_check_of_an_ill_conditioned_kernel_matrix_does_not_warn(free):
    columns = X[:, [0, 0, 1]] * 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the smallest alpha is below the rounding of the matrix
        model = surefit.KernelRidgeCV(alphas=[1e-10, 1.0], fit_intercept=free).fit(columns, Y)
        assert model.verify(columns, Y)


@pytest.mark.parametrize(
    "model", [surefit.KernelRidge(), surefit.KernelRidgeCV(), surefit.KernelModel(kernel="linear")], ids=str
)
def test_predictions_do_not_depend_on_whether_the_rows_are_the_array_of_the_fit(model):
    rows = X[:1] + 1e-3 * X
    for order in "CF":
        rows = np.array(rows, order=order)
        fitted = model.fit(rows, 1e8 * Y)
        assert np.array_equal(fitted.predict(rows), fitted.predict(rows.copy(order="K")))
        assert np.array_equal(fitted.predict(rows[5:9]), fitted.predict(rows[5:9].copy(order="K")))


@pytest.mark.parametrize("heavy", [0, 1])
def test_a_class_of_nearly_all_weight_is_calibrated(heavy):
    weights = np.where(LABELS == heavy, 1e20, 1.0)
    model = surefit.CalibratedClassifierCV(surefit.GaussianNB(), cv=2, method="sigmoid").fit(
        X, LABELS, sample_weight=weights
    )
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.verify(X, LABELS, sample_weight=weights)


def test_a_margin_too_small_to_be_computed_is_an_error_and_not_a_gap_above_the_objective():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 700)
    overlapping = rng.normal(size=(700, 2)) + 1.2 * codes[:, None]
    with pytest.raises(InvalidData, match=r"nu = 0.2 is too small .* too small to be computed"):
        surefit.NuSVC(nu=0.2).fit(overlapping, codes)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weights", [[2.0, 0.0], [3e-20, 1e20]])
def test_huber_regression_of_one_target_is_proved(weights):
    rows, y = np.array([[-1.5, -1.5, -0.9], [0.6, 0.6, -0.9]]), np.array([1e8, 1e8 if weights[1] else 4e8])
    model = surefit.HuberRegressor().fit(rows, y, sample_weight=weights)
    assert model.scale_ > 0 and model.verify(rows, y, sample_weight=weights)["linear.gap"].ok


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "error::RuntimeWarning")
def test_a_dual_point_with_infinite_gap_does_not_warn():
    weights = 10.0 ** np.random.default_rng(0).uniform(-20, 20, size=20)
    model = surefit.NystroemLogisticRegression(random_state=0).fit(X, LABELS, sample_weight=weights)
    assert model.verify(X, LABELS, sample_weight=weights)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ridge_classification_of_badly_scaled_duplicated_rows_takes_few_newton_steps():
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(8, 12)) * 10.0 ** np.linspace(-10, 10, 12))[[0, 1, 2, 3, 0, 1, 2, 3]]
    codes = np.array([1, 0, 0, 0, 0, 0, 0, 0])  # equal rows of both classes
    model = surefit.RidgeClassifier().fit(rows, codes)
    assert np.max(model.n_iter_) < 20 and model.verify(rows, codes)["linear.gap"].proved < 0.1


def test_a_target_whose_rounding_overflows_the_loss_has_no_limit_on_the_gap():
    rows, y = np.array([[-2e19]]), np.array([4e19])
    model = surefit.GammaRegressor().fit(rows, y)
    assert model.certificate_["linear.gap"].limit is None and model.verify(rows, y)["linear.gap"].proved < 1e-9


@pytest.mark.parametrize("model", [surefit.VariableIncrementPerceptron(), surefit.BatchPerceptron(tol=0)], ids=str)
def test_two_claims_about_the_same_problem_are_refused(model):
    rows, labels = np.eye(4), np.arange(4)  # all four problems are alike, so that each claim holds for the others
    certificate = model.fit(rows, labels).certificate_
    certificate.verify(rows, labels)
    for k, claim in enumerate(certificate.claims):
        if claim.numbers.get("problem") == 0:
            other = replace(claim, numbers={**claim.numbers, "problem": 1})
            claims = (*certificate.claims[:k], other, *certificate.claims[k + 1 :])
            with pytest.raises(CertificateError, match="two claims of the same name"):
                replace(certificate, claims=claims, seal="").of(model).verify(rows, labels)


@pytest.mark.filterwarnings("error")
def test_a_count_that_no_other_class_has_makes_its_class_sure():
    counts, labels = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 0]]), [0, 2, 1, 1]
    model = surefit.ComplementNB(alpha=0.0).fit(counts, labels)
    assert (
        model.predict_proba(counts)[1].tolist() == [0.0, 0.0, 1.0] and not np.isnan(model.predict_proba(counts)).any()
    )
    assert model.predict(counts)[1] == 2 and model.verify(counts, labels)
