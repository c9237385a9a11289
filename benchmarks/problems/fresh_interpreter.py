"""Run a line of Python in a new interpreter: what a user waits for before the first answer."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.problems.lasso import LassoData

SEED = 0
ALPHA = 0.01

#: The same few lines in the new interpreter and here, so that the answer can be judged here.
TINY_DATA = f"""
import numpy as np
rng = np.random.default_rng({SEED})
X = np.asfortranarray(rng.standard_normal((100, 5)))
y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(100)
"""

#: Packages and the tolerance at which each passes the gate on the tiny problem, where accuracy is all but free.
FIRST_FITS = {
    "surefit": ("surefit", 1e-6),
    "scikit-learn": ("sklearn.linear_model", 1e-8),
    "celer": ("celer", 1e-8),
    "skglm": ("skglm", 1e-8),
}


def tiny_lasso() -> LassoData:
    """The data of :data:`TINY_DATA`."""
    names: dict[str, Any] = {}
    exec(TINY_DATA, names)
    return LassoData(names["X"], names["y"], ALPHA)


def first_fit(module: str, tol: float, cache: str) -> np.ndarray:
    """Import, fit one tiny lasso, and return its coefficients; compiled code is looked for in ``cache``."""
    code = f"""{TINY_DATA}
import json
from {module} import Lasso
coef = Lasso(alpha={ALPHA}, fit_intercept=False, tol={tol}).fit(X, y).coef_
print(json.dumps(coef.tolist()))
"""
    return np.array(json.loads(run(code, module, {"NUMBA_CACHE_DIR": cache}).splitlines()[-1]))


def run(code: str, package: str, environment: dict[str, str] | None = None) -> str:
    """What ``code`` prints, with bytecode on disk as after an installation.

    A failure to import ``package`` is raised here as if it had happened here.
    """
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=known | (environment or {}), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return done.stdout
    message = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    kind, _, text = message.partition(": ")
    if kind in ("ImportError", "ModuleNotFoundError") and f"'{package.partition('.')[0]}" in text:
        raise ImportError(text, name=package)
    raise RuntimeError(message)
