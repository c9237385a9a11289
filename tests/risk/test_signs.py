"""Signs that rows are not independent: a warning with the rows or columns and the remedy, and above a stated share no claim."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import surefit
from surefit.core.errors import DataWarning
from surefit.risk.signs import WITHDRAWN, noisy_copies, remarks

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)


def certified(rows, labels, **options):
    model = surefit.Certified(KNeighborsClassifier(1), random_state=0)
    return model.fit(rows, labels, **options).certificate_.claims[0]


def test_copies_with_noise_withdraw_the_claim_and_groups_give_it_back():
    rows, labels = np.vstack([X, X + 1e-9 * rng.normal(size=X.shape)]), np.tile(y, 2)
    with pytest.warns(
        DataWarning, match=r"rows 0 and 200, 1 and 201, .*\(1 of all rows\) nearly coincide.*pass groups"
    ):
        assert certified(rows, labels).name == "risk.void"
    claim = certified(rows, labels, groups=np.tile(np.arange(200), 2))
    assert claim.name == "risk.holdout" and claim.numbers["n"] <= 200


def test_few_copies_are_said_and_withdraw_nothing():
    rows, labels = np.vstack([X, X[:2] + 1e-9]), np.append(y, y[:2])
    assert 0 < noisy_copies(rows).share < WITHDRAWN
    with pytest.warns(DataWarning, match="rows 0 and 200, 1 and 201 .*nearly coincide"):
        assert certified(rows, labels).name == "risk.holdout"


@pytest.mark.parametrize("columns", [1, 2, 10])
@pytest.mark.parametrize("n", [50, 20_000])
def test_independent_rows_show_no_copies(n, columns):
    assert noisy_copies(np.random.default_rng(n).normal(size=(n, columns))).share < WITHDRAWN / 10


def test_equal_rows_of_discrete_tables_are_no_copies():
    table = np.random.default_rng(0).integers(0, 3, size=(500, 3)).astype(float)
    rounded = np.random.default_rng(0).normal(size=(5000, 2)).round(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not noisy_copies(table).pairs and not noisy_copies(rounded).pairs
        assert certified(table, (table[:, 0] > 0).astype(int)).name == "risk.holdout"


def test_columns_that_tell_of_times_groups_and_the_target():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        patient_id=np.arange(200) // 4, date=np.arange(200), answer=np.where(y, "yes", "no"), price=3.0 * X[:, 0] + 1
    )
    said = remarks(frame, y)
    assert len(said) == 3
    assert (
        "'patient_id' names groups" in said[0] and "'date' holds times" in said[1] and "'answer' determines" in said[2]
    )
    assert any("'price' determines" in remark for remark in remarks(frame, X[:, 0]))
    assert remarks(pd.DataFrame(X, columns=["a", "identity", "update"]), y) == []
