"""Strict: on hard data no honest model is refused, and no accepted finding proves less than was claimed.

``python -m tests.reliability.strict [NAME ...]`` fits every public estimator on every hard data set and prints what went wrong.
"""

import sys

from tests.hard_data import hard_data
from tests.reliability.results import write
from tests.reliability.roster import case, estimators, fitted, verify

import surefit
from surefit.core.catalog import entry, known
from surefit.core.errors import CertificateError


def faults(cls: type) -> tuple[int, list[str]]:
    """Return the number of fits of ``cls``, and what went wrong with them."""
    fits, wrong = 0, []
    for data in hard_data():
        found = case(cls, data)
        if found is None or fitted(found) is None:
            continue
        fits += 1
        try:
            findings = verify(found.model.certificate_, found).findings
        except CertificateError as error:
            wrong.append(f"{data.name}: refused: {error}")
            continue
        for finding in findings:
            bound = known(finding.name) and entry(finding.name).side in ("upper", "lower")
            if bound and not finding.proved <= finding.claimed:
                wrong.append(f"{data.name}: {finding}")
    return fits, wrong


def main(names: list[str]) -> int:
    """Print one line per estimator; return the number of faults."""
    total = tried = 0
    for cls in estimators() if not names else [getattr(surefit, name) for name in names]:
        fits, wrong = faults(cls)
        total, tried = total + len(wrong), tried + fits
        print(f"{cls.__name__}: {fits} fits, {len(wrong)} faults", *wrong, sep="\n  ", flush=True)
    if not names:
        write("strict", "fits of hard data whose certificate must verify", tried, total)
    return total


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
