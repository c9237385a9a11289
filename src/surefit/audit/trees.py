"""Reads trees of scikit-learn: splits, accounting, leaves and stopping rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import claim, proved
from surefit.checks.audited_models import inner
from surefit.checks.base import Data
from surefit.checks.trees_impurity import total_impurity
from surefit.checks.trees_nodes import LEAF, children_of, tree_members
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData

ROUNDING = 1e-9  # share of the root's impurity
NO_BOUND = 10**9  # in place of a stopping rule that is not set


@reader("sklearn", "DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
def read_tree_model(model, data: Data, tol: float) -> Reading:
    """Each split against all cuts of its node, the accounting of impurity, the values of the leaves, the stopping rules."""
    problem = tree_problem(model, data)
    random = model.splitter != "best" or model.max_features_ < data.X.shape[1]
    imposed = problem["monotone"] is not None or model.criterion == "friedman_mse"

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        numbers, facts = _account(draft, rows)
        off = proved(draft, rows, "tree.accounting", numbers)
        root, gains, leaves = (numbers[name] for name in ("root", "gains", "leaves"))
        words = f"The root's impurity {root:.6g} is the sum of the weighted gains {gains:.6g} and of that of the leaves, {leaves:.6g}."
        claims = [claim("tree.accounting", "data_fact", words, _padded(off.proved), numbers=numbers, limit=ROUNDING)]
        if random or imposed:
            why = (
                "Splits were drawn at random" if random else "Directions were imposed, or a proxy of the impurity used"
            )
            claims.append(Claim("tree.splits", "no_claim", f"{why}: none is claimed to be the best of its node."))
        else:
            short = proved(draft, rows, "tree.splits").proved
            words = f"Each of the {facts['splits']} splits is the best of its node"
            words += "." if short <= ROUNDING else f", up to {short:.3g} of the root's impurity."
            claims.append(claim("tree.splits", "optimality", words, _padded(short), limit=ROUNDING))
        away = proved(draft, rows, "tree.leaves").proved
        words = f"Values of the {facts['n_leaves']} leaves differ from those of their rows by {away:.3g} of the range of y at most."
        claims.append(claim("tree.leaves", "optimality", words, _padded(away), limit=ROUNDING))
        shape = {"depth": facts["depth"], "n_leaves": facts["n_leaves"]}
        broken = proved(draft, rows, "tree.limits", shape).proved
        words = f"Depth {shape['depth']}, {shape['n_leaves']} leaves; {broken:.0f} nodes break a stopping rule."
        return [*claims, claim("tree.limits", "process_fact", words, broken, limit=0.0, numbers=shape)]

    return Reading("C", problem, (), state, derived="tree")


def tree_problem(model, data: Data) -> dict[str, Any]:
    """Return the rules by which a tree was grown, in the checker's words."""
    attribute(model, "tree_")
    y = target_of(model, data)
    if model.n_outputs_ != 1:
        raise InvalidData(
            f"certify: this {type(model).__name__} has {model.n_outputs_} targets; certify one target at a time."
        )
    n, weights = data.X.shape[0], None
    classifier = hasattr(model, "classes_")
    if classifier:
        labels_of(model, data, None)
        if model.class_weight is not None:
            classes = attribute(model, "classes_")
            if model.class_weight == "balanced_subsample":
                raise refuse(model, "class_weight", "None, 'balanced' or a dictionary")
            weights = compute_class_weight(model.class_weight, classes=classes, y=np.asarray(y).astype(classes.dtype))
    total = float(n) if data.weights is None else math.fsum(data.weights)
    least = _count(model.min_samples_leaf, n)
    directions = getattr(model, "monotonic_cst", None)
    criterion = {"log_loss": "entropy", "friedman_mse": "squared_error"}.get(model.criterion, model.criterion)
    return {
        "task": "classification" if classifier else "regression",
        "criterion": criterion,
        "class_weights": None if weights is None else [float(w) for w in weights],
        "categorical": [],
        "multiway": False,
        "single_precision": True,
        "min_samples_leaf": least,
        "min_samples_split": _count(model.min_samples_split, n),
        "min_weight_leaf": float(model.min_weight_fraction_leaf) * total if weights is None else 0.0,
        "max_depth": NO_BOUND if model.max_depth is None else int(model.max_depth),
        "max_leaf_nodes": -1 if model.max_leaf_nodes is None else int(model.max_leaf_nodes),
        "min_gain": 0.0,
        "min_impurity_decrease": float(model.min_impurity_decrease),
        "monotone": None if directions is None else [int(d) for d in directions],
        "n_codes": 0,
        "objective": "impurity of the leaves; every split is chosen for its own node",
    }


def _count(rule: float, n: int) -> int:
    return int(rule) if isinstance(rule, (int, np.integer)) else math.ceil(rule * n)


def _padded(value: float) -> float:
    return value * (1 + 1e-9) + 1e-15 if math.isfinite(value) else value


def _account(draft: Certificate, rows: Data) -> tuple[dict[str, float], dict[str, int]]:
    """Impurity of root, gains and leaves as shares of the weight; and the shape of the tree."""
    read_as, seen = inner(draft, rows)
    tree, sample, reach = tree_members(read_as, seen, {})
    total = np.array([total_impurity(sample, mine, read_as.problem["criterion"]) for mine in reach])
    depth = np.zeros(len(reach), dtype=int)
    gains = 0.0
    for node in range(len(reach)):
        children = children_of(tree, node)
        depth[children] = depth[node] + 1
        gains += total[node] - total[children].sum() if children else 0.0
    weight, is_leaf = float(sample.w[reach[0]].sum()), tree.kind == LEAF
    numbers = {"root": total[0] / weight, "gains": gains / weight, "leaves": total[is_leaf].sum() / weight}
    facts = {"depth": int(depth.max()), "n_leaves": int(is_leaf.sum()), "splits": int((~is_leaf).sum())}
    return {name: float(value) for name, value in numbers.items()}, facts
