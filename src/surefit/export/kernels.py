"""Kernel machines and Gaussian processes in scikit-learn's attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.gaussian_process import kernels as theirs
from sklearn.gaussian_process._gpc import _BinaryGaussianProcessClassifierLaplace
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import KernelCenterer, LabelBinarizer

from surefit import kernels as ours
from surefit.core.errors import InvalidData
from surefit.core.issuing.state import dense
from surefit.export.twins import cannot, filler


@filler("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")
def fill_svm(model: Any, twin: Any) -> None:
    """Set the kernel, the support vectors and the coefficients with the signs of LIBSVM."""
    if getattr(model, "multi_class", "ovo") == "ovr" and len(model.classes_) > 2:
        raise cannot(model, "scikit-learn's SVC compares pairs of classes; fit it with multi_class='ovo'")
    named = named_kernel(model.kernel_)
    if named is None and model.kernel_.takes != "values":
        raise cannot(model, f"its kernel {model.kernel_!r} has no name in LIBSVM")
    for name, value in (named or {"kernel": "precomputed"}).items():
        setattr(twin, name, value)
    twin._gamma = float(twin.gamma) if named and "gamma" in named else 0.0
    twin._sparse = sparse.issparse(model.support_vectors_)
    sign = -1.0 if len(getattr(model, "classes_", ())) == 2 else 1.0
    inner = np.ascontiguousarray(sign * dense(model.dual_coef_))
    twin._dual_coef_ = sparse.csr_matrix(inner) if twin._sparse else inner
    if twin._sparse:  # LIBSVM reads the stored entries in order, including zeros
        shape = inner.shape
        starts = np.arange(0, inner.size + 1, shape[1])
        places = np.tile(np.arange(shape[1]), shape[0])
        twin._dual_coef_ = sparse.csr_matrix((inner.ravel(), places, starts), shape=shape)
    twin._intercept_ = np.ascontiguousarray(sign * model.intercept_)
    counts = model.n_support_ if hasattr(model, "classes_") else [len(model.support_)] * 2  # LIBSVM reads two
    twin._n_support = np.ascontiguousarray(counts, dtype=np.int32)
    twin._probA = twin._probB = np.empty(0)
    twin._num_iter, twin._effective_probability, twin.probability = model.n_iter_, False, False
    twin.support_ = np.ascontiguousarray(model.support_, dtype=np.int32)
    if hasattr(model, "offset_"):
        twin.offset_ = model.offset_


def named_kernel(kernel: Any) -> dict[str, Any] | None:
    """Return scikit-learn's kernel parameters (``kernel``, ``gamma``, ...) of a kernel; None if it has no name."""
    if isinstance(kernel, ours.Linear):
        return {"kernel": "linear"}
    if isinstance(kernel, ours.Polynomial):
        return {"kernel": "poly", "gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    if isinstance(kernel, ours.Sigmoid):
        return {"kernel": "sigmoid", "gamma": kernel.gamma, "coef0": kernel.coef0}
    if isinstance(kernel, ours.RBF):
        if kernel.gamma is not None:
            return {"kernel": "rbf", "gamma": float(kernel.gamma)}
        if kernel.length_scale is not None and np.ndim(kernel.length_scale) == 0:
            return {"kernel": "rbf", "gamma": 0.5 / float(kernel.length_scale) ** 2}
    return None


@filler("KernelRidge", "KernelPCA")
def fill_pairwise(model: Any, twin: Any) -> None:
    """Set the kernel by name, and the centering of a kernel PCA."""
    named = named_kernel(model.kernel_)
    if isinstance(model.kernel_, ours.Laplacian):
        named = {"kernel": "laplacian", "gamma": model.kernel_.gamma}
    if named is None and model.kernel_.takes != "values":
        raise cannot(model, f"its kernel {model.kernel_!r} has no name in scikit-learn")
    for name, value in (named or {"kernel": "precomputed"}).items():
        setattr(twin, name, value)
    if np.any(getattr(model, "intercept_", 0.0)) or np.size(getattr(model, "null_coef_", ())):
        raise cannot(model, "scikit-learn's KernelRidge has no intercept; fit it with fit_intercept=False")
    if type(model).__name__ == "KernelPCA":
        twin.gamma_ = (named or {}).get("gamma")
        twin._centerer = KernelCenterer()
        twin._centerer.K_fit_rows_, twin._centerer.K_fit_all_ = model._column_means, float(model._mean)


@filler("GaussianProcessRegressor")
def fill_process(model: Any, twin: Any) -> None:
    """Set the kernel and the factor of the covariance."""
    twin.kernel_ = gp_kernel(model, model.kernel_)
    twin.kernel = twin.kernel_ if model.kernel is not None else None
    twin._y_train_mean, twin._y_train_std = np.atleast_1d(model.y_mean_), np.atleast_1d(model.y_scale_)


@filler("GaussianProcessClassifier")
def fill_process_classifier(model: Any, twin: Any) -> None:
    """Set one binary process per problem; the posterior mode is recomputed for the fitted kernels."""
    binary = [_binary_process(model, fit) for fit in model._fits]
    if len(model.classes_) == 2:
        binary[0].classes_ = model.classes_
        twin.base_estimator_ = binary[0]
    elif model.multi_class == "one_vs_rest":
        twin.base_estimator_ = OneVsRestClassifier(binary[0])
        twin.base_estimator_.estimators_ = binary
        twin.base_estimator_.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
        twin.base_estimator_.classes_, twin.base_estimator_.n_features_in_ = model.classes_, model.n_features_in_
    else:
        twin.base_estimator_ = OneVsOneClassifier(binary[0])
        twin.base_estimator_.estimators_, twin.base_estimator_.classes_ = tuple(binary), model.classes_
        twin.base_estimator_.pairwise_indices_ = None
        twin.base_estimator_.n_features_in_ = model.n_features_in_
    twin.kernel = binary[0].kernel_ if model.kernel is not None else None


def _binary_process(model: Any, fit: Any) -> Any:
    process = _BinaryGaussianProcessClassifierLaplace(gp_kernel(model, fit.kernel), optimizer=None)
    return process.fit(fit.X, fit.targets.astype(int))


def gp_kernel(model: Any, kernel: Any) -> Any:
    """Return a kernel of surefit as a kernel of ``sklearn.gaussian_process.kernels``."""
    try:
        return _translated(kernel)
    except InvalidData:
        raise cannot(model, f"its kernel {kernel!r} has no equal in sklearn.gaussian_process.kernels") from None


def _translated(k: Any) -> Any:
    if isinstance(k, ours.Scaled):
        return theirs.ConstantKernel(k.factor, k.factor_bounds) * _translated(k.kernel)
    if isinstance(k, ours.Sum):
        return _translated(k.left) + _translated(k.right)
    if isinstance(k, ours.Product):
        return _translated(k.left) * _translated(k.right)
    if isinstance(k, ours.Power):
        return _translated(k.kernel) ** k.exponent
    if isinstance(k, ours.RBF):
        scale = k.length_scale if k.gamma is None else float(np.sqrt(0.5 / k.gamma))
        return theirs.RBF(1.0 if scale is None else scale, k.length_scale_bounds)
    simple = {
        ours.Constant: lambda: theirs.ConstantKernel(k.value, k.value_bounds),
        ours.Noise: lambda: theirs.WhiteKernel(k.variance, k.variance_bounds),
        ours.DotProduct: lambda: theirs.DotProduct(k.sigma_0, k.sigma_0_bounds),
        ours.Linear: lambda: theirs.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"),
        ours.Matern: lambda: theirs.Matern(k.length_scale, k.length_scale_bounds, nu=k.nu),
        ours.Periodic: lambda: theirs.ExpSineSquared(
            k.length_scale, k.periodicity, k.length_scale_bounds, k.periodicity_bounds
        ),
        ours.RationalQuadratic: lambda: theirs.RationalQuadratic(
            k.length_scale, k.alpha, k.length_scale_bounds, k.alpha_bounds
        ),
    }
    if type(k) not in simple:
        raise InvalidData(f"to_sklearn: no translation of {k!r}.")
    return simple[type(k)]()
