"""Certify a model that another library fitted."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np

from surefit._version import __version__
from surefit.audit.free_bounds import nothing, without_copies
from surefit.audit.holdout import holdout_claim
from surefit.audit.reading import READERS, Reading, attribute, reader_of
from surefit.checks.audits.reading import INSIDE, transformed
from surefit.core.certificate import Certificate, grade_of
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.fingerprint import data_fingerprint
from surefit.core.issuing.parameters import plain
from surefit.core.sample import read, storage_of
from surefit.core.validation import POSITIVE, read_weights
from surefit.problems.external.boosters import adapter
from surefit.problems.external.registry import DERIVED
from surefit.risk.ledger import SHARE
from surefit.risk.units import ASSUME

#: Modules whose readers register themselves when certify is first called.
FAMILIES = (
    "squares",
    "scores",
    "descent",
    "robust",
    "machines",
    "clusters",
    "directions",
    "distributions",
    "kernels",
    "processes",
    "neighbors",
    "networks",
    "trees",
    "forests",
    "boosting",
    "boosters",
    "adaboost",
    "lib_formats",
)


def certify(
    model,
    X,
    y=None,
    sample_weight=None,
    *,
    tol=1e-4,
    X_holdout=None,
    y_holdout=None,
    confidence=0.95,
    loss=None,
    y_range=None,
    assume=(),
) -> Certificate:
    r"""Certify a model fitted by scikit-learn or another library.

    The problem is the one that the library's documentation states, with its scaling and its conventions (an intercept that is
    penalized, for example). The model is not changed. If the objective is convex,

    .. math:: 0 \le P(w) - \min P \le P(w) - D(\theta)

    for any dual point :math:`\theta`: this bounds how far the model is from the optimum, and how many of its
    predictions on the training rows could differ at the exact optimum. For other models the certificate states
    invariants. Hold-out rows give a bound on the error on new data. Without them the certificate uses out-of-bag votes
    or support vectors if possible, or states that no bound is claimed.

    Guarantee: :meth:`Certificate.verify` re-derives each claim from the data. A misinterpreted convention can only make
    the gap larger (theory: :ref:`audit`). Bounds on the error on new data hold with probability ``confidence`` (theory:
    :ref:`audit-risk`).

    Parameters
    ----------
    model : fitted estimator
        A model of scikit-learn, or a pipeline that ends in one. For a model of surefit, its own certificate is
        returned. Any other predictor is certified by its hold-out rows only.
    X, y, sample_weight : array-like
        The data that the model was fitted on.
    tol : float, default=1e-4
        Largest gap for which the claim of optimality holds, relative to the objective of the best constant.
    X_holdout, y_holdout : array-like or None, default=None
        Rows that were not used for training or model selection. An error is raised if any of them is a row of ``X``.
    confidence : float, default=0.95
        Probability with which bounds on the error on new data hold.
    loss, y_range, assume
        As in :func:`surefit.risk_certificate`: how errors on hold-out rows are measured, the declared range of the target, and
        declared assumptions.


    Returns
    -------
    Certificate
        Attached to ``model``. ``certificate.verify(X, y)`` checks all claims; the hold-out rows are stored in it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefit import certify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(C=100.0, solver="newton-cholesky").fit(X[:400], y[:400])
    >>> certificate = certify(model, X[:400], y[:400], X_holdout=X[400:], y_holdout=y[400:])
    >>> certificate.holds, certificate["audit.labels"].value
    (True, 0.0)
    >>> tested = certificate["audit.risk.holdout"]
    >>> tested.numbers["errors"], tested.numbers["n"], round(tested.value, 3)
    (7, 169, 0.076)
    """
    if not POSITIVE.allows(tol):
        raise InvalidParameter("certify", "tol", POSITIVE.words, tol)
    if not ASSUME.allows(assume):
        raise InvalidParameter("certify", "assume", ASSUME.words, assume)
    if not SHARE.allows(confidence):
        raise InvalidParameter("certify", "confidence", SHARE.words, confidence)
    tests = X_holdout is not None or y_holdout is not None
    if hasattr(model, "certificate_") and not tests:
        return model.certificate_
    for family in FAMILIES:
        import_module(f"surefit.audit.{family}")
    last, before = _last_step(model)
    read_model = reader_of(last)
    if read_model is None and not tests:
        raise _unknown(last)
    data = read(X, y, sample_weight)
    weights = read_weights("certify", data.weights, data.X.shape[0])
    if data.y is not None and len(data.y) != data.X.shape[0]:
        raise InvalidData(f"certify: X has {data.X.shape[0]} rows and y has {len(data.y)}; pass the rows of the fit.")
    options = {"confidence": confidence, "loss": loss, "y_range": y_range, "assume": assume}
    tested = holdout_claim(adapter(model), data, X_holdout, y_holdout, **options) if tests else None
    if tested is not None and hasattr(model, "certificate_"):
        own = model.certificate_
        return replace(own, claims=(*own.claims, tested), seal="").of(model)
    draft = Certificate(
        grade="C",
        estimator=type(model).__name__,
        params={name: plain(value) for name, value in _params(model).items()},
        problem={"objective": "no objective is known; the certificate is based on hold-out rows"},
        model={},
        data={**data_fingerprint(data.X, data.y, weights), **storage_of(data.X)},
        claims=(),
        run={"library": type(last).__module__.partition(".")[0], "model": type(last).__name__},
        version=__version__,
    )
    if read_model is None:
        assert tested is not None
        return replace(draft, claims=(tested,), seal="").of(model)
    rows = data if before is None else read(transformed(before, X), y, weights)
    expected = getattr(last, "n_features_in_", rows.X.shape[1])
    if rows.X.shape[1] != expected:
        raise InvalidData(
            f"certify: this {type(last).__name__} was fitted on {expected} columns, but X has {rows.X.shape[1]}; "
            "pass the data of the fit."
        )
    try:
        reading = read_model(last, rows, float(tol))
    except (InvalidData, InvalidParameter) as reason:
        if tested is None:
            raise
        run = {**draft.run, "not_read": str(reason)}
        return replace(draft, claims=(tested, Claim("audit.fit")), run=run, seal="").of(model)
    return _stated(draft, reading, model, last, before, rows, tested, 1.0 - confidence, tuple(assume)).of(model)


def _stated(
    draft: Certificate, reading: Reading, model, last, before, rows, tested, delta: float, assume: tuple
) -> Certificate:
    """Return the certificate with the problem, the attributes and the claims of the reading."""
    kept = before is None and reading.derived is None  # the attributes are those of the model itself
    if reading.derived is None:
        attributes = {name: attribute(last, name).copy() for name in reading.attributes}
    else:
        attributes = {name: np.array(value) for name, value in DERIVED[reading.derived](last).items()}
    inside = {} if kept else {INSIDE + name: value for name, value in attributes.items()}
    problem = dict(reading.problem)
    if reading.derived is not None:
        problem["derived"] = reading.derived
    if before is not None:
        problem["pipeline"] = [name for name, _ in model.steps]
    witness = (Claim("audit.fit", witness=reading.witness),) if reading.witness else ()
    plainly = replace(draft, model=attributes, problem=reading.problem, claims=witness, seal="")
    stated = reading.claims(plainly, rows)
    first = replace(stated[0], witness={**stated[0].witness, **reading.witness, **inside})
    if tested is not None:
        risk = [tested]
    elif rows.y is None or not hasattr(last, "predict"):
        risk = []
    elif before:
        risk = [nothing("steps")]
    elif reading.free is None:
        risk = [nothing()]
    else:
        risk = without_copies(reading.free(replace(plainly, claims=(first,), seal=""), rows, delta), rows, assume)
    claims = (first, *stated[1:], *risk)
    return replace(
        draft,
        grade=grade_of(claims),
        problem=problem,
        model=attributes if kept else {},
        claims=claims,
        run={**draft.run, **reading.run},
        seal="",
    )


def _unknown(last) -> InvalidData:
    """Return the error for a model whose objective is not known and that has no hold-out rows."""
    if hasattr(last, "best_estimator_"):
        return InvalidData(
            f"certify: pass best_estimator_ of this {type(last).__name__}; a search is not audited itself. With "
            f"X_holdout and y_holdout it is certified by these rows only."
        )
    known = ", ".join(sorted({name for _, name in READERS}))
    return InvalidData(
        f"certify: no objective of {type(last).__name__} is known; supported are {known}. "
        "Pass X_holdout and y_holdout: rows that were not used in the fit bound the error of any predictor."
    )


def _params(model) -> dict:
    return model.get_params(deep=False) if hasattr(model, "get_params") else {}


def _last_step(model):
    """Return the final estimator and the preceding pipeline steps, or None if the model is not a pipeline."""
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return model.steps[-1][1], [step for _, step in model.steps[:-1]]
    return model, None
