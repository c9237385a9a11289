"""Checkers are imported when a claim needs them."""

import subprocess
import sys

import pytest

from surefit import checks
from surefit.core import catalog
from surefit.core.errors import CertificateError

FIT = """
import sys
import numpy as np
from surefit import Ridge
from surefit.core import catalog
X = np.arange(12.0).reshape(6, 2) ** 2
print(Ridge().fit(X, X[:, 0]).certificate_.verify(X, X[:, 0])["linear.gap"].ok)
print([name for name in ("trees", "ensembles", "networks", "audits") if f"surefit.checks.{name}" in sys.modules])
print(catalog.known("audit.tree.splits"), catalog.known("no.claim"), len(catalog.CATALOG) == len(catalog.loaded()))
"""


def test_a_fit_imports_the_checkers_of_its_claims_and_later_claims_find_theirs():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True)
    assert done.stdout.split("\n")[:3] == ["True", "[]", "True False True"], done.stderr


def test_claims_have_their_checkers_in_the_folder_that_is_imported_for_them():
    strays = set()
    for name, entry in catalog.loaded().items():
        home = checks.HOMES.get(name) or checks.HOMES.get(name.partition(".")[0])
        where = getattr(entry.check, "__module__", "")
        if (
            home is not None
            and where.startswith("surefit.checks.")
            and not f"{where}.".startswith(f"{checks.__name__}.{home}.")
        ):
            strays.add(name)
    assert not strays
    folders = {name.split(".")[2] for name in sys.modules if name.startswith("surefit.checks.")}
    assert {home.partition(".")[0] for home in checks.HOMES.values()} <= folders


@pytest.mark.parametrize("name", ["no.claim", "linear.no_claim", "audit.no_claim", "", 3])
def test_a_name_that_no_module_registers_is_refused(name):
    assert not catalog.known(name)
    with pytest.raises(CertificateError, match="no checker"):
        catalog.entry(name)
