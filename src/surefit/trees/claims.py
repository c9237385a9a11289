"""What a tree claims, in words and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.code_length import occam, tree_bits
from surefit.core.claims import Claim
from surefit.solvers.trees import FlatTree, Rules, apply
from surefit.solvers.trees.flat import LEAF, THRESHOLD
from surefit.trees.prune import CostComplexity, Outcome, ReducedError, impurity_risk, node_risk

#: Share of the root's impurity that rounding and ties may hide.
ROUNDING = 1e-9


def problem_of(estimator, sample, rules: Rules, class_weights: np.ndarray | None) -> dict[str, Any]:
    """Return the problem in the checker's words."""
    return {
        "task": "classification" if sample.n_classes else "regression",
        "criterion": "entropy" if sample.criterion == "log_loss" else sample.criterion,
        "class_weights": None if class_weights is None else [float(w) for w in class_weights],
        "categorical": sorted(estimator.categories_),
        "multiway": bool(rules.multiway),
        "min_samples_leaf": rules.min_samples_leaf,
        "min_samples_split": rules.min_samples_split,
        "min_weight_leaf": rules.min_weight_leaf,
        "max_depth": rules.max_depth,
        "max_leaf_nodes": rules.max_leaf_nodes,
        "min_gain": rules.min_gain,
        "min_impurity_decrease": rules.min_impurity_decrease,
        "monotone": None if sample.monotone is None else [int(s) for s in sample.monotone],
        "n_codes": estimator.tree_.n_codes,
    }


def make_claims(estimator, sample, outcome: Outcome, rules: Rules) -> list[Claim]:
    """State accounting, splits, leaves, limits, pruning and the Occam bound."""
    tree = outcome.tree
    grown_on = {} if outcome.grown_on is None else {"rows": outcome.grown_on}
    claims = [_splits(sample, tree, rules, grown_on), _accounting(tree, grown_on), _leaves(sample, tree, grown_on)]
    claims.append(_limits(sample, outcome, rules, grown_on))
    if isinstance(outcome.record, CostComplexity):
        claims.append(_pruning(estimator, sample, outcome))
    if isinstance(outcome.record, ReducedError):
        claims.append(_reduced_error(estimator, outcome))
    if sample.declared is not None:
        claims.append(_occam(estimator, sample, tree))
    return claims


def _splits(sample, tree: FlatTree, rules: Rules, grown_on) -> Claim:
    if rules.random_cuts or rules.max_features < len(sample.values):
        return Claim(
            "tree.splits", "no_claim", "Splits were drawn at random: none is claimed to be the best of its node."
        )
    if sample.monotone is not None and sample.monotone.any():
        return Claim(
            "tree.splits", "no_claim", "Directions were imposed: no split is claimed to be the best of its node."
        )
    inner = int(np.count_nonzero(tree.kind != LEAF))
    where = "of all columns and thresholds"
    witness = dict(grown_on)
    if sample.bins is not None:
        where = (
            "of all columns and declared thresholds"
            if sample.declared is not None
            else "of all columns and edges of bins"
        )
        witness |= _edges(sample)
    if sample.categories.any() and not rules.multiway:
        where += " (categories cut in the order of their " + (
            "class shares)" if sample.n_classes else "means or medians)"
        )
    return Claim(
        "tree.splits",
        "optimality",
        f"Each of the {inner} splits is the best of its node, {where}; a better one would be within rounding.",
        value=0.0,
        limit=ROUNDING,
        about="every split, given its node",
        witness=witness,
    )


def _edges(sample) -> dict[str, np.ndarray]:
    counts = np.where(sample.categories > 0, 0, sample.bins.counts - 1)
    used = [row[:count] for row, count in zip(sample.bins.edges, counts, strict=True)]
    return {"edges": np.concatenate([np.empty(0), *used]), "edge_counts": counts.astype(np.int64)}


def _accounting(tree: FlatTree, grown_on) -> Claim:
    shares = tree.weight / tree.weight[0]
    gains, leaves = float(shares @ tree.gain), float(shares[tree.kind == LEAF] @ tree.impurity[tree.kind == LEAF])
    root = float(tree.impurity[0])
    return Claim(
        "tree.accounting",
        "data_fact",
        f"The root's impurity {root:.6g} is the sum of the weighted gains {gains:.6g} and of the impurity {leaves:.6g} of the "
        "leaves.",
        value=abs(root - gains - leaves) / root if root > 0 else 0.0,
        limit=ROUNDING,
        numbers={"root": root, "gains": gains, "leaves": leaves},
        witness=grown_on,
    )


def _leaves(sample, tree: FlatTree, grown_on) -> Claim:
    words = "class shares of its rows, and the most frequent class is predicted"
    if not sample.n_classes:
        words = "median of its rows" if sample.criterion == "absolute_error" else "mean of its rows"
    if sample.monotone is not None and sample.monotone.any():
        words += ", moved into the limits that the directions impose"
    return Claim(
        "tree.leaves",
        "optimality",
        f"The value of each of the {tree.n_leaves} leaves is the {words}.",
        value=0.0,
        limit=ROUNDING,
        about="every leaf, given its rows",
        witness=grown_on,
    )


def _limits(sample, outcome: Outcome, rules: Rules, grown_on) -> Claim:
    tree = outcome.tree
    return Claim(
        "tree.limits",
        "process_fact",
        f"Depth {int(tree.depth.max())}, {tree.n_leaves} leaves, {int(tree.n_rows.min())} rows in the smallest leaf: all stopping rules "
        "are kept.",
        value=0.0,
        limit=0.0,
        numbers={"depth": int(tree.depth.max()), "n_leaves": tree.n_leaves},
        witness=grown_on,
    )


def whole_tree(tree: FlatTree) -> dict[str, np.ndarray]:
    """Return the arrays from which a checker can send rows down the tree before pruning."""
    names = ("kind", "feature", "threshold", "left", "right", "missing_left", "start", "words", "branches", "value")
    return {f"whole_{name}": np.asarray(getattr(tree, name)) for name in names}


def _pruning(estimator, sample, outcome: Outcome) -> Claim:
    record, tree = outcome.record, outcome.tree
    by_impurity = estimator.pruning is None
    risk = impurity_risk(tree) if by_impurity else node_risk(tree, sample)
    cost = float(risk[tree.kind == LEAF].sum()) + record.alpha * tree.n_leaves
    words = "impurity" if by_impurity or not sample.n_classes else "training error"
    how = "" if record.cv_risks is None else " Its alpha was chosen by cross-validation."
    return Claim(
        "tree.pruning",
        "optimality",
        f"No pruning of the grown tree ({outcome.whole.n_leaves} leaves) has less {words} + {record.alpha:.6g} x leaves than this one "
        f"({tree.n_leaves} leaves): {cost:.6g}.{how}",
        value=0.0,
        limit=ROUNDING,
        about="all prunings of the grown tree",
        numbers={
            "alpha": record.alpha,
            "cost": cost,
            "by_impurity": by_impurity,
            "whole_n_codes": outcome.whole.n_codes,
        },
        witness=whole_tree(outcome.whole),
    )


def _reduced_error(estimator, outcome: Outcome) -> Claim:
    record = outcome.record
    return Claim(
        "tree.reduced_error",
        "optimality",
        f"{len(record.order)} rounds of pruning took the risk on {len(record.validation_rows)} validation rows from "
        f"{record.risks[0]:.6g} to {record.risks[-1]:.6g}; no further single pruning lowers it.",
        value=float(record.risks[-1]),
        limit=float(record.risks[0]),
        numbers={"whole_n_codes": outcome.whole.n_codes},
        witness={
            **whole_tree(outcome.whole),
            "validation_rows": record.validation_rows,
            "rows": np.asarray(outcome.grown_on),
            "order": record.order,
            "risks": record.risks,
        },
    )


def _occam(estimator, sample, tree: FlatTree) -> Claim:
    """Risk bound of a tree whose thresholds were declared beforehand; nothing is claimed where the code does not cover it."""
    d, edges = len(sample.values), sample.declared
    if not sample.n_classes or sample.categories.any() or np.isnan(sample.values).any():
        return Claim(
            "tree.occam", "no_claim", "Occam's bound is for classes, without categorical columns and missing values."
        )
    if sample.weights is not None:
        return Claim("tree.occam", "no_claim", "Occam's bound needs rows that count once each; these have weights.")
    n_splits = int(np.count_nonzero(tree.kind == THRESHOLD))
    declared = max(max(len(item) for item in edges), 1)
    bits = tree_bits(n_splits, d, declared, sample.n_classes)
    n = len(sample.y)
    errors = n_errors(sample, tree)
    bound = occam(errors, n, bits, float(estimator.delta))
    stated = bound.claim()
    return Claim(
        "tree.occam",
        "risk_bound",
        f"With probability {1 - estimator.delta:.4g} the error rate on new rows is at most {bound.value:.4g}: the tree makes "
        f"{errors} errors on {n} rows and can be written in {bits:.1f} bits.",
        value=float(bound.value),
        assumptions=(*stated.assumptions, "thresholds_declared_beforehand"),
        confidence=1.0 - float(estimator.delta),
        numbers={"errors": errors, "n": n, "bits": bits, "delta": float(estimator.delta), "thresholds": declared},
        witness=_edges(sample),
    )


def n_errors(sample, tree: FlatTree) -> int:
    """Training errors of the tree."""
    guess = tree.value.argmax(axis=1)
    return int(np.count_nonzero(guess[apply(tree, sample.values.T)] != sample.y))
