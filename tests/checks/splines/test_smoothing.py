"""The checker of smoothing splines: its second road, true bounds of wrong answers, and refusals of false claims."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.splines import exact

from surefit import CertificateError, Invalidated, SmoothingSpline
from surefit.checks.splines import bounds as spline_bounds
from surefit.checks.splines import rotations as spline_rotations
from surefit.checks.splines.smoothing import prove
from surefit.solvers import spline


def sample(n=40, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    if ties:
        x[:5] = x[5:10]
        x[10] = x[11] + 1e-6
    return x, np.sin(7 * x) + 0.3 * rng.standard_normal(n), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("origin", [None, 0.0])
@pytest.mark.parametrize("lam", [1e-1, 1e-5, 1e-9])
def test_two_roads_meet(degree, origin, lam):
    x, y, s = sample()
    problem, line = spline.fold(x, y, s, degree, origin), spline_rotations.line(x, y, s, origin)
    curve, found = spline.trace(problem, lam), spline_rotations.solve(line, degree, lam)
    assert np.allclose(curve.values, found.values, rtol=0, atol=1e-9)
    assert np.allclose((1 - curve.residual_diagonal) / problem.weights, found.variances, rtol=1e-7, atol=0)
    for name in ("gcv", "loo"):
        ours = spline.score(problem, lam, name)
        assert ours == pytest.approx(spline_rotations.criterion(line, degree, lam, name), rel=1e-7)
    other = 3 * lam  # the likelihoods differ by a constant
    ours = spline.score(problem, lam, "reml") - spline.score(problem, other, "reml")
    theirs = [spline_rotations.criterion(line, degree, value, "reml") for value in (lam, other)]
    assert ours == pytest.approx(theirs[0] - theirs[1], rel=1e-7)


def test_two_roads_meet_in_several_blocks():
    x, y, s = sample(3 * spline_rotations.BLOCK)
    problem, line = spline.fold(x, y, s, 3, None), spline_rotations.line(x, y, s, None)
    assert len(line.knots) > 2 * spline_rotations.BLOCK
    curve, found = spline.trace(problem, 1e-4), spline_rotations.solve(line, 3, 1e-4)
    assert np.allclose(curve.values, found.values, rtol=0, atol=1e-9)
    assert np.allclose((1 - curve.residual_diagonal) / problem.weights, found.variances, rtol=1e-7, atol=0)


def test_likelihood_is_that_of_the_gaussian():
    """Restricted likelihood of contrasts, from dense matrices."""
    x, y, s = sample(12, ties=False)
    line = spline.fold(x, y, s, 3, None)
    x, y, s = line.knots, line.targets, line.weights
    low, high = np.minimum.outer(x, x), np.maximum.outer(x, x)
    K, T = high * low**2 / 2 - low**3 / 6, np.vander(x, 2)

    def dense(lam):
        V = np.diag(1 / s) + K / (s.sum() * lam)
        inverse = np.linalg.inv(V)
        G = T.T @ inverse @ T
        energy = y @ (inverse - inverse @ T @ np.linalg.solve(G, T.T @ inverse)) @ y
        free = s.sum() - 2
        return free * np.log(energy / free) + np.linalg.slogdet(V)[1] + np.linalg.slogdet(G)[1]

    for lam in (1e-2, 1e-5):
        ours = spline.score(line, lam, "reml") - spline.score(line, 2 * lam, "reml")
        assert ours == pytest.approx(dense(lam) - dense(2 * lam), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-7, 1e-1))
def test_bound_covers_the_error_of_perturbed_values(seed, size):
    """Values moved at random: the proved distance is never below the true one, computed in rationals."""
    x, y, s = sample(12, seed, ties=False)
    knots, values, _ = exact.cubic(x, y, s, 1e-4)
    model = SmoothingSpline(lam=1e-4).fit(x, y, s)
    coef = model.coef_.copy()
    coef[0] += size * np.random.default_rng(seed).standard_normal(len(knots))
    line = spline_rotations.line(x, y, s, None)
    dual = model.certificate_["smoothing_spline.gap"].witness["dual"][:, 0]
    for theta in (dual, line.weights * (line.targets + line.offset - coef[0])):
        proof = prove(line, 3, 1e-4, coef, theta)
        assert proof.fine.distance >= np.max(np.abs(coef[0] - values)) * (1 - 1e-9)


@pytest.mark.parametrize("criterion", ["gcv", "loo", "reml"])
@pytest.mark.parametrize("degree", [1, 3])
def test_verification_finds_every_claim_true(criterion, degree):
    x, y, s = sample()
    found = SmoothingSpline(degree, lam=criterion).fit(x, y, s).verify(x, y, s)
    assert [finding.ok for finding in found.findings] == [True] * 6
    assert found["smoothing_spline.values"].proved < 1e-9


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("origin", [None, -0.1])
def test_bounds_do_not_depend_on_blocks(monkeypatch, degree, origin):
    x, y, s = sample()
    form = {} if origin is None else {"form": "special", "origin": origin}
    model, line = SmoothingSpline(degree, lam=1e-4, **form).fit(x, y, s), spline_rotations.line(x, y, s, origin)
    coef = model.coef_ * (1 + 1e-3 * np.random.default_rng(0).standard_normal(model.coef_.shape))
    duals = model.certificate_["smoothing_spline.gap"].witness["dual"][:, 0], 1.0 + line.weights * line.targets
    for dual in duals:
        whole = prove(line, degree, 1e-4, coef, dual)
        for size in (1, 3, len(line.knots) - 1, len(line.knots)):
            monkeypatch.setattr(spline_bounds, "BLOCK", size)
            parts = prove(line, degree, 1e-4, coef, dual)
            assert parts.fine == pytest.approx(whole.fine, rel=1e-9, abs=1e-25)
            assert parts.plain == pytest.approx(whole.plain, rel=1e-9, abs=1e-25)
        monkeypatch.undo()


def tampered(model, name, **changes):
    """The certificate with one claim changed and sealed again, as a liar would."""
    certificate = model.certificate_
    claims = tuple(replace(claim, **changes) if claim.name == name else claim for claim in certificate.claims)
    return replace(certificate, claims=claims, seal="", subject=None)


def test_false_claims_are_refused():
    x, y, _ = sample()
    model = SmoothingSpline().fit(x, y)
    X = x[:, None]
    with pytest.raises(CertificateError, match=r"smoothing_spline.edof"):
        tampered(model, "smoothing_spline.edof", numbers={"edof": model.edof_ + 0.1}).verify(X, y)
    with pytest.raises(CertificateError, match=r"smoothing_spline.(gap|values)"):
        coef = model.coef_.copy()
        coef[0, 7] += 1e-6
        moved = replace(model.certificate_, model={**model.certificate_.model, "coef_": coef}, seal="", subject=None)
        moved.verify(X, y)
    with pytest.raises(CertificateError, match=r"smoothing_spline.derivatives"):
        coef = model.coef_.copy()
        coef[2, 7] *= 1.5
        bent = replace(model.certificate_, model={**model.certificate_.model, "coef_": coef}, seal="", subject=None)
        bent.verify(X, y)
    with pytest.raises(CertificateError, match=r"smoothing_spline.gap"):
        wrong = {"dual": 1.01 * model.certificate_["smoothing_spline.gap"].witness["dual"]}
        tampered(model, "smoothing_spline.gap", witness=wrong).verify(X, y)


def test_a_lambda_that_is_not_the_best_is_refused():
    x, y, _ = sample()
    chosen = SmoothingSpline().fit(x, y)
    other = SmoothingSpline(lam=1.05 * chosen.lam_).fit(x, y)
    claims = (*other.certificate_.claims, chosen.certificate_["smoothing_spline.choice"])
    content = {"problem": {**chosen.certificate_.problem, "lam": [other.lam_]}, "params": chosen.certificate_.params}
    liar = replace(other.certificate_, claims=claims, **content, seal="", subject=None)
    with pytest.raises(CertificateError, match=r"smoothing_spline.choice"):
        liar.verify(x[:, None], y)


def test_an_altered_model_is_noticed():
    x, y, _ = sample()
    model = SmoothingSpline().fit(x, y)
    model.coef_[0, 3] += 1e-9
    with pytest.raises(Invalidated, match="coef_ was changed after the fit"):
        model.verify(x, y)


def test_certificate_survives_as_text():
    x, y, s = sample()
    model = SmoothingSpline().fit(x, y, s)
    again = type(model.certificate_).from_json(model.certificate_.to_json())
    assert again.verify(x[:, None], y, s)["smoothing_spline.gap"].ok
