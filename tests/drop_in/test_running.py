"""Programs that use scikit-learn, run unchanged: replaced, audited, and left alone afterwards."""

import builtins
import importlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.linear_model
from typer.testing import CliRunner

import surefit
from surefit.audit.tolerances import own_tolerance
from surefit.cli.main import app
from surefit.core.errors import CommandError
from surefit.sklearn.fits import Fit, shown
from surefit.sklearn.running import replacing, run

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """\
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)) * [1, 100, 0.01]
y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
model = LogisticRegression(max_iter=2).fit(X, y)
scores = cross_val_score(LogisticRegression(), X, y, cv=3)
print(type(model).__module__.partition(".")[0], sys.argv[1:])
"""


@pytest.fixture
def script(tmp_path):
    def write(text: str = PROGRAM, name: str = "script.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def ran(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def rows(output: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", line) for line in output.splitlines() if re.match(r"\w+\.py:\d+\s", line)]


def test_run_replaces_estimators_and_ends_with_a_table(script):
    result = ran("run", script(), "--depth", "3", "-m")
    assert result.exit_code == 0, result.output
    assert "surefit ['--depth', '3', '-m']" in result.output
    (first, second) = rows(result.output)
    assert first[:3] == ["script.py:8", "LogisticRegression", "1"]
    assert second[:3] == ["script.py:9", "LogisticRegression", "3"]
    assert float(second[3]) < 1e-3 and second[4].endswith("labels")
    assert second[5] == "at most 1 (vacuous)"  # a VC bound of 54 rows


def test_audit_leaves_estimators_and_ends_with_one_if_one_missed_its_optimum(script):
    result = ran("audit", script())
    assert result.exit_code == 1 and "sklearn []" in result.output
    (first, second) = rows(result.output)
    assert first[0] == "script.py:8" and " > " in first[3]
    assert " > " not in second[3] and second[2] == "3"
    assert "1 missed the optimum" in result.output
    assert ran("audit", script(PROGRAM.replace("max_iter=2", "max_iter=5000, tol=1e-8"))).exit_code == 0


def test_the_audit_states_the_gap_that_certify_states(script):
    space: dict = {}
    exec(PROGRAM, space)
    tol = own_tolerance(space["model"], space["X"])
    gap = surefit.certify(space["model"], space["X"], space["y"], tol=tol)["audit.gap"]
    assert tol == pytest.approx((3 + 2) * 1e-8 * 80 / 2 / np.log(2))
    first = rows(ran("audit", script()).output)[0]
    assert first[3] == f"{gap.value:.3g} > {gap.limit:.3g}"


def test_a_tolerance_that_is_given_replaces_the_models_own(script):
    sloppy = PROGRAM.replace("max_iter=2", "tol=0.5")
    assert ran("audit", script(sloppy)).exit_code == 0
    assert ran("audit", "--tol", "1e-7", script(sloppy)).exit_code == 1


def test_rows_of_support_vector_machines_state_gap_and_change(script):
    text = PROGRAM.replace("linear_model import LogisticRegression", "svm import SVC as LogisticRegression").replace(
        "max_iter=2", "max_iter=-1"
    )
    for command in ("run", "audit"):
        (first, _) = rows(ran(command, script(text)).output)
        assert first[1] == "SVC" and float(first[3].split(" > ")[0]) >= 0 and first[4] != "not stated"


def test_everything_is_as_before_when_the_program_has_ended(script):
    hook, fit, own = builtins.__import__, sklearn.linear_model.LogisticRegression.fit, surefit.LogisticRegression.fit
    ran("run", script())
    ran("audit", script())
    ran("run", script("raise ValueError('x')"))
    assert builtins.__import__ is hook
    assert sklearn.linear_model.LogisticRegression.fit is fit and surefit.LogisticRegression.fit is own
    assert importlib.import_module("sklearn.linear_model").LogisticRegression is not surefit.LogisticRegression


def test_modules_of_the_project_are_replaced_and_libraries_are_not(script):
    script(
        "import sklearn.svm as s\nfrom sklearn import tree\nA, B = s.SVC, tree.DecisionTreeClassifier\n", "own_part.py"
    )
    text = (
        "import own_part, sklearn.ensemble\nprint(own_part.A.__module__, own_part.B.__module__)\n"
        "print(sklearn.ensemble.StackingClassifier([('a', own_part.B())]).__module__)\n"
        "from sklearn.feature_selection import _from_model\n"
    )
    output = ran("run", script(text)).output
    assert "surefit.kernel_machines.svc surefit.trees.classifier" in output and "sklearn.ensemble._stacking" in output
    assert "No estimator that surefit knows was fitted." in output


@pytest.mark.parametrize(
    ("text", "code"),
    [("raise SystemExit(3)", 3), ("import sys; sys.exit()", 0), ("1 / 0", 1), ("raise SystemExit('no')", 1)],
)
def test_the_exit_code_is_the_programs(script, text, code, capfd):
    assert ran("run", script(text)).exit_code == code
    assert ran("audit", script(text)).exit_code == code


def test_errors_are_those_of_the_program(script, capfd):
    fits, rule = replacing()
    assert run(script("def f():\n    1 / 0\nf()"), [], fits, rule) == 1
    said = capfd.readouterr().err
    assert "ZeroDivisionError" in said and "script.py" in said and "running.py" not in said and "runpy" not in said


def test_what_cannot_be_run_is_said(tmp_path):
    with pytest.raises(CommandError, match="no such script"):
        run(str(tmp_path / "none.py"), [], *replacing())
    assert ran("run").exit_code == 2


def test_rows_of_one_place_keep_the_worst_fit():
    good = Fit("s.py:1", "A", 1, 1.0, gap=1e-9, limit=1e-4)
    bad = Fit("s.py:1", "A", 2, 3.0, gap=1e-3, limit=1e-4, missed=1, change="2 of 5 labels")
    for joined in (good.joined(bad), bad.joined(good)):
        assert (joined.fits, joined.seconds, joined.missed, joined.gap) == (3, 4.0, 1, 1e-3)
        assert joined.cells()[3] == "0.001 > 0.0001" and joined.cells()[4] == "2 of 5 labels"


def test_the_notebook_extension_serves_cells_and_prints_after_them(capsys):
    handlers: dict = {}
    events = SimpleNamespace(register=handlers.__setitem__, unregister=lambda name, handler: handlers.pop(name))
    shell = SimpleNamespace(events=events)
    surefit.load_ipython_extension(shell)
    try:
        cell = "from sklearn.linear_model import Ridge\nmodel = Ridge().fit(X, X[:, 0])\n"
        space = {"__name__": "__main__", "X": np.random.default_rng(0).normal(size=(30, 2))}
        exec(compile(cell, "cell_1.py", "exec"), space)
        assert type(space["model"]) is surefit.Ridge
        handlers["post_run_cell"](None)
        assert "cell_1.py:2" in capsys.readouterr().out
        handlers["post_run_cell"](None)
        assert capsys.readouterr().out == ""
    finally:
        surefit.unload_ipython_extension(shell)
    assert handlers == {} and "Ridge" in sklearn.linear_model.Ridge.__name__


def test_places_are_files_without_folders_and_numbered_cells():
    assert shown("/home/me/part/script.py") == "script.py" and shown("<ipython-input-3-24cb6eb9a639>") == "In [3]"


def test_an_audit_that_fails_does_not_end_the_program(script, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("inside the audit")

    monkeypatch.setattr("surefit.audit.certify.certify", broken)
    result = ran("audit", script())
    assert result.exit_code == 0 and "sklearn []" in result.output
    assert "not audited (ZeroDivisionError: inside the audit)" in " ".join(result.output.split())
