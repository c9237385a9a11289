"""ONNX graphs of transformers that skl2onnx does not translate: kernels at landmarks, and random features."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler


@functools.cache
def register_converters() -> None:
    """Add the converters to those of skl2onnx, once per process."""
    from skl2onnx import update_registered_converter

    for kind, convert in ((Nystroem, _convert_landmarks), (RBFSampler, _convert_random_features)):
        update_registered_converter(kind, f"Surefit{kind.__name__}", _shape, convert, overwrite=True)


def _shape(operator: Any) -> None:
    given = operator.inputs[0].type
    operator.outputs[0].type = type(given)([given.shape[0], operator.raw_operator._n_features_out])


def _convert_random_features(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.algebra.onnx_ops import OnnxAdd, OnnxCos, OnnxMatMul, OnnxMul

    model, version, X, dtype = _parts(operator, container)
    angles = OnnxMatMul(X, model.random_weights_.astype(dtype), op_version=version)
    angles = OnnxAdd(angles, model.random_offset_.astype(dtype), op_version=version)
    scale = np.array([np.sqrt(2.0 / model.n_components)], dtype=dtype)
    waves = OnnxCos(angles, op_version=version)
    OnnxMul(waves, scale, op_version=version, output_names=operator.outputs[:1]).add_to(scope, container)


def _convert_landmarks(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.algebra.onnx_ops import OnnxMatMul

    model, version, X, dtype = _parts(operator, container)
    K = _kernel(model, X, dtype, version)
    weights = model.normalization_.T.astype(dtype)
    OnnxMatMul(K, weights, op_version=version, output_names=operator.outputs[:1]).add_to(scope, container)


def _parts(operator: Any, container: Any) -> tuple[Any, int, Any, Any]:
    from skl2onnx.common.data_types import guess_numpy_type

    dtype = np.float64 if guess_numpy_type(operator.inputs[0].type) == np.float64 else np.float32
    return operator.raw_operator, container.target_opset, operator.inputs[0], dtype


def _kernel(model: Any, X: Any, dtype: Any, version: int) -> Any:
    """Return the values of the kernel at the landmarks."""
    from skl2onnx.algebra import onnx_ops as ops

    rows, gamma = model.components_.astype(np.float64), _gamma(model)
    if model.kernel in ("rbf", "laplacian"):
        apart = _squared_distances(X, rows, dtype, version) if model.kernel == "rbf" else _sums(X, rows, dtype, version)
        return ops.OnnxExp(ops.OnnxMul(apart, np.array([-gamma], dtype=dtype), op_version=version), op_version=version)
    products = ops.OnnxMatMul(X, rows.T.astype(dtype), op_version=version)
    if model.kernel == "linear":
        return products
    inner = ops.OnnxMul(products, np.array([gamma], dtype=dtype), op_version=version)
    inner = ops.OnnxAdd(inner, np.array([1 if model.coef0 is None else model.coef0], dtype=dtype), op_version=version)
    if model.kernel == "sigmoid":
        return ops.OnnxTanh(inner, op_version=version)
    if model.kernel in ("poly", "polynomial"):
        degree = np.array([3 if model.degree is None else model.degree], dtype=dtype)
        return ops.OnnxPow(inner, degree, op_version=version)
    raise ValueError(f"the kernel {model.kernel!r} has no converter")


def _gamma(model: Any) -> float:
    return 1.0 / model.components_.shape[1] if model.gamma is None else float(model.gamma)


def _squared_distances(X: Any, rows: np.ndarray, dtype: Any, version: int) -> Any:
    """Return squared distances; rows are centered at the mean of the landmarks to reduce cancellation."""
    from skl2onnx.algebra import onnx_ops as ops

    center = rows.mean(axis=0).astype(dtype)
    about = (rows - center).astype(dtype)
    moved = ops.OnnxSub(X, center[None], op_version=version)
    ones = np.ones((rows.shape[1], 1), dtype=dtype)
    squares = ops.OnnxMatMul(ops.OnnxMul(moved, moved, op_version=version), ones, op_version=version)
    twice = ops.OnnxMatMul(moved, -2 * about.T, op_version=version)
    total = ops.OnnxAdd(
        ops.OnnxAdd(twice, squares, op_version=version), np.sum(about**2, axis=1)[None], op_version=version
    )
    return ops.OnnxRelu(total, op_version=version)


def _sums(X: Any, rows: np.ndarray, dtype: Any, version: int) -> Any:
    """Return sums of absolute differences, column by column."""
    from skl2onnx.algebra import onnx_ops as ops

    total = None
    for j in range(rows.shape[1]):
        column = ops.OnnxMatMul(X, np.eye(rows.shape[1])[:, [j]].astype(dtype), op_version=version)
        apart = ops.OnnxAbs(ops.OnnxSub(column, rows[None, :, j].astype(dtype), op_version=version), op_version=version)
        total = apart if total is None else ops.OnnxAdd(total, apart, op_version=version)
    return total
