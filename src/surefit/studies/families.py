"""Model families of a study: their candidates, simplest first, and the time and memory of a fit.

Features and the target of a regression are standardized before fitting, so one small grid suits all tables. Costs are
for one core and one fit on n rows, d features and k classes; they were measured at 4000 x 15 and scaled by the
complexity of the algorithm. A study corrects them by its own measurements (:mod:`surefit.studies.budget`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Size(NamedTuple):
    """Size of a problem: rows, features and classes (1 for a regression)."""

    n: int
    d: int
    k: int


class Candidate(NamedTuple):
    """One setting of a family: its label, its constructor (given a seed), and its cost relative to the family's."""

    label: str
    build: Callable[[int], Any]
    factor: float = 1.0


class Family(NamedTuple):
    """A family of models.

    ``seconds`` and ``bytes`` estimate the time and memory of one fit. For more than ``most_rows`` rows, another family
    is better suited. ``compiling`` is the additional time of the first fit on a machine, and ``loops`` is the module
    with the compiled loops.
    """

    name: str
    title: str
    task: str
    candidates: Callable[[Size], list[Candidate]]
    seconds: Callable[[Size], float]
    bytes: Callable[[Size], float] = lambda s: 24.0 * s.n * s.d
    most_rows: float = np.inf
    least_rows: int = 0
    most_features: float = np.inf
    weighted: bool = True
    compiling: float = 0.0
    loops: str = ""


def _surefit(name: str, **params: Any) -> Any:
    import surefit

    return getattr(surefit, name)(**params)


def _grid(name: str, parameter: str, values: tuple, seeded: bool = False, **fixed: Any) -> list[Candidate]:
    """Return the candidates of an estimator along one parameter."""

    def build(value: Any, seed: int) -> Any:
        return _surefit(name, **{parameter: value}, **fixed, **({"random_state": seed} if seeded else {}))

    return [Candidate(f"{parameter}={value:g}", partial(build, value)) for value in values]


# --- classification -----------------------------------------------------------------------------------------------------


def _constant_class(s: Size) -> list[Candidate]:
    from sklearn.dummy import DummyClassifier

    return [Candidate("most frequent class", lambda seed: DummyClassifier(strategy="prior"))]


def _logistic(s: Size) -> list[Candidate]:
    found = _grid("LogisticRegression", "C", (0.003, 0.03, 0.3, 3.0))
    if s.d > 20 and s.n <= 20_000:  # a sparse model may be better, and is easier to read
        sparse = _grid("LogisticRegression", "C", (0.03, 0.3), l1_ratio=1.0)
        found = [c._replace(label=f"l1, {c.label}", factor=3.0) for c in sparse] + found
    return found


def _discriminant(s: Size) -> list[Candidate]:
    shrunk = Candidate(
        "linear, shrunk", lambda seed: _surefit("LinearDiscriminantAnalysis", solver="lsqr", shrinkage="auto")
    )
    if 4 * s.d > s.n:
        return [shrunk]
    linear = Candidate("linear", lambda seed: _surefit("LinearDiscriminantAnalysis"))
    quadratic = Candidate("quadratic", lambda seed: _surefit("QuadraticDiscriminantAnalysis", reg_param=0.1), 2.0)
    return [linear, shrunk, quadratic] if 10 * s.d * s.k < s.n else [linear, shrunk]


def _naive_bayes(s: Size) -> list[Candidate]:
    return _grid("MAPClassifier", "var_smoothing", (1e-2, 1e-6))


def _depths(name: str) -> Callable[[Size], list[Candidate]]:
    return lambda s: _grid(name, "max_depth", (2, 4, 7), seeded=True, min_samples_leaf=max(2, min(20, s.n // 50)))


def _neighbors(name: str) -> Callable[[Size], list[Candidate]]:
    return lambda s: _grid(name, "n_neighbors", tuple(k for k in (25, 11, 5, 1) if 2 * k < s.n))


def _svc(s: Size) -> list[Candidate]:
    return _grid("SVC", "C", (0.3, 3.0, 30.0))


def _kernel_logistic(s: Size) -> list[Candidate]:
    if s.n <= 1500:
        return _grid("KernelLogisticRegression", "C", (0.3, 3.0), tol=1e-6)
    return _grid("NystroemLogisticRegression", "C", (0.3, 3.0), seeded=True)


def _leaves(s: Size) -> tuple[int, int]:
    """Return the smallest number of rows per leaf; it grows with the sample, so that forests fit into memory."""
    return (5, 1) if s.n <= 20_000 else (s.n // 1000, s.n // 4000)


def _forest(name: str) -> Callable[[Size], list[Candidate]]:
    def candidates(s: Size) -> list[Candidate]:
        columns = {"max_features": max(1, round(s.d / 3))} if name.endswith("Regressor") else {}
        return _grid(name, "min_samples_leaf", _leaves(s), seeded=True, n_estimators=100, **columns)

    return candidates


def _boosting(name: str) -> Callable[[Size], list[Candidate]]:
    def candidates(s: Size) -> list[Candidate]:
        leaf = max(2, min(20, s.n // 20))

        def build(params: dict[str, Any], seed: int) -> Any:
            return _surefit(name, min_samples_leaf=leaf, early_stopping=False, random_state=seed, **params)

        small = {"max_leaf_nodes": 4, "max_iter": 150}
        large = {"max_leaf_nodes": 31, "max_iter": 100}
        slow = {"max_leaf_nodes": 15, "max_iter": 300, "learning_rate": 0.05}
        return [
            Candidate("4 leaves", partial(build, small)),
            Candidate("31 leaves", partial(build, large), 1.5),
            Candidate("15 leaves, slow", partial(build, slow), 3.0),
        ]

    return candidates


def _gaussian_process(name: str) -> Callable[[Size], list[Candidate]]:
    def build(seed: int) -> Any:
        from surefit.kernels import RBF, Constant, Noise

        kernel = Constant(1.0) * RBF(length_scale=3.0)
        if name.endswith("Regressor"):
            kernel = kernel + Noise(0.1)
        return _surefit(name, kernel=kernel, random_state=seed)

    return lambda s: [Candidate("Gaussian kernel", build)]


def _network(name: str) -> Callable[[Size], list[Candidate]]:
    def build(width: int, seed: int) -> Any:
        return _surefit(name, hidden_layer_sizes=(width,), early_stopping=True, alpha=1e-3, random_state=seed)

    return lambda s: [Candidate(f"{width} units", partial(build, width), width / 100) for width in (30, 100)]


# --- regression ---------------------------------------------------------------------------------------------------------


def _constant_number(s: Size) -> list[Candidate]:
    from sklearn.dummy import DummyRegressor

    return [Candidate("mean", lambda seed: DummyRegressor())]


def _ridge(s: Size) -> list[Candidate]:
    ridge = _grid("Ridge", "alpha", tuple(round(s.n * share, 6) for share in (1.0, 0.1, 0.01, 1e-4)))
    return ridge if s.d <= 1 else _grid("Lasso", "alpha", (0.1, 0.03, 0.01, 0.003)) + ridge


def _svr(s: Size) -> list[Candidate]:
    return _grid("SVR", "C", (0.3, 3.0, 30.0))


def _kernel_ridge(s: Size) -> list[Candidate]:
    gamma = 1.0 / max(s.d, 1)
    if s.n <= 2000:
        return _grid("KernelRidge", "alpha", (1.0, 0.1, 0.01), kernel="rbf", gamma=gamma, fit_intercept=True)
    return _grid("NystroemRidge", "alpha", (1.0, 0.1), seeded=True)


def _log(n: int) -> float:
    return float(np.log2(max(n, 2)))


_CLASSIFICATION = (
    Family("constant", "constant", "classification", _constant_class, lambda s: 1e-3),
    Family("linear", "logistic regression", "classification", _logistic,
           lambda s: s.k * s.n * s.d * (1e-7 + 5e-9 * min(s.d, s.n)), compiling=3.0, loops="surefit.solvers.newton.scalar_scores"),
    Family("discriminant", "discriminant analysis", "classification", _discriminant,
           lambda s: s.n * s.d * (1e-7 + 5e-9 * s.d), most_features=2000, compiling=0.5, loops="surefit.solvers.discriminants.moments"),
    Family("bayes", "naive Bayes", "classification", _naive_bayes, lambda s: 1.5e-7 * s.n * s.d),
    Family("tree", "decision tree", "classification", _depths("DecisionTreeClassifier"), lambda s: 3e-8 * s.n * s.d * _log(s.n),
           compiling=5.0, loops="surefit.solvers.trees.presorted"),
    Family("neighbors", "nearest neighbors", "classification", _neighbors("KNeighborsClassifier"),
           lambda s: 1.5e-10 * s.n * s.n * s.d, most_rows=50_000, least_rows=8, compiling=2.5,
           loops="surefit.solvers.nearest_neighbors"),
    Family("svm", "support vector machine", "classification", _svc, lambda s: 1.5e-9 * s.n**2 * max(s.d, 10) * max(1, s.k / 2),
           lambda s: 2e8, most_rows=25_000, compiling=2.5, loops="surefit.solvers.smo.inner"),
    Family("kernel", "kernel logistic regression", "classification", _kernel_logistic,
           lambda s: (1.2e-10 * s.n**3 if s.n <= 1500 else 1.2e-4 * s.n) * s.k / 2, lambda s: 24.0 * min(s.n**2, 300 * s.n),
           most_rows=50_000),
    Family("forest", "random forest", "classification", _forest("RandomForestClassifier"),
           lambda s: 1e-6 * s.n * np.sqrt(s.d) * _log(s.n), lambda s: 24_000.0 * s.n / _leaves(s)[1], compiling=4.0,
           loops="surefit.solvers.trees.forest"),
    Family("boosting", "gradient boosting", "classification", _boosting("HistGradientBoostingClassifier"),
           lambda s: (2e-6 * s.n * s.d + 0.02) * (1 if s.k == 2 else s.k), least_rows=30, compiling=5.0,
           loops="surefit.solvers.boosting.grower"),
    Family("process", "Gaussian process", "classification", _gaussian_process("GaussianProcessClassifier"),
           lambda s: (0.2 + 2e-9 * s.n**3) * (1 if s.k == 2 else s.k), lambda s: 64.0 * s.n**2, most_rows=2000, weighted=False),
    Family("network", "neural network", "classification", _network("MLPClassifier"), lambda s: 2e-4 * s.n * (1 + s.d / 50),
           least_rows=30, compiling=2.0, loops="surefit.solvers.networks.backpropagation"),
)  # fmt: skip

_REGRESSION = (
    Family("constant", "constant", "regression", _constant_number, lambda s: 1e-3),
    Family("linear", "penalized linear regression", "regression", _ridge,
           lambda s: s.n * s.d * (1e-7 + 3e-9 * min(s.d, s.n)), compiling=3.0, loops="surefit.solvers.coordinate_descent.gram"),
    Family("tree", "decision tree", "regression", _depths("DecisionTreeRegressor"), lambda s: 3e-8 * s.n * s.d * _log(s.n),
           compiling=5.0, loops="surefit.solvers.trees.presorted"),
    Family("neighbors", "nearest neighbors", "regression", _neighbors("KNeighborsRegressor"),
           lambda s: 1.5e-10 * s.n * s.n * s.d, most_rows=50_000, least_rows=8, compiling=2.5,
           loops="surefit.solvers.nearest_neighbors"),
    Family("svm", "support vector regression", "regression", _svr, lambda s: 3e-9 * s.n**2 * max(s.d, 10), lambda s: 2e8,
           most_rows=20_000, compiling=2.5, loops="surefit.solvers.smo.inner"),
    Family("kernel", "kernel ridge regression", "regression", _kernel_ridge,
           lambda s: 3.5e-11 * s.n**3 + 1e-2 if s.n <= 2000 else 1.2e-4 * s.n, lambda s: 24.0 * min(s.n**2, 300 * s.n),
           most_rows=50_000),
    Family("forest", "random forest", "regression", _forest("RandomForestRegressor"),
           lambda s: 1.2e-6 * s.n * s.d * _log(s.n), lambda s: 24_000.0 * s.n / _leaves(s)[1], compiling=5.0,
           loops="surefit.solvers.trees.forest"),
    Family("boosting", "gradient boosting", "regression", _boosting("HistGradientBoostingRegressor"),
           lambda s: 2e-6 * s.n * s.d + 0.02, least_rows=30, compiling=5.0, loops="surefit.solvers.boosting.grower"),
    Family("process", "Gaussian process", "regression", _gaussian_process("GaussianProcessRegressor"),
           lambda s: 0.3 + 2.5e-9 * s.n**3, lambda s: 64.0 * s.n**2, most_rows=2500, weighted=False),
    Family("network", "neural network", "regression", _network("MLPRegressor"), lambda s: 2e-4 * s.n * (1 + s.d / 50),
           least_rows=30, compiling=2.0, loops="surefit.solvers.networks.backpropagation"),
)  # fmt: skip

#: Names of all families, simplest first.
FAMILIES = tuple(dict.fromkeys(family.name for family in (*_CLASSIFICATION, *_REGRESSION)))


def families_for(task: str) -> tuple[Family, ...]:
    """Return the families of a task, simplest first."""
    return _CLASSIFICATION if task == "classification" else _REGRESSION
