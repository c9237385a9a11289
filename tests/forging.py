"""What every certificate must survive: honest models verify strictly; changed models and certificates are refused, resealed or not."""

import copy
import warnings
from dataclasses import replace

import numpy as np

from surefit.core import encoding
from surefit.core.errors import CertificateError
from surefit.core.issuing.state import state_digests
from surefit.core.sample import read

# --- honest models ----------------------------------------------------------------------------------------------------


def fitted(model, X, y=None, weights=None):
    """Fit without warnings; weights and targets only where there are any."""
    arguments = (X,) if y is None else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*arguments) if weights is None else model.fit(*arguments, sample_weight=weights)


def verified_strictly(model, X, y=None, weights=None):
    """Verify ``model``, also from its JSON; no accepted bound may say more than was proved."""
    found = model.verify(X, y, sample_weight=weights)
    for finding, claim in zip(found.findings, model.certificate_.claims, strict=True):
        assert finding.ok
        if claim.entry.side == "upper":
            assert finding.proved <= finding.claimed, finding
        if claim.entry.side == "lower":
            assert finding.proved >= finding.claimed, finding
    type(model.certificate_).from_json(model.certificate_.to_json()).verify(X, y, weights)
    return found


def refused(certificate, X, y=None, weights=None, model=None) -> bool:
    """Whether ``verify`` refuses; anything but a ``CertificateError`` is a defect."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate.verify(X, y, sample_weight=weights, model=model)
    except CertificateError:
        return True
    return False


# --- changes, each with a fresh seal ----------------------------------------------------------------------------------


def with_claim(certificate, name, **changes):
    """Return ``certificate`` with fields of the claim called ``name`` changed, resealed."""
    claims = tuple(replace(claim, **changes) if claim.name == name else claim for claim in certificate.claims)
    return replace(certificate, claims=claims, seal="")


def reissued(model):
    """Return the certificate of a model that was changed after its fit, with digests and seal that fit the changed state."""
    certificate = model.certificate_
    attributes = {name: np.asarray(getattr(model, name)).copy() for name in certificate.model}
    return replace(certificate, model=attributes, state=state_digests(model), seal="").of(model)


def resealed_model(model, name, value):
    """Return a copy of ``model`` with another value of the attribute ``name``, and a certificate that covers the copy."""
    other = copy.deepcopy(model)
    setattr(other, name, value)
    other._certificate = replace(reissued(other), subject=None)
    return other


def proved(model, name, X, y=None, weights=None, problem=None, **changes):
    """Return what the checker proves of the claim called ``name`` for other arrays or another problem in the certificate."""
    certificate = model.certificate_
    content = {"model": {**certificate.model, **changes}, "problem": {**certificate.problem, **(problem or {})}}
    changed, stated = replace(certificate, **content, subject=None, seal=""), certificate[name]
    return stated.entry.check(changed, stated, read(X, y, weights))


def changed_values(value):
    """Yield (how, array) for arrays that a forger could put in place of ``value``."""
    value = np.asarray(value)
    changed = []
    if value.size and value.dtype.kind in "fiu":
        one = value.copy()
        one.flat[value.size // 2] += 1
        signed = value.astype(np.float64 if value.dtype.kind == "f" else np.int64)
        changed += [("negated", -signed), ("zero", np.zeros_like(value)), ("one entry", one)]
    if value.size and value.dtype.kind == "f":
        changed += [("nan", np.full_like(value, np.nan)), ("scaled", value * 1.5)]
    if value.size and value.dtype.kind == "b":
        changed += [("negated", ~value)]
    if value.ndim and value.size > 1:
        changed += [("reversed", value[::-1])]
    if value.ndim and value.size and value.dtype.kind in "fiub":
        changed += [("short", value[: len(value) // 2])]
    for how, other in changed:
        if other.shape != value.shape or not np.array_equal(other, value, equal_nan=value.dtype.kind == "f"):
            yield how, other


def forgeries(certificate, proved):
    """Yield (what was changed, certificate with that change); ``proved`` has the value that the checker found of each claim."""
    bare = replace(certificate, subject=None)
    for name, value in certificate.model.items():
        for how, other in changed_values(value):
            yield f"model {name} {how}", replace(bare, model={**bare.model, name: other}, seal="")
    for name, value in certificate.problem.items():
        for other in (_other(value), "nonsense", None, []):
            if encoding.canonical(other) != encoding.canonical(value):
                yield f"problem {name}", replace(bare, problem={**bare.problem, name: other}, seal="")
    for k, claim in enumerate(certificate.claims):
        for how, changes in _stronger(claim, proved[k]):
            claims = tuple(replace(c, **changes) if i == k else c for i, c in enumerate(certificate.claims))
            yield f"{claim.name} {how}", replace(bare, claims=claims, seal="")


def _other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return "other" if isinstance(value, str) else [17.5]


def _stronger(claim, proved):
    """Yield changes after which ``claim`` says more than was proved, or nonsense."""
    side = claim.entry.side
    if side == "none":
        yield "a value", {"value": 1.0}
        return
    less = 1 if side == "lower" else -1
    for value in (np.nan, less * np.inf):
        yield f"value {value}", {"value": float(value)}
    if np.isfinite(proved):
        yield "value beyond", {"value": proved + less * (0.25 * abs(proved) or 1.0)}
    if side in ("exact", "digits"):
        yield from (("value off", {"value": claim.value + step}) for step in (1.0, -1.0))
    yield "lax limit", {"limit": -1e300 if side == "lower" else 1e300}
    if claim.limit is not None:
        yield "no limit", {"limit": None}
    yield "odd number", {"numbers": {**claim.numbers, "odd": 1.0}}
    for name in claim.numbers:
        yield f"without {name}", {"numbers": {key: value for key, value in claim.numbers.items() if key != name}}
        for other in ("other", None, np.nan):
            if not (other != other and claim.numbers[name] != claim.numbers[name]):
                yield f"{name} {other}", {"numbers": {**claim.numbers, name: other}}


def accepted_forgeries(certificate, X, y=None, weights=None, but=()):
    """Return the forgeries that ``verify`` accepts, those whose name begins with one of ``but`` left out."""
    return [what for what, bad in _tried(certificate, X, y, weights, tuple(but)) if bad]


def _tried(certificate, X, y, weights, but):
    findings = certificate.verify(X, y, sample_weight=weights).findings
    for what, forged in forgeries(certificate, [finding.proved for finding in findings]):
        yield what, not refused(forged, X, y, weights) and not what.startswith(but or ("\0",))


def require_unforgeable(model, X, y=None, weights=None, free=()):
    """Refuse stronger numbers in every field of every claim, and changes of every attribute; count what was tried.

    ``free`` names certified attributes that a resealed certificate may change without changing what is claimed or predicted.
    """
    certificate = model.certificate_
    tried = list(_tried(certificate, X, y, weights, tuple(f"model {name}" for name in free)))
    assert not [what for what, bad in tried if bad]
    count = len(tried)
    for claim in certificate.claims:  # any witness that proves the claim is right; none may break the checker
        for name, array in claim.witness.items():
            for _, changed in changed_values(array):
                witness = {**claim.witness, name: changed}
                refused(replace(with_claim(certificate, claim.name, witness=witness), subject=None), X, y, weights)
                count += 1
    for name in state_digests(model):
        value = getattr(model, name)
        if isinstance(value, (int, float, np.ndarray, np.generic)) and not isinstance(value, bool):
            for _, changed in changed_values(value):
                other = copy.copy(model)
                setattr(other, name, changed if np.ndim(value) else changed[()])
                assert refused(other.certificate_, X, y, weights, other), name
                count += 1
    return count
