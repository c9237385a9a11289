"""A whole study: what it returns, what is proved about it, and what survives a spent budget and Ctrl-C."""

import json
import os
import signal

import numpy as np
import pandas
import polars
import pytest

import surefit
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter
from surefit.studies import verify
from surefit.tables import as_table, builtin_table


def noisy(n=300, seed=0, flip=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    label = np.where((X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < flip), "yes", "no")
    return polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": label})


@pytest.fixture(scope="module")
def tumors():
    return surefit.study("tumors", max_time=20, models=("linear", "discriminant", "tree"))


# --- what comes back ----------------------------------------------------------------------------------------------------


def test_winner_has_the_best_score_and_was_tested_once(tumors):
    scores = [result.score for result in tumors.comparison.results]
    assert tumors.winner.score == min(scores)
    assert len(tumors.test.truth) == 114 and tumors.model.record_["rows"] == 455
    assert tumors.test_scores["error"][0] == np.mean(tumors.test.truth != tumors.test.predicted)
    assert tumors.baseline > tumors.test_scores["error"][0]
    assert {row["family"] for row in tumors.rows if row["score"]} == {"constant", "linear", "discriminant", "tree"}


def test_bound_is_clopper_pearson_on_the_test_rows(tumors):
    from scipy.stats import beta

    wrong, n = int(np.sum(tumors.test.truth != tumors.test.predicted)), len(tumors.test.truth)
    expected = beta.ppf(0.95, wrong + 1, n - wrong)
    assert tumors.risk_certificate.claims[0].value == pytest.approx(expected, rel=1e-6)


def test_predictions_and_claims_survive_a_file(tumors, tmp_path):
    file = tmp_path / "m.surefit"
    tumors.save(file)
    model = surefit.load(file)
    table = builtin_table("tumors")
    assert np.array_equal(model.predict(table), tumors.model.predict(table))
    assert np.allclose(model.predict_proba(table).sum(axis=1), 1)
    findings = verify(model, table)
    assert {finding.name for finding in findings} >= {"risk.holdout"} and all(finding.ok for finding in findings)


def test_other_data_and_a_changed_model_are_not_verified(tumors):
    table = builtin_table("tumors")
    shifted = table._replace(frame=table.frame.with_columns(polars.col("mean_area") + 1))
    with pytest.raises((CertificateError, InvalidData)):
        verify(tumors.model, shifted)
    coefficient = tumors.model.predictor_.estimator_.coef_
    kept = coefficient.copy()
    try:
        coefficient += 0.1
        with pytest.raises(CertificateError):
            verify(tumors.model, table)
    finally:
        coefficient[:] = kept


def test_representations(tumors):
    assert "logistic regression" in repr(tumors) and "<table>" in tumors._repr_html_()
    assert tumors.leaderboard.height == 4
    plain = json.loads(json.dumps(tumors.to_dict(), allow_nan=False))
    assert plain["task"] == "classification" and plain["verified"] and plain["certificates"]["risk"]["claims"]


def test_pandas_and_polars_frames_give_the_same_model():
    frame = noisy()
    a = surefit.study(frame, "label", models=("linear",))
    b = surefit.study(pandas.DataFrame(frame.to_dict(as_series=False)), "label", models=("linear",))
    assert np.array_equal(a.model.predict_proba(frame), b.model.predict_proba(frame))


# --- choices ------------------------------------------------------------------------------------------------------------


def test_one_standard_error_takes_the_simplest_within_it():
    frame = noisy()
    best = surefit.study(frame, "label", models=("linear", "tree"))
    simple = surefit.study(frame, "label", models=("linear", "tree"), select="1se")
    assert simple.winner.rank <= best.winner.rank
    assert simple.winner.score <= best.winner.score + best.winner.standard_error


def test_bound_pays_for_every_candidate():
    from scipy.stats import beta

    found = surefit.study(noisy(600), "label", models=("linear", "tree"), select="bound")
    claim = found.choice.claims[0]
    n, wrong = claim.numbers["n"], claim.numbers["errors"]
    assert claim.value == pytest.approx(
        beta.ppf(1 - 0.05 / found.comparison.candidates, wrong + 1, n - wrong), rel=1e-6
    )
    assert found.winner.bound == min(result.bound for result in found.comparison.results)
    assert found.comparison.candidates == 8


def test_rare_classes_get_a_threshold():
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000)
    frame = polars.DataFrame(
        {
            "x": x,
            "z": rng.normal(size=2000),
            "hit": np.where(rng.random(2000) < 0.6 / (1 + np.exp(6 - 2.5 * x)), "y", "n"),
        }
    )
    found = surefit.study(frame, "hit", models=("linear",))
    assert found.metric.name == "f1" and 0 < found.threshold < 0.5
    assert f"above {found.threshold:.2f}" in repr(found).replace("\n", " ")
    assert found.test_scores["f1"][0] > 0.2


def test_class_weights_move_decisions_not_probabilities():
    frame = noisy(600, flip=0.2)
    usual = surefit.study(frame, "label", models=("linear",))
    heavy = surefit.study(frame, "label", models=("linear",), class_weight={"yes": 5.0})
    assert (heavy.model.predict(frame) == "yes").mean() > (usual.model.predict(frame) == "yes").mean() + 0.1
    assert np.abs(heavy.model.predict_proba(frame) - usual.model.predict_proba(frame)).mean() < 0.05
    with pytest.raises(InvalidData, match="names the class 'maybe'"):
        surefit.study(frame, "label", models=("linear",), class_weight={"maybe": 5.0})


def test_whole_weights_are_repetitions_in_the_fit():
    frame = noisy(200).with_columns(polars.Series("w", np.arange(200) % 3))
    found = surefit.study(frame, "label", models=("linear",), weight="w")
    assert found.model.record_["rows"] + found.model.record_["test_rows"] == 133
    assert all(finding.ok for finding in found.findings) and found.trouble is None


def test_pinball_shifts_predictions_to_the_quantile():
    rng = np.random.default_rng(4)
    frame = polars.DataFrame({"x": rng.normal(size=1000)}).with_columns(
        y=polars.col("x") + polars.Series(rng.normal(size=1000))
    )
    found = surefit.study(frame, "y", models=("linear",), metric="pinball:0.9")
    assert np.mean(found.test.truth <= found.test.predicted) == pytest.approx(0.9, abs=0.07)


def test_time_claims_nothing_and_groups_count_as_one():
    frame = noisy().with_columns(
        polars.Series("t", np.arange(300)), polars.Series("g", [f"g{i // 3}" for i in range(300)])
    )
    timed = surefit.study(frame.drop("g"), "label", models=("linear",), time="t")
    assert timed.risk_certificate is None and "no bound on new data" in repr(timed).replace("\n", " ")
    grouped = surefit.study(frame.drop("t"), "label", models=("linear",), group="g")
    assert grouped.risk_certificate.claims[0].numbers["n"] == 20


def test_intervals_cover():
    rng = np.random.default_rng(5)
    frame = polars.DataFrame({"x": rng.normal(size=3000)}).with_columns(
        y=2 * polars.col("x") + polars.Series(rng.normal(size=3000))
    )
    found = surefit.study(frame[:1000], "y", models=("linear",))
    ends = found.model.predict_interval(frame[1000:], 0.8)
    y = frame["y"][1000:].to_numpy()
    assert np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) == pytest.approx(0.8, abs=0.06)
    with pytest.raises(InvalidData, match="200 test rows are too few for intervals of coverage 0.999"):
        found.model.predict_interval(frame, 0.999)


def test_a_constant_wins_where_nothing_can_be_learned():
    rng = np.random.default_rng(6)
    frame = polars.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    found = surefit.study(frame, "y", models=("constant",))
    assert "No model was better than a constant" in repr(found).replace("\n", " ")
    assert found.certificate is found.risk_certificate


def test_a_column_that_gives_the_answer_away_is_named():
    frame = noisy().with_columns(copy=polars.col("label"))
    found = surefit.study(frame, "label", models=("linear",))
    assert any("'copy' alone determines the target" in note for note in found.notes)


# --- always a model -----------------------------------------------------------------------------------------------------


def test_spent_budget_keeps_the_best_so_far():
    found = surefit.study("digits", max_time=1.0)
    assert found.stopped == "time" or any("left" in row["state"] for row in found.rows)
    assert any(row["winner"] and row["score"] for row in found.rows)
    assert found.trouble is None


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_keeps_the_best_so_far(presses, monkeypatch):
    from surefit.studies import engine as module

    def press(*_):
        os.kill(os.getpid(), signal.SIGINT)

    def watch(entries, clock):
        if any(entry.best and entry.family.name == "linear" for entry in entries) and not pressed:
            pressed.append(1)
            press()

    pressed: list[int] = []
    if presses == 2:
        real = module.fit_on
        monkeypatch.setattr(module, "fit_on", lambda *a: (press(), real(*a)))
    found = surefit.study("tumors", watch=watch)
    assert found.stopped == "interrupted" and found.winner.family.name == "linear"
    assert found.model.record_["fitted_on"] == ("train" if presses == 1 else "fold")
    assert found.trouble is None and "interrupted" in repr(found)
    assert verify(found.model, builtin_table("tumors"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_any_model_is_an_interrupt(monkeypatch):
    from surefit.studies import compare as module

    def press(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(module, "fit_on", press)
    with pytest.raises(KeyboardInterrupt):
        surefit.study("iris")


def test_families_that_fail_or_do_not_suit_are_said(monkeypatch):
    from surefit.studies import compare as module

    real = module.fit_on

    def fit_on(candidate, *rest):
        if candidate.label.startswith("max_depth"):
            raise ValueError("no tree today")
        return real(candidate, *rest)

    monkeypatch.setattr(module, "fit_on", fit_on)
    found = surefit.study(noisy(), "label", models=("linear", "tree"))
    states = {row["family"]: row["state"] for row in found.rows}
    assert states["tree"] == "failed; no tree today"
    assert set(states) == {"constant", "linear", "tree"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"models": ("woods",)}, "models must be names from constant, linear"),
        ({"max_time": 0}, "max_time must be a finite number > 0; got 0"),
        ({"select": "worst"}, "select must be one of 'best', '1se', 'bound'"),
        ({"columns": {"a": "figure"}}, "columns must be kinds from number"),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        surefit.study("iris", **options)


def test_wrong_metric_for_the_task():
    with pytest.raises(
        InvalidData, match="--metric rmse is for regression, but the task is classification; use one of error"
    ):
        surefit.study("iris", metric="rmse")


def test_table_without_names_is_refused():
    with pytest.raises(InvalidData, match="Expected a table with named columns"):
        surefit.study(np.eye(3))
    assert as_table(noisy()).source == "the table"
