"""scikit-learn's callbacks see every check of the gap, can stop the fit, and draw it."""

import io
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefit import SVC, GapProgress, Lasso, LassoCV, LogisticRegression
from surefit.core.errors import ConvergenceWarning


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150))
    return X, X[:, :10].sum(axis=1) + rng.standard_normal(60)


class Recorder:
    def __init__(self, stop_below=0.0):
        self.seen, self.events, self.stop_below = [], [], stop_below

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata:
            self.seen.append((metadata["n_iter"], metadata["gap"]))
            return metadata["gap"] < self.stop_below

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_the_running_gap_travels_as_metadata(data):
    recorder = Recorder()
    Lasso(alpha=0.01).set_callbacks(recorder).fit(*data)
    assert recorder.events == ["setup", "teardown"] and len(recorder.seen) >= 2
    assert [n for n, _ in recorder.seen] == sorted(n for n, _ in recorder.seen)
    gaps = [gap for _, gap in recorder.seen if np.isfinite(gap)]
    assert len(gaps) >= 2 and gaps[-1] < gaps[0]


def test_a_callback_can_stop_the_fit_and_the_model_is_usable(data):
    null = np.var(data[1]) / 2
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model = Lasso(alpha=0.001, tol=1e-14).set_callbacks(Recorder(stop_below=0.5 * null)).fit(*data)
    assert model.dual_gap_ < 0.5 * null
    model.verify(*data)


def test_gap_progress_draws_a_line(data):
    page = io.StringIO()
    Lasso(alpha=0.01).set_callbacks(GapProgress(console=Console(file=page, width=100, force_terminal=True))).fit(*data)
    assert "Lasso" in page.getvalue() and "gap" in page.getvalue() and "pass" in page.getvalue()


def test_cross_validation_and_threads_report_too(data):
    recorder = Recorder()
    LassoCV(alphas=5, n_jobs=2).set_callbacks(recorder).fit(*data)
    assert len(recorder.seen) >= 10 and recorder.events == ["setup", "teardown"]


def test_scikit_learns_own_progress_bar_and_pipelines_work(data, capsys):
    alone = Lasso(alpha=0.1).set_callbacks(ProgressBar()).fit(*data)
    piped = make_pipeline(StandardScaler(), Lasso(alpha=0.1)).set_callbacks(ProgressBar()).fit(*data)
    assert "Lasso" in capsys.readouterr().out
    assert alone.certificate_.holds and piped[-1].certificate_.holds


def test_without_callbacks_nothing_is_set_up(data):
    model = Lasso(alpha=0.1).fit(*data)
    assert not hasattr(model, "_callback_fit_ctx")


@pytest.mark.parametrize("model", [Lasso(alpha=0.1), LogisticRegression(), SVC()], ids=repr)
def test_a_scoring_monitor_scores_the_fitted_model_on_the_data_as_given(data, model):
    X = data[0]
    y = data[1] if isinstance(model, Lasso) else np.where(data[1] > np.median(data[1]), "high", "low")
    name = "r2" if isinstance(model, Lasso) else "accuracy"
    monitor = ScoringMonitor(scoring=name)
    model = clone(model).set_callbacks(monitor).fit(X, y)
    assert [row[name] for row in monitor.get_logs().data] == [model.score(X, y)]
    model.fit(X=X, y=y)
    assert len(monitor.get_logs(select="all")) == 2


WITHOUT = """
import builtins
import numpy as np
usual = builtins.__import__

def old(name, context=None, *rest):  # surefit finds no callbacks, as in scikit-learn 1.7 and 1.8
    if name.startswith("sklearn.callback") and context["__name__"].startswith("surefit."):
        raise ImportError(name)
    return usual(name, context, *rest)

builtins.__import__ = old
from surefit import Lasso, LassoCV
from surefit.core.errors import SurefitError
rows = np.random.default_rng(0).normal(size=(30, 3))
for model in (Lasso(alpha=0.1), LassoCV(alphas=3, cv=2)):
    assert model.fit(rows, rows[:, 0]).verify(rows, rows[:, 0])
try:
    Lasso().set_callbacks(print)
except SurefitError as error:
    print(error)
"""


def test_scikit_learn_without_callbacks_is_enough_for_everything_else():
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "set_callbacks needs scikit-learn >= 1.9; upgrade scikit-learn or fit without callbacks.\n"
