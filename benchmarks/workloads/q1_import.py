"""Importing an estimator, in a new interpreter."""

from benchmarks.problems import fresh_interpreter
from benchmarks.workload import OURS, Quality, Workload

workload = Workload(
    module=__name__,
    title="import of an estimator, new interpreter",
    recipe="wall time of `python -c 'from ... import Lasso'`, start of the interpreter included, files in the page cache",
    seed=fresh_interpreter.SEED,
    objective="none",
    floor="the interpreter alone, and what the package cannot do without (rows marked reference)",
    gate=None,
    sizes={"full": {}, "quick": {}, "warm": {}},
    make=dict,
    measure=lambda data, answer: Quality(None),
    in_process=False,
)


def add(name: str, package: str, statement: str, ranked: bool = True) -> None:
    @workload.solver(name, package=package, ranked=ranked)
    def import_it(data):
        return fresh_interpreter.run(statement, package)


# The bare imports are references: a package that imports nothing until it is used would win without doing anything.
add(OURS, "surefit", "from surefit import Lasso")
add("scikit-learn", "sklearn", "from sklearn.linear_model import Lasso")
add("celer", "celer", "from celer import Lasso")
add("skglm", "skglm", "from skglm import Lasso")
add("import surefit", "surefit", "import surefit", ranked=False)
add("import sklearn", "sklearn", "import sklearn", ranked=False)
add("import numpy", "numpy", "import numpy", ranked=False)
add("import numba", "numba", "import numba", ranked=False)
add("python alone", "sys", "pass", ranked=False)
