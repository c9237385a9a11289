"""Three-way splits: disjoint, covering, stratified, and honest about the test rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import InvalidData, InvalidParameter, Ridge, three_way_split
from surefit.core.errors import SurefitError


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 200), st.floats(0.05, 0.45), st.floats(0.05, 0.45), st.integers(0, 100))
def test_parts_are_disjoint_and_cover_everything(n, dev, test, seed):
    split = three_way_split(n, dev=dev, test=test, random_state=seed)
    together = np.concatenate([split.train, split.dev, split.use_test("count")])
    assert sorted(together) == list(range(n))
    assert len(split.dev) == max(1, round(n * dev)) and split.n_test == max(1, round(n * test))


def test_stratified_parts_have_the_same_shares():
    labels = np.repeat(["a", "b"], [80, 20])
    split = three_way_split(100, stratify=labels, random_state=0)
    for rows in (split.train, split.dev, split.use_test("shares")):
        assert np.mean(labels[rows] == "b") == pytest.approx(0.2)


def test_test_labels_never_change_the_choice():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), rng.standard_normal(60)
    split = three_way_split(60, random_state=0)

    def choose(y):
        errors = [
            np.mean((Ridge(a).fit(X[split.train], y[split.train]).predict(X[split.dev]) - y[split.dev]) ** 2)
            for a in (0.1, 10.0, 1000.0)
        ]
        return int(np.argmin(errors))

    before = choose(y)
    y[split.use_test("spoil the labels")] += 100
    assert choose(y) == before and split.test_uses == ["spoil the labels"]


def test_interval_is_hoeffdings_and_pays_for_every_look():
    split = three_way_split(1000, random_state=0)
    losses = np.zeros(200)
    losses[:50] = 1.0
    with pytest.raises(SurefitError, match="have not been used"):
        split.interval(losses, upper=1.0)
    split.use_test("first")
    reach = math.sqrt(math.log(2 / 0.05) / 400)
    assert split.interval(losses, upper=1.0) == pytest.approx((0.25 - reach, 0.25 + reach))
    split.use_test("second")
    split.use_test("third")
    wider = math.sqrt(math.log(6 / 0.05) / 400)
    assert split.interval(losses, upper=1.0) == pytest.approx((0.25 - wider, 0.25 + wider))
    ten = math.sqrt(math.log(20 / 0.05) / 400)
    assert split.interval(losses, upper=1.0, part="dev", candidates=10) == pytest.approx((0.25 - ten, 0.25 + ten))
    assert "used 3 times" in repr(split)


def test_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    split = three_way_split(250, random_state=0)
    split.use_test("coverage")
    hits = 0
    for _ in range(300):
        low, high = split.interval(rng.random(50) < 0.3, upper=1.0, delta=0.2)
        hits += low <= 0.3 <= high
    assert hits >= 240


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"n_rows": 2}, "n_rows"),
        ({"n_rows": 10, "dev": 0.0}, "dev"),
        ({"n_rows": 10, "dev": 0.6, "test": 0.5}, "leave rows"),
    ],
)
def test_refusals_name_the_parameter(arguments, word):
    with pytest.raises(InvalidParameter, match=word):
        three_way_split(**arguments)


def test_losses_outside_their_range_are_refused():
    split = three_way_split(10, random_state=0)
    split.use_test("range")
    with pytest.raises(InvalidData, match="upper=1"):
        split.interval(np.array([0.0, 2.0]), upper=1.0)
    with pytest.raises(InvalidData, match="one loss per test row"):
        split.interval(np.zeros(3), upper=1.0)
    with pytest.raises(InvalidParameter, match="purpose"):
        split.use_test("")
    with pytest.raises(InvalidData, match="one label per row"):
        three_way_split(10, stratify=[0, 1])
