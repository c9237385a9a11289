"""What a finished walk lets us claim, each claim with the evidence that the checker needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.bounds import online_mistakes
from surefit.core.claims import Claim
from surefit.perceptrons.novikoff import general_bound
from surefit.perceptrons.problem import Labelled
from surefit.separation.margin import margin_bracket
from surefit.solvers.perceptron_walk import CYCLE, SEPARATED

UNIT = 2.0**-53
SURE = 1 + 2.0**-40  # margins are moved outwards by more than their own rounding


def walk_claims(
    walk, data: Labelled, start: np.ndarray, number: int, about: str, theorem: str, aside: bool = False
) -> list[Claim]:
    """Claims about the run on one two-class problem; ``start`` are the weights and the offset it started from.

    ``aside``: some rows were never visited, so that a clean pass says nothing about all of them.
    """
    separated = walk.ending == SEPARATED and not aside
    witness = {"rows": walk.log.row[: walk.logged].copy(), "after_pass": np.array(walk.after_pass), "start": start}
    if walk.logged < walk.updates:
        witness["counts"] = walk.counts.copy()
    if walk.schedule is not None:
        witness["factors"] = np.asarray(walk.schedule(np.arange(1.0, walk.logged + 1)), dtype=np.float64)
    shared: dict[str, Any] = {"about": about}
    claims = bracket_claims(walk, data, start, number, about, theorem) if separated else []
    claims.append(
        Claim(
            "perceptron.replay",
            "process_fact",
            f"Each of the {walk.logged} logged updates was made on a mistake, and all {walk.updates} updates add up to the "
            "weights.",
            value=0.0,
            limit=0.0,
            numbers={"problem": number, "updates": walk.updates},
            witness=witness,
            **shared,
        )
    )
    if walk.logged:
        claims.append(
            Claim(
                "perceptron.growth",
                "process_fact",
                "After every update the squared norm of the weights exceeds what the theorem grants by at most zero.",
                value=0.0,
                limit=0.0,
                numbers={"problem": number},
                **shared,
            )
        )
    if not separated:
        claims += unfinished_claims(walk, data, start, number, about)
    return claims


def bracket_claims(walk, data: Labelled, start: np.ndarray, number: int, about: str, theorem: str) -> list[Claim]:
    """The margin bracket and the mistake bound of a run that ended with a clean pass."""
    rule, beta = walk.rule, walk.rule.bias_step
    w, b = walk.w, walk.offset
    norm = math.sqrt(float(w @ w) + (b * b / beta if beta else 0.0))
    if norm == 0.0:  # a rule that lets zero margins pass can end where it began
        return [Claim("perceptron.zero", "no_claim", "The weights are zero: no update was needed, no margin exists.")]
    margins = walk.t * (np.asarray(data.X @ w).ravel() + b)
    low = float(np.min(margins)) / norm
    low -= 4 * (len(w) + 6) * UNIT * math.sqrt(rule.radius_square)
    at, up = least_upper_margin(walk, start)
    steps = (rule.step_minus, rule.step_plus)
    start_square = float(start[:-1] @ start[:-1]) + (start[-1] ** 2 / beta if beta else 0.0)
    along = (float(start[:-1] @ w) + (start[-1] * b / beta if beta else 0.0)) / norm
    bound = general_bound(
        rule.radius_square * SURE,
        low,
        start_square,
        along,
        least_step=min(steps),
        largest_step=max(steps),
        threshold=max(rule.cut_minus, rule.cut_plus, 0.0),
    )
    radius = math.sqrt(rule.radius_square)
    numbers = {"problem": number, "radius": radius, "at_update": at}
    geometry = "" if not beta else f", with the constant feature {math.sqrt(beta):.4g} appended to every row"
    claims = [
        Claim(
            "perceptron.margin",
            "data_fact",
            f"{'The rows are separable: the' if low > 0 else 'The'} largest margin of any direction lies between {low:.6g} "
            f"and {up:.6g}{geometry}.",
            value=low,
            limit=up,
            about=about,
            numbers=numbers,
        )
    ]
    if beta and abs(walk.t.sum()) < len(walk.t):  # rows of one class lie as far from a hyperplane as one likes
        claims.append(_geometric_claim(walk, data, about, number))
    if theorem and walk.schedule is None and low > 0:
        claims.append(
            Claim(
                theorem,
                "process_fact",
                f"{walk.updates} updates were made; rows of norm <= {radius:.6g} with margin {low:.6g} allow {bound:.6g}.",
                value=float(walk.updates),
                limit=bound,
                about=about,
                numbers={**numbers, "gamma_low": low, "gamma_up": up, "start_norm": math.sqrt(start_square)},
            )
        )
    return claims


def _geometric_claim(walk, data: Labelled, about: str, number: int) -> Claim:
    """The bracket of the margin in the space of the rows: the offset is free, and only ``w`` is divided by."""
    bracket = margin_bracket(data.X, walk.t, walk.w, walk.offset, alpha=walk.counts)
    return Claim(
        "perceptron.geometric_margin",
        "data_fact",
        f"Distances to the widest hyperplane: the smallest lies between {bracket.low:.6g} and {bracket.up:.6g}.",
        value=bracket.low,
        limit=bracket.up,
        about=about,
        numbers={"problem": number},
        witness={"alpha": bracket.alpha},
    )


def least_upper_margin(walk, start: np.ndarray) -> tuple[int, float]:
    """Return the update after which ``|w_j - w_0| / sum of steps`` is smallest (-1: the last one), and that number."""
    beta = walk.rule.bias_step
    if walk.updates == 0:
        return -1, math.inf
    if not np.any(start) and walk.logged == walk.updates and walk.schedule is None:
        steps = walk.steps_taken()
        # squared norms are sums of margins, each off by the last places of weights times rows
        longest = max(steps) * walk.largest_norm() * math.sqrt(walk.rule.radius_square)
        off = 4 * UNIT * longest * np.arange(1.0, len(steps) + 1)
        norms = np.sqrt(np.maximum(walk.squared_norms(), 0.0) + off) / np.cumsum(steps)
        at = int(np.argmin(norms))
        if norms[at] > 1e-6 * norms[0]:  # smaller ones may be rounding
            return at + 1, float(norms[at]) * SURE
    return -1, _final_upper_margin(walk, start, beta)


def _final_upper_margin(walk, start: np.ndarray, beta: float) -> float:
    rule = walk.rule
    moved, offset = walk.w - start[:-1], walk.offset - start[-1]
    if walk.same_steps:
        total = walk.updates * rule.step_plus
    elif walk.schedule is None:
        plus = int(np.sum(walk.counts[walk.t > 0], dtype=np.int64))
        total = plus * rule.step_plus + (walk.updates - plus) * rule.step_minus
    else:
        total = math.fsum(walk.schedule(np.arange(1.0, walk.updates + 1))) * rule.step_plus
    size = math.sqrt(float(moved @ moved) + (offset * offset / beta if beta else 0.0))
    rounding = 4 * UNIT * walk.updates * walk.largest_norm()
    return (size + rounding) / total * SURE


def unfinished_claims(walk, data: Labelled, start: np.ndarray, number: int, about: str) -> list[Claim]:
    """What remains to say when no pass was clean."""
    claims = []
    if walk.ending == CYCLE and walk.logged == walk.updates:
        begin, end = walk.cycle
        first = walk.after_pass[begin - 1] if begin else 0
        alpha = np.bincount(walk.log.row[first : walk.after_pass[end - 1]], minlength=len(walk.t))
        if _cancels(data, walk.t, alpha, walk.rule):
            claims.append(
                Claim(
                    "perceptron.cycle",
                    "data_fact",
                    f"The rows are not separable: the updates of passes {begin + 1} to {end} cancel, and the run repeats "
                    "itself for ever.",
                    value=0.0,
                    limit=0.0,
                    about=about,
                    numbers={"problem": number, "begin": begin, "end": end},
                    witness={"alpha": alpha},
                )
            )
    if walk.updates:
        up = _final_upper_margin(walk, start, walk.rule.bias_step)
        claims.append(
            Claim(
                "perceptron.margin_at_most",
                "data_fact",
                f"No direction has a margin of more than {up:.6g}.",
                value=up,
                about=about,
                numbers={"problem": number, "at_update": -1},
            )
        )
    claims.append(
        Claim(
            "perceptron.unfinished",
            "no_claim",
            f"No pass was clean ({walk.ending}): nothing is claimed about the number of updates to come.",
            about=about,
            numbers={"problem": number},
        )
    )
    return claims


def _cancels(data: Labelled, t: np.ndarray, alpha: np.ndarray, rule) -> bool:
    """Whether the updates of a cycle add up to exactly nothing; only then do they prove anything."""
    if rule.step_minus != rule.step_plus:
        return False
    rows = np.flatnonzero(alpha)
    part = data.X[rows].toarray() if hasattr(data.X, "toarray") else data.X[rows]
    # Each product is split into two floats without error, so that fsum sees the exact terms.
    signed, values = (alpha * t)[rows], np.asarray(part, dtype=np.float64)
    small = np.max(np.abs(signed), initial=0.0) < 2**20
    exact = small and all(_exact_sum(signed, column) == 0.0 for column in values.T)
    return bool(exact and (rule.bias_step == 0.0 or signed.sum() == 0))


def _exact_sum(whole: np.ndarray, column: np.ndarray) -> float:
    head = np.frexp(column)
    high = np.ldexp(np.rint(np.ldexp(head[0], 26)), head[1] - 26)  # 26 bits: the product with a small integer is exact
    return math.fsum(np.concatenate([whole * high, whole * (column - high)]))


def risk_claim(mistakes: int, n: int, delta: float, order: np.ndarray | None, trivial: float, extra: tuple) -> Claim:
    """The risk bound that the mistakes of the first pass pay for."""
    bound = online_mistakes(mistakes, n, delta).compared_with(trivial)
    return Claim(
        "perceptron.risk",
        "risk_bound",
        bound.statement,
        value=bound.value,
        about=bound.about,
        assumptions=(*bound.assumptions, *extra),
        confidence=bound.confidence,
        numbers={"errors": mistakes, "n": n, "delta": delta, "ceiling": bound.ceiling},
        witness={} if order is None else {"order": order.copy()},
    )


def vote_risk_claim(single: Claim) -> Claim:
    """Return the risk bound of the vote of all weights of one pass: twice their mean risk, and two visits more or less."""
    value = min(1.0, 2 * (single.value + 1 / single.numbers["n"]))
    tail = ", which is vacuous" if value >= single.numbers["ceiling"] else ""
    return Claim(
        "perceptron.vote_risk",
        "risk_bound",
        f"risk of the vote <= {value:.4g} with confidence {single.confidence:g}{tail} (assumes {', '.join(single.assumptions)})",
        value=value,
        about="this fitted model",
        assumptions=single.assumptions,
        confidence=single.confidence,
    )
