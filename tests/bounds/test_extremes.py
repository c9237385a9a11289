"""Every public bound at the ends of its range: a billion rows, a delta of 1e-12, no errors, nothing but errors.

The walks are over the namespace: a new bound fails here until it is added.
"""

import inspect
import math
from itertools import pairwise

import numpy as np
import pytest
from tests.bounds.confirmations import CONFIRM

from surefit import bounds
from surefit.bounds import (
    bernstein,
    chebyshev,
    chernoff,
    cramer,
    dkw,
    empirical_bernstein,
    finite_class,
    hoeffding,
    holdout,
    holdout_loss,
    k_fold,
    kernel_ridge_mse,
    kernel_ridge_mse_grid,
    log_mgf_bernoulli,
    margin,
    markov,
    occam,
    online_mistakes,
    out_of_bag_bounds,
    pac_bayes_hybrid,
    pac_bayes_kl,
    pac_bayes_linear,
    pick_to_learn,
    progressive_errors,
    progressive_losses,
    pseudo_dimension_deviation,
    rademacher_risk,
    random_search,
    relative_entropy,
    sample_compression,
    stable_compression,
    sub_gaussian,
    transfer,
    vc,
    vc_bound,
    vc_consistent,
    vote_c_bound,
    vote_first_order,
    vote_margin,
    vote_tandem,
)

BILLION, TINY = 10**9, 1e-12

# --- inequalities in three forms ----------------------------------------------------------------------------------------


def as_fraction(*, n=None, radius=None, delta=None):
    return random_search(n=n, fraction=radius, delta=delta)


THREE_FORMS = {
    "bernstein": lambda **given: bernstein(0.1, **given),
    "chebyshev": lambda **given: chebyshev(0.1, **given),
    "cramer": lambda **given: cramer(log_mgf_bernoulli(0.3), 0.3, **given),
    "dkw": dkw,
    "finite_class": lambda **given: finite_class(10**6, **given),
    "hoeffding": hoeffding,
    "pseudo_dimension_deviation": lambda **given: pseudo_dimension_deviation(11, **given),
    "random_search": as_fraction,
    "relative_entropy": lambda **given: relative_entropy(0.3, **given),
    "sub_gaussian": lambda **given: sub_gaussian(1.0, **given),
    "vc": lambda **given: vc(11, **given),
    "vc, rademacher": lambda **given: vc(11, theorem="rademacher", **given),
    "vc_consistent": lambda **given: vc_consistent(11, **given),
}
each_inequality = pytest.mark.parametrize("name", THREE_FORMS)


def returning(word: str) -> set[str]:
    functions = [name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))]
    return {name for name in functions if word in str(inspect.signature(getattr(bounds, name)).return_annotation)}


def test_every_inequality_is_walked_over():
    assert {name.split(",")[0] for name in THREE_FORMS} | {"chernoff", "markov"} == returning("Deviation")


@each_inequality
@pytest.mark.parametrize("n", [10**5, BILLION])
@pytest.mark.parametrize("delta", [TINY, 0.3])
def test_two_numbers_give_the_third_and_back(name, n, delta):
    bound = THREE_FORMS[name]
    radius = bound(n=n, delta=delta).radius
    assert 0 < radius < math.inf
    again = bound(n=n, radius=radius)
    assert again.log_delta == pytest.approx(math.log(delta), rel=1e-5, abs=1e-5)
    size = bound(radius=radius, delta=delta).n
    assert size <= n and size == pytest.approx(n, rel=1e-6)
    assert bound(n=max(1, size - 1), delta=delta).radius >= radius * (1 - 1e-12)
    found = bound(n=n, delta=delta)
    assert found.assumptions and all(found.assumptions) and f"assumes {found.assumptions[0]}" in found.statement


@each_inequality
def test_more_rows_say_more_and_one_row_says_nothing(name):
    bound = THREE_FORMS[name]
    radii = [bound(n=n, delta=TINY).radius for n in (10**5, 10**6, 10**7, BILLION)]
    assert all(b < a for a, b in pairwise(radii))
    single = bound(n=1, delta=TINY)
    if name not in ("chebyshev", "sub_gaussian"):  # of numbers without a range: no radius is too large to be news
        assert single.vacuous or single.radius < 1
    if name not in (
        "bernstein",
        "cramer",
        "relative_entropy",
        "random_search",
    ):  # these know a little more than nothing
        assert bound(n=1, radius=1e-6).vacuous and "vacuous" in bound(n=1, radius=1e-6).statement
        assert bound(n=1, radius=1e-6).delta == 1.0 and bound(n=1, radius=1e-6).confidence == 0.0


@each_inequality
def test_probabilities_far_below_the_smallest_float_keep_their_logarithm(name):
    found = THREE_FORMS[name](n=BILLION, radius=0.5)
    assert found.log_delta < -18 and found.delta == pytest.approx(math.exp(found.log_delta)) and not found.vacuous


def test_inequalities_with_another_face():
    for level, delta in ((1e12, TINY), (1e300, 1e-300)):
        assert markov(1.0, threshold=level).delta == pytest.approx(delta, rel=1e-9)
        assert markov(1.0, delta=delta).radius == pytest.approx(level, rel=1e-9)
    assert markov(1.0, threshold=0.5).vacuous and markov(1.0, threshold=2.0).assumptions
    coins = chernoff(log_mgf_bernoulli(0.3), 0.5, BILLION)
    exponent = 0.5 * math.log(0.5 / 0.3) + 0.5 * math.log(0.5 / 0.7)
    assert coins.log_delta == pytest.approx(-BILLION * exponent, rel=1e-9) and coins.delta == 0.0
    assert chernoff(log_mgf_bernoulli(0.3), 0.2).vacuous


def test_no_dimension_no_bound():
    assert vc(math.inf, n=BILLION, delta=TINY).vacuous and "no bound" in repr(vc(math.inf, n=10, delta=0.1))


# --- limits of a risk ---------------------------------------------------------------------------------------------------


def votes(wrong: float, n: int, delta: float):
    table = np.full((3, n), wrong == 1.0)
    return out_of_bag_bounds(table, np.ones_like(table), delta)["first_order"]


def halves(wrong: float, n: int, delta: float):
    sizes = [n - n // 2, n // 2]
    return k_fold([int(wrong * size) for size in sizes], sizes, delta)


def ridge(wrong: float, n: int, delta: float):
    return kernel_ridge_mse(4 * wrong, n, kernel_radius=1.0, ball_radius=1.0, delta=delta)


def ridge_grid(wrong: float, n: int, delta: float):
    return kernel_ridge_mse_grid(4 * wrong, n, norm=1.0, kernel_radius=1.0, target_bound=1.0, delta=delta)


def hybrid(wrong: float, n: int, delta: float):
    right = np.full(n, wrong == 0.0)
    return pac_bayes_hybrid(int(wrong * n), np.full(n, 50 * (1 - 2 * wrong)), right, 1.0, delta)


def compressed(wrong: float, n: int, delta: float):
    size = min(3, n - 1)
    return sample_compression(size, int(wrong * (n - size)), n, delta)


#: name -> (bound of a model that is ``wrong`` (0 or 1) on all of n rows, largest n that needs no long array)
LIMITS = {
    "empirical_bernstein": (lambda wrong, n, delta: empirical_bernstein(np.full(n, wrong), delta), 10**5),
    "holdout": (lambda wrong, n, delta: holdout(int(wrong * n), n, delta), BILLION),
    "holdout_loss": (lambda wrong, n, delta: holdout_loss(np.full(n, wrong), delta), 10**5),
    "k_fold": (halves, BILLION),
    "kernel_ridge_mse": (ridge, BILLION),
    "kernel_ridge_mse_grid": (ridge_grid, BILLION),
    "margin": (lambda wrong, n, delta: margin(np.full(n, 1 - 2 * wrong), 1.0, delta), 10**5),
    "occam": (lambda wrong, n, delta: occam(int(wrong * n), n, 100.0, delta), BILLION),
    "online_mistakes": (lambda wrong, n, delta: online_mistakes(int(wrong * n), n, delta), BILLION),
    "out_of_bag_bounds": (votes, 10**5),
    "pac_bayes_hybrid": (hybrid, 10**5),
    "pac_bayes_kl": (lambda wrong, n, delta: pac_bayes_kl(wrong, 10.0, n, delta), BILLION),
    "pac_bayes_linear": (lambda wrong, n, delta: pac_bayes_linear(np.full(n, 1 - 2 * wrong), delta), 10**5),
    "pick_to_learn": (lambda wrong, n, delta: pick_to_learn(0, int(wrong * n), n, delta), 10**5),
    "progressive_errors": (lambda wrong, n, delta: progressive_errors(int(wrong * n), n, delta), BILLION),
    "progressive_losses": (lambda wrong, n, delta: progressive_losses(np.full(n, wrong), delta), 10**4),
    "rademacher_risk": (lambda wrong, n, delta: rademacher_risk(wrong, 1 / math.sqrt(n), n, delta), BILLION),
    "sample_compression": (compressed, BILLION),
    "stable_compression": (lambda wrong, n, delta: stable_compression(int(wrong * n), n, delta), 10**5),
    "transfer": (lambda wrong, n, delta: transfer(int(wrong * n), n, 0, n, delta), BILLION),
    "vc_bound": (lambda wrong, n, delta: vc_bound(wrong, n, 3, delta), BILLION),
    "vote_c_bound": (lambda wrong, n, delta: vote_c_bound(wrong, n, 0.0, n, delta), BILLION),
    "vote_first_order": (lambda wrong, n, delta: vote_first_order(wrong, n, delta), BILLION),
    "vote_margin": (lambda wrong, n, delta: vote_margin(np.full(n, 1 - 2 * wrong), 100, delta), 10**5),
    "vote_tandem": (lambda wrong, n, delta: vote_tandem(wrong, n, delta), BILLION),
}
each_limit = pytest.mark.parametrize("name", LIMITS)


def test_every_limit_of_a_risk_is_walked_over():
    assert set(LIMITS) == returning("RiskBound")


@each_limit
def test_no_errors_on_very_many_rows(name):
    bound, most = LIMITS[name]
    found = bound(0.0, most, TINY)
    assert 0 < found.value < found.ceiling and not found.vacuous and math.isclose(found.delta, TINY)
    assert found.value < 0.7 and "vacuous" not in found.statement
    assert found.assumptions and f"assumes {found.assumptions[0]}" in found.statement and "1 - 1e-12" in found.statement
    assert bound(0.0, most, 0.3).value <= found.value  # to be surer costs something


@each_limit
def test_nothing_but_errors_and_a_single_row(name):
    bound, most = LIMITS[name]
    for n in (2, most):
        found = bound(1.0, n, TINY)
        if name != "pac_bayes_linear":  # may choose the rule that tosses a coin, whose risk is one half
            assert found.vacuous and found.value >= found.ceiling and "which is vacuous" in found.statement
    few = bound(0.0, 2, TINY)
    assert few.value > 0.99 * few.ceiling and few.vacuous == (few.value >= few.ceiling)
    assert few.vacuous == ("which is vacuous" in few.statement) == (" - " not in few.statement.split(" with ")[0])


@each_limit
@pytest.mark.parametrize("delta", [TINY, 1e-300, 0.3])
@pytest.mark.parametrize("wrong", [0.0, 1.0])
def test_the_checker_confirms_the_ends_and_refuses_less(name, wrong, delta):
    bound, most = LIMITS[name]
    for n in (2, min(most, 2000)):
        found = bound(wrong, n, delta)
        numbers = {**found.terms, **found.inputs, "delta": found.delta}
        assert CONFIRM[found.name](found.value, numbers, found.arrays).ok
        if 0 < found.value < 1:
            assert not CONFIRM[found.name](0.99 * found.value, numbers, found.arrays).ok
