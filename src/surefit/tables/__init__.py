"""Tables from files: reading, interpretation of columns, encoding as matrices (needs polars)."""

from surefit.core.text import counted
from surefit.tables.builtin import BUILTINS, builtin_table
from surefit.tables.columns import Spelling, describe, interpret
from surefit.tables.encoder import TableEncoder
from surefit.tables.reading import read_table
from surefit.tables.table import Table, as_table, column_option, did_you_mean, listed
from surefit.tables.typed import Column, typed, typed_column

__all__ = [
    "BUILTINS",
    "Column",
    "Spelling",
    "Table",
    "TableEncoder",
    "as_table",
    "builtin_table",
    "column_option",
    "counted",
    "describe",
    "did_you_mean",
    "interpret",
    "listed",
    "read_table",
    "typed",
    "typed_column",
]
