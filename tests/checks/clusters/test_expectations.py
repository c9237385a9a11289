"""Passes of the checker of mixtures: blocks, pieces and groups of components change no stated number beyond its rounding."""

import numpy as np
import pytest

from surefit import GaussianMixture
from surefit.checks.clusters import blocks, expectations

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # stopped after a few steps
RNG = np.random.default_rng(7)
X = RNG.standard_normal((700, 3)) * [1.0, 1e-3, 1e3] + [0.0, 5.0, -1e4]
WEIGHTS = RNG.integers(0, 4, 700).astype(float)
KINDS = ("full", "tied", "diag", "spherical")


def fitted(kind, weights, **options):
    options = {"covariance_type": kind, "max_iter": 5, "random_state": 0} | options
    return GaussianMixture(4, **options).fit(X, sample_weight=weights)


def claims_of(model):
    return [(claim.name, claim.value, claim.numbers) for claim in model.certificate_.claims]


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_stated_number(monkeypatch, kind):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    assert claims_of(fitted(kind, None, n_jobs=1)) == claims_of(fitted(kind, None, n_jobs=3))


@pytest.mark.parametrize("kind", KINDS)
def test_components_in_groups_and_rows_in_pieces_give_the_same_expectations(monkeypatch, kind):
    model = fitted(kind, WEIGHTS)
    whole = model.verify(X, sample_weight=WEIGHTS)
    monkeypatch.setattr(expectations, "ENTRIES", 1)  # one component at a time, 256 rows per piece
    parts = model.verify(X, sample_weight=WEIGHTS)
    for name in ("mixture.score", "mixture.likelihood"):
        assert parts[name].proved == pytest.approx(whole[name].proved, rel=1e-9, abs=1e-9), name
    assert parts["mixture.step"].proved == pytest.approx(whole["mixture.step"].proved, rel=1e-6, abs=1e-9)
