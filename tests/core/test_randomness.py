"""Generators for integer seeds: the numbers of a new generator, from one that no one else uses meanwhile."""

import numpy as np
import pytest

from surefit.core.randomness import seeded


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**32 - 1])
def test_numbers_are_those_of_a_new_generator(seed):
    for _ in range(2):  # the second time, the generator has been used
        new = np.random.RandomState(seed)
        with seeded(seed) as random:
            assert random.standard_normal() == new.standard_normal()  # draws two and keeps one
            assert (random.permutation(50) == new.permutation(50)).all()
            random.standard_normal()


def test_nested_contexts_have_different_generators():
    with seeded(1) as outer:
        first = outer.randint(2**31)
        with seeded(1) as inner:
            assert inner is not outer
            assert inner.randint(2**31) == first
        second = outer.randint(2**31)
    new = np.random.RandomState(1)
    assert [first, second] == [new.randint(2**31), new.randint(2**31)]


def test_other_states_are_those_of_scikit_learn():
    for given in (np.random.RandomState(3), np.random.default_rng(3)):
        with seeded(given) as random:
            assert random is given
    with seeded(None) as random:
        assert random is np.random.mtrand._rand


def test_invalid_seeds_are_refused():
    for seed in (-1, 2**32, "x"):
        with pytest.raises(ValueError), seeded(seed):
            pass
    with seeded(3) as random:
        assert random.randint(100) == np.random.RandomState(3).randint(100)
