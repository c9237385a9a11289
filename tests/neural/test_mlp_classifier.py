"""MLPClassifier: identities of the notes, agreement with scikit-learn, curves, budgets, types."""

import signal
import threading

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier as TheirClassifier

import surefit
from surefit import InvalidParameter, MLPClassifier
from surefit.core.errors import ConvergenceWarning, DataWarning, InvalidData

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS[:400] / 16
LABELS = LABELS[:400]
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# --- mathematics ------------------------------------------------------------------------------------------------------


def test_one_neuron_is_logistic_regression():
    two = y < 2
    ours = MLPClassifier((), solver="lbfgs", alpha=0.5, tol=1e-7, max_iter=5000, random_state=0).fit(X[two], y[two])
    theirs = LogisticRegression(C=1 / 0.5, tol=1e-12, max_iter=10_000).fit(X[two], y[two])
    assert ours.coefs_[0].ravel() == pytest.approx(theirs.coef_.ravel(), abs=1e-4)
    assert ours.intercepts_[0] == pytest.approx(theirs.intercept_, abs=1e-4)
    assert ours.certificate_["network.gradient"].holds
    assert ours.certificate_["network.output_gap"].value < 1e-8


def test_no_hidden_layer_is_multinomial_regression_with_the_right_class_frequencies():
    ours = MLPClassifier((), solver="lbfgs", alpha=0.3, tol=1e-7, max_iter=5000, random_state=0).fit(X, y)
    theirs = LogisticRegression(C=1 / 0.3, tol=1e-12, max_iter=10_000).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-4)
    assert ours.predict_proba(X).mean(axis=0) == pytest.approx(np.bincount(y) / len(y), abs=1e-6)


@unfinished
def test_polish_solves_the_last_layer_to_the_end():
    rough = MLPClassifier((8,), alpha=0.5, max_iter=5, random_state=0).fit(X, y)
    model = MLPClassifier((8,), alpha=0.5, max_iter=5, random_state=0, polish=True).fit(X, y)
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    assert np.array_equal(model.coefs_[0], rough.coefs_[0])
    oracle = LogisticRegression(C=1 / 0.5, tol=1e-12, max_iter=10_000).fit(hidden, y)
    assert model.predict_proba(X) == pytest.approx(oracle.predict_proba(hidden), abs=1e-5)
    claim = model.certificate_["network.output_gap"]
    assert claim.holds and claim.value <= 1e-4 * claim.numbers["objective"]
    assert model.verify(X, y)["network.output_gap"].ok
    assert "network.output_gap" not in [claim.name for claim in rough.certificate_.claims]


def test_classification_as_regression_does_not_depend_on_the_code_of_the_classes():
    labels = (y > 0).astype(int)
    options = {"solver": "lbfgs", "alpha": 0.0, "tol": 1e-9, "max_iter": 5000, "random_state": 0}
    model = MLPClassifier((), loss="squared_error", output="identity", **options).fit(X, labels)
    A = np.column_stack([X, np.ones(len(X))])
    for target, limit in ((labels, 0.5), (2 * labels - 1, 0.0)):
        exact = np.linalg.lstsq(A, target, rcond=None)[0]
        assert np.array_equal(model.predict(X), (A @ exact > limit).astype(int))
    assert not hasattr(model, "predict_proba")


def test_ties_go_to_the_first_class():
    model = MLPClassifier((), solver="lbfgs", random_state=0).fit(X, y)
    model.coefs_, model.intercepts_ = [np.zeros((4, 3))], [np.zeros(3)]
    assert set(model.predict(X)) == {0}


def test_threshold_units_give_a_piecewise_constant_answer_but_cannot_be_trained():
    model = MLPClassifier((5,), activation="standard", solver="lbfgs", random_state=0, max_iter=500).fit(X, y)
    model.set_params(activation="threshold")
    assert len(np.unique(model.predict_proba(np.random.default_rng(0).standard_normal((500, 4))), axis=0)) <= 2**5
    with pytest.raises(InvalidParameter, match="one with a gradient"):
        model.fit(X, y)


@unfinished
def test_counts():
    model = MLPClassifier((7, 3), max_iter=1, random_state=0).fit(X, y)
    assert model.n_parameters_ == model.n_links_ == 7 * 5 + 3 * 8 + 3 * 4
    assert model.architecture(256, 10).n_parameters == 7 * 257 + 3 * 8 + 10 * 4


@unfinished
@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(lambda w: sum(map(bool, w)) > 10))
def test_an_integer_weight_is_a_repeated_row(weights):
    w = np.array(weights)
    options = {"solver": "lbfgs", "alpha": 1.0, "random_state": 1, "max_iter": 30, "activation": "tanh"}
    part, labels = X[::5], y[::5]
    labels = np.where(np.arange(30) % 2, labels, (labels + 1) % 3)
    keep = np.unique(labels[w > 0])
    rows = np.isin(labels, keep)
    weighted = MLPClassifier((3,), **options).fit(part[rows], labels[rows], sample_weight=w[rows])
    repeated = MLPClassifier((3,), **options).fit(part.repeat(w, axis=0), labels.repeat(w))
    assert weighted.predict_proba(part) == pytest.approx(repeated.predict_proba(part), abs=1e-4)


# --- scikit-learn as oracle ---------------------------------------------------------------------------------------------


@unfinished
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": "logistic", "hidden_layer_sizes": (10, 5), "batch_size": 7},
        {"solver": "sgd", "activation": "tanh", "learning_rate_init": 0.1},
        {"solver": "sgd", "nesterovs_momentum": False, "learning_rate": "invscaling", "learning_rate_init": 0.1},
        {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.5, "tol": 1e-2, "n_iter_no_change": 2},
        {"early_stopping": True, "max_iter": 30, "n_iter_no_change": 3},
        {"shuffle": False},
    ],
)
def test_same_seed_same_curve_as_scikit_learn(options):
    options = {"max_iter": 8, "random_state": 3, "hidden_layer_sizes": (20,), **options}
    ours, theirs = MLPClassifier(**options).fit(DIGITS, LABELS), TheirClassifier(**options).fit(DIGITS, LABELS)
    assert ours.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-9)
    assert ours.n_iter_ == theirs.n_iter_ and ours.t_ == theirs.t_
    assert ours.coefs_[0] == pytest.approx(theirs.coefs_[0], abs=1e-9)
    if options.get("early_stopping"):
        assert ours.validation_scores_ == theirs.validation_scores_
        assert ours.best_validation_score_ == theirs.best_validation_score_


@unfinished
def test_same_curve_with_weights_two_classes_and_several_labels():
    weights = np.random.default_rng(0).random(len(y)) + 0.5
    several = np.column_stack([y == 0, y > 1, X[:, 0] > 0]).astype(int)
    for target in (y > 0, several):
        ours = MLPClassifier((6,), max_iter=5, random_state=0).fit(X, target, sample_weight=weights)
        theirs = TheirClassifier((6,), max_iter=5, random_state=0).fit(X, target, sample_weight=weights)
        assert ours.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-10)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-10)
        assert np.array_equal(ours.predict(X), theirs.predict(X))
        ours.verify(X, target, sample_weight=weights)


@unfinished
def test_partial_fit_goes_on_like_scikit_learn():
    ours, theirs = MLPClassifier((6,), random_state=0), TheirClassifier((6,), random_state=0)
    for start in (0, 50, 100):
        rows = slice(start, start + 50)
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert ours.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-10)
    assert ours.coefs_[1] == pytest.approx(theirs.coefs_[1], abs=1e-12)
    ours.verify(X[100:150], y[100:150])


# --- contract ---------------------------------------------------------------------------------------------------------


@unfinished
def test_same_bits_again_and_float32_stays():
    fits = [MLPClassifier((9,), max_iter=4, random_state=5).fit(DIGITS.astype(np.float32), LABELS) for _ in range(2)]
    assert np.array_equal(fits[0].packed_, fits[1].packed_)
    assert fits[0].packed_.dtype == np.float32 and fits[0].predict_proba(DIGITS.astype(np.float32)).dtype == np.float32
    fits[0].verify(DIGITS.astype(np.float32), LABELS)
    double = MLPClassifier((9,), max_iter=4, random_state=5).fit(DIGITS, LABELS)
    assert fits[0].loss_curve_ == pytest.approx(double.loss_curve_, rel=1e-4)


@unfinished
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_is_dense(make):
    dense = MLPClassifier((9,), max_iter=3, random_state=5).fit(DIGITS, LABELS)
    thin = MLPClassifier((9,), max_iter=3, random_state=5).fit(make(DIGITS), LABELS)
    assert thin.loss_curve_ == pytest.approx(dense.loss_curve_, rel=1e-12)
    assert thin.predict_proba(make(DIGITS)) == pytest.approx(dense.predict_proba(DIGITS), abs=1e-12)
    thin.verify(make(DIGITS), LABELS)


@unfinished
def test_validation_loss_is_watched_and_never_trained_on():
    options = {"max_iter": 6, "random_state": 0}
    watched = MLPClassifier((8,), **options).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    alone = MLPClassifier((8,), **options).fit(X[::2], y[::2])
    assert np.array_equal(watched.packed_, alone.packed_)
    assert alone.validation_loss_curve_ is None
    found = watched.predict_proba(X[1::2])
    assert watched.validation_loss_curve_[-1] == pytest.approx(-np.mean(np.log(found[np.arange(75), y[1::2]])))
    assert watched.validation_scores_[-1] == np.mean(watched.predict(X[1::2]) == y[1::2])
    assert len(watched.validation_loss_curve_) == 6


def test_early_stopping_returns_the_best_weights_of_given_rows():
    model = MLPClassifier((30,), early_stopping=True, n_iter_no_change=5, learning_rate_init=0.01, random_state=0)
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert model.score(X[1::2], y[1::2]) == model.best_validation_score_ == max(model.validation_scores_)


def test_limits_of_passes_and_time_are_kept_and_said():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 passes .*max_iter was reached"):
        assert MLPClassifier((5,), max_iter=2, random_state=0).fit(X, y).n_iter_ == 2
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = MLPClassifier((5,), max_iter=10**6, max_time=0.05, n_iter_no_change=np.inf, random_state=0).fit(X, y)
    model.verify(X, y)
    with pytest.warns(ConvergenceWarning, match="largest derivative"):
        MLPClassifier((5,), solver="lbfgs", max_iter=3, random_state=0).fit(X, y)


@unfinished
def test_warm_start_goes_on():
    model = MLPClassifier((5,), solver="gd", max_iter=10, random_state=0, warm_start=True, learning_rate_init=0.1).fit(
        X, y
    )
    first = model.loss_
    model.fit(X, y)
    assert model.loss_curve_[11] == pytest.approx(first) and model.loss_ < first
    with pytest.raises(InvalidParameter, match="warm_start"):
        model.set_params(hidden_layer_sizes=(6,)).fit(X, y)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes must be an integer >= 1"),
        ({"activation": "sine"}, "activation must be one of"),
        ({"loss": "log_loss", "output": "identity"}, "loss must be 'squared_error' with output='identity'"),
        ({"links": [None]}, "links must be a list of 2 tables"),
        ({"beta_1": 1.0}, "beta_1"),
    ],
)
def test_wrong_parameters(options, words):
    with pytest.raises(InvalidParameter, match=words):
        MLPClassifier(**{"hidden_layer_sizes": (3,), **options}).fit(X, y)


@unfinished
def test_other_errors():
    with pytest.raises(InvalidData, match="X_val and y_val must be passed together"):
        MLPClassifier((3,)).fit(X, y, X_val=X)
    with pytest.raises(InvalidData, match="validation set is too small"):
        MLPClassifier((3,), early_stopping=True, validation_fraction=0.001).fit(X, y)
    with pytest.raises(InvalidData, match="the weights overflowed"):
        MLPClassifier((3,), solver="sgd", learning_rate_init=1e300, activation="identity", random_state=0).fit(X, y)
    with pytest.raises(InvalidParameter, match="classes must be passed in the first call"):
        MLPClassifier((3,)).partial_fit(X, y)
    with pytest.raises(AttributeError, match="has no attribute .partial_fit."):
        MLPClassifier((3,), solver="lbfgs").partial_fit  # noqa: B018
    with pytest.raises(InvalidParameter, match="does not support early_stopping"):
        MLPClassifier((3,), early_stopping=True).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.warns(DataWarning, match="larger than the 150 rows"):
        MLPClassifier((3,), batch_size=1000, max_iter=1).fit(X, y)


def test_ctrl_c_returns_the_network_so_far():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.warns(ConvergenceWarning, match="interrupted by Ctrl-C"):
        model = MLPClassifier((5,), max_iter=10**7, n_iter_no_change=np.inf, random_state=0).fit(X, y)
    timer.join()
    assert 0 < model.n_iter_ < 10**7
    model.verify(X, y)


@unfinished
def test_saved_networks_come_back_with_their_certificates(tmp_path):
    words = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    mask = np.ones((4, 5), dtype=bool)
    mask[1, 2] = False
    model = MLPClassifier((5,), max_iter=3, random_state=0, links=[mask, None]).fit(X, words)
    surefit.save(model, tmp_path / "net.surefit")
    again = surefit.load(tmp_path / "net.surefit")
    assert np.array_equal(again.predict(X), model.predict(X))
    again.verify(X, words)
    again.partial_fit(X, words)
    assert len(again.loss_curve_) == 4


@unfinished
def test_frames_in():
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = MLPClassifier((5,), max_iter=3, random_state=0).fit(frame, pandas.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    model.verify(frame, pandas.Series(y))
    other = MLPClassifier((5,), max_iter=3, random_state=0).fit(polars.DataFrame(frame), polars.Series(y))
    assert np.array_equal(other.packed_, model.packed_)


@unfinished
def test_callbacks_see_every_epoch_and_can_stop():
    seen = []

    class Stop:
        max_estimator_depth = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **_):
            pass

        def on_fit_task_end(self, estimator, context, *, metadata=None, **_):
            if metadata:
                seen.append(metadata["n_iter"])
            return len(seen) >= 4

        def teardown(self, estimator, context):
            pass

    model = MLPClassifier((5,), max_iter=50, random_state=0)
    model.set_callbacks(Stop())
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model.fit(X, y)
    assert seen[:4] == [1, 2, 3, 4] and model.n_iter_ == 4
