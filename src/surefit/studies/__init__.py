"""Studies: from a table to a certified model, by a comparison of model families with a time limit (needs polars)."""

from surefit.studies.certify import verify
from surefit.studies.engine import revisit, run, study
from surefit.studies.model import CalibratedModel, TableModel
from surefit.studies.options import Options
from surefit.studies.outcome import Study

__all__ = ["CalibratedModel", "Options", "Study", "TableModel", "revisit", "run", "study", "verify"]
