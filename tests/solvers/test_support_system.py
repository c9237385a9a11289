"""The bordered system gives the step that a fresh factorisation gives, and knows when it must not be used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.solvers.coordinate_descent import support as module
from surefit.solvers.coordinate_descent.support import SupportSystem


def gram_of(X) -> np.ndarray:
    X = X / np.sqrt(np.sum(X**2, axis=0))
    return X.T @ X


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.1]))
def test_near_supports_are_solved_exactly(seed, n_added, n_removed, curvature):
    rng = np.random.default_rng(seed)
    gram, curvatures = gram_of(rng.normal(size=(300, 200))), np.full(200, curvature)
    order = rng.permutation(200)
    base = np.sort(order[:150])
    near = np.sort(np.concatenate([base[rng.permutation(150)[n_removed:]], order[150 : 150 + n_added]]))
    right = rng.normal(size=len(near))
    system = SupportSystem()
    system.solve(gram, base, curvatures, np.ones(150))
    assert system.is_near(near, curvatures)
    assert system.flops(near, curvatures) < len(near) ** 3 / 3
    expected = np.linalg.solve(gram[np.ix_(near, near)] + np.diag(curvatures[near]), right)
    assert system.solve(gram, near, curvatures, right) == pytest.approx(expected, rel=1e-8, abs=1e-10)
    assert len(system._base) == 150  # the factor was reused, not replaced


def test_other_supports_and_other_curvatures_are_factorized_again():
    rng = np.random.default_rng(0)
    gram, curvatures = gram_of(rng.normal(size=(100, 60))), np.zeros(60)
    system = SupportSystem()
    first, other = np.arange(40), np.arange(20, 60)
    system.solve(gram, first, curvatures, np.ones(40))
    assert system.is_near(first, curvatures) and not system.is_near(other, curvatures)
    assert not system.is_near(first, curvatures + 0.1)
    assert system.flops(other, curvatures) == 40**3 / 3
    step = system.solve(gram, other, curvatures, np.ones(40))
    assert gram[20:, 20:] @ step == pytest.approx(np.ones(40), abs=1e-9)
    system.forget()
    assert not system.is_near(other, curvatures)


def test_dependent_columns_are_noticed_at_once_and_later():
    X = np.random.default_rng(1).normal(size=(100, 60))
    X[:, 59] = X[:, :3].sum(axis=1)
    gram, curvatures = gram_of(X), np.zeros(60)
    system = SupportSystem()
    system.solve(gram, np.arange(59), curvatures, np.ones(59))
    assert not system.singular
    step = system.solve(gram, np.arange(60), curvatures, gram @ np.ones(60))  # one more column, which depends on others
    assert system.singular and np.all(np.isfinite(step))
    assert gram @ step == pytest.approx(gram @ np.ones(60), abs=1e-6)
    assert not system.is_near(np.arange(60), curvatures)  # never reused
    regular = SupportSystem()
    regular.solve(gram, np.arange(60), curvatures + 0.1, np.ones(60))  # curvature makes it regular
    assert not regular.singular


def test_limit_on_changes(monkeypatch):
    gram, curvatures = np.eye(48), np.zeros(48)
    system = SupportSystem()
    system.solve(gram, np.arange(24), curvatures, np.ones(24))
    assert system.is_near(np.arange(25), curvatures) and not system.is_near(np.arange(26), curvatures)
    monkeypatch.setattr(module, "FEW_CHANGES", 0.5)
    assert system.is_near(np.arange(26), curvatures)
