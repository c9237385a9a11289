r"""Tests of positive semidefiniteness on a sample: a proof, or a witness against it.

Proof (Rump): if the floating-point Cholesky decomposition of :math:`K - cI`, :math:`c = \frac{\gamma_{n+1}}{1 -
\gamma_{n+1}} \operatorname{tr} K`, succeeds, then :math:`K \succ 0`. If it succeeds for :math:`K + \epsilon I`, then
:math:`\lambda_{\min} \ge -\epsilon`. The largest row sum of the radii is subtracted first. Small matrices that are
known exactly are decided in rational arithmetic (theory: ``psd-by-cholesky``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from surefit.checks import balls
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.kernels.values import Between, Itself, enclose, is_rigorous
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels import Function, Precomputed, resolve
from surefit.kernels.base import Kernel

EXACT_UP_TO = 40  # largest number of rows for rational arithmetic


@dataclass(frozen=True)
class KernelReport:
    r"""Result of :func:`check_kernel`.

    Attributes
    ----------
    holds : bool or None
        True: positive semidefinite on this sample, up to ``-lower_bound`` if that is not zero. False: refuted by ``witness``.
        None: neither could be proved.
    lower_bound : float
        Proved lower bound on all eigenvalues.
    eigenvalues : ndarray
        Computed eigenvalues, largest first (of the symmetric part).
    witness : dict
        Empty, or the counterexample: ``kind`` ("asymmetry", "diagonal", "determinant", "vector"), ``points`` (element
        indices), ``vector`` (a v with :math:`v^\top K v < 0`, zero elsewhere) and ``value`` (an upper bound on it).
    level : {"exact", "enclosed", "recomputed"}
        Rigor: rational arithmetic; all rounding errors included; or a function whose values are assumed accurate to 64
        units in the last place.
    always : bool or None
        Whether the kernel is positive semidefinite on every sample, by construction; None if unknown.
    """

    holds: bool | None
    lower_bound: float
    eigenvalues: np.ndarray
    level: str
    always: bool | None
    witness: dict[str, Any] = field(default_factory=dict[str, Any])

    def __bool__(self) -> bool:
        return self.holds is True

    def __repr__(self) -> str:
        return f"KernelReport: {self.sentence()} ({self.level})"

    def sentence(self) -> str:
        """Return the result in one sentence."""
        n = len(self.eigenvalues)
        if self.witness:
            points, value = self.witness["points"], self.witness["value"]
            at = f"elements {', '.join(map(str, points[:6]))}{', ...' if len(points) > 6 else ''}"
            return {
                "asymmetry": f"not a kernel: k(x, y) and k(y, x) differ by at least {-value:.3g} at {at}",
                "diagonal": f"not a kernel: k(x, x) <= {value:.3g} at {at}",
                "determinant": f"not a kernel: the determinant of two points is <= {value:.3g} at {at}",
                "vector": f"not a kernel: v'Kv <= {value:.3g} for a vector of norm one on {at}",
            }[self.witness["kind"]]
        known = " By construction this holds for every sample." if self.always else " Other samples may refute it."
        if self.holds is None:
            return f"undecided on {n} elements: no eigenvalue is below {self.lower_bound:.3g}."
        if self.lower_bound >= 0:
            return f"positive semidefinite on these {n} elements.{known}"
        return f"no eigenvalue is below {self.lower_bound:.3g} on these {n} elements.{known}"


def check_kernel(kernel: Any, X: Any = None) -> KernelReport:
    r"""Prove that a kernel is positive semidefinite on a sample, or return a witness that it is not.

    A sample can refute positive semidefiniteness but cannot prove it for all samples; ``always`` in the report states
    whether it is known by construction.

    Guarantee: a witness is a proof that includes rounding errors (theory: :ref:`psd-by-cholesky`).

    Parameters
    ----------
    kernel : Kernel, str, callable(A, B), or square array
        The kernel, or its matrix of values as a square array, for which ``X`` is not needed.
    X : sample, optional
        The elements of the sample.

    Returns
    -------
    KernelReport
        The result, a lower bound on the eigenvalues, the computed eigenvalues, and the witness.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import check_kernel
    >>> from surefit.kernels import RBF
    >>> check_kernel(RBF(), [[0.0], [1.0], [2.0]])
    KernelReport: positive semidefinite on these 3 elements. By construction this holds for every sample. (enclosed)
    >>> report = check_kernel(lambda A, B: np.abs(A - B.T), [[0.0], [1.0]])
    >>> report
    KernelReport: not a kernel: the determinant of two points is <= -1 at elements 0, 1 (exact)
    >>> report.witness["vector"].round(4)
    array([ 0.7071, -0.7071])
    >>> check_kernel([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]).holds
    False
    """
    if X is None:
        if isinstance(kernel, (str, Kernel)) or callable(kernel):
            raise InvalidParameter("check_kernel", "X", "a sample, unless the kernel is a matrix", X)
        kernel, X = Precomputed(), kernel
    kernel = resolve(kernel, X=X, who="check_kernel")
    A = kernel.read(X)
    K = _gram(kernel, A)
    level = "exact" if not np.any(K.rad) else "enclosed" if is_rigorous(kernel) else "recomputed"
    middle = (K.mid + K.mid.T) / 2
    eigenvalues, V = np.linalg.eigh(middle)
    witness = _asymmetry(K) or _diagonal(K) or _determinant(K) or _vector(K, V[:, 0])
    bound = -np.inf if witness else smallest_eigenvalue_bound(Enclosed(middle, K.rad), float(eigenvalues[0]))
    if level == "exact" and not witness and bound < 0 and len(middle) <= EXACT_UP_TO and _is_semidefinite(K.mid):
        bound = 0.0
    elif level == "exact" and not (witness and witness["kind"] != "vector" and balls.is_whole(K.mid)):
        level = "enclosed"
    tolerance = 64 * len(middle) * UNIT * max(float(eigenvalues[-1]), 0.0) + 4 * float(np.max(np.sum(K.rad, axis=1)))
    holds = False if witness else True if bound >= -tolerance else None
    if witness:
        bound = float(eigenvalues[0])
    always = False if witness else kernel.positive_semidefinite
    return KernelReport(holds, bound, eigenvalues[::-1], level, always, witness)


def smallest_eigenvalue_bound(K: Enclosed, estimate: float | None = None) -> float:
    """Return a proved lower bound on the eigenvalues of an enclosed symmetric matrix; zero if it is definite."""
    M = np.asarray(K.mid, dtype=np.float64)
    n, trace = len(M), float(np.sum(np.abs(np.diagonal(M))))
    spread = float(np.max(np.sum(K.rad, axis=1), initial=0.0)) * (1 + gamma(n + 2))
    if runs_through(M, spread, 0.0):
        return 0.0
    estimate = float(np.linalg.eigvalsh(M)[0]) if estimate is None else estimate
    least = 2 * (gamma(2 * n + 8) * trace + spread) + np.finfo(np.float64).tiny
    for factor in (1.0, 2.0, 8.0, 64.0, 1024.0):
        shift = factor * (least + 1.01 * max(-estimate, 0.0))
        if runs_through(M, spread, shift):
            return -shift
    return -float(np.max(np.sum(np.abs(M) + K.rad, axis=1))) * (1 + gamma(n + 2))  # Gershgorin


def runs_through(M: np.ndarray, spread: float, shift: float) -> bool:
    """Return whether a Cholesky factorization proves ``M + shift`` definite despite errors of norm ``spread``."""
    n = len(M)
    diagonal = np.diagonal(M) + shift
    if np.any(diagonal <= 0):
        return False
    c = gamma(n + 1) / (1 - gamma(n + 1)) * float(np.sum(diagonal)) * (1 + gamma(n + 4)) + n * np.finfo(float).tiny
    lowered = diagonal - (spread + c) * (1 + 8 * UNIT)
    B = np.array(M)
    np.fill_diagonal(B, np.nextafter(lowered - 4 * UNIT * diagonal, -np.inf))
    try:
        np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        return False
    return True


def _gram(kernel: Kernel, A: Any) -> Enclosed:
    if kernel.takes == "values" and A.shape[0] != A.shape[1]:
        raise InvalidData(f"check_kernel: a matrix of kernel values must be square; got shape {A.shape}.")
    K, own = enclose(kernel, Between(A, A)), enclose(kernel, Itself(A))
    mid, rad = np.array(K.mid), np.array(K.rad)
    if not isinstance(kernel, (Precomputed, Function)):
        np.fill_diagonal(mid, own.mid)
        np.fill_diagonal(rad, own.rad)
    if not np.all(np.isfinite(mid)):
        i, j = (int(v) for v in np.argwhere(~np.isfinite(mid))[0])
        raise InvalidData(
            f"check_kernel: the kernel's value of elements {i} and {j} is {mid[i, j]!r}, which is not finite."
        )
    return Enclosed(mid, rad)


def _found(kind: str, points: Any, vector: np.ndarray, value: float) -> dict[str, Any]:
    return {"kind": kind, "points": [int(p) for p in points], "vector": vector, "value": float(value)}


def _asymmetry(K: Enclosed) -> dict[str, Any]:
    sure = np.abs(K.mid - K.mid.T) * (1 - 2 * UNIT) - (K.rad + K.rad.T) * balls.SLACK
    i, j = np.unravel_index(int(np.argmax(sure)), sure.shape)
    return _found("asymmetry", (i, j), np.zeros(len(sure)), -sure[i, j]) if sure[i, j] > 0 else {}


def _diagonal(K: Enclosed) -> dict[str, Any]:
    most = (np.diagonal(K.mid) + np.diagonal(K.rad)) * 1.0
    i = int(np.argmin(most))
    return _found("diagonal", (i,), np.eye(len(most))[i], most[i]) if most[i] < 0 else {}


def _determinant(K: Enclosed) -> dict[str, Any]:
    own = Enclosed(np.diagonal(K.mid), np.diagonal(K.rad))
    across = balls.multiply(Enclosed(own.mid[:, None], own.rad[:, None]), Enclosed(own.mid[None, :], own.rad[None, :]))
    off = balls.multiply(K, K)
    gap = balls.add(across, balls.negative(off))
    most = gap.mid + gap.rad
    np.fill_diagonal(most, np.inf)
    i, j = np.unravel_index(int(np.argmin(most)), most.shape)
    if not most[i, j] < 0:
        return {}
    _, V = np.linalg.eigh(K.mid[np.ix_([i, j], [i, j])])
    vector = np.zeros(len(most))
    vector[[i, j]] = V[:, 0] * (np.sign(V[0, 0]) or 1.0)
    return _found("determinant", sorted((i, j)), vector, most[i, j])


def _vector(K: Enclosed, v: np.ndarray) -> dict[str, Any]:
    v = np.where(np.abs(v) > 1e-12, v, 0.0)
    size, n = np.abs(v), len(v)
    value = float(v @ K.mid @ v)
    error = float(size @ (gamma(2 * n + 4) * np.abs(K.mid) + K.rad) @ size) * (1 + gamma(4 * n + 8))
    most = value + error
    if most >= 0 and value < 0 and n <= EXACT_UP_TO and not np.any(K.rad):
        most = float(_exact_form(K.mid, v))
    return _found("vector", np.flatnonzero(v), v, most) if most < 0 else {}


def _exact_form(M: np.ndarray, v: np.ndarray) -> Fraction:
    x = [Fraction(float(c)) for c in v]
    rows = (sum(Fraction(float(m)) * c for m, c in zip(row, x, strict=True)) for row in M)
    return sum((c * r for c, r in zip(x, rows, strict=True)), Fraction(0))


def _is_semidefinite(M: np.ndarray) -> bool:
    """Decide by elimination in rational arithmetic: every pivot >= 0, and a zero pivot has a zero row."""
    rows = [[Fraction(float(v)) for v in row] for row in M]
    while rows:
        pivot, rest = rows[0][0], rows[1:]
        if pivot < 0 or (pivot == 0 and any(rows[0])):
            return False
        first = rows[0]
        rows = [
            [v - row[0] * f / pivot if pivot else v for v, f in zip(row[1:], first[1:], strict=True)] for row in rest
        ]
    return True
