"""Data sets that need no download."""

from surefit.data.chi_squared import make_chi2_10
from surefit.data.diabetes import DataSet, load_diabetes
from surefit.data.digits import Pictures, load_idx_pictures, load_small_digits, load_usps
from surefit.data.microarray import Microarray, cluster_table, load_microarray
from surefit.data.points import (
    Sample,
    make_alternating,
    make_four_points,
    make_two_gaussians,
    make_two_triangles,
    make_xor,
)
from surefit.data.tables import MOVIE_COLUMNS, Table, load_movie_grid, load_or_table, load_two_numbers_table

__all__ = [
    "MOVIE_COLUMNS",
    "DataSet",
    "Microarray",
    "Pictures",
    "Sample",
    "Table",
    "cluster_table",
    "load_diabetes",
    "load_idx_pictures",
    "load_microarray",
    "load_movie_grid",
    "load_or_table",
    "load_small_digits",
    "load_two_numbers_table",
    "load_usps",
    "make_alternating",
    "make_chi2_10",
    "make_four_points",
    "make_two_gaussians",
    "make_two_triangles",
    "make_xor",
]
