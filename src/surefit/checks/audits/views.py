"""Claims about models of other libraries that are checked by the checkers of surefit's own families.

A claim ``audit.tree.splits`` is checked as ``tree.splits`` on the converted data and model. Its limit is dropped,
because another library did not promise it.
"""

from __future__ import annotations

from dataclasses import replace

from surefit.checks.audits.reading import inner
from surefit.checks.judge import Proof
from surefit.core import catalog
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

PREFIX = "audit."


def _external(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the claim about the converted model."""
    read_as, rows = inner(certificate, data)
    own = replace(claim, name=claim.name.removeprefix(PREFIX), limit=None)
    entry = catalog.entry(own.name)
    assert entry.check is not None
    return entry.check(replace(read_as, claims=(own,), seal=""), own, rows)


def _view(entry: catalog.Entry) -> catalog.Entry:
    """Return the catalog entry of the same claim for models of other libraries."""
    return replace(entry, name=PREFIX + entry.name, check=_external if entry.check is not None else None)


catalog.VIEWS[PREFIX] = _view
catalog.register(
    catalog.Entry(
        PREFIX + "tree.imposed_splits", kind="no_claim", side="none",
        says="Monotonic constraints or a proxy impurity were used, so no split is claimed to be the best of its node.",
    )
)  # fmt: skip
