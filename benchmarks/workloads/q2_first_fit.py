"""The first fit in a new interpreter, with compiled code on disk from an earlier one."""

import atexit
import shutil
import tempfile
from functools import cache

from benchmarks.problems import fresh_interpreter, lasso
from benchmarks.workload import Workload

workload = Workload(
    module=__name__,
    title="import and first lasso, new interpreter, warm cache",
    recipe="wall time of `python -c`: import, fit a 100 x 5 lasso; the Numba cache was filled by the warm-up",
    seed=fresh_interpreter.SEED,
    objective="|y - Xw|^2 / (2n) + alpha |w|_1",
    floor="import of the package (q1)",
    gate=lasso.GATE,
    sizes={"full": {}, "quick": {}, "warm": {}},
    make=fresh_interpreter.tiny_lasso,
    measure=lasso.quality,
    in_process=False,
)


@cache
def cache_folder() -> str:
    """One a process: filled by the warm-up, gone at the end."""
    folder = tempfile.mkdtemp(prefix="numba-cache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def add(name: str, module: str, tol: float) -> None:
    @workload.solver(name, package=module, variants=[{"tol": tol}])
    def fit(data: lasso.LassoData, tol: float):
        return fresh_interpreter.first_fit(module, tol, cache_folder())


for name, (module, tol) in fresh_interpreter.FIRST_FITS.items():
    add(name, module, tol)
