"""Unforgeable: a changed certificate, parameter or fitted attribute is refused; ``make reliability`` tries all changes."""

import zlib
from functools import partial

import pytest
from tests.hard_data import hard_data
from tests.reliability.mutations import of_certificate, of_model, wrongly_accepted
from tests.reliability.roster import case, estimators, fitted, verify

PLAIN = hard_data(n=24)[0]
PER_ESTIMATOR = 30  # mutations tried in the suite, chosen by a fixed rule
#: Estimators that need other data (sorted points).
OPEN = {"WienerProcessRegressor"}


@pytest.mark.parametrize("cls", [c for c in estimators() if c.__name__ not in OPEN], ids=lambda cls: cls.__name__)
def test_no_mutation_is_accepted(cls):
    found = case(cls, PLAIN)
    assert found is not None and fitted(found) is not None
    certificate, model = found.model.certificate_, found.model
    changes = [(f"certificate: {what}", other.of(model), passes) for what, other, passes in of_certificate(certificate)]
    changes += [(f"model: {what}", (name, other), False) for what, name, other in of_model(model)]
    changes.sort(key=lambda change: zlib.crc32(change[0].encode()))
    for what, changed, may_pass in changes[:PER_ESTIMATOR]:
        if isinstance(changed, tuple):
            name, other = changed
            kept, model.__dict__[name] = model.__dict__[name], other
            bad = wrongly_accepted(partial(verify, certificate, found), may_pass)
            model.__dict__[name] = kept
        else:
            bad = wrongly_accepted(partial(verify, changed, found), may_pass)
        assert not bad, what
