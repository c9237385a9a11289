"""What a grower asks of the columns, sorted or binned."""

from __future__ import annotations

from surefit.core.dispatch import generic


@generic
def first_rows(data, start, stop):
    """Rows of the node in places ``start .. stop``, in any order, as a segment."""


@generic
def segment_of(data, feature, start, stop):
    """Rows of the node in the order of a column, missing values last; may be a buffer that the next call reuses."""


@generic
def missing_at(data, feature, start, stop):
    """How many rows of the node have no value in a column."""


@generic
def is_constant(data, feature, start, stop):
    """Whether no cut of the column is possible."""


@generic
def cut_column(data, target, feature, start, stop, weight, sums, limits):
    """Return the best cut of a column at a node."""


@generic
def random_place(data, feature, start, stop, share):
    """Place of a cut at ``share`` of the way from the least to the largest value of a column."""


@generic
def threshold_at(data, feature, segment, place, missing):
    """Threshold of the cut after the first ``place`` rows of a segment, which ends in so many missing values."""


@generic
def category_of(data, feature, row):
    """Category of a row, -1 if missing."""


@generic
def mark_left(data, segment, place, missing, missing_left):
    """Note which rows of a segment go left; return how many."""


@generic
def split_first(data, start, stop):
    """Move the rows noted as left to the front of what ``first_rows`` shows."""


@generic
def split_others(data, start, stop):
    """Do the same wherever else rows are listed; not called when both children are leaves."""
