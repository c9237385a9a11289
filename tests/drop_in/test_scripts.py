"""Short programs written for scikit-learn, each run as ``python -m surefit script.py`` runs it, with surefit's estimators."""

from pathlib import Path

import matplotlib
import pytest

from surefit.sklearn.running import replacing, run

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_program_for_scikit_learn_runs_unchanged(script, capfd):
    matplotlib.use("Agg")
    fits, rule = replacing()
    code = run(str(script), [], fits, rule)
    shown = capfd.readouterr()
    assert code == 0, shown.err
    if "cloning" not in script.stem:
        assert fits.rows and f"{script.name}:" in shown.out


def test_there_are_sixty_programs():
    assert len(SCRIPTS) >= 60
