"""Verbs of the columns, sorted or binned, that a grower uses."""

from __future__ import annotations

from surefit.core.dispatch import generic


@generic
def first_rows(data, start, stop):
    """Return the rows of the node in places ``start .. stop``, in any order, as a segment."""


@generic
def segment_of(data, feature, start, stop):
    """Return the rows of the node in the order of a column, missing values last; may be a buffer that the next call reuses."""


@generic
def missing_at(data, feature, start, stop):
    """Return the number of rows of the node with a missing value in a column."""


@generic
def is_constant(data, feature, start, stop):
    """Return whether no cut of the column is possible."""


@generic
def cut_column(data, target, feature, start, stop, weight, sums, limits):
    """Return the best cut of a column at a node."""


@generic
def random_place(data, feature, start, stop, share):
    """Return the place of a cut at the fraction ``share`` between the smallest and the largest value of a column."""


@generic
def random_cut(data, target, feature, start, stop, share, weight, sums, limits):
    """Return the cut of a column at the fraction ``share`` between its smallest and its largest value."""


@generic
def threshold_at(data, feature, segment, place, missing):
    """Return the threshold of the cut after the first ``place`` rows of a segment that ends with ``missing`` missing values.

    In bins, it is the edge in the middle of the gap.
    """


@generic
def category_of(data, feature, row):
    """Return the category of a row, -1 if missing."""


@generic
def mark_left(data, segment, place, missing, missing_left):
    """Mark the rows of a segment that go left; return their number."""


@generic
def split_first(data, start, stop):
    """Move the rows marked as left to the front of the rows that ``first_rows`` returns."""


@generic
def split_others(data, start, stop):
    """Do the same in all other lists of rows; not called if both children are leaves."""
