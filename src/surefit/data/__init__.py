"""Data sets that need no download."""

from surefit.data.brownian import make_brownian
from surefit.data.chi_squared import make_chi2_10
from surefit.data.diabetes import DataSet, load_diabetes
from surefit.data.digits import Images, load_idx_images, load_small_digits, load_usps
from surefit.data.ellipse import make_ellipse
from surefit.data.geyser import Eruptions, load_old_faithful
from surefit.data.microarray import Microarray, cluster_table, load_microarray
from surefit.data.points import (
    Sample,
    make_alternating,
    make_four_points,
    make_two_gaussians,
    make_two_triangles,
    make_xor,
)
from surefit.data.regression import make_degree10, make_linear, make_polynomial
from surefit.data.spam import Spam, load_spam
from surefit.data.tables import MOVIE_COLUMNS, Table, load_movie_grid, load_or_table, load_two_numbers_table

__all__ = [
    "MOVIE_COLUMNS",
    "DataSet",
    "Eruptions",
    "Images",
    "Microarray",
    "Sample",
    "Spam",
    "Table",
    "cluster_table",
    "load_diabetes",
    "load_idx_images",
    "load_microarray",
    "load_movie_grid",
    "load_old_faithful",
    "load_or_table",
    "load_small_digits",
    "load_spam",
    "load_two_numbers_table",
    "load_usps",
    "make_alternating",
    "make_brownian",
    "make_chi2_10",
    "make_degree10",
    "make_ellipse",
    "make_four_points",
    "make_linear",
    "make_polynomial",
    "make_two_gaussians",
    "make_two_triangles",
    "make_xor",
]
