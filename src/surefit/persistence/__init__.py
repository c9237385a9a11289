"""Model files: saving and loading without pickle, and writing files that are never half-written (needs skops)."""

from surefit.persistence.external import load_external
from surefit.persistence.files import require_writable, write_file
from surefit.persistence.models import load, save
from surefit.persistence.trust import SKOPS_TRUSTED

__all__ = ["SKOPS_TRUSTED", "load", "load_external", "require_writable", "save", "write_file"]
