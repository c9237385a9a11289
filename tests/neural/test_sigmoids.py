"""Networks as formulas, and the exchange of a sigmoid for its twin."""

import numpy as np
import pytest

from surefit import InvalidParameter, MLPRegressor, exchange_sigmoid, network_output
from surefit.solvers.networks.activations import ACTIVATIONS

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 4))
COEFS = [rng.standard_normal(shape) for shape in ((4, 5), (5, 3), (3, 2))]
INTERCEPTS = [rng.standard_normal(size) for size in (5, 3, 2)]


@pytest.mark.parametrize("name", [name for name, entry in ACTIVATIONS.items() if entry.twin])
def test_exchanged_sigmoids_give_the_same_network_and_come_back(name):
    coefs, intercepts, twin = exchange_sigmoid(COEFS, INTERCEPTS, name)
    same = network_output(X, coefs, intercepts, twin)
    assert same == pytest.approx(network_output(X, COEFS, INTERCEPTS, name), abs=1e-12)
    back, offsets, again = exchange_sigmoid(coefs, intercepts, twin)
    assert again == name
    assert np.concatenate([m.ravel() for m in back]) == pytest.approx(np.concatenate([m.ravel() for m in COEFS]))
    assert np.concatenate(offsets) == pytest.approx(np.concatenate(INTERCEPTS))


def test_no_twin_no_exchange():
    with pytest.raises(InvalidParameter, match="activation must be one of logistic"):
        exchange_sigmoid(COEFS, INTERCEPTS, "relu")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_formula_is_the_fitted_model():
    model = MLPRegressor(hidden_layer_sizes=(5, 3), activation="gaussian", max_iter=2, random_state=0)
    model.fit(X, X[:, 0])
    found = network_output(X, model.coefs_, model.intercepts_, "gaussian")
    assert found.ravel() == pytest.approx(model.predict(X), abs=1e-14)


def test_threshold_unit_without_hidden_layer_is_the_sign_rule_with_ties_to_zero():
    c, offset = np.array([1.0, -2.0]), 0.25
    points = np.array([[0.0, 0.0], [-0.25, 0.0], [1.0, 2.0], [3.0, 1.0]])  # the second lies on the hyperplane
    psi = network_output(points, [c[:, None]], [np.array([offset + 0.5])]).ravel()
    assert (psi > 0.5).tolist() == (points @ c + offset > 0).tolist() == [True, False, False, True]
