"""Write ``guide/risk_table.inc``: proved limits against errors on rows kept apart, for every family and data set, five splits.

Run it by hand after a change that moves numbers: ``python docs/generate_risk_table.py``.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets, ensemble, naive_bayes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import surefit
from surefit.kernels import RBF

TARGET = Path(__file__).parent / "guide" / "risk_table.inc"
SEEDS = range(5)

CLASSIFIERS = {
    "logistic regression": surefit.LogisticRegression(C=1.0),
    "linear SVM": surefit.LinearSVC(C=0.1),
    "least squares": surefit.LeastSquaresClassifier(),
    "stochastic gradient": surefit.SGDClassifier(random_state=0),
    "discriminant analysis": surefit.LinearDiscriminantAnalysis(),
    "quadratic discriminant": surefit.QuadraticDiscriminantAnalysis(reg_param=0.1),
    "Fisher's discriminant": surefit.FisherDiscriminant(),
    "Gaussian laws": surefit.MAPClassifier(),
    "perceptron": surefit.Perceptron(random_state=0),
    "averaged perceptron": surefit.AveragedPerceptron(random_state=0),
    "voted perceptron": surefit.VotedPerceptron(random_state=0),
    "kernel perceptron": surefit.KernelPerceptron(random_state=0),
    "RBF SVM": surefit.SVC(),
    "kernel logistic regression": surefit.KernelLogisticRegression(),
    "kernel logistic, landmarks": surefit.NystroemLogisticRegression(random_state=0),
    "kernel Fisher discriminant": surefit.KernelFisherDiscriminant(),
    "Gaussian process": surefit.GaussianProcessClassifier(optimizer=None),
    "Bayesian logistic regression": surefit.BayesianLogisticRegression(),
    "5 nearest neighbors": surefit.KNeighborsClassifier(),
    "histogram": surefit.HistogramClassifier(),
    "tree": surefit.DecisionTreeClassifier(random_state=0),
    "random forest": surefit.RandomForestClassifier(50, random_state=0),
    "bagged trees": surefit.BaggingClassifier(random_state=0),
    "boosted stumps": surefit.AdaBoostClassifier(random_state=0),
    "gradient boosting": surefit.HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "network": surefit.MLPClassifier((20,), max_iter=200, random_state=0),
    "naive Bayes (scikit-learn)": naive_bayes.GaussianNB(),
    "random forest (scikit-learn)": ensemble.RandomForestClassifier(100, random_state=0),
}
TWO_CLASSES = ("Fisher's discriminant", "kernel Fisher discriminant", "Bayesian logistic regression")
COSTLY = ("Gaussian process",)  # cubic in the rows, once a class
FEW_ROWS = ("kernel logistic regression",)  # the landmarks serve larger data


def body_mass(X):
    """The one column that a curve is fitted to."""
    return X[:, 2:3]


REGRESSORS = {
    "least squares": surefit.LinearRegression(),
    "ridge": surefit.Ridge(),
    "lasso": surefit.Lasso(alpha=1.0),
    "elastic net": surefit.ElasticNet(alpha=0.1),
    "least absolute deviations": surefit.LeastAbsoluteDeviations(),
    "linear SVR": surefit.LinearSVR(C=10.0, max_iter=20_000),
    "stochastic gradient": surefit.SGDRegressor(random_state=0),
    "Bayesian linear regression": surefit.BayesianLinearRegression(),
    "RBF SVR": surefit.SVR(C=100.0),
    "kernel ridge": surefit.KernelRidge(kernel="rbf", gamma=0.02),
    "kernel ridge on landmarks": surefit.NystroemRidge(gamma=0.02, random_state=0),
    "Gaussian process": surefit.GaussianProcessRegressor(3000.0 * RBF(5.0), alpha=3000.0, optimizer=None),
    "5 nearest neighbors": surefit.KNeighborsRegressor(),
    "tree of depth 3": surefit.DecisionTreeRegressor(max_depth=3, random_state=0),
    "random forest": surefit.RandomForestRegressor(50, random_state=0),
    "bagged trees": surefit.BaggingRegressor(random_state=0),
    "gradient boosting": surefit.HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "network": surefit.MLPRegressor(hidden_layer_sizes=(20,), max_iter=300, random_state=0),
    "stagewise sum": surefit.ForwardStagewise(),
    "smoothing spline, one column": make_pipeline(FunctionTransformer(body_mass), surefit.SmoothingSpline()),
    "regressogram, one column": make_pipeline(FunctionTransformer(body_mass), surefit.Regressogram()),
    "random forest (scikit-learn)": ensemble.RandomForestRegressor(50, random_state=0),
}
RANGE = (0.0, 400.0)  # of the diabetes score, declared: it is a clinical index of a few hundred points


class Line(NamedTuple):
    """One line of the table."""

    data: str
    family: str
    procedure: str
    rows: int
    test: float
    bound: float
    test_rows: int
    test_losses: np.ndarray


def data_sets() -> dict:
    """Data that ship with scikit-learn."""
    digits = datasets.load_digits()
    return {
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": (digits.data, digits.target),
        "digits, odd or even": (digits.data, digits.target % 2),
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
    }


def families_for(y: np.ndarray, costly: bool = True) -> dict:
    """Classifiers that can learn these labels; without ``costly`` those that finish in seconds."""
    left_out = () if len(np.unique(y)) == 2 else TWO_CLASSES
    if len(y) > 1000:
        left_out += FEW_ROWS if costly else (*FEW_ROWS, *COSTLY)
    return {name: model for name, model in CLASSIFIERS.items() if name not in left_out}


def lines(seed: int, costly: bool = True) -> Iterator[Line]:
    """Fit every family on every data set; a third of the rows, drawn by ``seed``, is kept apart."""
    for data, (X, y) in data_sets().items():
        families = families_for(y, costly)
        X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
        for family, model in families.items():
            pipeline = make_pipeline(StandardScaler(), model)
            fitted = surefit.Certified(pipeline, random_state=seed, assume=("equal_rows_are_draws",)).fit(X, y)
            losses = (fitted.predict(X_test) != y_test).astype(float)
            yield Line(data, family, "holdout", len(y), losses.mean(), fitted.risk_bound_, len(losses), losses)
        model = make_pipeline(StandardScaler(), CLASSIFIERS["logistic regression"])
        options = {"random_state": seed, "assume": ("equal_rows_are_draws",)}
        fitted = surefit.Certified(model, by="progressive", **options).fit(X, y)
        p = fitted.predict_proba(X_test)
        losses = 0.5 * np.sum((p - (y_test[:, None] == fitted.classes_[None])) ** 2, axis=1)
        yield Line(
            data,
            "logistic regression",
            "progressive, Brier",
            len(y),
            losses.mean(),
            fitted.risk_bound_,
            len(losses),
            losses,
        )
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    for family, model in REGRESSORS.items():
        pipeline = make_pipeline(StandardScaler(), model)
        fitted = surefit.Certified(pipeline, by="progressive", y_range=RANGE, random_state=seed).fit(X, y)
        losses = (fitted.predict(X_test) - y_test) ** 2 / (RANGE[1] - RANGE[0]) ** 2
        bound = fitted.risk_bound_ / (RANGE[1] - RANGE[0]) ** 2
        yield Line("diabetes", family, "progressive, squared", len(y), losses.mean(), bound, len(losses), losses)


def page(found: list[list[Line]]) -> str:
    """The table, as reStructuredText: means over the splits, and in how many the limit was below the test error."""
    head = "..\n   Written by docs/generate_risk_table.py; do not edit.\n\n"
    head += ".. list-table::\n   :header-rows: 1\n   :widths: 18 28 20 8 10 10 16\n\n"
    rows = [("data", "family", "procedure", "rows", "test", "limit", "limit below test")]
    for same in zip(*found, strict=True):
        line, test, bound = same[0], np.mean([ln.test for ln in same]), np.mean([ln.bound for ln in same])
        below = f"{sum(ln.bound < ln.test for ln in same)} of {len(same)}"
        rows.append((line.data, line.family, line.procedure, str(line.rows), f"{test:.3f}", f"{bound:.3f}", below))
    return head + "\n".join("   * - " + "\n     - ".join(row) for row in rows) + "\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # a network that stops early is a model like any other
    TARGET.write_text(page([list(lines(seed)) for seed in SEEDS]), encoding="utf-8")
