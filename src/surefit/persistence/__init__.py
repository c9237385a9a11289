"""Model files: saving and loading without pickle, with atomic writes (needs skops)."""

from surefit.persistence.external import load_external
from surefit.persistence.files import require_writable, write_file, write_files
from surefit.persistence.models import load, packed, save
from surefit.persistence.trust import SKOPS_TRUSTED

__all__ = ["SKOPS_TRUSTED", "load", "load_external", "packed", "require_writable", "save", "write_file", "write_files"]
