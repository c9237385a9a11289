"""States in links: what goes in comes out, and what is not a state is refused in a sentence."""

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefit import InvalidData
from surefit.lab.generators import GENERATORS
from surefit.lab.lessons import BY_PATH, LESSONS
from surefit.lab.limits import LONGEST_STATE, MOST_POINTS
from surefit.lab.scene import Choice, Points
from surefit.lab.scenes import SCENES
from surefit.lab.state import LaneState, State, checked, packed, unpacked


def text_of(content) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode().rstrip("=")


@given(
    st.sampled_from(sorted(SCENES)),
    st.sampled_from(sorted(GENERATORS)),
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.integers(0, 3)), max_size=30),
    st.one_of(st.none(), st.integers(0, 200)),
)
def test_a_state_survives_its_link(scene, generator, rows, step):
    points = Points.of([row[:2] for row in rows], [row[2] for row in rows]) if rows else None
    state = State(
        [LaneState(scene, SCENES[scene].defaults())], generator, GENERATORS[generator].defaults(), points, step
    )
    again = unpacked(packed(state))
    assert (
        again.lanes == state.lanes
        and again.generator == generator
        and again.settings == state.settings
        and again.step == step
    )
    if points is not None:
        assert np.array_equal(again.points.xy, points.xy) and np.array_equal(again.points.labels, points.labels)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "*" * 50,
        "A" * 20_000,
        text_of([]),
        text_of({}),
        text_of({"lanes": [], "generator": "sine", "settings": {}}),
        text_of({"lanes": [["no such scene", {}]], "generator": "sine", "settings": {}}),
        text_of({"lanes": [["svc", {"C": "much"}]], "generator": "sine", "settings": {}}),
        text_of({"lanes": [["svc", {}]], "generator": "nothing", "settings": {}}),
        text_of({"lanes": [["svc", {}]], "generator": "sine", "settings": {}, "points": [[1e400, 0, 0]]}),
        text_of({"lanes": [["svc", {}]], "generator": "sine", "settings": {}, "points": [[0, 0, 9]]}),
    ],
)
def test_what_is_no_state_is_refused(text):
    with pytest.raises(InvalidData, match="starts afresh"):
        unpacked(text)


@given(st.text(max_size=200))
def test_any_text_is_a_state_or_refused(text):
    try:
        assert unpacked(text).lanes
    except InvalidData as error:
        assert "starts afresh" in str(error)


def test_a_bomb_is_not_unpacked():
    bomb = base64.urlsafe_b64encode(zlib.compress(b'{"lanes": ' + b" " * 50_000_000)).decode()
    with pytest.raises(InvalidData):
        unpacked(bomb)


def test_numbers_move_to_the_nearest_choice_and_unknown_words_are_dropped():
    svc = SCENES["svc"]
    values = checked(svc, {"C": 1e9, "gamma": -5, "kernel": "rm -rf", "other": 1})
    assert values == {"C": 1000.0, "gamma": 0.01}


def test_points_that_do_not_fit_into_a_link_give_none():
    rng = np.random.default_rng(0)
    assert packed(State(points=Points.of(rng.normal(size=(MOST_POINTS, 2))))) is None
    assert len(packed(State(points=Points.of(rng.normal(size=(60, 2)))))) <= LONGEST_STATE


def test_every_lesson_is_legal():
    assert len(LESSONS) == len(BY_PATH) == 10
    for lesson in LESSONS:
        again = unpacked(packed(lesson.state()))
        assert [lane.values for lane in again.lanes] == [lane.values for lane in lesson.state().lanes], lesson.path
        assert again.settings == lesson.settings, lesson.path
        for key, values in lesson.lanes:
            known = {p.name for p in SCENES[key].parameters}
            assert set(values) <= known, (lesson.path, key)


def test_the_documentation_lists_every_lesson():
    page = (Path(__file__).parents[2] / "docs" / "lab.rst").read_text(encoding="utf-8")
    assert re.findall(r"^``/([a-z-]+)``", page, flags=re.MULTILINE) == [lesson.path for lesson in LESSONS]


def test_defaults_are_among_the_choices():
    for scene in SCENES.values():
        for p in scene.parameters:
            allowed = p.options.values() if isinstance(p, Choice) else p.values
            assert p.value in allowed, (scene.key, p.name)
            assert isinstance(p, Choice) or list(p.values) == sorted(set(p.values)), (scene.key, p.name)
    for key, generator in GENERATORS.items():
        for slider in generator.sliders:
            assert slider.value in slider.values, (key, slider.name)
