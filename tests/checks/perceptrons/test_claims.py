"""The checker of perceptrons: it accepts what is true, and refuses every log, count, bound or weight that was changed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.forging import with_claim
from tests.hard_data import hard_data

from surefit import (
    AveragedPerceptron,
    BatchPerceptron,
    Certificate,
    CertificateError,
    Invalidated,
    KernelPerceptron,
    MarginPerceptron,
    Perceptron,
    VariableIncrementPerceptron,
    VotedPerceptron,
)


def data(n=60, d=4, seed=0, classes=2, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X[:, :classes] + noise * rng.standard_normal((n, classes))
    y = np.argmax(scores, axis=1)
    X[np.arange(n), y] += 0.3
    return X, y


X, y = data()
NX, NY = data(noise=1.0, classes=3)


def refuse(certificate: Certificate, name: str, *arrays):
    with pytest.raises(CertificateError) as caught:
        certificate.verify(*arrays)
    assert caught.value.claim == name


def changed(certificate: Certificate, name: str, part: str, **entries) -> Certificate:
    """Return the certificate with entries of ``numbers`` or ``witness`` of a claim changed, resealed."""
    return with_claim(certificate, name, **{part: {**getattr(certificate[name], part), **entries}})


MODELS = [
    (Perceptron(tol=None), X, y),
    (Perceptron(tol=None, order="cyclic", eta0=0.3, class_weight={0: 2.0}), X, y),
    (Perceptron(tol=None, bias="r_squared", class_weight="balanced"), X, y),
    (Perceptron(max_iter=4, tol=None), NX, NY),
    (Perceptron(max_iter=4, tol=None, max_log=3), NX, NY),
    (Perceptron(max_iter=4, tol=None, multi_class="joint"), NX, NY),
    (Perceptron(tol=None, multi_class="joint"), *data(classes=3)),
    (AveragedPerceptron(max_iter=3, tol=None), NX, NY),
    (VotedPerceptron(max_iter=1), X, y),
    (MarginPerceptron(), X, y),
    (VariableIncrementPerceptron(tol=None), X, y),
    (BatchPerceptron(), X, y),
    (KernelPerceptron(tol=None), X, y),
]


@pytest.mark.parametrize("model, X, y", MODELS, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
class TestTruth:
    def test_is_accepted_dense_sparse_and_after_a_journey_through_json(self, model, X, y):
        model.fit(X, y)
        model.verify(X, y)
        again = Certificate.from_json(model.certificate_.to_json())
        assert [f.name for f in again.verify(X, y).findings] == [c.name for c in model.certificate_.claims]
        rows = sparse.csr_array(X)
        model.fit(rows, y).verify(rows, y)

    def test_other_data_and_other_weights_are_refused(self, model, X, y):
        model.fit(X, y)
        other = X.copy()
        other[3, 1] += 1e-9
        with pytest.raises(Invalidated, match="X differ"):
            model.verify(other, y)
        for name in ("coef_", "intercept_", "survivals_", "classes_", "support_vectors_"):
            if hasattr(model, name):
                before = getattr(model, name)
                setattr(model, name, before[::-1].copy() if name == "classes_" else before + 1e-3)
                with pytest.raises(Invalidated, match=f"{name} was changed"):
                    model.verify(X, y)
                setattr(model, name, before)

    def test_no_claim_can_say_more(self, model, X, y):
        """Each number of each claim is moved to the side on which it would say more."""
        certificate = replace(model.fit(X, y).certificate_, subject=None)
        for claim in certificate.claims:
            if claim.kind == "no_claim":
                continue
            side = {"lower": 1, "upper": -1}.get(claim.entry.side)
            values = (
                [claim.value + side * (1e-3 * abs(claim.value) + 1e-9)] if side else [claim.value + s for s in (-1, 1)]
            )
            for value in [*values, -np.inf, np.nan]:
                refuse(_only(certificate, claim, value=value), claim.name, X, y)
            for name, number in claim.numbers.items():
                wrong = number + 1 if isinstance(number, int) else _more(name, number)
                forged = _only(certificate, claim, numbers={**claim.numbers, name: wrong})
                assert is_refused(forged, X, y) or name == "problem"  # the same claim may be true of another problem
            refuse(_only(certificate, claim, numbers={**claim.numbers, "odd": 1.0}), claim.name, X, y)

    def test_broken_witnesses_are_refused_in_a_sentence(self, model, X, y):
        certificate = replace(model.fit(X, y).certificate_, subject=None)
        for claim in certificate.claims:
            for name, array in claim.witness.items():
                wrong = [array[:-1], -1 - array, np.full(array.shape, np.nan), np.array(1e300), array.astype(str)]
                forged = [_only(certificate, claim, witness={**claim.witness, name: other}) for other in wrong]
                # How many passes there were matters to claims about the first one only.
                assert all(is_refused(other, X, y) for other in forged) or name == "after_pass"


def is_refused(certificate: Certificate, X, y) -> bool:
    """Whether the certificate is refused, and with a sentence."""
    try:
        certificate.verify(X, y)
    except CertificateError:
        return True
    return False


def _more(name: str, number):
    """A number of the same kind that says more than is true: bounds from above shrink, others grow."""
    return number * (0.999 if name in ("up", "radius", "allowed") else 1.001) if isinstance(number, float) else None


def _only(certificate: Certificate, claim, **changes) -> Certificate:
    """Replace one claim (found by identity, names can repeat) and seal the certificate anew."""
    claims = tuple(replace(other, **changes) if other is claim else other for other in certificate.claims)
    return replace(certificate, claims=claims, seal="")


@pytest.mark.parametrize("model", [model for model, *_ in MODELS], ids=lambda v: type(v).__name__)
def test_weights_and_parameters_of_another_model(model):
    certificate = replace(model.fit(X, y).certificate_, subject=None)
    for name in certificate.model:
        for forge in (lambda a: -a, lambda a: a[::-1].copy(), lambda a: 2 * a, lambda a: 0 * a, lambda a: a * np.nan):
            array = certificate.model[name]
            wrong = forge(array) if array.dtype.kind in "if" else array[::-1].copy()
            if np.array_equal(wrong, array) or array.size == 0:
                continue
            forged = replace(certificate, model={**certificate.model, name: wrong}, seal="")
            assert is_refused(forged, X, y), name
    for name, value in certificate.problem.items():
        if isinstance(value, float):
            with pytest.raises(Invalidated, match="does not follow from the parameters"):
                replace(certificate, problem={**certificate.problem, name: value + 1.0}, seal="").verify(X, y)


def test_logs_with_rows_added_removed_or_exchanged():
    model = Perceptron(max_iter=3, tol=None).fit(X, y)
    certificate = replace(model.certificate_, subject=None)
    rows = certificate["perceptron.replay"].witness["rows"]
    for forged in (rows[:-1], np.append(rows, rows[-1]), np.roll(rows, 1)):
        refuse(changed(certificate, "perceptron.replay", "witness", rows=forged), "perceptron.replay", X, y)


def test_an_update_on_a_row_that_was_right():
    # (3, 1) is right after the first row already; a log that says otherwise is found out although its sum is right.
    rows = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, -2.5]])
    labels = np.array([1, 1, -1])
    model = Perceptron(fit_intercept=False, order="cyclic").fit(rows, labels)
    certificate = replace(model.certificate_, subject=None)
    forged = replace(certificate, model={**certificate.model, "coef_": np.array([[4.0, 3.0]])}, seal="")
    forged = changed(forged, "perceptron.replay", "witness", rows=np.array([0, 1]))
    forged = replace(
        forged, grade="C", claims=(forged["perceptron.replay"],), seal=""
    )  # nothing else that could give it away
    with pytest.raises(CertificateError, match="update 1 was not made on a mistake"):
        forged.verify(rows, labels)


def test_a_risk_bound_is_refused_where_the_first_pass_looked_ahead():
    honest = replace(Perceptron(max_iter=2, tol=None).fit(X, y).certificate_, subject=None)
    ahead = replace(Perceptron(max_iter=2, tol=None, mistake="<0").fit(X, y).certificate_, subject=None)
    forged = replace(ahead, claims=(honest["perceptron.risk"], *ahead.claims), seal="")
    refuse(forged, "perceptron.risk", X, y)


def test_cycles_that_do_not_close():
    rows, labels = np.array([[2.0], [-1.0], [1.0], [-2.0]]), np.array([1, 1, -1, -1])
    model = Perceptron(order="cyclic", bias="r_squared", tol=None).fit(rows, labels)
    certificate = replace(model.certificate_, subject=None)
    alpha = certificate["perceptron.cycle"].witness["alpha"]
    for forged in (alpha + np.array([1, 0, 0, 0]), np.zeros(4, dtype=int), -alpha, alpha / 2 + 0.25):
        refuse(changed(certificate, "perceptron.cycle", "witness", alpha=forged), "perceptron.cycle", rows, labels)


FAMILY = [
    Perceptron(max_iter=20),
    Perceptron(max_iter=20, mistake="sign", bias="r_squared", multi_class="joint"),
    AveragedPerceptron(max_iter=5),
    VotedPerceptron(max_iter=1),
    VariableIncrementPerceptron(max_iter=20),
    BatchPerceptron(max_iter=50),
    MarginPerceptron(max_iter=50),
    KernelPerceptron(max_iter=5),
    KernelPerceptron(max_iter=5, kernel="linear"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", FAMILY, ids=lambda m: type(m).__name__)
def test_hard_data_are_claimed_with_what_can_be_proved(model):
    for hard in hard_data():
        if len(np.unique(hard.labels)) < 2:
            continue
        weights = (
            {} if hard.weights is None or not isinstance(model, BatchPerceptron) else {"sample_weight": hard.weights}
        )
        model.fit(hard.X, hard.labels, **weights)
        for finding in model.verify(hard.X, hard.labels, **weights).findings:
            claim = model.certificate_[finding.name]
            if claim.kind != "no_claim" and claim.entry.side == "upper":
                assert finding.proved <= finding.claimed, (hard.name, finding)
