"""Threads of support vector machines: the same bits for any number of them, memory that is kept, and fits that can be stopped."""

import os
import signal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from surefit import SVC, SVR, svc_path, svr_path
from surefit.core.errors import InvalidParameter
from surefit.kernel_machines import svc_training
from surefit.kernels import RBF
from surefit.solvers.smo import evaluation, gaussian_rows, rows


def sample(seed=0, n=700, d=3, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, score, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


@pytest.fixture
def small_pieces(monkeypatch):
    for module in (evaluation, rows):
        monkeypatch.setattr(module, "PIECE", 1 << 15)  # several blocks of rows even for few rows
    for module in (gaussian_rows, rows):
        monkeypatch.setattr(module, "COLUMNS", 90)
    monkeypatch.setattr(gaussian_rows, "ROWS", 20)
    monkeypatch.setattr(rows, "THREADED", 0)


def same_bits(make, X, y):
    one, *others = (make(n_jobs).fit(X, y) for n_jobs in (1, 2, -1, None))
    for other in others:
        for name in ("dual_coef_", "support_", "intercept_", "n_iter_"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert other.dual_gap_ == one.dual_gap_ <= other.tol * other.objective_
        assert np.array_equal(other.predict(X), one.predict(X))
    return one


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.usefixtures("small_pieces")
def test_same_bits_for_any_number_of_threads(kernel):
    X, score, labels = sample()
    model = same_bits(lambda n_jobs: SVC(kernel=kernel, C=3.0, tol=1e-6, n_jobs=n_jobs), X, labels)
    assert model.verify(X, labels)["svc.gap"].ok
    same_bits(lambda n_jobs: SVR(kernel=kernel, C=3.0, tol=1e-6, n_jobs=n_jobs), X, score)


@pytest.mark.parametrize("megabytes", [200, 0.3])
@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
def test_several_problems_side_by_side_or_one_after_another(monkeypatch, megabytes, strategy):
    X, _, labels = sample(1, classes=4)
    together = []
    mapped = svc_training.map_blocks
    monkeypatch.setattr(svc_training, "map_blocks", lambda *args: together.append(args[-1]) or mapped(*args))
    same_bits(lambda j: SVC(multi_class=strategy, cache_size=megabytes, n_jobs=j), X, labels)
    assert together[:2] == ([1, 2] if megabytes > 1 else [1, 1])  # 700 rows squared do not fit twice into 0.3 megabytes


def test_scores_of_many_rows_are_cut_alike(monkeypatch):
    X, _, labels = sample(2)
    models = [SVC(n_jobs=n_jobs).fit(X, labels) for n_jobs in (1, 2)]
    monkeypatch.setattr("surefit.kernel_machines.svm_machine.PIECE", 10_000)
    one, two = (model.decision_function(X) for model in models)
    assert np.array_equal(one, two)
    assert one == pytest.approx(
        models[0].kernel_(X)[:, models[0].support_] @ models[0].dual_coef_[0] + models[0].intercept_[0]
    )


def test_paths_hand_threads_on():
    X, score, labels = sample(3, n=120)
    one, two = (svc_path(X, labels, C_range=(0.1, 1.0), eps=0.1, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.dual_coefs, two.dual_coefs)
    one, two = (svr_path(X, score, epsilons=[0.5, 0.1], n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.dual_coefs, two.dual_coefs)


@pytest.mark.parametrize("classes", [2, 4])
def test_ctrl_c_reaches_every_thread(monkeypatch, classes):
    X, _, labels = sample(4, classes=classes)
    calls = []

    class Reporter:
        def __call__(self, n_iter, gap):
            calls.append(gap)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGINT)  # as the keyboard does: to the process, not to this thread
            return False

        def finish(self):
            calls.append("finished")

    monkeypatch.setattr(svc_training, "progress_reporter", lambda *_: Reporter())
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(ConvergenceWarning, match="interrupted by Ctrl-C"):
            model = SVC(C=1e6, tol=1e-9, n_jobs=2).fit(X, labels)
    finally:
        signal.signal(signal.SIGINT, old)
    assert calls[-1] == "finished" and model.certificate_.run["reason"] == "interrupted"
    assert np.isfinite(model.dual_gap_) and model.verify(X, labels)["svc.gap"].ok


@pytest.mark.parametrize("classes", [2, 4])
def test_a_clock_reaches_every_thread(classes):
    X, _, labels = sample(5, classes=classes)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = SVC(C=1e4, tol=1e-12, max_time=1e-3, n_jobs=2).fit(X, labels)
    assert model.verify(X, labels)["svc.gap"].ok


def test_no_threads_are_no_number():
    X, score, labels = sample(6, n=20)
    with pytest.raises(InvalidParameter, match="n_jobs"):
        SVC(n_jobs=0).fit(X, labels)
    with pytest.raises(InvalidParameter, match="n_jobs"):
        SVR(n_jobs=0).fit(X, score)


@pytest.mark.parametrize(("length", "size"), [(1, 2500), (5_000, 2500), (5_001, 2500), (17_000, 2500), (90_001, 2500)])
def test_parts_are_equal_and_their_number_is_a_power_of_two(length, size):
    part = rows._even(length, size)
    count = -(-length // part)
    assert part <= size
    assert length == 1 or (count & (count - 1) == 0 and count >= 2 and count * part - length < count)


def test_values_among_rows_are_computed_or_read():
    X = np.random.default_rng(0).standard_normal((60, 3))
    gram, some = rows.solver_rows(RBF(gamma=0.3), X)[1], np.array([3, 8, 40, 59])
    cache = rows.RowCache(gram, 1.0, 4)
    cache.fetch(some)
    found = cache.among(some)
    assert found.dtype == np.float64
    assert np.all(found.diagonal() == 1.0)
    assert found == pytest.approx(RBF(gamma=0.3)(X[some]), abs=1e-6)
    assert rows.gather(cache.rows, cache.slot[some], some) == pytest.approx(found, abs=1e-6)
