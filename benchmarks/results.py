"""The result file: everything that was measured, and on what machine; its form is ``schema.json``."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import scipy.linalg  # noqa: F401  (loads SciPy's BLAS, as NumPy's is)
from threadpoolctl import threadpool_info

from benchmarks.runner import Options

FOLDER = Path(__file__).resolve().parent / "results"
PACKAGES = (
    *("surefit", "numpy", "scipy", "numba", "scikit-learn", "celer", "skglm", "glum", "scikit-learn-intelex"),
    *("snapml", "lightgbm", "xgboost-cpu", "faiss-cpu", "onnxruntime", "pygam", "GPy"),
)
IDLE_LOAD = 0.5  # processes waiting for a core, averaged over a minute, above which times are provisional


def environment() -> dict[str, Any]:
    """What the times depend on besides the solvers."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "blas": _blas(),
        "load_at_start": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": {name: number for name in PACKAGES if (number := _version(name)) is not None},
    }


def compose(machine: dict[str, Any], options: Options, workloads: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The result file as a dictionary."""
    return {
        "schema": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": machine,
        "options": options.as_dict(),
        "workloads": list(workloads),
    }


def remarks(result: dict[str, Any]) -> list[str]:
    """Why the numbers should be read with care, if they should."""
    found = []
    load = result["environment"]["load_at_start"]
    if load is not None and load > IDLE_LOAD:
        found.append(f"The machine was not idle (load {load:.2f} at the start): the times are provisional.")
    if result["options"]["quick"]:
        found.append("Small sizes (--quick): a check of the harness, not a comparison.")
    return found


def default_path(result: dict[str, Any]) -> Path:
    """``benchmarks/results/<stamp>.json``."""
    return FOLDER / f"{result['created'].replace(':', '').replace('+0000', 'Z')}.json"


def write(result: dict[str, Any], path: Path) -> Path:
    """Save under ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _blas() -> list[str]:
    """The BLAS libraries of NumPy and SciPy, and the processors that their kernels are for, which OPENBLAS_CORETYPE may change."""
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    named = (
        " ".join(str(library[key]) for key in ("internal_api", "version", "architecture") if library.get(key))
        for library in found
    )
    return sorted(set(named))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
