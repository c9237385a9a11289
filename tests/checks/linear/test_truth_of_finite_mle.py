"""Whether a logistic likelihood has a maximum, against an enumeration in integers of all directions of the rows."""

from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from tests.exact_geometry import dot, rational
from tests.separation.ray_oracle import kind_of_separation

from surefit import LogisticRegression

pytestmark = [
    pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning"),  # says that there is no finite estimate
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
SCALES = {"plain": (1.0, 0.0), "large": (1e6, 0.0), "small": (1e-6, 0.0), "shifted": (1.0, 1e3)}


def samples(scale, classes):
    """Random rows and rows on a grid, with ties and zero weights, of every kind of separation."""
    factor, shift = SCALES[scale]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, d = 6 + seed % 4, 2 if classes == 2 else 1
        X = rng.normal(size=(n, d)) if seed % 3 else rng.integers(-2, 3, size=(n, d)).astype(float)
        score = X[:, 0] + (0.9 * rng.normal(size=n) if seed % 2 else 0.0)
        y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score, side="right")
        y[:classes] = np.arange(classes)
        weights = np.where(np.arange(n) == n - 1, 0.0, rng.uniform(0.1, 10, size=n)) if seed % 5 == 2 else None
        yield X * factor + shift, y, weights


def comparisons(X, y, used, intercept, classes):
    """For every row of positive weight and every other class: the row in the block of its class, minus it in the other's."""
    for row, own in zip(rational(X[used]), y[used].tolist(), strict=True):
        lifted = [*row, *([Fraction(1)] if intercept else [])]
        for other in (k for k in range(classes) if k != own):
            yield [v * ((k == own) - (k == other)) for k in range(classes) for v in lifted]


def whole(rows):
    scale = lcm(*(v.denominator for row in rows for v in row))
    return [[int(v * scale) for v in row] for row in rows]


@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_maximum(scale, intercept, classes):
    seen = set()
    for X, y, weights in samples(scale, classes):
        used = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        if len(set(y[used])) < classes:
            continue
        model = LogisticRegression(C=np.inf, fit_intercept=intercept).fit(X, y, sample_weight=weights)
        rows = list(comparisons(X, y, used, intercept, classes))
        # Two classes differ by one vector: the comparisons are those of the signed rows.
        true = kind_of_separation(whole([row[len(row) // 2 :] for row in rows] if classes == 2 else rows))
        found = {claim.name: claim for claim in model.certificate_.claims}
        if "logistic.no_finite_mle" in found:
            claim = found["logistic.no_finite_mle"]
            V = claim.witness["V"]
            V = [Fraction(str(v)) if V.dtype.kind == "U" else Fraction(float(v)) for v in V.ravel()]
            scores = [dot(row, V) for row in rows]
            assert true != "overlap" and min(scores) >= 0 and claim.value == sum(score > 0 for score in scores) > 0
        else:
            claim = found["logistic.finite_mle"]
            assert claim.value > 0 or true == "overlap"
            assert claim.value == 0 or scale == "shifted", "a maximum is proved where it exists"
        seen.add((true, claim.name, claim.value == 0))
    far = scale == "shifted" and not intercept  # no line through the origin separates
    assert {"logistic.finite_mle", *([] if far else ["logistic.no_finite_mle"])} <= {name for _, name, _ in seen}
