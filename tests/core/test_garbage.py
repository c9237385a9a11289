"""The collector rests inside the block, works after it, and leaves what the program has frozen alone."""

import gc

import pytest

from surefit.core.garbage import uncollected


def test_objects_of_the_block_are_old_after_it():
    gc.collect()
    with uncollected():
        assert not gc.isenabled()
        kept = [[] for _ in range(10_000)]
    assert gc.isenabled()
    young = gc.get_objects(generation=0)
    assert not any(entry is kept[0] for entry in young)
    assert any(entry is kept[0] for entry in gc.get_objects(generation=2))


def test_a_collector_that_was_off_stays_off_and_one_that_was_on_is_on_after_an_error():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(ValueError), uncollected():
        raise ValueError
    assert gc.isenabled()


def test_frozen_objects_stay_frozen():
    kept = [[]]
    gc.freeze()
    try:
        with uncollected():
            pass
        assert not any(entry is kept for entry in gc.get_objects())
    finally:
        gc.unfreeze()
    assert any(entry is kept for entry in gc.get_objects())
