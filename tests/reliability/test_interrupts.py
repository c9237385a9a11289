"""Ctrl-C and time limits at random moments, for some estimators; for all of them by ``make reliability``."""

import os
import random
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.reliability.commands import COMMANDS, LATEST, fault, prepare
from tests.reliability.interrupts import faults

import surefit
from surefit.cli.main import app
from surefit.core.budget import Budget
from surefit.core.distinct import unique_rows
from surefit.core.guards.interrupts import as_interrupts

ITERATIVE = (
    "Lasso", "LogisticRegression", "SVC", "MLPRegressor", "HistGradientBoostingClassifier", "KMeans", "Perceptron",
    "KernelLogisticRegression", "GridSearchCV", "Certified", "LassoCV", "LogisticRegressionCV",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::surefit.core.errors.DataWarning")
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", ITERATIVE)
def test_interrupted_fit_is_usable_or_raises_and_the_next_one_is_the_same(name):
    assert not faults(getattr(surefit, name), tries=4, seed=0)


@pytest.mark.parametrize("name", ["LassoCV", "LogisticRegressionCV"])
def test_ctrl_c_before_anything_was_compared_is_an_interrupt(name, monkeypatch):
    entered = Budget.__enter__

    def pressed(budget):
        entered(budget)
        signal.raise_signal(signal.SIGINT)
        return budget

    monkeypatch.setattr(Budget, "__enter__", pressed)
    X = [[float(i), float(i % 3)] for i in range(20)]
    with pytest.raises(KeyboardInterrupt):
        getattr(surefit, name)().fit(X, [i % 2 for i in range(20)])


class _Base(BaseEstimator):
    def fit(self, X, y):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    def predict(self, X):
        return [0] * len(X)


def test_an_interrupt_that_another_library_turned_into_an_error_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt):
        surefit.BaggingClassifier(_Base()).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ZeroDivisionError), as_interrupts():
        raise ZeroDivisionError


def test_ctrl_c_waits_while_rows_are_compared(monkeypatch):
    compared, unique = [], np.unique

    def pressed(rows, axis=None):
        signal.raise_signal(signal.SIGINT)
        compared.append(unique(rows, axis=axis))
        return compared[-1]

    monkeypatch.setattr(np, "unique", pressed)
    with pytest.raises(KeyboardInterrupt):
        unique_rows(np.array([[1, 2], [1, 2]]))
    assert len(compared[0]) == 1


#: Ctrl-C twice in every fit, a little later each time, until one is through; machine code is in no cache.
WHILE_COMPILING = """
import signal, warnings
import numpy as np
import surefit
warnings.simplefilter("ignore")
rows = np.random.default_rng(0).normal(size=(60, 3))
labels = (rows.sum(axis=1) > 0).astype(int)
presses = []

def press(*_):
    presses.append(1)
    signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGPROF, press)
raised, least = 0, 0.0
for cls in (surefit.SVC, surefit.Lasso):
    pressed, least = True, 0.0
    while pressed:
        presses.clear()
        least += 0.15
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, least, 0.02)
                cls().fit(rows, labels).verify(rows, labels)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0.0)
        except KeyboardInterrupt:
            raised += 1
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        pressed = bool(presses)
    cls().fit(rows, labels).verify(rows, labels)
print(raised)
"""


def test_ctrl_c_during_compilation_is_an_interrupt_and_the_next_fit_is_proved(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", WHILE_COMPILING], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models of surefit, one of another library, rows, and a program."""
    place = tmp_path_factory.mktemp("commands")
    prepare(place)
    return place


def test_every_command_is_interrupted():
    assert set(COMMANDS) == {command.name or command.callback.__name__ for command in app.registered_commands}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command_ends_in_one_sentence(folder, name):
    for seconds in (0.02, random.Random(name).uniform(0.3, LATEST)):
        assert not fault(folder, name, seconds)
