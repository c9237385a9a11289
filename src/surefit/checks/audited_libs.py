"""Reads what LIBSVM and LIBLINEAR keep in their own model structures."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.audited_models import derived


def lines_of(model: Any) -> int:
    """Number of lines of coefficients of a model of LIBLINEAR: one for two classes and for regression."""
    return 1 if model.nr_class <= 2 else int(model.nr_class)


@derived("liblinear")
def read_liblinear(model) -> dict[str, np.ndarray]:
    """Coefficients and intercepts, one line a class; the line of two classes is for the first label."""
    lines = [model.get_decfun(label_idx=k) for k in range(lines_of(model))]
    coef = np.array([line[0] for line in lines], dtype=np.float64)
    return {"coef_": coef, "intercept_": np.array([line[1] for line in lines], dtype=np.float64)}


@derived("libsvm")
def read_libsvm(model) -> dict[str, np.ndarray]:
    """Support, coefficients and offsets; rows are counted from 1 there."""
    count = 1 if model.param.svm_type >= 2 else model.nr_class * (model.nr_class - 1) // 2
    return {
        "support_": np.array(model.get_sv_indices(), dtype=np.int64) - 1,
        "dual_coef_": np.array(model.get_sv_coef(), dtype=np.float64).T,
        "intercept_": -np.array(model.rho[:count], dtype=np.float64),
    }
