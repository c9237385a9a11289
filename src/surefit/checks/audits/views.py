"""Claims about models of other libraries that the checkers of our own families can judge once the model is read.

A claim ``audit.tree.splits`` is judged as ``tree.splits`` on the data and the model as read; only its value counts, because
a limit that another library did not promise cannot be broken by it.
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
    """Prove the claim about the model as read."""
    read_as, rows = inner(certificate, data)
    own = replace(claim, name=claim.name.removeprefix(PREFIX), limit=None)
    entry = catalog.entry(own.name)
    assert entry.check is not None
    return entry.check(replace(read_as, claims=(own,), seal=""), own, rows)


def _view(entry: catalog.Entry) -> catalog.Entry:
    """Return the entry of the same claim about a model of another library."""
    return replace(entry, name=PREFIX + entry.name, check=_external if entry.check is not None else None)


catalog.VIEWS[PREFIX] = _view
catalog.register(
    catalog.Entry(
        PREFIX + "tree.imposed_splits", kind="no_claim", side="none",
        says="Monotonic constraints or a proxy impurity were used, so no split is claimed to be the best of its node.",
    )
)  # fmt: skip
