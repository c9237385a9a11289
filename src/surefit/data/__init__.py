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

__all__ = [
    "DataSet",
    "Microarray",
    "Pictures",
    "Sample",
    "cluster_table",
    "load_diabetes",
    "load_idx_pictures",
    "load_microarray",
    "load_small_digits",
    "load_usps",
    "make_alternating",
    "make_chi2_10",
    "make_four_points",
    "make_two_gaussians",
    "make_two_triangles",
    "make_xor",
]
