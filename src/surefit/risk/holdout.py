"""Risk certificate of any fitted predictor from held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefit._version import __version__
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.fingerprint import data_fingerprint
from surefit.core.issuing.parameters import plain
from surefit.core.rows import row_keys
from surefit.core.sample import read
from surefit.core.validation import COUNT
from surefit.core.warn import warn
from surefit.risk.ledger import SHARE
from surefit.risk.losses import read_loss
from surefit.risk.target import read_target
from surefit.risk.tested_rows import Asked, tested_claim
from surefit.risk.units import ASSUME, find_units
from surefit.risk.void import why_void

WHO = "risk_certificate"
#: Attributes in which fitted models keep training rows.
KEPT_ROWS = ("X_fit_", "X_train_", "support_vectors_")


def risk_certificate(
    model,
    X_holdout,
    y_holdout,
    loss=None,
    confidence=0.95,
    *,
    groups=None,
    y_range=None,
    coverage=0.9,
    tolerance=None,
    n_models=1,
    ledger=None,
    X_train=None,
    assume=(),
) -> Certificate:
    r"""Certify a fitted model of any library with rows that were not used for training.

    With k errors on m rows, the probability of error is at most the Clopper-Pearson limit; other losses in a declared range are bounded
    by :math:`\mathrm{kl}^{-1}(\bar\ell, \ln(1/\delta)/m)`. For a regressor without a declared range, the ``coverage``
    quantile of the absolute error is bounded.

    Guarantee: the bound holds with probability at least ``confidence`` over the rows, for every distribution (theory:
    :ref:`concentration`). Training rows raise an error if they can be recognized; equal rows count once.

    Parameters
    ----------
    model : object with ``predict``, or function of X
        The fitted model; the Brier score also needs ``predict_proba`` and ``classes_``. A model with ``classes_`` is a classifier.
    X_holdout, y_holdout : array-like
        Rows that were not used for training or model selection.
    loss : {"zero_one", "brier", "squared", "absolute", "quantile", "miss"}, callable or None, default=None
        None: ``"zero_one"`` for a classifier; for a regressor ``"miss"`` if ``tolerance`` is given, ``"squared"`` if
        ``y_range`` is given, and otherwise ``"quantile"``. A function of (y, prediction) must return losses from 0 to
        1.
    confidence : float, default=0.95
        Confidence of the statement.
    groups : array of shape (n_rows,) or None, default=None
        Group labels (patient, day), if rows of a group may be dependent; the bound then counts groups.
    y_range : (low, high) or None, default=None
        Range of the target, declared before the data were seen; predictions are clipped to it.
    coverage : float, default=0.9
        Level of the quantile with ``loss="quantile"``.
    tolerance : float or None, default=None
        Largest error of a regressor that is not a miss, with ``loss="miss"``.
    n_models : int, default=1
        Number of models that were compared on these rows before this one was chosen: each gets ``delta / n_models``.
    ledger : DeltaLedger or None, default=None
        Account for several uses of the same rows; replaces ``confidence`` and ``n_models``.
    X_train : array-like or None, default=None
        Training rows; hold-out rows among them raise an error.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare: equal rows are separate draws; the columns were scaled without using these rows; rows indexed by
        time are independent.

    Returns
    -------
    Certificate
        One claim, ``"risk.holdout"`` or ``"risk.quantile"``; ``verify(X_holdout, y_holdout)`` re-derives it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefit import risk_certificate
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DecisionTreeClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> certificate = risk_certificate(model, X[1200:], y[1200:])
    >>> claim = certificate["risk.holdout"]
    >>> claim.numbers["errors"], claim.numbers["n"], round(claim.value, 3)
    (130, 597, 0.247)
    >>> certificate.verify(X[1200:], y[1200:])["risk.holdout"].ok
    True
    """
    if not SHARE.allows(confidence):
        raise InvalidParameter(WHO, "confidence", SHARE.words, confidence)
    if not SHARE.allows(coverage):
        raise InvalidParameter(WHO, "coverage", SHARE.words, coverage)
    if not COUNT.allows(n_models):
        raise InvalidParameter(WHO, "n_models", COUNT.words, n_models)
    if not ASSUME.allows(assume):
        raise InvalidParameter(WHO, "assume", ASSUME.words, assume)
    if not (hasattr(model, "predict") or callable(model)):
        raise InvalidParameter(WHO, "model", "a fitted model with predict, or a function of X", model)
    if len(np.asarray(y_holdout)) != read(X_holdout).X.shape[0]:
        raise InvalidData(
            f"{WHO}: X_holdout has {read(X_holdout).X.shape[0]} rows and y_holdout {len(np.asarray(y_holdout))}."
        )
    y = read_target(WHO, X_holdout, y_holdout)
    data = read(X_holdout, y)
    classifier = hasattr(model, "classes_") if not hasattr(model, "__sklearn_tags__") else is_classifier(model)
    if not classifier and y.dtype.kind not in "biuf":
        classifier = True  # a function that returns strings
    has_proba = hasattr(model, "predict_proba") and hasattr(model, "classes_")
    asked = loss if not (loss is None and not hasattr(model, "predict") and classifier) else "zero_one"
    read_as = read_loss(
        WHO,
        asked,
        y_range,
        classifier=classifier or asked in ("zero_one", "brier"),
        has_proba=has_proba,
        tolerance=tolerance,
    )
    refuse_training_rows(WHO, model, data, X_train)
    units = find_units(WHO, X_holdout, y, groups, assume)
    if ledger is None:
        delta, share = 1.0 - confidence, (1.0 - confidence) / n_models
    else:
        share = ledger.look(f"risk of {_name(model)}")
        delta = ledger.delta
    reason = why_void(X_holdout, y_holdout, groups=groups, assume=tuple(assume))
    if reason is not None:
        warn(f"{WHO}: {reason}.", DataWarning)
        claim = Claim("risk.void")
    else:
        asked = Asked(WHO, read_as, units, delta, coverage, tuple(assume))
        claim = tested_claim(asked, model, X_holdout, y, np.arange(len(y)), share)
    certificate = Certificate(
        grade="C",
        estimator=_name(model),
        params={key: plain(value) for key, value in _params(model).items()},
        problem={
            "procedure": "holdout",
            "ledger": [["risk of the model", share]] if ledger is None else [list(entry) for entry in ledger.entries],
        },
        model={},
        data=data_fingerprint(data.X, data.y),
        claims=(claim,),
        version=__version__,
    )
    return certificate.of(model)


def _name(model: Any) -> str:
    return type(model).__name__


def _params(model: Any) -> dict:
    return model.get_params(deep=False) if hasattr(model, "get_params") else {}


def refuse_training_rows(who: str, model: Any, data, X_train=None) -> None:
    """Raise ``InvalidData`` for training rows, if the model, its certificate or the caller identifies them."""
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.data.get("X") == data_fingerprint(data.X)["X"]:
        raise InvalidData(f"{who}: these are the training rows of the {_name(model)}; pass rows that it has not seen.")
    kept = [getattr(model, name, None) for name in KEPT_ROWS] if X_train is None else [X_train]
    own: set[bytes] | None = None
    for rows in kept:
        if rows is None or getattr(rows, "ndim", 2) != 2:
            continue
        matrix = read(rows).X
        if matrix.shape[1] != data.X.shape[1]:
            continue
        own = set(row_keys(data.X.astype(np.float64))) if own is None else own
        shared = own.intersection(row_keys(matrix.astype(np.float64)))
        if shared and len(shared) >= (1 if X_train is not None else 0.1 * len(own)):
            raise InvalidData(
                f"{who}: {len(shared)} of the {len(own)} hold-out rows are training rows of the {_name(model)}; "
                "remove them from the hold-out set."
            )
