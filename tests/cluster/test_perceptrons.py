"""Perceptrons on partitions: the bits of a fit in memory in the order of the rows, and claims that repeat the passes."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from surefit import AveragedPerceptron, Perceptron
from surefit.checks.judge import Proof
from surefit.checks.perceptrons.passes import passes
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.sample import read

RNG = np.random.default_rng(11)
X = RNG.normal(size=(400, 4))
SIGNAL = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * RNG.normal(size=400)
NOISY, THREE = np.where(SIGNAL > 0, "a", "b"), np.digitize(SIGNAL, [-0.7, 0.7])
CLEAR = np.where(X @ [1.0, -1.0, 0.5, 0.0] > 0, 1, -1)
X += 0.3 * CLEAR[:, None] * np.array([1.0, -1.0, 0.5, 0.0])  # separable, with a margin
CASES = [
    (AveragedPerceptron(), NOISY),
    (AveragedPerceptron(eta0=0.3, class_weight={0: 1.0, 1: 2.0, 2: 0.7}, bias="augmented", bias_constant=2.0), THREE),
    (Perceptron(max_iter=3000, tol=None), CLEAR),
    (Perceptron(fit_intercept=False, mistake="sign"), THREE),
]
IDS = ["averaged", "three classes", "separable", "no intercept"]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize(("estimator", "y"), CASES, ids=IDS)
def test_bits_are_those_of_memory_in_the_order_of_the_rows(estimator, y, parts):
    table = X.astype(np.float32 if parts == 7 else np.float64)
    model = clone(estimator).fit(chunked(table, parts), chunked(y, parts))
    memory = clone(estimator).set_params(order="cyclic").fit(table, y)
    for name in ("coef_", "intercept_", "last_coef_", "last_intercept_", "mistakes_per_pass_"):
        assert getattr(model, name).tobytes() == getattr(memory, name).tobytes()
    assert (model.n_iter_, model.n_updates_, model.ending_) == (memory.n_iter_, memory.n_updates_, memory.ending_)
    assert np.array_equal(model.classes_, memory.classes_) and np.array_equal(
        model.predict(table), memory.predict(table)
    )
    names = [claim.name for claim in model.certificate_.claims]
    if "perceptron.risk" in names:
        assert model.certificate_["perceptron.risk"].value == memory.certificate_["perceptron.risk"].value
    for rows in ((table, y), (chunked(table, 2), chunked(y, 2))):
        assert all(finding.ok for finding in model.verify(*rows))


def test_what_the_claims_say():
    model = AveragedPerceptron().fit(chunked(X, 3), chunked(NOISY, 3))
    claims = {claim.name: claim for claim in model.certificate_.claims}
    assert set(claims) == {"perceptron.passes", "perceptron.mean", "perceptron.risk"}
    assert claims["perceptron.passes"].value == model.n_updates_
    assert claims["perceptron.passes"].numbers == {"passes": model.n_iter_, "last": int(model.mistakes_per_pass_[-1])}
    assert claims["perceptron.mean"].value < 1e-9 and claims["perceptron.mean"].numbers["visits"] == 400 * model.n_iter_
    assert 0 < claims["perceptron.risk"].value < 0.5
    done = Perceptron(max_iter=3000, tol=None).fit(chunked(X, 3), chunked(CLEAR, 3))
    assert done.converged_ and done.certificate_["perceptron.passes"].numbers["last"] == 0


def test_wrong_weights_and_wrong_passes_are_refused():
    model = AveragedPerceptron().fit(chunked(X, 3), chunked(NOISY, 3))
    certificate, data = model.certificate_, read(X, NOISY)
    claim = certificate["perceptron.passes"]
    assert isinstance(passes(certificate, claim, data), Proof) and not passes(certificate, claim, data).refusal
    moved = dict(certificate.model) | {"last_coef_": certificate.model["last_coef_"] * (1 + 2**-52)}
    assert "do not give the weights" in passes(replace(certificate, model=moved), claim, read(X, NOISY)).refusal
    fewer = replace(claim, numbers={**claim.numbers, "passes": claim.numbers["passes"] - 1})
    changed = replace(certificate, claims=(fewer, *certificate.claims[1:]))
    assert passes(changed, fewer, read(X, NOISY)).refusal


def test_bits_do_not_depend_on_the_workers():
    found = set()
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = AveragedPerceptron().fit(chunked(X, 7), chunked(THREE, 7))
        found.add((model.coef_.tobytes(), repr(model.certificate_.claims)))
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore::surefit.core.errors.ConvergenceWarning")
def test_a_time_limit_ends_the_passes():
    model = AveragedPerceptron(max_time=1e-9).fit(chunked(X, 3), chunked(NOISY, 3))
    assert model.ending_ == "max_time" and model.n_iter_ <= 1
    assert all(finding.ok for finding in model.verify(X, NOISY))


@pytest.mark.parametrize(("params", "words"), [
    ({"order": "shuffled"}, "order must be None or 'cyclic'"), ({"multi_class": "joint"}, "multi_class must be 'ovr'"),
    ({"bias": "r_squared"}, "bias must be a value other"), ({"class_weight": "balanced"}, "class_weight must be a value other"),
])  # fmt: skip
def test_what_needs_memory_is_named(params, words):
    with pytest.raises(InvalidParameter, match=words):
        AveragedPerceptron(**params).fit(chunked(X, 2), chunked(THREE, 2))


def test_weights_are_refused():
    with pytest.raises((InvalidData, TypeError), match="sample_weight"):
        AveragedPerceptron().fit(chunked(X, 2), chunked(THREE, 2), sample_weight=chunked(np.ones(400), 2))
