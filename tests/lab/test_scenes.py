"""Scenes: frames of real models, whose certificates hold, and whose program can be repeated."""

import re

import numpy as np
import pytest

from surefit import DecisionTreeClassifier
from surefit.lab.generators import GENERATORS
from surefit.lab.lane import COMPUTING, Lane
from surefit.lab.lessons import BY_PATH
from surefit.lab.picture import Curve, Dots, Region, bounds
from surefit.lab.proof import proof_html, verify
from surefit.lab.scene import Points, SceneMessage, log_values, schedule
from surefit.lab.scenes import SCENES, groups
from surefit.lab.scenes.draw import probability_marks
from surefit.lab.state import LaneState
from surefit.lab.takeaway import csv_text, program
from surefit.lab.theory import theory_page

pytestmark = pytest.mark.filterwarnings("ignore")  # runs that are stopped early are what a step is


def points_for(scene) -> Points:
    return GENERATORS[scene.data or "two-gaussians"].sample({})


def frames_of(key: str, points: Points | None = None, **values):
    return SCENES[key].run(points_for(SCENES[key]) if points is None else points, values)


@pytest.mark.parametrize("key", SCENES)
def test_every_scene_shows_models_that_the_checker_accepts(key):
    scene = SCENES[key]
    frames = frames_of(key)
    assert frames.count >= 1
    for index in sorted({0, frames.count // 2, frames.count - 1}):
        frame = frames.at(index)
        assert frame.caption.endswith((".", "!")) and np.all(np.isfinite(bounds(frame.picture)))
        assert frame.chart is None or np.all(np.isfinite(bounds(frame.chart)))
        verdict = verify(frame)
        assert verdict is None or verdict.ok, verdict.text
        page = proof_html(scene, frame, verdict)
        assert ("Verified." in page) == (frame.model is not None)
        assert frame.model is not None or frame.code or index == 0


@pytest.mark.parametrize("key", SCENES)
def test_the_program_repeats_the_screen(key, tmp_path, monkeypatch, capsys):
    scene, points = SCENES[key], points_for(SCENES[key])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(csv_text(points), encoding="utf-8")
    frames = scene.run(points, {})
    frame = frames.at(frames.count - 1)
    space: dict = {}
    exec(program(scene, frame, points), space)
    assert capsys.readouterr().out
    if frame.model is not None:
        mine = {claim.name: claim.value for claim in space["model"].certificate_.claims}
        shown = {claim.name: claim.value for claim in frame.model.certificate_.claims}
        assert mine.keys() == shown.keys()
        np.testing.assert_allclose(list(mine.values()), list(shown.values()), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("key", SCENES)
def test_every_scene_survives_every_choice(key):
    scene = SCENES[key]
    points = points_for(scene)
    for parameter in scene.parameters:
        ends = list(getattr(parameter, "options", {}).values()) or [parameter.values[0], parameter.values[-1]]
        for value in ends:
            frame = scene.run(points, {parameter.name: value}).at(0)
            assert frame.caption


@pytest.mark.parametrize("key", [key for key, scene in SCENES.items() if scene.task != "none"])
def test_points_that_do_not_suit_get_a_sentence(key):
    for points in (Points.of([]), Points.of([[0.0, 0.0]]), Points.of([[1.0, 1.0]] * 5)):
        with pytest.raises(SceneMessage, match="needs|tells"):
            SCENES[key].run(points, {})


def test_every_scene_has_a_theory_page_that_renders():
    for scene in SCENES.values():
        page = theory_page(scene.theory)
        assert page is not None, scene.key
        assert "<math" in page and not re.search(r":(ref|class|func|doc):", page), scene.key


def test_the_menu_has_every_scene_once_and_ideas_last():
    listed = [scene.key for scenes in groups().values() for scene in scenes]
    assert sorted(listed) == sorted(SCENES) and list(groups())[-1] == "Ideas"
    assert len({scene.name for scene in SCENES.values()}) == len(SCENES)


# --- mathematics ------------------------------------------------------------------------------------------------------


def test_perceptron_makes_no_more_updates_than_novikoff_allows():
    points = GENERATORS["two-gaussians"].sample({"n": 60, "noise": 0.2, "separation": 0.6, "seed": 12})
    frames = frames_of("perceptron", points, passes=100)
    last = frames.at(frames.count - 1)
    bound = float(re.search(r"at most \(R/γ\)² = ([\d.e+]+)", last.facts[0].text).group(1))
    assert frames.count - 1 == last.model.n_updates_ == 17 <= bound
    norm, upper, lower = (np.asarray(curve.y) for curve in last.chart.of(Curve)[:3])
    assert np.all(lower <= norm + 1e-9) and np.all(norm <= upper + 1e-9)


def test_perceptron_lines_are_those_of_the_model():
    points = points_for(SCENES["perceptron"])
    frame = frames_of("perceptron", points).at(frames_of("perceptron", points).count - 1)
    codes = frame.picture.of(Region)[-1]
    from surefit.lab.scenes.draw import lattice, region

    expected = region(frame.model.predict(lattice(points.box())[2]), points.box())
    assert np.array_equal(codes.rgba, expected.rgba)


def test_primal_and_dual_values_close_on_each_other():
    frames = frames_of("duality")
    primal, dual = (np.asarray(curve.y) for curve in frames.at(frames.count - 1).chart.of(Curve)[:2])
    assert np.all(dual <= primal[-1] + 1e-9) and primal[-1] - dual[-1] < 1e-6 < primal[0] - dual[0]


def test_adaboost_error_stays_below_its_bound():
    frames = frames_of("adaboost")
    bound, error = (np.asarray(curve.y) for curve in frames.at(frames.count - 1).chart.of(Curve)[:2])
    assert np.all(error <= bound + 1e-12)


def test_k_means_never_beats_its_lower_bound():
    frames = frames_of("k-means")
    inertia, bound = (np.asarray(curve.y) for curve in frames.at(frames.count - 1).chart.of(Curve)[:2])
    assert np.all(np.diff(inertia) <= 1e-9) and np.all(0 < bound) and np.all(bound <= inertia)


def test_the_lesson_on_k_means_shows_an_optimal_and_a_worse_end():
    lesson = BY_PATH["k-means-bound"]
    points = GENERATORS[lesson.generator].sample(lesson.settings)
    ends = [frames_of(key, points, **values) for key, values in lesson.lanes]
    best, worse = (frames.at(frames.count - 1) for frames in ends)
    assert "optimal" in best.facts[0].text and best.model.inertia_ == pytest.approx(17.9303, rel=1e-4)
    assert "optimal" not in worse.facts[0].text and worse.model.inertia_ == pytest.approx(97.77, rel=1e-3)
    spectral = frames_of("k-means", points, bound="auto").at(0).facts[0]
    assert spectral.verdict == "vacuous"


def test_the_lesson_on_the_lasso_opens_at_a_corner():
    lesson = BY_PATH["lasso-corners"]
    points = GENERATORS[lesson.generator].sample(lesson.settings)
    lasso, ridge = (frames_of(key, points, **values).at(lesson.step).model.coef_ for key, values in lesson.lanes)
    assert np.sum(lasso == 0) == 1 and np.all(ridge != 0)


def test_contact_point_lies_on_the_ball_and_the_lasso_has_a_zero():
    points = GENERATORS["parabola"].sample({"n": 40, "noise": 0.5, "seed": 0})
    frame = frames_of("contact", points, norm="l1").at(4)
    assert np.min(np.abs(frame.model.coef_)) < 1e-9 < np.max(np.abs(frame.model.coef_))
    assert np.abs(frame.model.coef_).sum() == pytest.approx(frame.model.radius, rel=1e-6)


@pytest.mark.parametrize(("name", "realized"), [("triangle", 8), ("square", 14)])
def test_half_planes_shatter_three_points_and_not_four(name, realized):
    frames = frames_of("shattering", GENERATORS[name].sample({}))
    n = len(GENERATORS[name].sample({}).xy)
    captions = [frames.at(i).caption for i in range(frames.count)]
    assert frames.count == 2**n and sum("realized." in c for c in captions) == realized
    assert f"{realized} of {2**n}" in frames.at(0).facts[0].text


def test_gradient_descent_falls_below_two_over_l_and_rises_above():
    for step, falls in ((1.0, True), (1.95, True), (2.1, False)):
        frames = frames_of("gradient-descent", step=step)
        first, last = (
            float(re.search(r"Value (.+)\.", frames.at(i).facts[1].text).group(1)) for i in (0, frames.count - 1)
        )
        assert (last < first) == falls


def test_hoeffding_says_so_when_it_is_vacuous():
    frames = frames_of("hoeffding", radius=0.02)
    assert frames.at(0).facts[0].verdict == "vacuous" and "vacuous" in frames.at(0).facts[0].text
    assert frames_of("hoeffding", radius=0.3).at(8).facts[0].verdict == "proved"


def test_conformal_bands_cover_as_promised():
    frames = frames_of("conformal", coverage=0.8)
    covered = float(re.search(r"so far ([\d.]+)", frames.at(frames.count - 1).facts[0].text).group(1))
    assert covered == pytest.approx(0.8, abs=0.06)


def test_support_vectors_are_ringed():
    frames = frames_of("svc")
    frame = frames.at(frames.count - 1)
    rings = [mark for mark in frame.picture.of(Dots) if mark.hollow]
    assert sum(len(mark.x) for mark in rings) == len(frame.model.support_)


def test_schedules_start_at_zero_and_end_at_the_end():
    for n in (1, 5, 200, 5000):
        steps = schedule(n)
        assert steps[0] == 0 and steps[-1] == n and steps == sorted(set(steps)) and len(steps) <= 121
    assert log_values(0.01, 100)[0] == 0.01 and log_values(0.01, 100)[-1] == 100


def test_the_border_of_smooth_probabilities_is_smooth_and_that_of_a_tree_follows_its_cells():
    points = GENERATORS["two-gaussians"].sample({})
    border = next(
        m for m in frames_of("lda", points).at(2).picture.marks if isinstance(m, Curve) and m.label == "boundary"
    )
    line = np.column_stack([border.x, border.y])[np.isfinite(border.x)]
    spread = np.linalg.svd(line - line.mean(axis=0), compute_uv=False)
    assert spread[1] < 1e-6 * spread[0]  # a straight line
    tree = DecisionTreeClassifier(max_depth=1).fit(points.xy, points.labels)
    edge = probability_marks(tree, points.box())[1]
    assert np.ptp(np.asarray(edge.x)[np.isfinite(edge.x)]) == 0 or np.ptp(np.asarray(edge.y)[np.isfinite(edge.y)]) == 0


def test_one_hypothesis_is_no_plural():
    first, second = (frames_of("union-bound").at(i) for i in (0, 1))
    assert first.caption.startswith("1 hypothesis, ") and second.caption.startswith("2 hypotheses, ")
    assert "the risk is within" in first.facts[0].text and "all 2 risks are within" in second.facts[0].text


def test_a_new_scene_says_that_it_is_computed():
    """The picture of the scene before stays until the first step is ready; nothing is said about it any more."""
    seen = []
    lane = Lane(None, LaneState("svc", {}), lambda other: seen.append((lane.caption.object, lane.proof.object)), "t")
    lane.show(lane.compute(points_for(SCENES["svc"]), None, lane.state(), None))
    assert "Certificate of SVC" in lane.proof.object
    lane.select.value = "k-means"
    assert seen == [(COMPUTING, "")]
