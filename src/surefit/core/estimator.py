"""Base of all estimators: issuing a certificate and verifying it."""

from __future__ import annotations

import importlib
import inspect
import logging
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from surefit._version import __version__
from surefit.core.budget import Reason
from surefit.core.certificate import UNSEALED, Certificate
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, Invalidated
from surefit.core.fingerprint import fingerprint, remembered
from surefit.core.guards.extremes import watched
from surefit.core.half_spaces import half_space_dimension
from surefit.core.parameters import ParameterNamesMixin
from surefit.core.partitioned import PartitionedRows, is_partitioned
from surefit.core.pending import Pending, may_wait, proved, unproved
from surefit.core.state import digest, state_digests
from surefit.core.warn import warn

LOG = logging.getLogger("surefit.fit")
DRAFT = "draft"  # seal of a certificate whose fit has not finished
UNCLAIMED = "risk.unclaimed"
VC = "risk.vc"
MEASURING = (
    "risk.",
    "conformal.",
    "selection.",
)  # claims of methods that test models on held-out rows: risk bounds, or why there is none
#: Methods that treat every row alone: of partitioned rows, each partition is treated where it is.
ROWWISE = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "transform", "predict_interval", "predict_set",
)  # fmt: skip
#: By estimator: what a fit needs in order to bound the error on new rows.
OWN_BOUNDS = {
    "BaggingClassifier": "oob_score=True",
    "DecisionTreeClassifier": "declared thresholds",
    "ExtraTreesClassifier": "bootstrap=True and oob_score=True",
    "KernelPerceptron": "a kernel and an intercept that do not depend on the rows",
    "RandomForestClassifier": "oob_score=True",
}


class CertifiedMixin(ParameterNamesMixin):
    """Adds ``certificate_`` and ``verify`` to an estimator; place it left of ``BaseEstimator``.

    ``fit`` issues a draft (:meth:`_issue`). When ``fit`` returns, the draft is completed: the digest of every fitted attribute is added, so
    that the certificate covers the whole model, and claims without a value get the value that their checker proves. On few numbers the
    latter is done when the certificate is first read (:mod:`surefit.core.pending`).
    """

    _certificate: Certificate | Pending

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("fit", "partial_fit"):
            method = cls.__dict__.get(name)
            if method is None:
                continue
            if hasattr(method, "fn"):  # scikit-learn's available_if
                method.fn = _completing(method.fn)
            else:
                setattr(cls, name, _completing(method))
        for name in ROWWISE:
            method = inspect.getattr_static(cls, name, None)
            if hasattr(method, "fn"):
                method.fn = _by_partitions(method.fn)
            elif inspect.isfunction(method):
                setattr(cls, name, _by_partitions(method))

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the last fit, bound to this model."""
        if "_certificate" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no certificate yet; call fit first.")
        certificate = complete(self)
        if certificate.seal == UNSEALED:  # sealing reads the whole certificate, which few fits are asked for
            certificate = self._certificate = replace(certificate, seal="")
        return certificate.of(self)

    def __getstate__(self) -> Any:
        """Return the state for copies and files, with the certificate proved; a changed model leaves it out."""
        state: Any = super().__getstate__()
        if isinstance(self.__dict__.get("_certificate"), Pending):
            try:
                state = {**state, "_certificate": complete(self)}
            except Invalidated:
                state = {name: value for name, value in state.items() if name != "_certificate"}
        return state

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(X, y, sample_weight=sample_weight)

    def _issue(
        self,
        grade: str,
        claims: list[Claim],
        *,
        problem: dict[str, Any],
        model: tuple[str, ...],
        data: dict[str, Any] | None = None,
        sample: tuple[Any, ...] | None = None,
        run: dict[str, Any] | None = None,
    ) -> None:
        """Store the draft of this fit's certificate.

        ``model`` names the fitted attributes that the checkers read. ``sample`` is (X, y, sample_weight), or with
        an offset after it, as validated; it is required if a claim leaves its value to the checker. It also provides the fingerprints that
        are otherwise passed as ``data``.
        """
        if data is None:
            data = data_fingerprint(*sample)  # type: ignore[misc]
        self._draft = sample
        self._certificate = Certificate(
            grade=grade,
            estimator=type(self).__name__,
            params={key: plain(value) for key, value in self.get_params(deep=False).items()},  # type: ignore[attr-defined]
            problem=problem,
            model={name: np.asarray(getattr(self, name)).copy() for name in model},
            data=data,
            claims=with_word_on_new_rows(self, claims, sample is not None and "coef_" in model),
            run=run or {},
            version=__version__,
            seal=DRAFT,
        )


@remembered()
def complete(estimator: Any, wait: bool = False) -> Any:
    """Return the certificate of ``estimator``, completed if it is a draft; with ``wait``, a proof on few numbers is left for later."""
    found = estimator.__dict__.get("_certificate")
    if isinstance(found, Pending) and not wait:
        found = estimator._certificate = found.proved()
    elif isinstance(found, Certificate) and found.seal == DRAFT:
        sample = estimator.__dict__.pop("_draft", None)
        draft = replace(found, state=state_digests(estimator))
        if wait and unproved(draft) and may_wait(draft, estimator, sample):
            found = Pending(draft, estimator, sample)
        else:
            found = proved(draft, estimator, sample)
        estimator._certificate = found
        LOG.debug("%s: %d claims, run %s", draft.estimator, len(draft.claims), draft.run)
    return found


def _completing(method: Any) -> Any:
    """Wrap ``method`` so that the certificate is completed when it returns."""

    @wraps(method)
    def completed(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_partitioned(args[0] if args else kwargs.get("X")):
            return _cluster().fit(self, method.__name__, *args, **kwargs)
        fitted = method(self, *args, **kwargs)
        complete(self, wait=True)
        return fitted

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        return watched(completed, self, args, kwargs)

    return fit


def _by_partitions(method: Any) -> Any:
    """Wrap ``method`` so that partitioned rows give a lazy Dask array."""
    if hasattr(method, "_by_partitions"):
        return method

    @wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        return _cluster().lazily(self, method, X) if is_partitioned(X) else method(self, *args, **kwargs)

    called._by_partitions = True  # type: ignore[attr-defined]
    return called


def _cluster() -> Any:
    return importlib.import_module("surefit.cluster")


def _half_spaces(estimator: Any) -> bool:
    """Whether the fit chose a half-space, so that a VC bound follows from its training error."""
    if len(getattr(estimator, "classes_", ())) != 2:
        return False
    found = half_space_dimension(type(estimator).__name__, estimator.get_params(deep=False), 1)
    return found is not None and found < float("inf")


def with_word_on_new_rows(estimator: Any, claims: list[Claim], recountable: bool = False) -> tuple[Claim, ...]:
    """Add a VC bound, or that no bound of the error on new rows comes with the fit: the silence of a predictor misleads.

    ``recountable`` means that the training rows are available, from which the checker counts the errors.
    """
    again = (UNCLAIMED, VC) if _half_spaces(estimator) else (UNCLAIMED,)
    said = [claim for claim in claims if claim.name not in again]  # an earlier certificate of the same fit may have it
    kind = estimator.__sklearn_tags__().estimator_type
    measured = any(claim.kind == "risk_bound" or claim.name.startswith(MEASURING) for claim in said)
    if kind not in ("classifier", "regressor") or measured:
        return tuple(said)
    if kind == "classifier" and recountable and _half_spaces(estimator):
        return (*said, Claim(VC))
    return (*said, Claim(UNCLAIMED, numbers=unclaimed_numbers(type(estimator).__name__, said)))


def unclaimed_numbers(estimator: str, claims: Any) -> dict[str, Any]:
    """Return the numbers in the statement about new data: whether there is an estimate, and what the fit would need."""
    return {"estimate": any(claim.kind == "estimate" for claim in claims), "ask": OWN_BOUNDS.get(estimator, "")}


def plain(value: Any) -> Any:
    """Return a parameter as a JSON value. Objects become text that identifies them; random streams are represented by their type."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value if value.ndim and not value.dtype.hasobject else plain(value.tolist())
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # losses and penalties are named tuples
        fields = zip(value._fields, value, strict=True)
        return {"record": {"term": type(value).__name__, **{name: plain(item) for name, item in fields}}}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return type(value).__name__  # a stream changes when it is used
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    if hasattr(value, "to_record") and not isinstance(value, type):  # kernels can be serialized
        try:
            return {"record": value.to_record()}
        except ValueError:  # a kernel given as a function cannot be serialized
            pass
    if hasattr(value, "get_params") and not isinstance(value, type):  # an estimator, as it was before fitting
        given = {name: plain(part) for name, part in value.get_params(deep=False).items()}
        return f"{type(value).__name__} {digest(given)}"
    return f"{getattr(value, '__qualname__', type(value).__name__)} {digest(value)}"


def data_fingerprint(X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> dict[str, Any]:
    """Return the fingerprints that identify the data of a certificate; a sample without columns consists of strings."""
    if isinstance(X, PartitionedRows):
        return X.fingerprints()
    strings = X.ndim == 1
    n_rows, n_columns = (len(X), 1) if strings else X.shape
    return {
        **({"elements": "strings"} if strings else {}),
        "X": fingerprint(X),
        "y": None if y is None else fingerprint(np.asarray(y)),
        "sample_weight": None if sample_weight is None else fingerprint(sample_weight),
        **({} if offset is None else {"offset": fingerprint(offset)}),
        "n_rows": int(n_rows),
        "n_columns": int(n_columns),
    }


def warn_unless_converged(who: str, reason: Reason, gap: float, tolerance: float) -> None:
    """Warn if the fit did not converge, with the gap and the tolerance in the same units and what to do."""
    if reason is not Reason.CONVERGED:
        warn(f"{who}: gap {gap:.2g} > {tolerance:.2g} wanted: {reason.sentence()}.", ConvergenceWarning)
