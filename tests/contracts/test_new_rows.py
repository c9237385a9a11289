"""Every public predictor says what its certificate claims about new rows: a bound, or that there is none and how to get one."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from tests.contracts.test_estimators import public_estimators

PREDICTORS = [cls for cls in public_estimators() if is_classifier(cls()) or is_regressor(cls())]


def small_sample(estimator):
    """Two overlapping classes, or a noisy line; one positive column where an estimator wants no more."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 1.5, size=(60, 2 if estimator.__sklearn_tags__().input_tags.two_d_array else 1))
    score = X[:, 0] - 1 + 0.2 * rng.normal(size=60)
    if is_classifier(estimator):
        return X, (score > 0).astype(int)
    if not estimator.__sklearn_tags__().target_tags.single_output:
        return X, np.column_stack([score, X[:, 1]])
    return X, np.abs(score) if estimator.__sklearn_tags__().target_tags.positive_only else score


# What is asked is what is claimed, not how well a default of 60 rows was fitted.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("cls", PREDICTORS)
def test_a_bound_or_the_word_that_there_is_none(cls):
    model = cls()
    X, y = small_sample(model)
    certificate = model.fit(X, y).certificate_
    bounds = [claim for claim in certificate.claims if claim.kind == "risk_bound"]
    silent = [claim for claim in certificate.claims if claim.name == "risk.unclaimed"]
    assert bool(bounds) != bool(silent), [claim.name for claim in certificate.claims]
    for claim in bounds:
        assert claim.confidence is not None and 0 < claim.confidence < 1 and claim.assumptions
        assert claim.value < 1 or "vacuous" in claim.statement or is_regressor(model)
    for claim in silent:
        assert claim.kind == "no_claim" and "surefit.Certified(model" in claim.statement
        assert ("estimate is not a bound" in claim.statement) == any(c.kind == "estimate" for c in certificate.claims)


def test_the_walk_is_long():
    assert len(PREDICTORS) > 50
