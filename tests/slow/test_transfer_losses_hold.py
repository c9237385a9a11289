"""Transfer of real losses and picked misses, in worlds whose risks are known: they may fail in a fraction delta of the trials."""

import numpy as np
from tests.slow.rules import Cubic, Smooth
from tests.slow.worlds import Lattice, Wave, allowed

from surefit import Certified
from surefit.risk.carried import transfer_losses

DELTA = 0.2


def missed(world, prediction, tolerance):
    """Probability that the target is further than ``tolerance`` from the prediction, noise being uniform."""
    gap = prediction - world.truth(world.nodes)
    low, high = np.maximum(gap - tolerance, -world.noise), np.minimum(gap + tolerance, world.noise)
    return 1.0 - float(world.weights @ np.maximum(high - low, 0.0)) / (2 * world.noise)


def test_squared_and_absolute_errors_and_misses_of_a_wave():
    # World D: bounded noise, errors by quadrature.
    world, rng, trials = Wave(), np.random.default_rng(1), 150
    bad = dict.fromkeys(["squared", "absolute", "picked", "held out"], 0)
    nodes = world.nodes[:, None]
    for _ in range(trials):
        x, y = world.draw(rng, 60)
        X, fresh = x[:, None], world.draw(rng, 60)[0][:, None]
        common = {"confidence": 1 - DELTA, "random_state": int(rng.integers(2**31))}
        for name in ("squared", "absolute"):
            model = Certified(Cubic(5), "transfer", loss=name, y_range=(0, 1), **common).fit(X, y, X_unlabeled=fresh)
            bad[name] += risk(world, np.clip(model.predict(nodes), 0, 1), name) > model.risk_bound_
        for name, by in (("picked", "p2l"), ("held out", "holdout")):
            model = Certified(Cubic(5), by, tolerance=0.09, **common).fit(X, y)
            bad[name] += missed(world, model.predict(nodes), 0.09) > model.risk_bound_
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad
    assert bad["held out"] >= 0.2 * DELTA * trials  # Clopper-Pearson is not lazy


def risk(world, prediction, name):
    """Mean loss at the nodes: squared errors in closed form, absolute ones over the uniform noise."""
    if name == "squared":
        return world.mse(prediction)
    gap, a = np.abs(prediction - world.truth(world.nodes)), world.noise
    return float(world.weights @ np.where(gap >= a, gap, (gap * gap + a * a) / (2 * a)))


def test_brier_score_of_a_model_of_all_rows():
    # World C: finitely many inputs, drawn often, so equal rows are draws; fresh inputs are rows of X by chance, so they are moved.
    world, rng, trials, bad = Lattice(60, 4, 7), np.random.default_rng(2), 150, 0
    for _ in range(trials):
        _, X, t = world.draw(rng, 80)
        fresh = world.draw(rng, 80)[1] + 1e-12
        common = {
            "confidence": 1 - DELTA,
            "random_state": int(rng.integers(2**31)),
            "assume": ("equal_rows_are_draws",),
        }
        model = Certified(Smooth(), "transfer", loss="brier", **common).fit(X, t, X_unlabeled=fresh)
        p = model.predict_proba(world.points)[:, 1]
        bad += world.mean((1 - p) ** 2, p**2) > model.risk_bound_
    assert bad <= allowed(trials, DELTA)


def test_the_bound_itself_on_losses_and_excesses_of_known_means():
    # The risk of the model is at most the twin's plus the excess; here it is exactly that.
    rng, trials = np.random.default_rng(3), 4000
    for twin, excess in ((0.05, 0.01), (0.3, 0.2)):
        draws = rng.random((trials, 60)) < twin, rng.random((trials, 40)) < excess
        rows = zip(*(part.astype(np.float64) for part in draws), strict=True)
        bad = sum(twin + excess > transfer_losses(losses, more, DELTA).value for losses, more in rows)
        assert bad <= allowed(trials, DELTA)
