"""The first fit after installation: nothing compiled yet."""

import tempfile

from benchmarks.problems import fresh_interpreter, lasso
from benchmarks.workload import Workload

workload = Workload(
    module=__name__,
    title="import and first lasso, new interpreter, empty cache",
    recipe="wall time of `python -c`: import, fit a 100 x 5 lasso; every run gets an empty NUMBA_CACHE_DIR",
    seed=fresh_interpreter.SEED,
    objective="|y - Xw|^2 / (2n) + alpha |w|_1",
    floor="import of the package (q1) for packages compiled in advance; compiling one solver for Numba packages",
    gate=lasso.GATE,
    sizes={"full": {}, "quick": {}, "warm": {}},
    make=fresh_interpreter.tiny_lasso,
    measure=lasso.quality,
    in_process=False,
)


def add(name: str, module: str, tol: float) -> None:
    @workload.solver(name, package=module, variants=[{"tol": tol}])
    def fit(data: lasso.LassoData, tol: float):
        with tempfile.TemporaryDirectory(prefix="numba-cache-") as cache:
            return fresh_interpreter.first_fit(module, tol, cache)


for name, (module, tol) in fresh_interpreter.FIRST_FITS.items():
    add(name, module, tol)
