"""Memory of a fit and its proof, beyond the rows: a few numbers per row, and no copy of them."""

import tracemalloc

import numpy as np
import pytest

from surefit import GaussianMixture, KMeans

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # stopped after a few steps
X = np.random.default_rng(3).standard_normal((100_000, 10))
MODELS = {
    "k-means": KMeans(10, n_init=1, max_iter=3, random_state=0),
    "full mixture": GaussianMixture(3, max_iter=2, random_state=0),
    "tied mixture": GaussianMixture(3, covariance_type="tied", max_iter=2, random_state=0),
    "diagonal mixture": GaussianMixture(3, covariance_type="diag", max_iter=2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_and_its_proof_need_less_memory_than_the_rows(name):
    MODELS[name].fit(X[:1000]).certificate_.claims  # noqa: B018 - compiles, and reads the proof
    tracemalloc.start()
    MODELS[name].fit(X).certificate_.claims  # noqa: B018
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes
