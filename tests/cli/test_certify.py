"""``surefit certify``: models of scikit-learn in files, told what they are worth; exit codes; what is refused."""

import json

import joblib
import numpy as np
import polars
import pytest
import skops.io
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app

X, PROGRESS = load_diabetes(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, None)
runner = CliRunner()


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


def frame_of(X, y, name="progression"):
    return polars.DataFrame({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, name: y})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_of(X[TRAIN], PROGRESS[TRAIN]).write_csv("train.csv")
    frame_of(X[TEST], PROGRESS[TEST]).write_csv("fresh.csv")
    return tmp_path


def test_a_converged_model_holds_and_an_early_one_does_not():
    skops.io.dump(Ridge().fit(X[TRAIN], PROGRESS[TRAIN]), "good.skops")
    good = run("certify", "good.skops", "train.csv", "--target", "progression")
    assert good.exit_code == 0
    assert "Certificate of Ridge (grade A)" in good.stdout and "holds" in good.stdout
    with pytest.warns(ConvergenceWarning):
        early = Ridge(solver="sag", max_iter=1, random_state=0).fit(X[TRAIN], PROGRESS[TRAIN])
    skops.io.dump(early, "early.skops")
    bad = run("certify", "early.skops", "train.csv", "-t", "progression")
    assert bad.exit_code == 1 and "does not hold" in bad.stdout
    assert run("certify", "early.skops", "train.csv", "-t", "progression", "--tol", "1e3").exit_code == 0
    quiet = run("certify", "early.skops", "train.csv", "-t", "progression", "--quiet")
    assert (quiet.exit_code, quiet.stdout) == (1, "")


def test_the_certificate_in_a_file_is_that_of_python(folder):
    model = Lasso(alpha=0.1).fit(X[TRAIN], PROGRESS[TRAIN])
    skops.io.dump(model, "m.skops")
    words = ("certify", "m.skops", "train.csv", "-t", "progression", "--holdout", "fresh.csv", "--confidence", "0.9")
    result = run(*words, "--json", "c.json", "--html", "c.html", "--tol", "0.01")
    assert result.exit_code == 0 and "Written: c.json" in result.stdout
    stored = surefit.Certificate.from_json((folder / "c.json").read_text())
    stored.verify(X[TRAIN], PROGRESS[TRAIN], model=model)  # the bound on new rows asks it for predictions
    own = surefit.certify(
        model, X[TRAIN], PROGRESS[TRAIN], tol=0.01, X_holdout=X[TEST], y_holdout=PROGRESS[TEST], confidence=0.9
    )
    assert stored.seal == own.seal
    assert json.loads((folder / "c.json").read_text())["estimator"] == "Lasso"
    page = (folder / "c.html").read_text()
    assert (
        page.startswith("<!doctype html>") and own["audit.risk.quantile"].statement.partition("<=")[0][-20:-4] in page
    )
    again = run(*words, "--json", "c.json")
    assert again.exit_code == 2 and "c.json: this file exists already" in again.stderr
    assert run(*words, "--json", "c.json", "--force", "--tol", "0.01").exit_code == 0


def test_classes_as_texts_weights_and_names_of_columns():
    rows, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.where(benign == 1, "benign", "malignant")
    s = np.arange(1.0, len(names) + 1)
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    model.fit(rows, names, logisticregression__sample_weight=s)
    skops.io.dump(model, "m.skops")
    table = polars.DataFrame({"s": s, **{c: rows[c].to_numpy() for c in rows.columns[::-1]}, "y": names})
    table.write_parquet("cancer.parquet")
    result = run("certify", "m.skops", "cancer.parquet", "--weights", "s")
    assert result.exit_code == 0 and "569 of 569 training labels" in " ".join(result.stdout.split())


def test_clusters_need_no_target():
    polars.DataFrame({f"x{j}": X[:, j] for j in range(2)}).write_csv("points.csv")
    skops.io.dump(KMeans(3, n_init=1, random_state=0, tol=0.0).fit(X[:, :2]), "m.skops")
    assert run("certify", "m.skops", "points.csv").exit_code == 0


def test_types_and_pickles_are_refused_until_trusted(folder):
    tree = DecisionTreeRegressor(max_depth=2).fit(X[TRAIN], PROGRESS[TRAIN])
    skops.io.dump(tree, "tree.skops")
    refused = run("certify", "tree.skops", "train.csv", "-t", "progression")
    assert refused.exit_code == 2 and "--trust sklearn.tree._tree.Tree" in refused.stderr
    words = ("-t", "progression", "--trust", "sklearn.tree._tree.Tree")
    assert run("certify", "tree.skops", "train.csv", *words).exit_code == 0
    joblib.dump(Ridge().fit(X[TRAIN], PROGRESS[TRAIN]), "m.joblib")
    refused = run("certify", "m.joblib", "train.csv", "-t", "progression")
    assert refused.exit_code == 2 and "can execute arbitrary code" in refused.stderr and refused.stderr.count("\n") == 1
    assert run("certify", "m.joblib", "train.csv", "-t", "progression", "--trust-pickle").exit_code == 0


def test_our_own_files_are_read_too():
    surefit.save(surefit.Ridge().fit(X[TRAIN], PROGRESS[TRAIN]), "m.surefit")
    result = run("certify", "m.surefit", "train.csv", "-t", "progression", "--holdout", "fresh.csv")
    assert result.exit_code == 0 and "least_squares" not in result.stderr


def test_bad_files_end_in_one_sentence(folder):
    skops.io.dump(Ridge().fit(X[TRAIN], PROGRESS[TRAIN]), "m.skops")
    (folder / "cut.skops").write_bytes((folder / "m.skops").read_bytes()[:500])
    (folder / "garbage.pkl").write_bytes(b"\x80\x04garbage")
    for words, sentence in (
        (("none.skops", "train.csv"), "none.skops: there is no such file"),
        (("cut.skops", "train.csv"), "cut.skops: this archive is damaged"),
        (("garbage.pkl", "train.csv", "--trust-pickle"), "garbage.pkl: cannot be unpickled"),
        (("m.skops", "none.csv"), "none.csv: there is no such file"),
        (("m.skops", "train.csv"), "name the column to predict"),
        (("m.skops", "train.csv", "-t", "Progression"), "did you mean 'progression'?"),
        (("m.skops", "train.csv", "-t", "progression", "--drop", "x1"), "was fitted on 10 columns, but X has 9"),
        (("m.skops", "train.csv", "-t", "progression", "--holdout", "train.csv"), "hold-out rows are among the rows"),
        (("m.skops", "train.csv", "-t", "progression", "--tol", "-1"), "tol must be"),
    ):
        result = run("certify", *words)
        assert result.exit_code == 2, words
        assert sentence in result.stderr and result.stderr.count("\n") == 1
