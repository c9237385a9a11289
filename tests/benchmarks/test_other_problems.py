"""The judges of the perceptron and of the cold start."""

import numpy as np
import pytest

from benchmarks.problems import fresh_interpreter, lasso
from benchmarks.workload import OURS
from benchmarks.workloads import o_perceptron, q1_import, q2_first_fit, q3_first_fit_ever, q4_first_fits


def test_rosenblatt_by_hand():
    # (1, y=1): score 0, a mistake, weights (1; 1). (-1, y=-1): score 0, a mistake, weights (2; 0). Then no mistake.
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    np.testing.assert_array_equal(o_perceptron.rosenblatt(X, y, 1), [2.0, 0.0])
    np.testing.assert_array_equal(o_perceptron.rosenblatt(X, y, 9), [2.0, 0.0])


def test_scikit_learn_follows_the_same_rule():
    data = o_perceptron.make(300, 5)
    weights = o_perceptron.scikit_learn(data)
    assert o_perceptron.measure(data, weights).gap < 1e-12
    other = weights + 0.01 * np.abs(weights).max()
    assert o_perceptron.measure(data, other).gap == pytest.approx(0.01)


def test_the_perceptron_objective_is_the_training_error():
    data = o_perceptron.Labeled(np.array([[1.0], [2.0], [-1.0], [0.0]]), np.array([1.0, -1.0, -1.0, 1.0]), np.ones(2))
    assert o_perceptron.measure(data, np.array([1.0, 0.0])).objective == 0.5  # row 2 is wrong, row 4 scores zero


def test_the_new_interpreter_sees_the_same_data():
    data = fresh_interpreter.tiny_lasso()
    code = fresh_interpreter.TINY_DATA + "print(repr(float(X.sum())), repr(float(y.sum())))"
    assert fresh_interpreter.run(code, "numpy").split() == [repr(float(data.X.sum())), repr(float(data.y.sum()))]


def test_a_first_fit_is_judged_here():
    coef = fresh_interpreter.first_fit("sklearn.linear_model", 1e-8, cache="unused")
    assert lasso.quality(fresh_interpreter.tiny_lasso(), coef).gap <= 1e-6


def test_failures_of_the_new_interpreter():
    with pytest.raises(ImportError, match="no_such_package") as caught:
        fresh_interpreter.run("import no_such_package", "no_such_package.linear")
    assert caught.value.name == "no_such_package.linear"
    with pytest.raises(RuntimeError, match="ModuleNotFoundError: No module named 'no_such_dependency'"):
        fresh_interpreter.run("import no_such_dependency", "json")
    with pytest.raises(RuntimeError, match="exit code 3"):
        fresh_interpreter.run("raise SystemExit(3)", "json")


def test_each_run_of_the_first_fit_ever_gets_an_empty_cache(monkeypatch):
    seen = []
    monkeypatch.setattr(fresh_interpreter, "first_fit", lambda module, tol, cache: seen.append(cache))
    for module in (q3_first_fit_ever, q2_first_fit):
        for _ in range(2):
            module.workload.solvers[OURS].run(None, tol=1e-6)
    assert seen[0] != seen[1] and seen[2] == seen[3]


def test_first_fits_are_compiled_anew_except_in_the_reference(monkeypatch):
    seen = []
    monkeypatch.setattr(
        fresh_interpreter, "run", lambda code, module, environment: seen.append(environment["NUMBA_CACHE_DIR"]) or "-2"
    )
    solvers = q4_first_fits.workload.solvers
    for solver in (OURS, "surefit (compiled)"):
        for _ in range(2):
            score = solvers[solver].run(None, estimator="KMeans")
            assert q4_first_fits.workload.measure(None, score).objective == 2.0
    assert seen[0] != seen[1] and seen[2] == seen[3]
    assert [solver.ranked for solver in solvers.values()] == [True, True, False]


def test_bare_imports_are_never_ranked():
    ranked = [solver.name for solver in q1_import.workload.solvers.values() if solver.ranked]
    assert ranked == [OURS, "scikit-learn", "celer", "skglm"]
