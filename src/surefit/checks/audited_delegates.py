"""Claims about models of other libraries that the checkers of our own families can judge once the model is read.

A claim ``audit.tree.splits`` is judged as ``tree.splits`` on the data and the model as read; only its value counts, because
a limit that another library did not promise cannot be broken by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefit.checks import (  # noqa: F401
    clusters,
    discriminants,
    eigen,
    gaussian_process,
    gaussian_process_modes,
    kernel_ridge,
    mixture,
    neural,
    partition_bounds,
    quadratic,
    trees,
)
from surefit.checks.audited_models import derived, inner
from surefit.checks.base import CHECKERS, Data, Finding, checker
from surefit.checks.trees_nodes import LEAF, THRESHOLD
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

PREFIX = "audit."
DELEGATED = (
    "k_means.gap",
    "k_means.nearest",
    "k_means.means",
    "k_means.single_move",
    "mixture.step",
    "mixture.score",
    "mixture.likelihood",
    "eigen.residual",
    "eigen.orthonormal",
    "eigen.gap",
    "kernel_ridge.gap",
    "kernel_ridge.distance",
    "kernel_ridge.leave_one_out",
    "gaussian_process.mean",
    "gaussian_process.evidence",
    "tree.splits",
    "tree.accounting",
    "tree.leaves",
    "tree.limits",
    "discriminant.gap",
    "discriminant.moments",
    "quadratic.likelihood",
    "gaussian_process_classifier.gap",
    "network.objective",
    "network.gradient",
    "network.output_gap",
)


@checker(*(PREFIX + name for name in DELEGATED))
def check_delegated(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Judge the claim as the checker of our own family does."""
    read_as, rows = inner(certificate, data)
    name = claim.name.removeprefix(PREFIX)
    own = replace(claim, name=name, limit=None)
    finding = CHECKERS[name](replace(read_as, claims=(own,), seal=""), own, rows)
    return replace(finding, name=claim.name)


@derived("kernel ridge")
def read_kernel_ridge(model) -> dict[str, np.ndarray]:
    """Coefficients of scikit-learn's kernel ridge regression, which has no offset."""
    return {"dual_coef_": np.asarray(model.dual_coef_, dtype=np.float64), "intercept_": np.zeros(1)}


@derived("gaussian process")
def read_gaussian_process(model) -> dict[str, np.ndarray]:
    """Coefficients, noise and standardisation of scikit-learn's regression by Gaussian processes."""
    return {
        "alpha_": np.asarray(model.alpha_, dtype=np.float64),
        "noise_": np.asarray(model.alpha, dtype=np.float64),
        "y_mean_": np.asarray(model._y_train_mean, dtype=np.float64),
        "y_scale_": np.asarray(model._y_train_std, dtype=np.float64),
    }


@derived("tree")
def read_tree(model) -> dict[str, np.ndarray]:
    """Nodes of one of scikit-learn's trees, in our words."""
    tree = model.tree_
    inner_node = tree.children_left >= 0
    value = np.asarray(tree.value, dtype=np.float64).reshape(tree.node_count, -1)
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return {
        "node_kind_": np.where(inner_node, THRESHOLD, LEAF),
        "node_feature_": np.where(inner_node, tree.feature, 0).astype(np.int64),
        "node_threshold_": np.where(inner_node, tree.threshold, 0.0),
        "node_left_": np.where(inner_node, tree.children_left, 0).astype(np.int64),
        "node_right_": np.where(inner_node, tree.children_right, 0).astype(np.int64),
        "node_missing_left_": np.asarray(missing).astype(bool),
        "node_start_": np.zeros(tree.node_count, dtype=np.int64),
        "node_words_": np.zeros(0, dtype=np.uint64),
        "node_branches_": np.zeros(0, dtype=np.int64),
        "node_value_": value,
    }
