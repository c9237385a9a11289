r"""Checks what averaged, voted, scheduled and margin perceptrons claim beyond the plain one."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, times, transposed_times
from surefit.checks.perceptron import labels_of, log_of, lowest_margin, outside, path_of, problem_of
from surefit.checks.perceptron_replay import Path, replay, squared_lengths
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("perceptron.average")
def check_average(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The weights are the mean of those held after each visit: update ``j`` counts for the visits from it on."""
    path, visits, total = path_of(certificate, claim, data), claim.witness["visits"], int(claim.numbers["visits"])
    p = problem_of(claim)
    share = (total - visits) / total
    ordered = len(visits) == len(path.rows) and bool(np.all(np.diff(visits) > 0)) and bool(np.all(share > 0))
    signed = np.bincount(path.rows, path.steps * path.t[path.rows] * share, minlength=len(path.t))
    size = np.bincount(path.rows, path.steps, minlength=len(path.t))
    rows = np.flatnonzero(size)
    part = path.X[rows]
    mean = transposed_times(part, signed[rows])
    rad = gamma(4 * len(path.rows) + 16) * (transposed_times(abs(part), size[rows]).magnitude + np.abs(path.w))
    w = Enclosed(path.w + mean.mid, mean.rad + rad)
    offset = path.b + path.bias_step * math.fsum(signed)
    b_rad = gamma(4 * len(path.rows) + 16) * (abs(path.b) + path.bias_step * float(size.sum()))
    model = certificate.model
    differs = outside(model["coef_"][p], w)
    differs += outside(np.array([model["intercept_"][p]]), Enclosed(np.array([offset]), np.array([b_rad])))
    found = float(differs + (not ordered))
    return Finding(claim.name, claim.value, found, found == 0, "enclosed", f"mean over {total} visits recomputed.")


@checker("perceptron.votes")
def check_votes(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The survivals are the visits between updates, and the signs are those of the rows."""
    p, model = problem_of(claim), certificate.model
    begin, end = model["problem_starts_"][p : p + 2]
    visits, total = claim.witness["visits"], int(claim.numbers["visits"])
    path = path_of(certificate, claim, data)
    expected = np.diff(np.concatenate([[0], visits, [total]]))
    wrong = int(not np.array_equal(model["survivals_"][begin + p : end + p + 1], expected))
    wrong += int(np.any(expected < 0)) + int(not np.array_equal(model["update_sign_"][begin:end], path.t[path.rows]))
    return Finding(
        claim.name, claim.value, float(wrong), wrong == 0, "exact", f"{end - begin + 1} voters counted again."
    )


@checker("perceptron.vote_risk")
def check_vote_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """A wrong vote needs half of the voters wrong; the voters differ from the tested weights in two visits at most."""
    single = certificate["perceptron.risk"]
    proved = min(1.0, 2 * (single.value + 1 / single.numbers["n"]))
    one_pass = len(log_of(certificate, claim)["after_pass"]) == 1
    ok = one_pass and claim.value >= proved * (1 - 1e-12)
    return Finding(claim.name, claim.value, proved, ok, "enclosed", "twice the mean risk of the voters.")


@checker("perceptron.prefix")
def check_prefix(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """After every update: margin times sum of steps <= sqrt(2 threshold S + R^2 Q)."""
    path, low = path_of(certificate, claim, data), lowest_margin(certificate, claim, data)
    largest = float(np.max(squared_lengths(data.X, path.bias_step).magnitude))
    threshold = max(0.0, *certificate.problem["cuts"])
    S, Q = np.cumsum(path.steps), np.cumsum(path.steps**2)
    slack = 1 + gamma(len(S) + 16)
    allowed = np.sqrt(2 * threshold * S + largest * Q)
    proved, surely = (float(np.max(margin * S / allowed)) for margin in low)
    ok = low[0] > 0 and proved / slack <= max(claim.value, 1.0)
    level = "enclosed" if surely * slack <= 1 else "recomputed"
    return Finding(claim.name, claim.value, proved, ok, level, f"checked after {len(S)} updates.")


@checker("perceptron.unit_margin", "perceptron.unit_margin_at_most", "perceptron.wanted_margin")
def check_unit_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Bounds of the largest margin on rows of unit length."""
    if claim.name == "perceptron.unit_margin_at_most":
        up = _unit_upper(certificate, claim, data)
        level = "enclosed" if claim.value >= up[1] else "recomputed"
        return Finding(claim.name, claim.value, up[1], claim.value >= up[0], level, "from the sum of the updates.")
    low = _unit_lower(certificate, claim, data)
    if claim.name == "perceptron.wanted_margin":
        wanted = (1 - certificate.problem["epsilon"]) * claim.numbers["gamma"]
        short = max(0.0, wanted - low[1])
        ok = short <= claim.value or short <= 1e-12
        return Finding(claim.name, claim.value, max(0.0, wanted - low[0]), ok, "enclosed", f"margin {low[0]:.6g}.")
    up = _unit_upper(certificate, claim, data)
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low[1] and limit >= up[0]
    level = "enclosed" if claim.value <= low[0] and limit >= up[1] else "recomputed"
    message = f"the weights have margin {low[0]:.6g}; no direction has more than {up[1]:.6g}."
    return Finding(claim.name, claim.value, low[0], ok, level, message)


@checker("perceptron.margin_updates")
def check_margin_updates(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every update was made inside the margin, together they give the weights, and there are no more than allowed."""
    path = _unit_path(certificate, claim, data, claim.witness["rows"])
    run, k = replay(path), len(path.rows)
    share = (1 - certificate.problem["epsilon"]) * claim.numbers["gamma"]
    before = np.concatenate([[0.0], np.sqrt(np.maximum(run.squares.mid + run.squares.rad, 0.0))[:-1]])
    margins = (run.margins.mid - run.margins.rad) * path.steps
    outside_margin = margins > share * before * (1 + 1e-12) + 1e-12
    wrong = int(np.sum(outside_margin[1:]))
    model, p = certificate.model, problem_of(claim)
    differs = outside(model["coef_"][p], run.w) + outside(np.array([model["intercept_"][p]]), run.b)
    allowed = math.inf if claim.limit is None else claim.limit
    if math.isfinite(allowed):
        allowed = most_margin_updates(claim.numbers["gamma"], certificate.problem["epsilon"], k)
    ok = wrong == 0 and differs == 0 and claim.value == k and k <= allowed
    message = f"{k} updates replayed; {wrong} were outside the margin, {differs} weights differ from their sum."
    return Finding(claim.name, claim.value, float(k), ok, "enclosed", message)


def most_margin_updates(margin: float, epsilon: float, at_least: int) -> float:
    """Largest ``k`` with ``k gamma <= s_k``, or ``at_least`` as soon as that many are seen to be allowed."""
    s, k = 1.0, 1
    while k < at_least:
        s = math.sqrt(s * s + 2 * (1 - epsilon) * margin * s + 1)
        if (k + 1) * margin > s * (1 + 1e-9):
            return k
        k += 1
    return max(k, at_least)


def _unit_path(certificate: Certificate, claim: Claim, data: Data, rows: np.ndarray) -> Path:
    t, beta = labels_of(certificate, claim, data), certificate.problem["bias_step"]
    rows = rows.astype(np.int64)
    lengths = np.sqrt(squared_lengths(data.X, beta).mid)
    d = data.X.shape[1]
    return Path(data.X, t, rows, 1 / lengths[rows], beta, np.zeros(d), 0.0, relative=2.0 * (d + 8))


def _unit_lower(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    model, p = certificate.model, problem_of(claim)
    w, b = model["coef_"][p].astype(np.float64), float(model["intercept_"][p])
    t, beta = labels_of(certificate, claim, data), certificate.problem["bias_step"]
    scores, lengths = times(data.X, w), np.sqrt(squared_lengths(data.X, beta).mid)
    mid = t * (scores.mid + b) / lengths
    rad = (scores.rad + 8 * UNIT * (np.abs(scores.mid) + abs(b))) / lengths + gamma(data.X.shape[1] + 8) * np.abs(mid)
    norm = math.sqrt(math.fsum(w * w) + (b * b / beta if beta else 0.0))
    low, high = float(np.min(mid - rad)) / norm, float(np.min(mid + rad)) / norm
    return low - 16 * UNIT * abs(low), high + 16 * UNIT * abs(high)


def _unit_upper(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    """Length of the mean of signed unit rows, weighted as the claim says or as the model's own log does."""
    t, beta = labels_of(certificate, claim, data), certificate.problem["bias_step"]
    counts = claim.witness.get("counts")
    if counts is None:
        rows = next(
            other.witness["rows"]
            for other in certificate.claims
            if other.name == "perceptron.margin_updates" and problem_of(other) == problem_of(claim)
        )
        counts = np.bincount(rows, minlength=len(t))
    if np.any(counts < 0) or not np.any(counts):
        return math.inf, math.inf
    used = np.flatnonzero(counts)
    lengths = np.sqrt(squared_lengths(data.X, beta).mid)[used]
    weights = counts[used] * t[used] / lengths
    part = data.X[used]
    total = transposed_times(part, weights)
    slack = gamma(data.X.shape[1] + 12) * transposed_times(abs(part), np.abs(weights)).magnitude
    rad, k = total.rad + slack, float(counts.sum())
    offset, offset_rad = math.fsum(weights) * beta, gamma(data.X.shape[1] + 12) * float(np.sum(np.abs(weights))) * beta
    norms = []
    for sign in (-1, 1):
        size = np.maximum(np.abs(total.mid) + sign * rad, 0.0)
        shift = max(abs(offset) + sign * offset_rad, 0.0)
        norms.append(
            math.sqrt(math.fsum(size * size) + (shift * shift / beta if beta else 0.0)) / k * (1 + sign * 8 * UNIT)
        )
    return norms[0], norms[1]
