"""The main job on a table: numbers that can be computed another way, remarks, and honest endings."""

import os
import signal

import numpy as np
import polars
import pytest
from sklearn.linear_model import Lasso as OtherLasso
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.preprocessing import StandardScaler

from surefit import Lasso
from surefit.core.budget import Reason
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.tables import Plan, Table, TableRegressor, as_table, builtin_table, study_table, training_part
from surefit.tables.remarks import remarks_on_features, remarks_on_target


@pytest.fixture(scope="module")
def study():
    return study_table(builtin_table(), Plan(target="progression"))


def table_of(**columns):
    return as_table(polars.DataFrame(columns))


# --- another route to the same numbers ----------------------------------------------------------------------------------


def test_model_is_that_of_another_library_on_the_same_features():
    study = study_table(builtin_table(), Plan(target="progression", alpha=1.0))
    frame = study.train.frame.drop("progression", "sex")
    X = np.column_stack([StandardScaler().fit_transform(frame), study.train.frame["sex"] == "code 2"])
    X[:, -1] = StandardScaler().fit_transform(X[:, [-1]])[:, 0]
    other = OtherLasso(alpha=1.0, tol=1e-10, max_iter=100_000).fit(X, study.train.frame["progression"])
    ours = {c.feature: c.standardised for c in study.model.coefficients}
    theirs = dict(zip([*frame.columns, "sex=code 2"], other.coef_, strict=True))
    assert ours == pytest.approx(theirs, abs=0.05)


def test_coefficients_in_their_own_units_predict_the_same(study):
    frame = study.test.frame
    by_hand = np.full(len(frame), study.model.intercept)
    for c in study.model.coefficients:
        name, _, level = c.feature.partition("=")
        cells = (frame[name] == level) if level else frame[name]
        by_hand += c.value * cells.to_numpy()
    assert by_hand == pytest.approx(study.predicted, rel=1e-10)


def test_scores_are_those_of_scikit_learn(study):
    assert study.scores.rmse == pytest.approx(root_mean_squared_error(study.observed, study.predicted))
    assert study.scores.mae == pytest.approx(mean_absolute_error(study.observed, study.predicted))
    assert study.scores.r2 == pytest.approx(r2_score(study.observed, study.predicted))
    mean = study.train.frame["progression"].mean()
    assert study.scores.rmse_of_mean == pytest.approx(np.sqrt(np.mean((study.observed - mean) ** 2)))


def test_path_passes_through_the_model(study):
    nearest = np.argmin(np.abs(np.log(study.path.alphas / study.alpha)))
    assert study.path.alphas[nearest] == pytest.approx(study.alpha)
    w = np.array([c.standardised for c in study.model.coefficients])
    assert study.path.coefs[:, nearest] == pytest.approx(w, abs=0.05)
    assert np.all(study.path.gaps >= 0)


def test_certificate_is_about_the_training_part(study):
    part = training_part(study.model, builtin_table())
    assert np.array_equal(part.rows, study.train.rows)
    assert study.model.verify(part)["penalised_squares.gap"].ok
    assert study.model.certificate_.data["n_rows"] == len(part.rows)


def test_without_standardising_the_units_are_the_penalty_s():
    study = study_table(builtin_table(), Plan(target="progression", alpha=1.0, standardise=False))
    assert all(c.value == c.standardised for c in study.model.coefficients)
    assert study.model.intercept == study.model.estimator_.intercept_


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_elastic_net_with_any_share(ratio):
    study = study_table(builtin_table(), Plan(target="progression", model="elastic_net", alpha=0.1, l1_ratio=ratio))
    assert study.alpha == 0.1 and study.l1_ratio == ratio
    assert study.path.coefs.shape == (10, 100)


def test_cross_validated_elastic_net():
    study = study_table(builtin_table(), Plan(target="progression", model="elastic_net", l1_ratio=0.9))
    assert study.model.estimator_.mse_path_.shape == (100, 5)
    assert study.alpha in study.model.estimator_.alphas_


# --- odd but fine -------------------------------------------------------------------------------------------------------


def test_constant_target_is_fitted_and_remarked_on():
    study = study_table(table_of(x=[1.0, 2.0, 4.0, 8.0, 9.0], y=[3.0] * 5), Plan())
    assert "The target 'y' is 3 in every row; the model can only be that constant." in study.remarks
    assert study.predicted.tolist() == [3.0]
    assert np.isnan(study.scores.r2)


def test_constant_column_is_remarked_on():
    x = np.arange(30.0)
    study = study_table(table_of(x=x, c=np.ones(30), y=x**2), Plan(alpha=0.1))
    assert "Feature 'c' is constant over the training rows; nothing is learnt from that." in study.remarks
    assert study.model.coefficients[1].value == 0.0


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=20) for j in range(50)}
    study = study_table(table_of(**columns, y=columns["x3"] + 0.1 * rng.normal(size=20)), Plan())
    assert any("more features (50) than training rows (16)" in text for text in study.remarks)
    assert max(study.model.coefficients, key=lambda c: abs(c.standardised)).feature == "x3"


def test_one_feature_and_very_many_rows():
    x = np.linspace(0.0, 1.0, 1_000_000)
    study = study_table(table_of(x=x, y=2 * x), Plan(alpha=0.01))
    assert study.model.coefficients[0].standardised == pytest.approx(2 * x.std() - 0.01, rel=1e-3)
    assert study.seconds["fit"] < 30


def test_two_rows_and_a_given_alpha():
    study = study_table(table_of(x=[1.0, 2.0], y=[3.0, 4.0]), Plan(alpha=1.0))
    assert len(study.observed) == 1


def test_no_test_part():
    study = study_table(table_of(x=[1.0, 2.0, 3.0], y=[3.0, 4.0, 5.5]), Plan(alpha=0.1, test_size=0.0))
    assert study.scores is None and len(study.predicted) == 0


def test_remarks_by_hand():
    x = np.arange(12.0)
    assert remarks_on_target(np.array([0.0, 1.0, 1.0]), "y")[0].startswith(
        "The target 'y' takes two values only, 0 and 1"
    )
    X = np.column_stack([x, x**2, x, np.ones(12)])
    said = remarks_on_features(X, 2 * x + 1, ["a", "b", "copy", "one"])
    assert said == [
        "Feature 'one' is constant over the training rows; nothing is learnt from that.",
        "Features 'a' and 'copy' are equal; their coefficients are not unique.",
        "Features 'a', 'copy' are almost exactly a linear function of the target; does it give the answer away?",
    ]
    assert remarks_on_features(X[:, :2], np.sin(x), ["a", "b"]) == []


def test_missing_cells_are_refused_or_left_out():
    table = Table(polars.DataFrame({"x": [1.0, None, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 5.0]}), np.arange(2, 6), "d.csv")
    with pytest.raises(InvalidData, match="column 'x', row 3 is missing"):
        study_table(table, Plan(alpha=0.1, test_size=0.0))
    study = study_table(table, Plan(alpha=0.1, test_size=0.0, drop_missing=True))
    assert sorted(study.train.rows) == [2, 4, 5]
    assert "1 of 4 rows have missing cells and were left out." in study.remarks


# --- refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ({"a": [1, 2], "price": [1, 2]}, {"target": "prise"}, r"no column 'prise'; did you mean 'price'\?"),
        ({"a": [1, 2], "b": [1, 2]}, {"target": "zzz"}, "the columns are 'a', 'b'"),
        ({"a": [1, 2], "b": [1, 2]}, {}, "Say --target NAME; the columns are 'a', 'b'"),
        ({"a": [1, 2], "y": ["1", "two"]}, {}, "column 'y', row 1: expected a number, got 'two'"),
        ({"a": [1, 2], "y": [[1], [2]]}, {}, "the target 'y' holds other cells; expected numbers"),
        ({"y": [1, 2]}, {}, "no column besides the target 'y'"),
        ({"a": [1], "y": [2]}, {}, "one row only"),
        ({"a": [1, 2], "y": [1, 2]}, {}, "cross-validation needs at least 2 training rows and there is 1"),
        ({"a": [1, 2], "y": [1, 2]}, {"drop": ("b",)}, "no column 'b'"),
        ({"a": [1, 2], "y": [1, 2]}, {"drop": ("y",)}, "the target 'y' cannot be left out"),
        ({"a": [None, 2.0], "y": [1.0, None]}, {"drop_missing": True}, "every row has a missing cell"),
    ],
)
def test_unusable_tables_are_refused(columns, options, sentence):
    with pytest.raises(InvalidData, match=sentence):
        study_table(table_of(**columns), Plan(**options))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": -1.0}, "alpha must be None, or a finite number >= 0"),
        ({"test_size": 1.0}, "test_size must be a number from 0 up to, but not including, 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"max_time": 0.0}, "max_time must be None, or a finite number > 0"),
        ({"l1_ratio": 2.0}, "l1_ratio must be a number from 0 to 1"),
        ({"model": "svm"}, "model must be one of 'lasso', 'elastic_net'"),
    ],
)
def test_plans_are_checked(options, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        Plan(**options)


# --- endings ------------------------------------------------------------------------------------------------------------


class CtrlC:
    """A callback that presses Ctrl-C once, at a sign of progress: the first by default."""

    max_propagation_depth = 1

    def __init__(self, at=1):
        self.at = at
        self.count = 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    def teardown(self, estimator, context):
        pass


def test_ctrl_c_keeps_the_model_and_its_true_gap():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80)) + rng.normal(size=(60, 1))
    table = as_table(polars.DataFrame({f"x{j}": X[:, j] for j in range(80)} | {"y": X @ rng.normal(size=80)}))
    study = study_table(table, Plan(alpha=1e-4), callbacks=[CtrlC()])
    assert study.stopped is Reason.INTERRUPTED
    claim = study.model.certificate_["penalised_squares.gap"]
    assert claim.holds is False
    assert study.verification["penalised_squares.gap"].ok  # a large gap, and a true one
    assert any("interrupted by Ctrl-C" in text for text in study.remarks)


def test_ctrl_c_while_weights_are_compared_fits_the_best_so_far():
    watch = CtrlC(at=-1)  # never
    plan = Plan(target="progression")
    whole = study_table(builtin_table(), plan, callbacks=[watch])
    study = study_table(builtin_table(), plan, callbacks=[CtrlC(at=int(0.95 * watch.count))])
    compared = study.model.estimator_.alphas_
    assert study.stopped is Reason.INTERRUPTED
    assert 0 < len(compared) < len(whole.model.estimator_.alphas_) == 100
    assert study.alpha in compared
    assert study.model.certificate_["penalised_squares.gap"].holds  # the final fit is as good as any
    assert study.verification["penalised_squares.gap"].ok


def test_callbacks_are_no_part_of_the_model():
    seen = []

    class Watch(CtrlC):
        def on_fit_task_end(self, estimator, context, *, metadata=None):
            seen.append(metadata)
            return False

    study = study_table(builtin_table(), Plan(target="progression", alpha=0.1), callbacks=[Watch()])
    assert any(entry and entry["gap"] >= 0 for entry in seen)
    assert "_skl_callbacks" not in vars(study.model.estimator_) and "_skl_callbacks" not in vars(study.model.estimator)


def test_regressor_predicts_without_the_target_and_knows_its_parts():
    frame = polars.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
    model = TableRegressor(Lasso(alpha=0.0)).fit(frame, target="y")
    assert model.predict(polars.DataFrame({"x": [4.0]})) == pytest.approx([8.0])
    assert model.coefficients[0].value == pytest.approx(2.0)
    assert model.intercept == pytest.approx(0.0, abs=1e-9)
