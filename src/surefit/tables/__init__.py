"""Tables of people's files: reading, encoding into matrices, splitting, and models that take tables (needs polars)."""

from surefit.tables.encoder import TableEncoder
from surefit.tables.model import Coefficient, TableRegressor
from surefit.tables.plan import Plan
from surefit.tables.reading import builtin_table, read_table
from surefit.tables.study import Study, study_table, training_part
from surefit.tables.table import Table, as_table, split_table

__all__ = [
    "Coefficient",
    "Plan",
    "Study",
    "Table",
    "TableEncoder",
    "TableRegressor",
    "as_table",
    "builtin_table",
    "read_table",
    "split_table",
    "study_table",
    "training_part",
]
