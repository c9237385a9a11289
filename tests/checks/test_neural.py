"""The network checker: gaps against an independent optimum, and every tampering found."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from surefit import MLPClassifier, MLPRegressor
from surefit.checks.base import read
from surefit.checks.directions import sign_direction
from surefit.checks.neural import read_net
from surefit.checks.neural_slopes import Gated
from surefit.checks.output_layer import output_layer_gap
from surefit.core.errors import CertificateError, Invalidated, InvalidData

rng = np.random.default_rng(0)
H = rng.standard_normal((80, 3))
LABELS = np.argmax(H @ rng.standard_normal((3, 4)) + rng.gumbel(size=(80, 4)), axis=1)
WEIGHTS = rng.integers(0, 4, 80).astype(float)
IGNORE = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def layer_problem(kind):
    """Targets, outputs and the independent optimum (W, b) of alpha = 0.7."""
    if kind == "softmax":
        Y = np.eye(4)[LABELS]
        best = LogisticRegression(C=1 / 0.7, tol=1e-12, max_iter=10_000).fit(H, LABELS, WEIGHTS)
        return Y, ("softmax", "log_loss"), (best.coef_.T, best.intercept_)
    if kind == "logistic":
        best = LogisticRegression(C=1 / 0.7, tol=1e-12, max_iter=10_000).fit(H, LABELS > 1, WEIGHTS)
        return (LABELS > 1)[:, None].astype(float), ("logistic", "log_loss"), (best.coef_.T, best.intercept_)
    if kind == "poisson":
        best = PoissonRegressor(alpha=0.7 / WEIGHTS.sum(), tol=1e-12, max_iter=10_000).fit(H, LABELS, WEIGHTS)
        return LABELS[:, None].astype(float), ("exp", "poisson"), (best.coef_[:, None], np.array([best.intercept_]))
    best = Ridge(0.7).fit(H, LABELS, WEIGHTS)
    return (
        LABELS[:, None].astype(float),
        ("identity", "half_squares"),
        (best.coef_[:, None], np.array([best.intercept_])),
    )


def at(kind, W, b, alpha=0.7, table=None):
    Y, (activation, loss), _ = layer_problem(kind)
    return output_layer_gap(H, W, b, table, Y, WEIGHTS, alpha, activation, loss)


@pytest.mark.parametrize("kind", ["softmax", "logistic", "poisson", "identity"])
def test_gap_is_zero_at_the_optimum_and_bounds_the_excess_elsewhere(kind):
    W, b = layer_problem(kind)[2]
    best = at(kind, W, b)
    assert 0 <= best.gap <= 1e-7 * best.objective
    moves = np.random.default_rng(7)
    for size in (1e-4, 1e-2, 0.3, 3.0):
        away = at(kind, W + size * moves.standard_normal(W.shape), b + size * moves.standard_normal(b.shape))
        excess = away.objective - best.objective
        assert excess > 0
        assert excess - best.gap - 1e-12 <= away.gap <= away.objective
        if size <= 1e-2:
            assert away.gap <= 300 * excess  # of the right order: the condition number of the layer is about 200


def test_gap_of_shared_links_is_that_of_the_summed_feature():
    Y = LABELS[:, None].astype(float)
    table = np.zeros((3, 1), dtype=int)  # one weight for all three features
    tied = output_layer_gap(H, np.full((3, 1), 0.4), np.ones(1), table, Y, None, 0.5, "identity", "half_squares")
    summed = H.sum(axis=1, keepdims=True)
    plain = output_layer_gap(summed, np.array([[0.4]]), np.ones(1), None, Y, None, 0.5, "identity", "half_squares")
    assert tied.gap == pytest.approx(plain.gap, rel=1e-10) and tied.objective == pytest.approx(plain.objective)


def test_without_decay_only_the_trivial_bound_is_claimed():
    W, b = layer_problem("softmax")[2]
    found = at("softmax", W, b, alpha=0.0)
    assert found.gap == found.objective


def test_directions_are_unit_and_nearly_orthogonal():
    rows = np.array([sign_direction(seed, 4000) for seed in range(4)])
    assert rows @ rows.T == pytest.approx(np.eye(4), abs=0.08)


X = rng.standard_normal((60, 4))
Y3 = rng.integers(3, size=60)


def classifier(**options):
    return MLPClassifier((6,), random_state=0, max_iter=15, **options).fit(X, Y3)


@IGNORE
@pytest.mark.parametrize("options", [{}, {"activation": "gaussian", "loss": "squared_error"}, {"solver": "gd"}])
def test_every_claim_is_re_derived(options):
    model = classifier(**options)
    findings = model.verify(X, Y3)
    assert all(finding.ok for finding in findings.findings)
    assert model.certificate_["network.global"].kind == "no_claim"


@IGNORE
@pytest.mark.parametrize(
    "name, change",
    [
        ("network.objective", lambda c: {"value": c.value * (1 + 1e-7)}),
        ("network.gradient", lambda c: {"value": c.value * 0.999}),
        ("network.gradient", lambda c: {"numbers": {"norm": c.numbers["norm"] * 1.001}}),
        ("network.output_gap", lambda c: {"value": c.value * 0.99}),
        ("network.gradient_check", lambda c: {"witness": {"slopes": c.witness["slopes"] * 1.01}}),
        ("network.gradient_check", lambda c: {"witness": {"slopes": -c.witness["slopes"]}}),
    ],
)
def test_a_wrong_claim_is_found(name, change):
    certificate = classifier().certificate_
    claims = tuple(replace(c, **change(c)) if c.name == name else c for c in certificate.claims)
    with pytest.raises(CertificateError, match=name):
        replace(certificate, claims=claims, seal="").verify(X, Y3)


@IGNORE
def test_a_log_that_rises_or_ends_elsewhere_is_found():
    certificate = classifier(solver="gd").certificate_
    log = certificate["network.monotone"].witness["log"]
    for wrong in (log[::-1].copy(), log[:-1]):
        claims = tuple(
            replace(c, witness={"log": wrong}) if c.name == "network.monotone" else c for c in certificate.claims
        )
        with pytest.raises(CertificateError, match=r"network\.monotone"):
            replace(certificate, claims=claims, seal="").verify(X, Y3)


@IGNORE
def test_links_are_checked_exactly():
    mask = np.ones((4, 6), dtype=bool)
    mask[0, 0] = False
    model = classifier(links=[mask, None])
    packed = model.packed_.copy()
    packed[0] = 1e-300
    broken = replace(model.certificate_, model={**model.certificate_.model, "packed_": packed}, seal="", subject=None)
    with pytest.raises(CertificateError, match=r"network\.links"):
        broken.verify(X, Y3)


@IGNORE
def test_changed_weights_and_other_data_are_refused():
    model = classifier()
    with pytest.raises(Invalidated, match="X differ"):
        model.verify(X + 1, Y3)
    model.coefs_[0][0, 0] += 1e-9
    with pytest.raises(Invalidated, match="packed_ was changed"):
        model.verify(X, Y3)


@IGNORE
def test_certificate_survives_json_and_other_types():
    y = rng.poisson(2.0, (60, 2)).astype(float)
    model = MLPRegressor("poisson", (5,), random_state=0, max_iter=5).fit(X.astype(np.float32), y)
    again = type(model.certificate_).from_json(model.certificate_.to_json())
    assert again.verify(X.astype(np.float32), y)["network.objective"].ok
    words = np.array(["a", "b", "c"], dtype=object)[Y3]
    texts = MLPClassifier((3,), random_state=0, max_iter=3).fit(X, words)
    assert type(texts.certificate_).from_json(texts.certificate_.to_json()).verify(X, words)["network.gradient"].ok


@IGNORE
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e6])
def test_slopes_are_confirmed_across_the_kinks_of_rectifiers_and_for_columns_of_any_size(activation, seed, size):
    rows = np.random.default_rng(seed).standard_normal((60, 4))
    y = rows[:, 0] - rows[:, 1]
    given = {"random_state": 0, "max_iter": 30, "activation": activation}
    for model, target in ((MLPClassifier(**given), y > 0), (MLPRegressor(**given), y)):
        model.fit(size * rows, target)
        assert model.certificate_.verify(size * rows, target)["network.gradient_check"].ok


@IGNORE
def test_slopes_of_a_gated_network_by_hand():
    # one row x = 1, a unit relu(u x) exactly on its kink side u > 0: J = (v u - y)^2 / 2, dJ = (v u - y) (v du + u dv)
    model = MLPRegressor(hidden_layer_sizes=(1,), alpha=0.0, max_iter=1, random_state=0).fit([[1.0], [1.0]], [2.0, 2.0])
    certificate = model.certificate_
    u, v, a, b = certificate.model["packed_"]
    net, (Y, s) = read_net(certificate), (np.full((2, 1), 2.0), None)
    gated = Gated(net, read([[1.0], [1.0]], [2.0, 2.0]), Y, s)
    on = float(u + a > 0)
    residual = v * on * (u + a) + b - 2
    direction = np.array([0.5, -0.5, 0.5, 0.5])
    by_hand = residual * (on * v * (0.5 + 0.5) - 0.5 * on * (u + a) + 0.5)
    slope, doubt = gated.slope(direction, 1e-3, 1e-12)
    assert abs(slope - by_hand) <= doubt <= 1e-7


@IGNORE
def test_slopes_that_overflow_are_refused():
    rows = np.random.default_rng(7).standard_normal((60, 4)) * 1e150
    with pytest.raises(InvalidData, match=r"overflowed; scale the columns of X"):
        MLPRegressor(random_state=0, max_iter=5).fit(rows, rows[:, 0] / 1e150)
