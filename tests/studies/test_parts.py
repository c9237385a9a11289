"""The parts of a study: metrics by hand, calibration, splits, choice, task."""

import numpy as np
import polars
import pytest
from sklearn import metrics as oracle

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.studies.calibration import cross_fitted, decide, fit_calibration, threshold_for_f1
from surefit.studies.metrics import METRICS, Answers, read_metric, score, standard_error
from surefit.studies.options import Options
from surefit.studies.prepare import prepare
from surefit.studies.splits import split_rows
from surefit.tables import as_table

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), size=200)
TRUTH = np.array([RNG.choice(3, p=p) for p in P])
WEIGHTS = RNG.integers(1, 4, size=200).astype(float)
CLASSES = Answers(TRUTH, P.argmax(axis=1), P, WEIGHTS)
Y, F = RNG.normal(size=200), RNG.normal(size=200)
NUMBERS = Answers(Y, F, None, WEIGHTS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("error", 1 - oracle.accuracy_score(TRUTH, P.argmax(axis=1), sample_weight=WEIGHTS)),
        ("log-loss", oracle.log_loss(TRUTH, P, sample_weight=WEIGHTS)),
        ("brier", np.average(0.5 * ((P - np.eye(3)[TRUTH]) ** 2).sum(axis=1), weights=WEIGHTS)),
        ("f1", oracle.f1_score(TRUTH, P.argmax(axis=1), average="macro", sample_weight=WEIGHTS)),
    ],
)
def test_metrics_of_classes_agree_with_scikit_learn(name, expected):
    assert score(METRICS[name], CLASSES) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rmse", oracle.root_mean_squared_error(Y, F, sample_weight=WEIGHTS)),
        ("mae", oracle.mean_absolute_error(Y, F, sample_weight=WEIGHTS)),
        ("r2", oracle.r2_score(Y, F, sample_weight=WEIGHTS)),
        ("pinball:0.9", oracle.mean_pinball_loss(Y, F, alpha=0.9, sample_weight=WEIGHTS)),
    ],
)
def test_metrics_of_numbers_agree_with_scikit_learn(name, expected):
    assert score(read_metric(name), NUMBERS) == pytest.approx(expected)


def test_auc_of_two_classes():
    p = np.column_stack([1 - P[:, 0], P[:, 0]])
    truth = (TRUTH == 0).astype(int)
    expected = oracle.roc_auc_score(truth, p[:, 1], sample_weight=WEIGHTS)
    assert score(METRICS["auc"], Answers(truth, p.argmax(axis=1), p, WEIGHTS)) == pytest.approx(expected)


def test_auc_is_averaged_over_the_folds():
    """The class frequencies of the training parts differ from fold to fold: pooled, a constant would rank below chance."""
    fold, truth = np.repeat(np.arange(5), 40), (np.arange(200) % 7 == 0).astype(int)
    share = np.array([truth[fold != k].mean() for k in range(5)])[fold]
    p = np.column_stack([1 - share, share])
    constant = Answers(truth, np.zeros(200, dtype=int), p, np.ones(200), fold)
    assert score(METRICS["auc"], constant._replace(fold=None)) < 0.5
    assert score(METRICS["auc"], constant) == 0.5 and standard_error(METRICS["auc"], constant, np.arange(200)) == 0
    one_class = constant._replace(truth=np.where(fold == 0, 0, truth))
    assert score(METRICS["auc"], one_class) == 0.5  # a fold without one of the classes says nothing


def test_standard_error_of_a_mean_is_the_usual_one():
    answers = NUMBERS._replace(weights=np.ones(200))
    usual = np.abs(Y - F).std(ddof=1) / np.sqrt(200)
    assert standard_error(METRICS["mae"], answers, np.arange(200)) == pytest.approx(usual, rel=0.35)


def test_metric_of_the_other_task_and_unknown_ones():
    assert read_metric("accuracy") is None and read_metric("pinball:2") is None and read_metric("mae:0.5") is None
    with pytest.raises(InvalidParameter, match="metric must be"):
        Options(metric="accuracy")


# --- calibration --------------------------------------------------------------------------------------------------------


def test_calibration_finds_slope_and_intercept_of_the_truth():
    z = RNG.normal(size=20_000)
    truth = (RNG.random(20_000) < 1 / (1 + np.exp(-(1.5 * z - 1)))).astype(int)
    found = fit_calibration(np.column_stack([np.zeros_like(z), z]), truth, np.ones(20_000))
    assert (found.slope, found.intercepts[1]) == (pytest.approx(1.5, abs=0.06), pytest.approx(-1, abs=0.06))


def test_calibration_is_the_maximum_of_its_likelihood():
    scores = np.log(np.maximum(P, 1e-3)) * 3
    found = fit_calibration(scores, TRUTH, WEIGHTS)

    def value(slope):
        z = slope * scores
        return np.sum(WEIGHTS * (np.log(np.exp(z).sum(axis=1)) - z[np.arange(200), TRUTH])) + 0.5 * (slope - 1) ** 2

    assert value(found.slope) <= min(value(found.slope * 1.01), value(found.slope * 0.99))


def test_separated_classes_have_a_finite_slope():
    scores = np.column_stack([-np.ones(100), np.ones(100)]) * np.where(np.arange(100) < 50, 1, -1)[:, None]
    found = fit_calibration(scores, (np.arange(100) < 50).astype(int), np.ones(100))
    assert 1 < found.slope < 100


def test_cross_fitted_rows_are_not_used_for_their_own_calibration():
    scores, truth, fold = np.log(P), TRUTH.copy(), np.arange(200) % 4
    before = cross_fitted(scores, truth, np.ones(200), fold)
    truth[fold == 2] = (truth[fold == 2] + 1) % 3
    after = cross_fitted(scores, truth, np.ones(200), fold)
    assert np.array_equal(before[fold == 2], after[fold == 2]) and not np.array_equal(
        before[fold == 1], after[fold == 1]
    )


def test_threshold_has_the_largest_f1():
    p1 = RNG.random(400) * 0.4
    truth = (RNG.random(400) < p1).astype(int)
    p, ones = np.column_stack([1 - p1, p1]), np.ones(400)
    cut = threshold_for_f1(p, truth, ones)
    f1 = {t: oracle.f1_score(truth, p1 > t, zero_division=0) for t in (cut, *np.linspace(0.01, 0.39, 39))}
    assert f1[cut] == max(f1.values())
    assert np.array_equal(decide(p, np.array([cut, 1 - cut])), (p1 > cut).astype(int))


# --- splits and tasks ---------------------------------------------------------------------------------------------------


def frame(n=100, **columns):
    rng = np.random.default_rng(1)
    return as_table(polars.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), **columns}))


def split_of(table, **options):
    chosen = Options(target="y", **options)
    prepared = prepare(table, chosen)
    return prepared, split_rows(prepared, chosen)


def test_parts_are_a_partition_fixed_by_the_seed():
    _, split = split_of(frame())
    assert sorted([*split.train, *split.test]) == list(range(100)) and len(split.test) == 20
    held = np.concatenate([held for _, held in split.folds])
    assert sorted(held) == sorted(split.train)
    assert all(not set(a) & set(b) and not set(a) & set(split.test) for a, b in split.folds)
    assert np.array_equal(split.test, split_of(frame())[1].test)
    assert not np.array_equal(split.test, split_of(frame(), seed=1)[1].test)
    assert len(split_of(frame(), test_size=0.0)[1].test) == 0


def test_folds_balance_the_classes():
    table = frame(y=["a"] * 90 + ["b"] * 10)
    prepared, split = split_of(table)
    counts = [int((prepared.target.y[held] == 1).sum()) for _, held in split.folds]
    assert max(counts) - min(counts) <= 1


def test_groups_and_copies_stay_together():
    prepared, split = split_of(frame(g=[f"g{i // 5}" for i in range(100)]), group="g")
    for a, b in [(split.train, split.test), *split.folds]:
        assert not set(prepared.units[a]) & set(prepared.units[b])
    twice = as_table(polars.concat([frame().frame, frame().frame]))
    prepared, split = split_of(twice)
    assert not set(prepared.units[split.train]) & set(prepared.units[split.test])


def test_time_order():
    times = np.random.default_rng(2).permutation(100)
    prepared, split = split_of(frame(t=times), time="t")
    assert prepared.times[split.test].min() > prepared.times[split.train].max()
    for fitted, held in split.folds:
        assert prepared.times[fitted].max() < prepared.times[held].min()
    with pytest.raises(InvalidParameter, match="rows in time order allow no bound"):
        Options(target="y", time="t", select="bound")


@pytest.mark.parametrize(
    ("cells", "task", "classes"),
    [
        (["a", "b"] * 10, "classification", ("a", "b")),
        (["yes", "no"] * 10, "classification", ("no", "yes")),
        ([0, 1] * 10, "classification", ("0", "1")),
        ([0.0, 1.0, 2.0, 10.0] * 5, "classification", ("0", "1", "2", "10")),
        (list(range(20)), "regression", ()),
        ([0.5, 1.25, 2.0, 3.5] * 5, "regression", ()),
        ([1.5, 2.5] * 10, "classification", ("1.5", "2.5")),
    ],
)
def test_task_is_found_from_the_target(cells, task, classes):
    prepared = prepare(frame(20, y=cells), Options(target="y"))
    assert (prepared.target.task, prepared.target.classes) == (task, classes)


@pytest.mark.parametrize(
    ("cells", "options", "sentence"),
    [
        (["a"] * 20, {}, "'y' is 'a' in every row"),
        ([3] * 20, {"task": "regression"}, "is the same in every usable row"),
        ([f"c{i // 2}" for i in range(300)], {}, "has 150 classes; expected at most 100"),
        (["a", "b"] * 10, {"task": "regression"}, "holds texts, which no regression can predict"),
        ([None] * 20, {}, "every cell of the target 'y' is missing"),
    ],
)
def test_impossible_targets(cells, options, sentence):
    with pytest.raises(InvalidData, match=sentence):
        prepare(frame(len(cells), y=cells), Options(target="y", **options))


def test_missing_cells_and_targets():
    table = frame(20, x=[None, *range(19)], y=[*np.arange(19.5, 0.5, -1), None])
    imputed = prepare(table, Options(target="y"))
    assert len(imputed.target.y) == 19 and "1 row has no target" in imputed.table.notes[0]
    assert "Missing cells in 'x'" in imputed.table.notes[1]
    assert len(prepare(table, Options(target="y", missing="drop")).target.y) == 18
    with pytest.raises(InvalidData, match="column 'x', row 0 is missing; fill the cell, or use --missing impute"):
        prepare(table, Options(target="y", missing="refuse"))


def test_weights():
    table = frame(20, w=[0.0, *np.ones(19)])
    assert len(prepare(table, Options(target="y", weight="w")).target.y) == 19
    with pytest.raises(InvalidData, match="a weight must be a number >= 0; got -1"):
        prepare(frame(20, w=[-1.0, *np.ones(19)]), Options(target="y", weight="w"))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_family_names_loops_that_exist(task):
    from importlib import import_module

    from surefit.studies.families import families_for

    for family in families_for(task):
        if family.loops:
            loops = [value for value in vars(import_module(family.loops)).values() if hasattr(value, "py_func")]
            assert loops, family.name
