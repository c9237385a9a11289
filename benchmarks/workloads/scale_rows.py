"""How time and memory grow from 625 000 to ten million rows, family by family."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import OURS, Quality, Workload

ROWS = (625_000, 2_500_000, 10_000_000)
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "Ridge": ("linear_model", {}),
    "Lasso": ("linear_model", {"alpha": 0.01}),
    "LogisticRegression": ("linear_model", {}),
    "LinearSVC": ("svm", {}),
    "LinearDiscriminantAnalysis": ("discriminant_analysis", {}),
    "DecisionTreeClassifier": ("tree", {"max_depth": 8}),
    "HistGradientBoostingClassifier": ("ensemble", {"max_iter": 20, "early_stopping": False}),
    "KMeans": ("cluster", {"n_clusters": 10, "n_init": 1, "max_iter": 20, "random_state": 0}),
    "GaussianMixture": ("mixture", {"n_components": 3, "max_iter": 10, "random_state": 0}),
}
CLASSIFIERS = ("LogisticRegression", "LinearSVC", "LinearDiscriminantAnalysis", "DecisionTreeClassifier")


class Table(NamedTuple):
    """Numeric rows with a number and a class each."""

    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray


def make(n: int, d: int) -> Table:
    """Draw Gaussian rows, a linear target with noise, and its sign."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, d))
    y = X @ np.linspace(1.0, -1.0, d) + generator.standard_normal(n)
    return Table(X, y, (y > 0).astype(np.int64))


workload = Workload(
    module=__name__,
    title="10 columns, 625 000 to 10 000 000 rows",
    recipe="Gaussian X, y = x'w + noise, classes by the sign of y; depth 8, 20 rounds, 10 clusters, 3 components",
    seed=0,
    objective="none: time and memory of a family are compared with those of fewer rows",
    floor="time that grows with the rows, and memory for one copy of them",
    gate=None,
    sizes={"full": {"n": ROWS[-1], "d": 10}, "quick": {"n": 4_000, "d": 10}, "warm": {"n": 2_000, "d": 10}},
    make=make,
    measure=lambda data, model: Quality(None),
)


def _variants(*families: str) -> list[dict[str, Any]]:
    return [{"family": family, "rows": rows} for family in families for rows in ROWS]


def _fitted(model, data: Table, rows: int):
    X, y, labels = (part[:rows] for part in data)
    return model.fit(X, labels if type(model).__name__.startswith((*CLASSIFIERS, "HistGradient")) else y)


@workload.solver(OURS, variants=_variants(*FAMILIES, "SmoothingSpline"))
def ours(data: Table, family: str, rows: int):
    import surefit

    if family == "SmoothingSpline":
        return surefit.SmoothingSpline().fit(data.X[:rows, 0], data.y[:rows])
    return _fitted(getattr(surefit, family)(**FAMILIES[family][1]), data, rows)


@workload.solver("scikit-learn", package="sklearn", variants=_variants(*FAMILIES), ranked=False)
def scikit_learn(data: Table, family: str, rows: int):
    from importlib import import_module

    module, parameters = FAMILIES[family]
    return _fitted(getattr(import_module(f"sklearn.{module}"), family)(**parameters), data, rows)
