"""Built-in tables: data sets of scikit-learn, with readable names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.tables.table import Table, did_you_mean


class Builtin(NamedTuple):
    """Built-in data set: its target, its task and a one-line description."""

    target: str
    task: str
    about: str


BUILTINS = {
    "diabetes": Builtin("progression", "regression", "442 patients, 10 measurements; progression of the disease after a year"),
    "tumors": Builtin("diagnosis", "classification", "569 breast tumors, 30 measurements of cell nuclei; benign or malignant"),
    "iris": Builtin("species", "classification", "150 iris flowers, 4 measurements; three species"),
    "wine": Builtin("cultivar", "classification", "178 wines, 13 chemical measurements; three cultivars"),
    "digits": Builtin("digit", "classification", "1797 handwritten digits of 8 x 8 pixels"),
}  # fmt: skip


def builtin_table(name: str = "diabetes") -> Table:
    """Return a built-in data set as a table; ``BUILTINS[name].target`` is its target.

    Examples
    --------
    >>> from surefit.tables import builtin_table
    >>> builtin_table("tumors").frame.shape
    (569, 31)
    """
    import polars

    if name not in BUILTINS:
        raise InvalidData(f"There is no built-in data set {name!r}{did_you_mean(name, list(BUILTINS))}")
    columns = _diabetes() if name == "diabetes" else _bundled(name)
    frame = polars.DataFrame(columns)
    return Table(frame, np.arange(1, len(frame) + 1), f"built-in data set {name!r}")


def _diabetes() -> dict[str, np.ndarray]:
    from surefit.data import load_diabetes

    data = load_diabetes()
    columns = {name: data.X[:, j] for j, name in enumerate(data.feature_names)}
    columns["sex"] = np.where(columns["sex"] == 1, "code 1", "code 2")
    return {**columns, data.target_name: data.y}


def _bundled(name: str) -> dict[str, np.ndarray]:
    from sklearn import datasets

    loaders = {
        "tumors": datasets.load_breast_cancer,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "digits": datasets.load_digits,
    }
    data = loaders[name]()
    names = [str(each).replace(" (cm)", "").replace(" ", "_").replace("/", "_") for each in data.feature_names]
    columns = {each: data.data[:, j] for j, each in enumerate(names)}
    labels = np.asarray(data.target_names).astype(str)[data.target]
    return {**columns, BUILTINS[name].target: labels}
