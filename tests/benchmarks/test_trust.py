"""The cost of a certificate, as the benchmarks measure it."""

import numpy as np
import pytest

from benchmarks.runner import Options, run_variant
from benchmarks.trust import Meter
from benchmarks.workload import discover, select
from surefit import BaggingRegressor, Lasso, lasso_path
from surefit.core import estimator
from surefit.core.certificate import Certificate
from surefit.core.issuing.drafts import Pending


@pytest.fixture
def meter(monkeypatch):
    monkeypatch.setattr(estimator.CertifiedMixin, "_issue", estimator.CertifiedMixin._issue)
    monkeypatch.setattr(estimator, "complete", estimator.complete)
    monkeypatch.setattr(estimator, "watched", estimator.watched)
    return Meter()


def test_the_meter_sees_certificates_only(meter):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    lasso_path(X, y, alphas=[0.1])
    assert meter.share(1.0) is None and meter.verification() is None
    model = Lasso(0.1).fit(X, y)
    assert isinstance(model._certificate, Certificate)  # its proof does not wait
    assert 0.0 < meter.share(1.0) == meter.seconds
    assert meter.verification() > 0.0
    search = BaggingRegressor(Lasso(0.1), n_estimators=2).fit(X, y)
    assert isinstance(search._certificate, Certificate) and isinstance(search.estimators_[0]._certificate, Pending)


def test_a_run_reports_both():
    (workload,) = select(discover(), ["c1"])
    options = Options(repeats=2, quick=True)
    row = run_variant(workload, workload.solvers["surefit"], workload.solvers["surefit"].variants[-1], options)
    assert row["status"] == "ok", row["detail"]
    assert 0.0 < row["certificate_share"] < 1.0 and row["verify_ratio"] > 0.0
