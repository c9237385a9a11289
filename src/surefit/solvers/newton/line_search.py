"""Line search along a Newton direction: Armijo's rule, and a secant step at jumps of the curvature."""

import numpy as np

BACKTRACKS = 30


def line_search(at, dW, db, V) -> bool:
    """Move the solver's point ``at`` along the direction, ``V = X dW + db``; return whether the objective decreased."""
    slope = float(np.vdot(at.G, dW)) + float(at.derivatives.sum(axis=0) @ db)  # of the loss along the direction
    decrease = slope + at.penalty(at.W + dW) - at.penalty(at.W)
    noise = 1e-15 * abs(at.value) * np.sqrt(at.rows.shape[0])  # below this level only the gap distinguishes points
    if not np.isfinite(decrease) or decrease >= noise:
        return False
    # Freed while those of the next point are computed; if there is none, they are computed again.
    at.terms = at.derivatives = at.state = None
    t = 1.0
    for _ in range(BACKTRACKS):
        W, Z = at.W + t * dW, at.Z + t * V
        terms = at.scores.evaluate(Z)
        value = terms[0] + at.penalty(W)
        if value <= at.value + 1e-4 * t * decrease + (noise if -decrease < 1e3 * noise else 0.0):
            at.W, at.b, at.Z, at.terms = W, at.b + t * db, Z, terms
            return True
        t = _flat_point(at, dW, V, slope, t, terms) if at.l1 == 0.0 else 0.5 * t
    return False


def _flat_point(at, dW, V, slope: float, t: float, terms) -> float:
    """Return a step between 0 and t at which the derivative of the convex objective along the direction is nearly zero.

    Halving would repeatedly stop just before a kink, where the curvature jumps.
    """

    def derivative(t, slope):
        return slope + at.l2 * float(np.vdot(at.W + t * dW, dW))

    low, high = 0.0, t
    at_low, at_high = derivative(0.0, slope), derivative(t, float(np.vdot(terms[1], V)))
    first = abs(at_low)
    for _ in range(BACKTRACKS):
        if not at_low < 0.0 < at_high:
            return 0.5 * (low + high)
        secant = low - at_low * (high - low) / (at_high - at_low)
        t = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        middle = derivative(t, float(np.vdot(at.scores.evaluate(at.Z + t * V)[1], V)))
        if abs(middle) <= 0.1 * first:
            return t
        low, high, at_low, at_high = (t, high, middle, at_high) if middle < 0.0 else (low, t, at_low, middle)
    return low if low > 0.0 else high
