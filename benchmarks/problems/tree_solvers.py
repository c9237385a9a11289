"""The trees that are compared, and how each is called."""

import numpy as np

from benchmarks.problems.tree import Labeled
from benchmarks.workload import OURS, Workload, cores


def register(workload: Workload, max_depth: int | None) -> None:
    """Add all solvers; every tree is grown by the Gini impurity to the same depth."""

    @workload.solver(OURS)
    def surefit(data: Labeled):
        from surefit import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=max_depth).fit(data.X, data.y)

    @workload.solver("scikit-learn", package="sklearn")
    def scikit_learn(data: Labeled):
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(data.X, data.y)

    @workload.solver("scikit-learn-intelex", package="sklearnex")
    def scikit_learn_intelex(data: Labeled):
        from sklearnex.ensemble import RandomForestClassifier

        options = {"max_features": None, "bootstrap": False, "random_state": 0, "n_jobs": cores()}
        return RandomForestClassifier(1, max_depth=max_depth, **options).fit(data.X, data.y)

    @workload.solver("snapml", variants=[{"use_histograms": True}, {"use_histograms": False}])
    def snapml(data: Labeled, use_histograms: bool):
        import snapml

        model = snapml.DecisionTreeClassifier(
            max_depth=max_depth, use_histograms=use_histograms, random_state=0, n_jobs=cores()
        )
        return model.fit(data.X.astype(np.float32), data.y)  # it has no double precision

    @workload.solver("LightGBM", package="lightgbm")
    def lightgbm(data: Labeled):
        from lightgbm import LGBMClassifier

        depth = -1 if max_depth is None else max_depth
        leaves = 30_000 if max_depth is None else 2**max_depth
        return LGBMClassifier(
            n_estimators=1, num_leaves=leaves, max_depth=depth, min_child_samples=1, min_child_weight=0.0, learning_rate=1.0,
            n_jobs=cores(), verbose=-1,
        ).fit(data.X, data.y)  # fmt: skip
