"""Every registered penalty: Fenchel-Young, proximal point, Moreau's identity, compiled loops equal to Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.dispatch import require
from surefit.core.errors import MissingVerb
from surefit.core.jit import compiled
from surefit.penalties import (
    L1,
    L2,
    ElasticNetPenalty,
    L1Ball,
    Positive,
    Weighted,
    coordinate_conjugate,
    coordinate_scale,
    coordinate_value,
    dual_scale,
    elastic_terms,
    penalty_conjugate,
    penalty_value,
    project,
    prox,
)

FACTORS = np.array([1.0, 0.0, np.inf, 2.5])
SEPARABLE = [
    L1(0.7),
    L2(0.4),
    ElasticNetPenalty(0.7, 0.4),
    ElasticNetPenalty(0.7, 0.0),
    Weighted(L1(0.7), FACTORS),
    Weighted(ElasticNetPenalty(0.7, 0.4), FACTORS),
    Positive(L1(0.7)),
    Positive(L2(0.4)),
    Positive(Weighted(ElasticNetPenalty(0.7, 0.4), FACTORS)),
]
GRID = np.linspace(-3, 3, 25)
each_penalty = pytest.mark.parametrize("penalty", SEPARABLE, ids=repr)
each_feature = pytest.mark.parametrize("j", range(4))


def test_every_registered_class_is_tested_here():
    assert set(prox.classes) == {type(penalty) for penalty in SEPARABLE}
    assert set(project.classes) == {L1Ball}
    for verb in (penalty_value, penalty_conjugate, dual_scale):
        assert set(verb.classes) == {type(penalty) for penalty in SEPARABLE} | {L1Ball}


@each_penalty
@each_feature
def test_fenchel_young(penalty, j):
    for w in GRID:
        for v in GRID:
            assert coordinate_value(penalty, w, j) + coordinate_conjugate(penalty, v, j) >= w * v - 1e-12


@each_penalty
@each_feature
@pytest.mark.parametrize("step", [0.1, 1.0, 4.0])
def test_proximal_point_has_the_residual_as_subgradient(penalty, j, step):
    # (v - w) / step is a subgradient at w exactly if Fenchel-Young holds with equality: the optimality condition of prox
    for v in GRID:
        w = prox(penalty, v, step, j)
        slope = (v - w) / step
        equality = coordinate_value(penalty, w, j) + coordinate_conjugate(penalty, slope * (1 - 1e-15), j)
        assert equality == pytest.approx(w * slope, abs=1e-12)


@each_penalty
@each_feature
def test_proximal_point_beats_its_neighbors(penalty, j):
    def objective(w, v):
        return 0.5 * (w - v) ** 2 + 0.8 * coordinate_value(penalty, w, j)

    for v in GRID:
        w = prox(penalty, v, 0.8, j)
        others = np.append(w + np.linspace(-0.5, 0.5, 101), 0.0)
        assert objective(w, v) <= min(objective(other, v) for other in others) + 1e-12


@each_penalty
@each_feature
def test_moreau_identity(penalty, j):
    # the envelopes of the penalty and of its conjugate add up to v^2 / 2
    for v in GRID:
        w = prox(penalty, v, 1.0, j)
        u = (v - w) * (1 - 1e-15)
        own = 0.5 * (w - v) ** 2 + coordinate_value(penalty, w, j)
        dual = 0.5 * (u - v) ** 2 + coordinate_conjugate(penalty, u, j)
        assert own + dual == pytest.approx(0.5 * v * v, abs=1e-12)


@each_penalty
@each_feature
def test_dual_scale_is_the_largest_feasible_one(penalty, j):
    for v in GRID:
        s = coordinate_scale(penalty, v, j)
        assert 0.0 <= s <= 1.0
        assert np.isfinite(coordinate_conjugate(penalty, s * v * (1 - 1e-15), j))
        if s < 1.0:
            assert np.isinf(coordinate_conjugate(penalty, (s + 1e-9) * v, j))


@each_penalty
def test_vector_verbs_sum_over_coordinates(penalty):
    rng = np.random.default_rng(0)
    for _ in range(20):
        w, v = np.abs(rng.normal(size=4)), rng.normal(size=4)
        w[2] = 0.0  # excluded where factors say so
        assert penalty_value(penalty, w) == pytest.approx(sum(coordinate_value(penalty, w[j], j) for j in range(4)))
        expected = sum(coordinate_conjugate(penalty, v[j], j) for j in range(4))
        assert penalty_conjugate(penalty, v) == pytest.approx(expected)
        assert dual_scale(penalty, v) == min(coordinate_scale(penalty, v[j], j) for j in range(4))


@each_penalty
def test_elastic_terms_spell_out_the_penalty(penalty):
    terms = elastic_terms(penalty, 4)
    for j in range(4):
        for w in GRID[GRID != 0]:
            value = np.inf if np.isinf(terms.slopes[j]) else terms.slopes[j] * abs(w) + terms.curvatures[j] * w**2 / 2
            value = np.inf if terms.positive and w < 0 else value
            assert coordinate_value(penalty, w, j) == pytest.approx(value)


@compiled
def _compiled_prox(penalty, values, step, out):
    for j in range(len(values)):
        out[j] = prox(penalty, values[j], step, j)


@compiled
def _compiled_sums(penalty, values):
    return penalty_value(penalty, np.abs(values)), penalty_conjugate(penalty, values), dual_scale(penalty, values)


@each_penalty
def test_compiled_is_python(penalty):
    values, out = np.array([1.3, -0.2, 0.0, -2.0]), np.empty(4)
    _compiled_prox(penalty, values, 0.5, out)
    assert np.array_equal(out, [prox(penalty, values[j], 0.5, j) for j in range(4)])
    python = penalty_value(penalty, np.abs(values)), penalty_conjugate(penalty, values), dual_scale(penalty, values)
    assert _compiled_sums(penalty, values) == python


def test_weighted_zero_is_unpenalized_and_infinity_excludes():
    penalty = Weighted(L1(1.0), FACTORS)
    assert prox(penalty, 3.0, 1.0, 1) == 3.0
    assert prox(penalty, 3.0, 1.0, 2) == 0.0
    assert coordinate_value(penalty, 5.0, 1) == 0.0
    assert coordinate_value(penalty, 0.0, 2) == 0.0
    assert np.isinf(coordinate_value(penalty, 1e-9, 2))
    assert np.isinf(elastic_terms(Weighted(L1(0.0), FACTORS), 4).slopes[2])


def test_soft_threshold_numbers():
    assert [prox(L1(0.5), v, 1.0, 0) for v in (3.0, 0.4, -3.0)] == [2.5, 0.0, -2.5]  # D17: lasso (2.5, 0)
    assert [prox(L2(1.0), v, 1.0, 0) for v in (3.0, 0.4)] == [1.5, 0.2]  # D17: ridge (1.5, 0.2)


def test_ball_projection_numbers():
    assert np.array_equal(project(L1Ball(2.0), np.array([3.0, 1.0])), [2.0, 0.0])
    assert np.array_equal(project(L1Ball(2.0), np.array([1.0, -2.0, 0.0, 3.0])), [0.0, -0.5, 0.0, 1.5])
    inside = np.array([0.5, -0.5])
    assert np.array_equal(project(L1Ball(2.0), inside), inside)
    assert np.array_equal(project(L1Ball(0.0), np.array([3.0, -1.0])), [0.0, 0.0])
    assert penalty_value(L1Ball(1.0), np.array([0.5, -0.5])) == 0.0
    assert np.isinf(penalty_value(L1Ball(1.0), np.array([0.5, -0.6])))
    assert dual_scale(L1Ball(1.0), np.array([7.0])) == 1.0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.floats(0.01, 20))
def test_ball_projection_is_the_nearest_point_and_conjugate_the_support_function(v, radius):
    v, ball = np.array(v), L1Ball(radius)
    near = project(ball, v)
    vertices = np.vstack([np.eye(len(v)), -np.eye(len(v))]) * radius
    assert np.sum(np.abs(near)) <= radius * (1 + 1e-12)
    assert np.all((vertices - near) @ (v - near) <= 1e-9)  # the variational inequality at every vertex
    assert penalty_conjugate(ball, v) == pytest.approx(np.max(vertices @ v), abs=1e-12)


def test_missing_verb_is_named():
    with pytest.raises(MissingVerb, match=r"L1Ball: 'prox' is not defined for it .*Register it"):
        require(L1Ball(1.0), prox)
