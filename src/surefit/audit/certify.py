"""Certify a model that another library fitted."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from surefit._version import __version__
from surefit.audit.reading import READERS, attribute, reader_of
from surefit.checks.audited_models import DERIVED, INSIDE, transformed
from surefit.checks.base import read
from surefit.core.certificate import Certificate
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint, plain
from surefit.core.validation import POSITIVE, read_weights

#: Modules whose readers register themselves when certify is first called.
FAMILIES = (
    "squares",
    "scores",
    "machines",
    "clusters",
    "directions",
    "kernels",
    "trees",
    "forests",
    "boosting",
    "lib_formats",
)


def certify(model, X, y=None, sample_weight=None, *, tol=1e-4) -> Certificate:
    r"""Certify a model fitted by scikit-learn or another library.

    The problem is the one that the library's documentation states, with its scaling and its conventions (an intercept that is
    penalised, for example); nothing is changed in the model. Where the objective is convex,

    .. math:: 0 \le P(w) - \min P \le P(w) - D(\theta)

    for any dual point :math:`\theta`: the model is told how far from the optimum it stopped, and how many of its predictions on the
    training rows the exact optimum would change. Elsewhere the certificate states invariants.

    Guarantee: what :meth:`Certificate.verify` re-derives from the data; a convention that was read wrongly can only make the
    gap larger (theory: :ref:`audit`).

    Parameters
    ----------
    model : fitted estimator
        A model of scikit-learn, or a pipeline that ends in one; a model of surefit returns the certificate it has.
    X, y, sample_weight : array-like
        The data it was fitted on.
    tol : float, default=1e-4
        Gap, as a share of the objective of the best constant, up to which the claim of optimality holds.

    Returns
    -------
    Certificate
        Bound to ``model``; ``certificate.verify(X, y)`` checks it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefit import certify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> certificate = certify(LogisticRegression(C=100.0, solver="newton-cholesky").fit(X, y), X, y)
    >>> certificate.holds, certificate["audit.labels"].value
    (True, 0.0)
    """
    if not POSITIVE.allows(tol):
        raise InvalidParameter("certify", "tol", POSITIVE.words, tol)
    if hasattr(model, "certificate_"):
        return model.certificate_
    for family in FAMILIES:
        import_module(f"surefit.audit.{family}")
    last, before = _last_step(model)
    read_model = reader_of(last)
    if read_model is None:
        known = ", ".join(sorted({name for _, name in READERS}))
        if hasattr(last, "best_estimator_"):
            raise InvalidData(
                f"certify: pass best_estimator_ of this {type(last).__name__}; the search itself is no model."
            )
        raise InvalidData(
            f"certify: no objective of {type(last).__name__} is known here; known are {known}. "
            "risk_certificate bounds the error of any predictor."
        )
    data = read(X, y, sample_weight)
    weights = read_weights("certify", data.weights, data.X.shape[0])
    if data.y is not None and len(data.y) != data.X.shape[0]:
        raise InvalidData(f"certify: X has {data.X.shape[0]} rows and y has {len(data.y)}; pass the rows of the fit.")
    rows = data if before is None else read(transformed(before, X), y, weights)
    expected = getattr(last, "n_features_in_", rows.X.shape[1])
    if rows.X.shape[1] != expected:
        raise InvalidData(
            f"certify: this {type(last).__name__} was fitted on {expected} columns, X has {rows.X.shape[1]}; "
            "pass the data of the fit."
        )
    reading = read_model(last, rows, float(tol))
    kept = before is None and reading.derived is None  # as attributes of the model itself
    if reading.derived is None:
        attributes = {name: attribute(last, name).copy() for name in reading.attributes}
    else:
        attributes = DERIVED[reading.derived](last)
    inside = {} if kept else {INSIDE + name: value for name, value in attributes.items()}
    problem = dict(reading.problem)
    if reading.derived is not None:
        problem["derived"] = reading.derived
    if before is not None:
        problem["pipeline"] = [name for name, _ in model.steps]
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    draft = Certificate(
        grade=reading.grade,
        estimator=type(model).__name__,
        params={name: plain(value) for name, value in params.items()},
        problem=problem,
        model=attributes if kept else {},
        data=data_fingerprint(data.X, data.y, weights),
        claims=(),
        run={"library": type(last).__module__.partition(".")[0], "model": type(last).__name__, **reading.run},
        version=__version__,
    )
    stated = reading.claims(replace(draft, model=attributes, problem=reading.problem, seal=""), rows)
    first = replace(stated[0], witness={**stated[0].witness, **reading.witness, **inside})
    return replace(draft, claims=(first, *stated[1:]), seal="").of(model)


def _last_step(model):
    """Return the model proper and the steps that transform its rows, if any."""
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return model.steps[-1][1], [step for _, step in model.steps[:-1]]
    return model, None
