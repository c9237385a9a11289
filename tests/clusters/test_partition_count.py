"""Stirling numbers: the values of the notes, the recursion, and a count by hand."""

from itertools import product

import pytest

from surefit import InvalidParameter, partition_count


def test_values_of_the_notes():
    assert partition_count(10, 4) == 34105
    assert partition_count(19, 4) == 11_259_666_950
    assert partition_count(4, 2) == 7
    assert partition_count(5, 3) == 25


@pytest.mark.parametrize("n", range(1, 12))
def test_recursion(n):
    for k in range(1, n + 2):
        assert partition_count(n, k) == k * partition_count(n - 1, k) + partition_count(n - 1, k - 1)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 3), (6, 3), (6, 6)])
def test_counts_what_a_list_of_all_partitions_has(n, k):
    partitions = {
        frozenset(frozenset(i for i in range(n) if labels[i] == c) for c in range(k))
        for labels in product(range(k), repeat=n)
        if len(set(labels)) == k
    }
    assert partition_count(n, k) == len(partitions)


def test_edges():
    assert partition_count(0, 0) == 1
    assert partition_count(5, 0) == partition_count(3, 4) == 0
    assert partition_count(200, 1) == partition_count(200, 200) == 1


@pytest.mark.parametrize("bad", [-1, 2.0, True, "3"])
def test_says_what_it_wants(bad):
    with pytest.raises(InvalidParameter, match=r"partition_count: n must be an integer >= 0; got"):
        partition_count(bad, 2)
