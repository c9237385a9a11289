"""The cost of a certificate, as the benchmarks measure it."""

import numpy as np
import pytest

from benchmarks.runner import Options, run_variant
from benchmarks.trust import Meter
from benchmarks.workload import discover, select
from surefit import Lasso, lasso_path
from surefit.core import estimator


@pytest.fixture
def meter(monkeypatch):
    monkeypatch.setattr(estimator.CertifiedMixin, "_issue", estimator.CertifiedMixin._issue)
    monkeypatch.setattr(estimator, "complete", estimator.complete)
    return Meter()


def test_the_meter_sees_certificates_only(meter):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    lasso_path(X, y, alphas=[0.1])
    assert meter.share(1.0) is None and meter.verification() is None
    Lasso(0.1).fit(X, y)
    assert 0.0 < meter.share(1.0) == meter.seconds
    assert meter.verification() > 0.0


def test_a_run_reports_both():
    (workload,) = select(discover(), ["c1"])
    options = Options(repeats=2, quick=True)
    row = run_variant(workload, workload.solvers["surefit"], -1, options)
    assert row["status"] == "ok", row["detail"]
    assert 0.0 < row["certificate_share"] < 1.0 and row["verify_ratio"] > 0.0
