"""Stochastic gradient descent on partitions: sequential passes in a fixed order, and a gap that passes re-derive."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from surefit import SGDClassifier, SGDRegressor
from surefit.core.errors import InvalidParameter

RNG = np.random.default_rng(5)
X = RNG.normal(size=(240, 4))
S = RNG.integers(0, 4, size=240).astype(float)
SIGNAL = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * RNG.normal(size=240)
LABELS, THREE = np.where(SIGNAL > 0, "a", "b"), np.digitize(SIGNAL, [-0.7, 0.7])
CASES = [
    (SGDClassifier("hinge", alpha=0.01, random_state=0), LABELS),
    (SGDClassifier("log_loss", alpha=0.01, random_state=0, class_weight="balanced", average=True), THREE),
    (SGDRegressor(alpha=0.01, random_state=0, penalty="elasticnet"), SIGNAL),
]
IDS = ["hinge", "three classes", "regression"]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize(("estimator", "y"), CASES, ids=IDS)
def test_agrees_with_the_fit_in_memory_to_the_gap_and_verifies_both_ways(estimator, y, parts):
    model = clone(estimator).fit(chunked(X, parts), chunked(y, parts), sample_weight=chunked(S, parts))
    memory = clone(estimator).fit(X, y, sample_weight=S)
    assert abs(model.objective_ - memory.objective_) <= max(model.dual_gap_, memory.dual_gap_)
    assert model.dual_gap_ < 0.1 * model.objective_
    for fitted in (model, memory):
        assert fitted.verify(X, y, sample_weight=S)["linear.gap"].ok
        assert fitted.verify(chunked(X, 2), chunked(y, 2), sample_weight=chunked(S, 2))["linear.gap"].ok


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("weights", [None, S, S + 0.5], ids=["plain", "repetitions", "fractions"])
@pytest.mark.parametrize(("estimator", "y"), CASES, ids=IDS)
def test_without_shuffling_the_bits_are_those_of_memory(estimator, y, weights, parts):
    ordered = clone(estimator).set_params(shuffle=False)
    model = clone(ordered).fit(
        chunked(X, parts), chunked(y, parts), sample_weight=None if weights is None else chunked(weights, parts)
    )
    memory = clone(ordered).fit(X, y, sample_weight=weights)
    if weights is None or np.all(weights == np.rint(weights)):
        assert model.coef_.tobytes() == memory.coef_.tobytes() and model.n_iter_ == memory.n_iter_
    else:  # the mean of the weights is rounded in another order
        np.testing.assert_allclose(model.coef_, memory.coef_, rtol=1e-9)


@pytest.mark.parametrize(("estimator", "y"), CASES[:2], ids=IDS[:2])
def test_bits_do_not_depend_on_the_workers(estimator, y):
    found = set()
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = clone(estimator).fit(chunked(X, 7), chunked(y, 7))
        found.add((model.coef_.tobytes(), repr(model.certificate_.claims)))
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore::surefit.core.errors.ConvergenceWarning")
def test_a_time_limit_gives_a_model_with_its_gap():
    model = SGDClassifier("log_loss", max_time=1e-9).fit(chunked(X, 3), chunked(LABELS, 3))
    assert model.certificate_.run["reason"] == "max_time" and np.isfinite(model.dual_gap_)
    best = SGDClassifier("log_loss", max_iter=3000, tol=None, average=True, random_state=0).fit(X, LABELS)
    assert model.objective_ - best.objective_ <= model.dual_gap_


def test_rows_set_aside_need_memory():
    with pytest.raises(InvalidParameter, match="early_stopping must be False for rows in partitions"):
        SGDClassifier(early_stopping=True).fit(chunked(X, 3), chunked(LABELS, 3))
