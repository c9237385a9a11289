"""Features of many rows: the same bits for any number of threads."""

import numpy as np
import pytest
from scipy import sparse

from surefit import Nystroem, NystroemFeatures, RBFSampler
from surefit.feature_maps import nystroem, rbf_sampler

X = np.random.default_rng(0).standard_normal((900, 6))


@pytest.mark.parametrize("read", [np.asarray, np.float32, sparse.csr_array], ids=["double", "single", "sparse"])
@pytest.mark.parametrize("kind", [Nystroem, NystroemFeatures, RBFSampler])
def test_same_bits_for_any_number_of_threads(monkeypatch, kind, read):
    model, rows, found = kind(n_components=40, gamma=0.1, random_state=0).fit(X), read(X), []
    whole = model.transform(rows)
    for module in (nystroem, rbf_sampler):
        monkeypatch.setattr(module, "VALUES", 4_000)  # 100 rows per block
    for count in (1, 2, 3):
        for module in (nystroem, rbf_sampler):
            monkeypatch.setattr(module, "blas_threads", lambda count=count: count)
        if kind is Nystroem:
            model.set_params(n_jobs=count)
        found.append(model.transform(rows).tobytes())
    assert found[0] == found[1] == found[2]
    np.testing.assert_allclose(np.frombuffer(found[0]).reshape(whole.shape), whole, atol=1e-12)
