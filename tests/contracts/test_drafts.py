"""A certificate that is proved when it is first read states what one proved at the end of the fit would have stated."""

import numpy as np
import pytest
from scipy import sparse
from tests.hard_data import hard_data
from tests.reliability.roster import case, estimators, fitted, verify

from surefit.core import encoding
from surefit.core.errors import Invalidated
from surefit.core.issuing import drafts

PLAIN = hard_data(n=24)[0]
SURELY_WAIT = {
    "DecisionTreeClassifier", "GaussianNB", "KMeans", "KNeighborsClassifier", "Lasso", "LinearDiscriminantAnalysis", "LinearSVC",
    "LogisticRegression", "PCA", "Ridge", "SVC", "SVR",
}  # fmt: skip


def content(certificate):
    parts = ("grade", "params", "problem", "model", "data", "claims")
    covered = sorted(certificate.state)  # their digests differ from fit to fit: histories contain seconds
    return encoding.canonical({"covered": covered, **{name: getattr(certificate, name) for name in parts}})


def overwrite(values):
    """Change numbers in place, as a user may do after the fit."""
    if sparse.issparse(values):
        values.data[:] = 7.0
    elif values is not None:
        values[:] = values[::-1].copy() if values.dtype.kind not in "f" else 7.0


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
@pytest.mark.filterwarnings("ignore")
def test_what_changes_after_the_fit_does_not_matter(cls, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(drafts, "WAITING", 0)
        proved_in_fit = case(cls, PLAIN)
        if proved_in_fit is None or fitted(proved_in_fit) is None:
            return
        expected = content(proved_in_fit.model.certificate_)
    found = case(cls, PLAIN)
    found = found._replace(X=found.X.copy(), y=None if found.y is None else found.y.copy())
    model = fitted(found)
    if not isinstance(
        model.__dict__["_certificate"], drafts.Pending
    ):  # nothing to prove, or parameters that are objects
        assert cls.__name__ not in SURELY_WAIT
        return
    given = found._replace(X=found.X.copy(), y=None if found.y is None else found.y.copy())
    overwrite(found.X)
    overwrite(found.y)
    try:
        certificate = model.certificate_
    except Invalidated as error:  # the model contains the caller's array, so that it has changed itself
        assert "was changed after the fit" in str(error)
        assert any(np.shares_memory(found.X, value) for value in vars(model).values() if isinstance(value, np.ndarray))
        return
    assert content(certificate) == expected
    assert verify(certificate, given)
