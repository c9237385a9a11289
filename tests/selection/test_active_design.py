"""Active design: the notes' numbers, exact falls of the trace, and the one-step bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import ActiveDesign, InvalidData, InvalidParameter


def test_example_on_the_interval():
    design = ActiveDesign([[1.0], [-1.0]])
    np.testing.assert_allclose(design.inverse_, np.eye(2) / 2)
    np.testing.assert_allclose(design.scores([[-1.0], [0.0], [1.0]]), [1 / 4, 1 / 6, 1 / 4])
    assert design.trace == pytest.approx(1.0)
    design.add([1.0])
    np.testing.assert_allclose(design.inverse_, np.array([[3, -1], [-1, 3]]) / 8)
    np.testing.assert_allclose(design.scores([[-1.0], [0.0], [1.0]]), [0.25, 0.113636, 0.083333], atol=1e-6)
    assert design.choose([[-1.0], [0.0], [1.0]]).row == 0
    assert design.add([-1.0]).trace == pytest.approx(0.5)
    np.testing.assert_allclose(design.history_, [1, 0.75, 0.5])


def test_the_two_criteria_can_disagree():
    candidates = [[-6.0], [0.0]]
    by_trace, by_variance = (ActiveDesign([[-3.0], [-2.0]], criterion=c) for c in ("trace", "variance"))
    np.testing.assert_allclose(by_variance.scores(candidates), [25, 13])
    np.testing.assert_allclose(by_trace.scores(candidates), [13.0, 13.857], atol=1e-3)
    assert by_variance.choose(candidates).row == 0 and by_trace.choose(candidates).row == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["trace", "variance"]))
def test_gains_are_exact_and_below_the_bound(seed, criterion):
    rng = np.random.default_rng(seed)
    rows, candidates = rng.standard_normal((6, 2)), rng.standard_normal((10, 2))
    design = ActiveDesign(rows, criterion=criterion)
    query = design.choose(candidates)
    assert query.gain <= query.bound * (1 + 1e-12) and 0 < query.efficiency <= 1 + 1e-12
    before, gram = design.trace, np.linalg.inv(design.inverse_)
    design.add(candidates[query.row])
    after = np.column_stack([np.vstack([rows, candidates[query.row]]), np.ones(7)])
    np.testing.assert_allclose(design.inverse_, np.linalg.inv(after.T @ after), rtol=1e-7, atol=1e-10)
    if criterion == "trace":
        assert before - design.trace == pytest.approx(query.gain, rel=1e-7)
    else:  # greedy D-optimality
        assert np.linalg.det(after.T @ after) == pytest.approx(np.linalg.det(gram) * (1 + query.gain), rel=1e-7)


def test_the_bound_is_reached_along_the_first_eigenvector():
    design = ActiveDesign(np.diag([1.0, 2.0]), fit_intercept=False)
    query = design.choose([[3.0, 0.0]])
    assert query.efficiency == pytest.approx(1.0) and query.gain == pytest.approx(9 / 10)


def test_variances_at_the_rows_sum_to_the_number_of_coefficients():
    rows = np.random.default_rng(0).standard_normal((9, 3))
    assert ActiveDesign(rows, criterion="variance").scores(rows).sum() == pytest.approx(4.0)


def test_a_long_run_does_not_drift_and_beats_random_choice():
    rng = np.random.default_rng(0)
    rows, candidates = rng.standard_normal((4, 2)), rng.standard_normal((50, 2))
    design, other = ActiveDesign(rows), ActiveDesign(rows)
    queries = design.run(candidates, 100)
    for i in rng.integers(0, 50, 100):
        other.add(candidates[i])
    all_rows = np.vstack([rows, candidates[[q.row for q in queries]]])
    Z = np.column_stack([all_rows, np.ones(len(all_rows))])
    np.testing.assert_allclose(design.inverse_, np.linalg.inv(Z.T @ Z), rtol=1e-10)
    assert np.all(np.diff(design.history_) < 0) and design.trace < other.trace


def test_refusals():
    with pytest.raises(InvalidData, match="do not determine"):
        ActiveDesign([[1.0]])
    assert ActiveDesign([[1.0]], alpha=1.0).trace > 0
    with pytest.raises(InvalidParameter, match="criterion"):
        ActiveDesign([[1.0], [2.0]], criterion="best")
    with pytest.raises(InvalidData, match="columns"):
        ActiveDesign([[1.0], [2.0]]).choose([[1.0, 2.0]])
    with pytest.raises(InvalidData, match="one input"):
        ActiveDesign([[1.0], [2.0]]).add([[1.0], [2.0]])
