"""MLPRegressor: ridge and Poisson regression as special cases, agreement with scikit-learn, the cost of several targets."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.neural_network import MLPRegressor as TheirRegressor

from surefit import MLPRegressor
from surefit.core.errors import InvalidData

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 4))
y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(120)
counts = rng.poisson(np.exp(0.5 * X[:, 1])).astype(float)
exact = {"solver": "lbfgs", "tol": 1e-7, "max_iter": 5000, "random_state": 0}
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_without_hidden_units_it_is_ridge():
    model = MLPRegressor(hidden_layer_sizes=(), alpha=2.0, **exact).fit(X, y)
    oracle = Ridge(2.0).fit(X, y)
    assert model.coefs_[0].ravel() == pytest.approx(oracle.coef_, abs=1e-6)
    assert model.certificate_["network.output_gap"].value < 1e-12
    model.verify(X, y)


def test_without_hidden_units_it_is_poisson_regression():
    model = MLPRegressor("poisson", (), alpha=2.0, **exact).fit(X, counts)
    oracle = PoissonRegressor(alpha=2.0 / 120, tol=1e-10, max_iter=1000).fit(X, counts)
    assert model.coefs_[0].ravel() == pytest.approx(oracle.coef_, abs=1e-5)
    assert model.predict(X) == pytest.approx(oracle.predict(X), rel=1e-5)
    with pytest.raises(InvalidData, match=r"needs y >= 0; row 3"):
        MLPRegressor("poisson").fit(X, np.where(np.arange(120) == 3, -1.0, counts))


@unfinished
@pytest.mark.parametrize("options", [{}, {"loss": "poisson"}, {"solver": "sgd", "learning_rate_init": 0.01}])
def test_same_seed_same_curve_as_scikit_learn(options):
    options = {"hidden_layer_sizes": (12, 4), "max_iter": 10, "random_state": 1, **options}
    target = counts if options.get("loss") == "poisson" else y
    ours, theirs = MLPRegressor(**options).fit(X, target), TheirRegressor(**options).fit(X, target)
    assert ours.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-9)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-9)


@unfinished
def test_several_targets_sum_their_losses():
    both = np.column_stack([y, counts])
    model = MLPRegressor(hidden_layer_sizes=(6,), max_iter=4, random_state=1).fit(X, both)
    theirs = TheirRegressor(hidden_layer_sizes=(6,), max_iter=4, random_state=1).fit(X, both)
    assert model.predict(X).shape == (120, 2) and model.predict(X) == pytest.approx(theirs.predict(X), abs=1e-9)
    decay = 1e-4 * sum(np.sum(w**2) for w in model.coefs_) / 240
    value = np.sum((model.predict(X) - both) ** 2) / 240 + decay
    assert model.certificate_["network.objective"].value == pytest.approx(value)
    model.verify(X, both)


def test_gradient_descent_never_rises_and_the_claim_is_checked():
    model = MLPRegressor(
        hidden_layer_sizes=(5,), activation="standard", solver="gd", tol=1e-2, learning_rate_init=0.1, max_iter=5000
    )
    model.set_params(random_state=0).fit(X, y)
    assert np.all(np.diff(model.loss_curve_) <= 0)
    assert model.certificate_.run["largest_rise"] == 0.0 and model.certificate_["network.gradient"].holds


@unfinished
def test_partial_fit_and_watched_rows():
    model, theirs = (
        MLPRegressor(hidden_layer_sizes=(6,), random_state=0),
        TheirRegressor(hidden_layer_sizes=(6,), random_state=0),
    )
    for start in (0, 60):
        model.partial_fit(X[start : start + 60], y[start : start + 60])
        theirs.partial_fit(X[start : start + 60], y[start : start + 60])
    assert model.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-10)
    watched = MLPRegressor(hidden_layer_sizes=(6,), max_iter=3, random_state=0).fit(X, y, X_val=X[:10], y_val=y[:10])
    assert watched.validation_loss_curve_[-1] == pytest.approx(np.mean((watched.predict(X[:10]) - y[:10]) ** 2) / 2)
    with pytest.raises(InvalidData, match="y_val has 2 columns"):
        MLPRegressor().fit(X, y, X_val=X[:5], y_val=np.ones((5, 2)))


@unfinished
def test_an_integer_weight_is_a_repeated_row():
    w = rng.integers(0, 4, 120)
    options = {"hidden_layer_sizes": (4,), "activation": "arctan", "solver": "lbfgs", "max_iter": 60, "random_state": 0}
    weighted = MLPRegressor(alpha=0.5, **options).fit(X, y, sample_weight=w)
    repeated = MLPRegressor(alpha=0.5, **options).fit(X.repeat(w, axis=0), y.repeat(w))
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-6)
    weighted.verify(X, y, sample_weight=w)
