"""The checker of perceptrons: it accepts what is true, and refuses every log, count, bound or weight that was bent."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

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
from surefit.checks.perceptron_replay import Path, replay, sum_of_counts
from surefit.checks.perceptron_risk import first_pass


def data(n=60, d=4, seed=0, classes=2, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X[:, :classes] + noise * rng.standard_normal((n, classes))
    y = np.argmax(scores, axis=1)
    X[np.arange(n), y] += 0.3
    return X, y


X, y = data()
NX, NY = data(noise=1.0, classes=3)


def bent(certificate: Certificate, name: str, number: int = 0, **changes) -> Certificate:
    """The certificate with one claim changed, sealed anew by a forger who knows how."""
    claims = list(certificate.claims)
    places = [i for i, claim in enumerate(claims) if claim.name == name]
    claim = claims[places[number]]
    if "witness" in changes:
        changes["witness"] = {**claim.witness, **changes["witness"]}
    if "numbers" in changes:
        changes["numbers"] = {**claim.numbers, **changes["numbers"]}
    claims[places[number]] = replace(claim, holds=None, **changes)
    return replace(certificate, claims=tuple(claims), seal="")


def refuse(certificate: Certificate, name: str, *arrays, **options):
    with pytest.raises(CertificateError) as caught:
        certificate.verify(*arrays, **options)
    assert caught.value.claim == name


MODELS = [
    (Perceptron(tol=None), X, y),
    (Perceptron(tol=None, order="cyclic", eta0=0.3, class_weight={0: 2.0}), X, y),
    (Perceptron(max_iter=4, tol=None), NX, NY),
    (Perceptron(max_iter=4, tol=None, multi_class="joint"), NX, NY),
    (Perceptron(tol=None, multi_class="joint"), *data(classes=3)),
    (AveragedPerceptron(max_iter=3, tol=None), NX, NY),
    (VotedPerceptron(max_iter=3), NX, NY),
    (MarginPerceptron(), X, y),
    (VariableIncrementPerceptron(tol=None), X, y),
    (BatchPerceptron(), X, y),
    (KernelPerceptron(tol=None), X, y),
]


@pytest.mark.parametrize("model, X, y", MODELS, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
class TestTruth:
    def test_is_accepted_dense_sparse_and_after_a_journey_through_json(self, model, X, y):
        model.fit(X, y)
        assert all(finding.ok for finding in model.verify(X, y).findings)
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
        name = "coef_" if hasattr(model, "coef_") else "intercept_" if hasattr(model, "dual_coef_") else "survivals_"
        changed = getattr(model, name).copy()
        changed.flat[0] += 1e-3
        setattr(model, name, changed)
        with pytest.raises(Invalidated, match=f"{name} was changed"):
            model.verify(X, y)


def weights_moved(certificate, name="coef_", by=1e-6):
    array = certificate.model[name].copy()
    array.flat[0] += by
    return replace(certificate, model={**certificate.model, name: array}, seal="")


@pytest.mark.parametrize(
    "model, X, y, name",
    [
        (Perceptron(max_iter=4, tol=None), NX, NY, "perceptron.replay"),
        (Perceptron(max_iter=4, tol=None, max_log=3), NX, NY, "perceptron.replay"),
        (Perceptron(max_iter=4, tol=None, multi_class="joint"), NX, NY, "perceptron.joint_replay"),
        (AveragedPerceptron(max_iter=4, tol=None), NX, NY, "perceptron.average"),
        (BatchPerceptron(max_iter=4, tol=None), NX, NY, "perceptron.batch_replay"),
        (MarginPerceptron(gamma=0.5, max_iter=500), NX, NY, "perceptron.margin_updates"),
    ],
    ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "",
)
def test_weights_that_the_log_does_not_give(model, X, y, name):
    certificate = model.fit(X, y).certificate_
    forged = replace(weights_moved(certificate), subject=None)
    refuse(forged, name, X, y)


def test_logs_with_rows_added_removed_or_exchanged():
    model = Perceptron(max_iter=3, tol=None).fit(X, y)
    certificate = replace(model.certificate_, subject=None)
    rows = certificate["perceptron.replay"].witness["rows"]
    for forged in (rows[:-1], np.append(rows, rows[-1]), np.roll(rows, 1)):
        refuse(bent(certificate, "perceptron.replay", witness={"rows": forged}), "perceptron.replay", X, y)


def test_an_update_on_a_row_that_was_right():
    # (3, 1) is right after the first row already; a log that says otherwise is found out although its sum is right.
    rows = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, -2.5]])
    labels = np.array([1, 1, -1])
    model = Perceptron(fit_intercept=False, order="cyclic").fit(rows, labels)
    certificate = replace(model.certificate_, subject=None)
    forged = replace(certificate, model={**certificate.model, "coef_": np.array([[4.0, 3.0]])}, seal="")
    forged = bent(forged, "perceptron.replay", witness={"rows": np.array([0, 1])})
    forged = replace(forged, claims=(forged["perceptron.replay"],), seal="")  # nothing else that could give it away
    with pytest.raises(CertificateError, match="1 updates were no mistakes"):
        forged.verify(rows, labels)


def test_margins_bounds_and_counts_that_claim_too_much():
    certificate = replace(Perceptron(tol=None).fit(X, y).certificate_, subject=None)
    margin, novikoff = certificate["perceptron.margin"], certificate["perceptron.novikoff"]
    for name, changes in (
        ("perceptron.margin", {"value": margin.value * 1.001}),
        ("perceptron.margin", {"limit": margin.limit * 0.999}),
        ("perceptron.geometric_margin", {"value": certificate["perceptron.geometric_margin"].value * 1.001}),
        ("perceptron.geometric_margin", {"limit": certificate["perceptron.geometric_margin"].limit * 0.999}),
        ("perceptron.novikoff", {"value": novikoff.value - 1}),
        ("perceptron.novikoff", {"limit": novikoff.limit * 0.9}),
        ("perceptron.growth", {"value": -1e3}),
    ):
        refuse(bent(certificate, name, **changes), name, X, y)


def test_risks_that_forget_mistakes():
    model = Perceptron(max_iter=2, tol=None).fit(X, y)
    certificate = replace(model.certificate_, subject=None)
    claim = certificate["perceptron.risk"]
    errors = claim.numbers["errors"]
    refuse(bent(certificate, "perceptron.risk", numbers={"errors": errors - 1}), "perceptron.risk", X, y)
    refuse(bent(certificate, "perceptron.risk", value=claim.value * 0.99), "perceptron.risk", X, y)
    order = claim.witness["order"].copy()
    order[0] = order[1]
    refuse(bent(certificate, "perceptron.risk", witness={"order": order}), "perceptron.risk", X, y)


def test_cycles_that_do_not_close():
    rows, labels = np.array([[2.0], [-1.0], [1.0], [-2.0]]), np.array([1, 1, -1, -1])
    model = Perceptron(order="cyclic", bias="r_squared", tol=None).fit(rows, labels)
    certificate = replace(model.certificate_, subject=None)
    alpha = certificate["perceptron.cycle"].witness["alpha"]
    for forged in (alpha + np.array([1, 0, 0, 0]), np.zeros(4, dtype=int), -alpha):
        refuse(bent(certificate, "perceptron.cycle", witness={"alpha": forged}), "perceptron.cycle", rows, labels)


def test_claims_of_the_variants_that_claim_too_much():
    voted = replace(VotedPerceptron(max_iter=1).fit(X, y).certificate_, subject=None)
    visits = voted["perceptron.votes"].witness["visits"]
    refuse(bent(voted, "perceptron.votes", witness={"visits": visits + 1}), "perceptron.votes", X, y)
    refuse(
        bent(voted, "perceptron.vote_risk", value=0.9 * voted["perceptron.vote_risk"].value),
        "perceptron.vote_risk",
        X,
        y,
    )
    averaged = replace(AveragedPerceptron(max_iter=2, tol=None).fit(X, y).certificate_, subject=None)
    visits = averaged["perceptron.average"].witness["visits"]
    refuse(bent(averaged, "perceptron.average", witness={"visits": visits[::-1].copy()}), "perceptron.average", X, y)
    margin = replace(MarginPerceptron().fit(X, y).certificate_, subject=None)
    for name, changes in (
        ("perceptron.unit_margin", {"value": margin["perceptron.unit_margin"].value * 1.01}),
        ("perceptron.unit_margin", {"limit": margin["perceptron.unit_margin"].limit * 0.99}),
        ("perceptron.margin_updates", {"value": margin["perceptron.margin_updates"].value + 1}),
        ("perceptron.wanted_margin", {"numbers": {"gamma": 1.0}}),
    ):
        refuse(bent(margin, name, **changes), name, X, y)
    kernel = replace(KernelPerceptron(tol=None).fit(X, y).certificate_, subject=None)
    for name, changes in (
        ("perceptron.kernel_margin", {"value": kernel["perceptron.kernel_margin"].value * 1.01}),
        ("perceptron.kernel_margin", {"limit": kernel["perceptron.kernel_margin"].limit * 0.99}),
        ("perceptron.kernel_novikoff", {"limit": kernel["perceptron.kernel_novikoff"].limit * 0.5}),
        ("perceptron.kernel_replay", {"witness": {"rows": kernel["perceptron.kernel_replay"].witness["rows"][:-1]}}),
    ):
        with pytest.raises(CertificateError):
            bent(kernel, name, **changes).verify(X, y)
    batch = replace(BatchPerceptron().fit(X, y).certificate_, subject=None)
    sets = batch["perceptron.batch_replay"].witness["sets"].copy()
    sets[0, 0] ^= 128
    forged = bent(batch, "perceptron.batch_replay", witness={"sets": sets})
    refuse(replace(forged, claims=(forged["perceptron.batch_replay"],), seal=""), "perceptron.batch_replay", X, y)
    refuse(
        bent(batch, "perceptron.batch_margin", value=batch["perceptron.batch_margin"].value * 1.01),
        "perceptron.batch_margin",
        X,
        y,
    )
    steps = VariableIncrementPerceptron(tol=None, order="cyclic").fit(X, y).certificate_
    factors = steps["perceptron.replay"].witness["factors"].copy()
    factors[0] *= 1.01
    with pytest.raises(CertificateError):
        bent(replace(steps, subject=None), "perceptron.replay", witness={"factors": factors}).verify(X, y)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    st.sampled_from([0.0, 1.0, 2.25]),
    st.sampled_from([0, 1, 4, None]),
)
def test_replay_encloses_rational_arithmetic(seed, k, step, beta, grid):
    rng = np.random.default_rng(seed)
    rows, t = rng.standard_normal((12, 3)) * 10.0 ** rng.integers(-3, 4), rng.choice([-1.0, 1.0], 12)
    start, log = rng.standard_normal(4), rng.integers(0, 12, k)
    if grid is not None:
        rows, start = (np.rint(10 * array) / grid if grid else np.rint(array) * 10 for array in (rows, start))
    if beta == 0.0:
        start[-1] = 0.0
    path = Path(rows, t, log, np.full(k, step), beta, start[:-1], float(start[-1]))
    run = replay(path)
    assert run.exact == (grid is not None and step in (0.5, 1.0))
    w, b = [Fraction(v) for v in start[:-1]], Fraction(start[-1])
    for j, i in enumerate(log):
        x, sign = [Fraction(v) for v in rows[i]], Fraction(t[i])
        margin = sign * (sum(p * q for p, q in zip(w, x, strict=True)) + b)
        assert abs(margin - Fraction(run.margins.mid[j])) <= Fraction(run.margins.rad[j])
        w = [p + Fraction(step) * sign * q for p, q in zip(w, x, strict=True)]
        b += Fraction(step) * sign * Fraction(beta)
        square = sum(p * p for p in w) + (b * b / Fraction(beta) if beta else 0)
        assert abs(square - Fraction(run.squares.mid[j])) <= Fraction(run.squares.rad[j])
    for exact, mid, rad in zip([*w, b], [*run.w.mid, *run.b.mid], [*run.w.rad, *run.b.rad], strict=True):
        assert abs(exact - Fraction(mid)) <= Fraction(rad)
    counted, offset = sum_of_counts(path, np.bincount(log, minlength=12), step, step)
    for exact, mid, rad in zip([*w, b], [*counted.mid, *offset.mid], [*counted.rad, *offset.rad], strict=True):
        assert abs(exact - Fraction(mid)) <= Fraction(rad)


def test_integers_need_no_radius():
    rng = np.random.default_rng(0)
    rows, t = rng.integers(-9, 10, (20, 5)).astype(float), rng.choice([-1.0, 1.0], 20)
    run = replay(Path(rows, t, rng.integers(0, 20, 300), np.ones(300), 1.0, np.zeros(5), 0.0))
    assert run.exact and not run.margins.rad.any() and not run.squares.rad.any() and not run.w.rad.any()


def test_first_pass_is_walked_without_the_log():
    model = Perceptron(max_iter=1, tol=None, order="cyclic").fit(X, y)
    t = np.where(y == 1, 1.0, -1.0)
    path = Path(X, t, np.zeros(0, int), np.zeros(0), 1.0, np.zeros(4), 0.0)
    mistaken = first_pass(path, np.arange(60), 1.0, 1.0)
    assert np.array_equal(np.flatnonzero(mistaken), np.sort(model.mistake_log_["row"]))
    sparse_path = path._replace(X=sparse.csr_array(X))
    assert np.array_equal(first_pass(sparse_path, np.arange(60), 1.0, 1.0), mistaken)
