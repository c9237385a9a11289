"""The tool that runs scikit-learn's examples and tests: what counts as a difference, and which failures are decisions."""

import os
import sys
from time import perf_counter

import pytest
from tests.compat.decisions import decision_of, decisions
from tests.compat.examples import Run, difference
from tests.compat.limits import ends_in_time
from tests.compat.saved import Saved

OTHER = [
    "AssertionError: Not equal to tolerance rtol=1e-07, atol=0",
    "Failed: DID NOT RAISE ValueError",
    "Failed: DID NOT WARN. No warnings of type (<class 'UserWarning'>,) were emitted.",
    "surefit.core.errors.InvalidData: Lasso: y must have one column.",
    "surefit.core.errors.InvalidParameter: Lasso: alpha must be > 0; got 0.",
    "TypeError: fit() got an unexpected keyword argument 'weights'",
    "AttributeError: 'Lasso' object has no attribute 'coef_'",
]


@pytest.mark.parametrize("error", OTHER)
def test_no_decision_covers_every_test(error):
    assert decision_of("linear_model/tests/test_new.py::test_new", error) == ""


def test_a_decision_names_errors_and_is_a_sentence():
    for decision in decisions():
        assert not decision.error.search(""), f"covers every failure of {decision.test.pattern}"
        assert decision.reason.endswith(".") and len(decision.reason.split()) > 3


@pytest.mark.parametrize(
    "words",
    [
        "prints 'score 0.1' instead of 'score 0.9'",
        "prints 3 lines instead of 5",
        "draws 1 lines and images instead of 9",
        "draws, as line or image 0, 3 values 0.1 +- 0.5 instead of 3 values 0.9 +- 0.5",
    ],
)
def test_a_decision_about_an_example_names_its_difference(words):
    about = [decision for decision in decisions() if "/plot_" in decision.test.pattern]
    assert len(about) > 30
    assert [decision.test.pattern for decision in about if decision.error.search(words)] == []


def test_a_failure_gets_the_decision_that_fits_test_and_error():
    name = "linear_model/tests/test_ridge.py::test_ridgeclassifier_multilabel[RidgeClassifier-params0]"
    assert "one label per row" in decision_of(name, "InvalidData: RidgeClassifier: y should be a 1d array")
    assert decision_of(name, "AssertionError: other numbers") == ""
    words = "AssertionError: Regex pattern did not match.\n Expected regex: 'a'\n Actual message: 'SVC: C must be > 0.'"
    assert "of the expected type" in decision_of("svm/tests/test_svm.py::test_c", words)


def test_printed_and_drawn_numbers_are_compared():
    drawn = ([3.0, 1.0, 0.5],)
    same = Run(1.0, None, "score 0.9001\nfit in 3 s", drawn)
    assert difference(same, Run(9.0, None, "score 0.9\nfit in 9 s", drawn)) == ""
    assert "0.8" in difference(same, Run(1.0, None, "score 0.8\nfit in 3 s", drawn))
    assert "prints 0 lines instead of 1" in difference(same, Run(1.0, None, "", drawn))
    assert "draws" in difference(same, Run(1.0, None, same.printed, ([3.0, 2.0, 0.5],)))
    assert "2 lines and images" in difference(same, Run(1.0, None, same.printed, drawn * 2))


def test_a_child_is_limited_by_its_cpu_time():
    begun = perf_counter()
    assert not ends_in_time([sys.executable, "-c", "while True: pass"], os.environ, 1.0)
    assert perf_counter() - begun >= 0.9
    assert ends_in_time([sys.executable, "-c", "import time; time.sleep(1.5)"], os.environ, 1.0)


def test_saved_results_are_not_computed_again(tmp_path):
    path, calls = tmp_path / "results.jsonl", []
    for _ in range(2):
        saved = Saved(path)
        assert saved.result("a", lambda: calls.append("a") or {"x": 1}) == {"x": 1}
    assert saved.result("b", lambda: 2) == 2 and calls == ["a"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
