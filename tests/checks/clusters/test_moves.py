"""Single moves and blocks of rows: exclusion of rows and threads change no stated number."""

import numpy as np
import pytest
from tests.hard_data import hard_data

from surefit import KMeans
from surefit.checks.clusters import blocks, moves
from surefit.core.errors import InvalidData

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(5)


def claims_of(X, weights=None, **options):
    model = KMeans(4, n_init=1, random_state=0, **options).fit(X, sample_weight=weights)
    return [(claim.name, claim.value, claim.limit, claim.numbers) for claim in model.certificate_.claims]


@pytest.mark.parametrize("weighted", [False, True])
def test_excluded_rows_have_no_gain(monkeypatch, weighted):
    X = RNG.standard_normal((400, 3)) * [1.0, 1e-3, 1e3] + 1e4
    weights = 10.0 ** RNG.integers(-12, 12, 400) if weighted else None
    found = claims_of(X, weights, max_iter=2)
    seen = []
    monkeypatch.setattr(
        moves, "_may_gain", lambda *a, f=moves._may_gain: seen.append(f(*a)) or np.ones(len(X), dtype=bool)
    )
    for (name, value, *_), (_, other, *_) in zip(claims_of(X, weights, max_iter=2), found, strict=True):
        assert other == pytest.approx(value, rel=1e-9, nan_ok=True), name
    assert 0 < seen[0].sum() < len(X)


def test_rows_of_hard_data_are_excluded_only_without_gain(monkeypatch):
    for hard in hard_data():
        try:
            model = KMeans(2, n_init=1, random_state=0, max_iter=1).fit(hard.X, sample_weight=hard.weights)
        except InvalidData:
            continue
        found = model.verify(hard.X, sample_weight=hard.weights)["k_means.single_move"].proved
        with monkeypatch.context() as context:
            context.setattr(moves, "_may_gain", lambda _, rows, *a: np.ones(len(rows), dtype=bool))
            whole = model.verify(hard.X, sample_weight=hard.weights)["k_means.single_move"].proved
        assert found == pytest.approx(whole, rel=1e-9), hard.name


def test_threads_change_no_stated_number(monkeypatch):
    X = RNG.standard_normal((700, 3))
    whole = claims_of(X, n_jobs=1)
    monkeypatch.setattr(blocks, "BLOCK", 64)
    divided = claims_of(X, n_jobs=1)
    assert claims_of(X, n_jobs=2) == divided == claims_of(X, n_jobs=3)
    for (name, value, *_), (_, other, *_) in zip(whole, divided, strict=True):
        assert other == pytest.approx(value, rel=0.5, nan_ok=True), name
