"""The network checker: gaps against an independent optimum, and every tampering found."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from surefit import MLPClassifier, MLPRegressor
from surefit.checks.networks.last_layer import losses, output_layer_gap
from surefit.checks.networks.passes import examine, forward, penalty_of, read_net, targets
from surefit.core.errors import CertificateError, Invalidated, InvalidData
from surefit.core.sample import read

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
        ("network.objective", lambda c: {"value": c.value * (1 - 1e-7)}),
        ("network.gradient", lambda c: {"value": c.value * 0.999}),
        ("network.gradient", lambda c: {"numbers": {"norm": c.numbers["norm"] * 0.999}}),
        ("network.gradient", lambda c: {"limit": 1.0}),
        ("network.output_gap", lambda c: {"value": c.value * 0.99}),
    ],
)
def test_a_wrong_claim_is_found(name, change):
    certificate = classifier(polish=True).certificate_
    claims = tuple(replace(c, **change(c)) if c.name == name else c for c in certificate.claims)
    with pytest.raises(CertificateError, match=name):
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


def objective_at(net, data, Y, packed):
    """J of the packed weights, by forward passes only."""
    coefs, intercepts, place = [], [], 0
    for matrix in net.coefs:
        coefs.append(packed[place : place + matrix.size].reshape(matrix.shape))
        place += matrix.size
    for bias in net.intercepts:
        intercepts.append(packed[place : place + len(bias)])
        place += len(bias)
    moved = net._replace(coefs=coefs, intercepts=intercepts)
    scores = forward(moved, np.asarray(data.X, dtype=float))[-1].sums
    return (float(np.sum(losses(scores, Y, net.problem["output"], net.problem["loss"]))) + penalty_of(moved)) / len(Y)


@IGNORE
@pytest.mark.parametrize(
    "activation", ["tanh", "logistic", "standard", "arctan", "gaussian", "cauchy_cdf", "normal_cdf", "identity"]
)
@pytest.mark.parametrize("loss", ["log_loss", "squared_error", "half_squares", "poisson"])
def test_gradient_is_that_of_central_differences(activation, loss):
    given = {"hidden_layer_sizes": (5, 3), "activation": activation, "random_state": 0, "max_iter": 3, "alpha": 0.3}
    if loss in ("log_loss", "squared_error"):
        model, y = MLPClassifier(loss=loss, **given).fit(X, Y3), Y3
    else:
        y = np.abs(X[:, 0])
        model = MLPRegressor("poisson" if loss == "poisson" else "squared_error", **given).fit(X, y)
    data, certificate = read(X, y), model.certificate_
    net, found = read_net(certificate, data), examine(certificate, data)
    Y = targets(certificate, data)[0]
    packed, h = certificate.model["packed_"], 1e-5
    assert objective_at(net, data, Y, packed) == pytest.approx(found.objective, rel=1e-12)
    for j, step in enumerate(h * np.eye(len(packed))):
        slope = (objective_at(net, data, Y, packed + step) - objective_at(net, data, Y, packed - step)) / (2 * h)
        assert slope == pytest.approx(found.gradient[j], rel=1e-6, abs=1e-8)
    assert np.max(found.gradient_radius) < 1e-11 and found.objective_radius < 1e-11


@IGNORE
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_radii_cover_what_another_order_of_summation_gives(activation):
    """The same network with its columns, units and rows in another order: the numbers move by less than both radii."""
    model = MLPClassifier((6,), activation=activation, random_state=0, max_iter=20).fit(X, Y3)
    order, rows = np.random.default_rng(1).permutation(6), np.random.default_rng(2).permutation(60)
    A, B = model.coefs_
    packed = np.concatenate(
        [A[::-1][:, order].ravel(), B[order].ravel(), model.intercepts_[0][order], model.intercepts_[1]]
    )
    certificate = model.certificate_
    other = replace(certificate, model={**certificate.model, "packed_": packed}, seal="", subject=None)
    one, two = examine(certificate, read(X, Y3)), examine(other, read(X[rows][:, ::-1].copy(), Y3[rows]))
    assert abs(one.objective - two.objective) <= one.objective_radius + two.objective_radius
    first = [part[:24].reshape(4, 6) for part in (one.gradient, one.gradient_radius)]
    second = [part[:24].reshape(4, 6) for part in (two.gradient, two.gradient_radius)]
    assert np.all(np.abs(first[0][::-1][:, order] - second[0]) <= first[1][::-1][:, order] + second[1])


@IGNORE
def test_slopes_that_overflow_are_refused():
    rows = np.random.default_rng(7).standard_normal((60, 4)) * 1e150
    with pytest.raises(InvalidData, match=r"overflowed; scale the columns of X"):
        MLPRegressor(random_state=0, max_iter=5).fit(rows, rows[:, 0] / 1e150)
