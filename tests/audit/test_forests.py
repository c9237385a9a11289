"""Forests of scikit-learn: leaves of every tree recomputed from the rows drawn for it."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_iris

from surefit import Invalidated, InvalidData, certify

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


def test_other_trees_and_weights_are_refused():
    model = ensemble.RandomForestClassifier(n_estimators=3, random_state=0).fit(IRIS, SPECIES)
    certificate = certify(model, IRIS, SPECIES)
    model.estimators_ = ensemble.RandomForestClassifier(n_estimators=3, random_state=1).fit(IRIS, SPECIES).estimators_
    with pytest.raises(Invalidated, match="was changed"):
        certificate.verify(IRIS, SPECIES)
    with pytest.raises(InvalidData, match="without weights"):
        certify(model, IRIS, SPECIES, np.ones(150))
