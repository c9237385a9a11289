"""Memory of a fit of a linear classifier and its proof, beyond the rows: a few numbers per row."""

import tracemalloc

import numpy as np
import pytest

from surefit import LinearSVC, LogisticRegression

rng = np.random.default_rng(4)
X = rng.standard_normal((200_000, 10))
y = (X @ np.linspace(1.0, -1.0, 10) + rng.standard_normal(len(X)) > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "numbers"), [(LogisticRegression(), 11), (LinearSVC(), 14)], ids=["logistic", "hinge"]
)
def test_numbers_per_row(model, numbers):
    model.fit(X[:50_000], y[:50_000]).certificate_.claims  # noqa: B018 - compiles the loops for many rows too
    tracemalloc.start()
    model.fit(X, y).certificate_.claims  # noqa: B018
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < numbers * 8 * len(X)
