"""Unforgeable: a changed certificate, parameter or fitted attribute is refused; ``make reliability`` tries all changes."""

import zlib

import pytest
from tests.hard_data import hard_data
from tests.reliability.mutations import accepted, of_certificate, of_model
from tests.reliability.roster import case, estimators, fitted

PLAIN = hard_data(n=24)[0]
PER_ESTIMATOR = 30  # mutations tried in the suite, chosen by a fixed rule
#: Estimators that need other data (sorted points).
OPEN = {"WienerProcessRegressor"}


@pytest.mark.parametrize("cls", [c for c in estimators() if c.__name__ not in OPEN], ids=lambda cls: cls.__name__)
def test_no_mutation_is_accepted(cls):
    found = case(cls, PLAIN)
    assert found is not None and fitted(found) is not None
    certificate, model = found.model.certificate_, found.model
    changes = [(f"certificate: {what}", other.of(model), weaker) for what, other, weaker in of_certificate(certificate)]
    changes += [(f"model: {what}", (name, other), False) for what, name, other in of_model(model)]
    changes.sort(key=lambda change: zlib.crc32(change[0].encode()))
    for what, changed, weaker in changes[:PER_ESTIMATOR]:
        if isinstance(changed, tuple):
            name, other = changed
            kept, model.__dict__[name] = model.__dict__[name], other
            bad = accepted(certificate, found)
            model.__dict__[name] = kept
        else:
            bad = not weaker and accepted(changed, found)
        assert not bad, what
