"""Data sets that need no download."""

from surefit.data.diabetes import DataSet, load_diabetes

__all__ = ["DataSet", "load_diabetes"]
