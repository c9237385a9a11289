"""Claims of a fitted tree and their witnesses; the checker computes the numbers."""

from __future__ import annotations

import numpy as np

from surefit.bounds.code_length import occam, tree_bits
from surefit.core.claims import Claim
from surefit.solvers.trees import FlatTree, Rules, apply
from surefit.solvers.trees.candidates import Candidates
from surefit.solvers.trees.flat import THRESHOLD
from surefit.trees.prune import CostComplexity, Outcome, ReducedError


def make_claims(estimator, sample, outcome: Outcome, rules: Rules) -> list[Claim]:
    """Return the claims about splits, gains, leaves, limits, pruning and Occam's bound."""
    constrained = sample.monotone is not None and sample.monotone.any()
    claims = [_splits(sample, rules, constrained), Claim("tree.accounting")]
    claims += [Claim("tree.leaves"), *([Claim("tree.monotone")] if constrained else []), Claim("tree.limits")]
    if isinstance(outcome.record, CostComplexity):
        claims.append(Claim("tree.pruning", witness=whole_tree(outcome.whole)))
    if isinstance(outcome.record, ReducedError):
        rows = {"rows": np.asarray(outcome.grown_on), "validation_rows": outcome.record.validation_rows}
        claims.append(Claim("tree.reduced_error", witness={**whole_tree(outcome.whole), **rows}))
    if sample.declared is not None:
        claims.append(_occam(estimator, sample, outcome.tree))
    return claims


def _splits(sample, rules: Rules, constrained: bool) -> Claim:
    if rules.random_cuts or rules.max_features < len(sample.values):
        return Claim("tree.random_splits")
    if constrained:
        return Claim("tree.constrained_splits")
    if sample.bins is None or sample.declared is not None:
        return Claim("tree.splits")
    counts = np.where(sample.categories > 0, 0, sample.bins.counts - 1)
    return Claim("tree.splits", witness=edges_of(sample.bins.edges, counts))


def claims_of_partitions(candidates: Candidates, outcome: Outcome, rules: Rules, constrained: bool) -> list[Claim]:
    """Return the claims of a tree fitted to partitioned rows; splits are compared with the candidate thresholds."""
    first = Claim("tree.candidate_splits", witness=edges_of(candidates.edges, candidates.counts))
    if rules.random_cuts or rules.max_features < len(candidates.counts):
        first = Claim("tree.random_splits")
    elif constrained:
        first = Claim("tree.constrained_splits")
    claims = [first, Claim("tree.accounting"), Claim("tree.leaves"), Claim("tree.limits")]
    claims += [Claim("tree.monotone")] if constrained else []
    if isinstance(outcome.record, CostComplexity):
        claims.append(Claim("tree.pruning", witness=whole_tree(outcome.whole)))
    return claims


def edges_of(edges: np.ndarray, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return candidate thresholds as a witness."""
    used = [row[:count] for row, count in zip(edges, counts, strict=True)]
    return {"edges": np.concatenate([np.empty(0), *used]), "edge_counts": counts.astype(np.int64)}


def whole_tree(tree: FlatTree) -> dict[str, np.ndarray]:
    """Return the arrays with which a checker can apply the tree before pruning."""
    names = ("kind", "feature", "threshold", "left", "right", "missing_left", "start", "words", "branches")
    return {**{f"whole_{name}": np.asarray(getattr(tree, name)) for name in names}, "whole_value": tree.values}


def _occam(estimator, sample, tree: FlatTree) -> Claim:
    """Return the risk bound for thresholds declared in advance; empty if the code does not cover the tree."""
    if (
        not sample.n_classes
        or sample.y.ndim == 2
        or sample.categories.any()
        or np.isnan(sample.values).any()
        or sample.weights is not None
    ):
        return Claim("tree.occam_unclaimed")
    n_splits = int(np.count_nonzero(tree.kind == THRESHOLD))
    declared = max(max(len(item) for item in sample.declared), 1)
    bits = tree_bits(n_splits, len(sample.values), declared, sample.n_classes) * (1 + 1e-13)
    errors, n = n_errors(sample, tree), len(sample.y)
    bound = occam(errors, n, bits, float(estimator.delta))
    return Claim(
        "tree.occam",
        float(bound.value),
        numbers={"errors": errors, "n": n, "bits": bits, "delta": float(estimator.delta)},
    )


def n_errors(sample, tree: FlatTree) -> int:
    """Return the number of training errors of the tree."""
    estimate = tree.values.argmax(axis=1)
    return int(np.count_nonzero(estimate[apply(tree, sample.values.T)] != sample.y))
