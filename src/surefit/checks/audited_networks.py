"""Reads feed-forward networks of scikit-learn as ours: all weights in one vector, matrices first."""

from __future__ import annotations

import numpy as np

from surefit.checks.audited_models import derived


@derived("network")
def read_network(model) -> dict[str, np.ndarray]:
    """Weights and thresholds in one vector, and the classes."""
    parts = [np.ravel(part) for part in (*model.coefs_, *model.intercepts_)]
    kept = {"packed_": np.concatenate(parts).astype(np.float64)}
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
        kept["classes_"] = classes.astype(np.float64) if classes.dtype.kind in "biuf" else classes.astype(str)
    return kept
