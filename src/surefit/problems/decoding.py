"""Conversion of parameters stored in a certificate to the values that the estimator was given."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import CertificateError, InvalidParameter
from surefit.kernels import Kernel
from surefit.kernels.base import CLASSES
from surefit.kernels.resolve import NAMES


def as_dict(value: Any) -> Any:
    """Convert ``{"pairs": [[key, value], ...]}`` to a dictionary; return other values unchanged.

    Examples
    --------
    >>> from surefit.problems.decoding import as_dict
    >>> as_dict({"pairs": [[0, 2.0], [1, 1.0]]}), as_dict("balanced")
    ({0: 2.0, 1: 1.0}, 'balanced')
    """
    if isinstance(value, dict) and set(value) == {"pairs"}:
        return {key: item for key, item in value["pairs"]}
    return value


def as_kernel(value: Any) -> Any:
    """Convert the record of a kernel to the kernel; return names, functions and kernels unchanged.

    Examples
    --------
    >>> from surefit.kernels import RBF
    >>> from surefit.problems.decoding import as_kernel
    >>> as_kernel({"record": RBF(gamma=0.5).to_record()}), as_kernel("linear")
    (RBF(gamma=0.5), 'linear')
    """
    try:
        if isinstance(value, dict) and set(value) == {"record"}:
            return Kernel.from_record(value["record"])
        if not isinstance(value, str) or value in NAMES or value in CLASSES:
            return value
    except InvalidParameter:
        pass
    raise CertificateError(
        "The kernel is a function, which a certificate cannot hold; verify the model itself (model.verify)."
    )
