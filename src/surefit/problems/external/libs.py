"""Readers for the model structures of LIBSVM and LIBLINEAR."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.external.registry import derived


def lines_of(model: Any) -> int:
    """Return the number of coefficient vectors of a LIBLINEAR model: one for two classes and for regression."""
    return 1 if model.nr_class <= 2 else int(model.nr_class)


def sign_of(model: Any) -> float:
    """Return the sign that makes scores refer to the larger of two labels; these libraries use the label that appears first."""
    labels = model.get_labels() if model.nr_class == 2 else []
    return -1.0 if len(labels) == 2 and labels[0] < labels[1] else 1.0


@derived("liblinear")
def read_liblinear(model: Any) -> dict[str, np.ndarray]:
    """Return coefficients and intercepts, one row per class; with two classes, one row for the larger label."""
    lines = [model.get_decfun(label_idx=k) for k in range(lines_of(model))]
    coef, intercept = (sign_of(model) * np.array([line[k] for line in lines], dtype=np.float64) for k in (0, 1))
    return {"coef_": coef, "intercept_": intercept}


@derived("libsvm")
def read_libsvm(model: Any) -> dict[str, np.ndarray]:
    """Return support indices (converted from 1-based), dual coefficients and intercepts."""
    regression = model.param.svm_type >= 2
    count = 1 if regression else model.nr_class * (model.nr_class - 1) // 2
    sign = 1.0 if regression else sign_of(model)
    return {
        "support_": np.array(model.get_sv_indices(), dtype=np.int64) - 1,
        "dual_coef_": sign * np.array(model.get_sv_coef(), dtype=np.float64).T,
        "intercept_": -sign * np.array(model.rho[:count], dtype=np.float64),
    }
