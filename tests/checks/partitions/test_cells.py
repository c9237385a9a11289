"""Certificates of rules on cells: strict on hard data, and refused when anything that predictions use was changed."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.forging import accepted_forgeries, changed_values, resealed_model, verified_strictly
from tests.hard_data import hard_data

from surefit import CertificateError, HistogramClassifier, PartitionClassifier, Regressogram

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = (X[:, 0] > 0).astype(int)
RULES = [
    HistogramClassifier(),
    PartitionClassifier(KMeans(2, n_init=1, random_state=0)),
    Regressogram(),
    Regressogram(KMeans(2, n_init=1, random_state=0)),
]


@pytest.mark.parametrize("model", RULES, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_honest_rules_of_hard_data_verify_strictly(model):
    for hard in hard_data(24):
        rows = hard.X.toarray() if hasattr(hard.X, "toarray") else hard.X
        y = hard.y if isinstance(model, Regressogram) else hard.labels
        verified_strictly(model.fit(rows, y, sample_weight=hard.weights), rows, y, hard.weights)


@pytest.mark.parametrize("model", RULES, ids=str)
def test_no_change_is_accepted(model):
    model.fit(X, Y)
    but = () if model.partitioner is None else ("model cell_keys_", "model side_")  # names of cells; no cubes
    assert accepted_forgeries(model.certificate_, X, Y, but=but) == []
    names = ("cell_means_", "mean_") if isinstance(model, Regressogram) else ("cell_shares_", "_prior", "classes_")
    for name in ("cell_counts_", "_known", *names):
        for _, value in changed_values(getattr(model, name)):
            if np.array_equal(value, getattr(model, name)):
                continue
            with pytest.raises((CertificateError, ValueError)):
                resealed_model(model, name, value).verify(X, Y)
