"""Forests of scikit-learn: leaves of every tree recomputed from the rows drawn for it."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_iris

from surefit import Invalidated, InvalidParameter, certify

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_leaves_hold_what_their_rows_say(kind):
    for task, X, y in (("Classifier", IRIS, SPECIES), ("Regressor", DIABETES, PROGRESS)):
        model = getattr(ensemble, kind + task)(n_estimators=5, max_depth=4, random_state=0).fit(X, y)
        certificate = certify(model, X, y)
        assert certificate.holds
        certificate.verify(X, y)
        assert certify(model, X, np.roll(y, 40)).holds is False


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
@pytest.mark.parametrize(
    "class_weight", [None, "balanced", {0: 1.0, 1: 2.0, 2: 5.0}], ids=["none", "balanced", "given"]
)
def test_weights_of_rows_and_classes(kind, class_weight):
    s = np.random.default_rng(0).random(150)
    model = getattr(ensemble, kind + "Classifier")(5, max_depth=3, class_weight=class_weight, random_state=0)
    certificate = certify(model.fit(IRIS, SPECIES, s), IRIS, SPECIES, s)
    assert certificate.holds
    assert [c.kind for c in certificate.claims].count("risk_bound") == 0
    certificate.verify(IRIS, SPECIES, s)
    if kind == "ExtraTrees":  # all rows, by weight
        assert certify(model, IRIS, SPECIES, s[::-1].copy()).holds is False
    model = getattr(ensemble, kind + "Regressor")(5, max_depth=3, random_state=0).fit(IRIS[:, 1:], IRIS[:, 0], s)
    assert certify(model, IRIS[:, 1:], IRIS[:, 0], s).holds


def test_other_trees_and_weights_are_refused():
    model = ensemble.RandomForestClassifier(n_estimators=3, random_state=0).fit(IRIS, SPECIES)
    certificate = certify(model, IRIS, SPECIES)
    model.estimators_ = ensemble.RandomForestClassifier(n_estimators=3, random_state=1).fit(IRIS, SPECIES).estimators_
    with pytest.raises(Invalidated, match="was changed"):
        certificate.verify(IRIS, SPECIES)
    model = ensemble.RandomForestClassifier(3, class_weight="balanced_subsample").fit(IRIS, SPECIES)
    with pytest.raises(InvalidParameter, match="class_weight"):
        certify(model, IRIS, SPECIES)
