"""Diabetes data: ten measurements of 442 patients, and the disease progression after one year."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class DataSet(NamedTuple):
    """Data set with names.

    Examples
    --------
    >>> from surefit.data import load_diabetes
    >>> data = load_diabetes()
    >>> data.name, data.X.shape, data.feature_names[:2]
    ('diabetes', (442, 10), ('age', 'sex'))
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_name: str
    description: str


#: Readable names for the columns of scikit-learn's copy, in its order.
_NAMES = {
    "age": "age",
    "sex": "sex",
    "bmi": "body_mass_index",
    "bp": "blood_pressure",
    "s1": "total_cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol_ratio",
    "s5": "log_triglycerides",
    "s6": "blood_sugar",
}


def load_diabetes() -> DataSet:
    """Return the diabetes data that ship with scikit-learn, in their original units.

    Age in years, sex coded 1 and 2, mean blood pressure, six blood serum measurements; the target is a quantitative measure
    of the disease one year later (Efron, Hastie, Johnstone and Tibshirani, "Least angle regression", 2004).

    Returns
    -------
    DataSet
        ``X`` of shape (442, 10), ``y`` of shape (442,), names and a description.

    Examples
    --------
    >>> from surefit.data import load_diabetes
    >>> data = load_diabetes()
    >>> data.X.shape, data.target_name, float(data.y.min()), float(data.y.max())
    ((442, 10), 'progression', 25.0, 346.0)
    """
    from sklearn import datasets

    found = datasets.load_diabetes(scaled=False)
    names = tuple(_NAMES[name] for name in found.feature_names)
    return DataSet(
        "diabetes",
        np.ascontiguousarray(found.data, dtype=np.float64),
        np.ascontiguousarray(found.target, dtype=np.float64),
        names,
        "progression",
        "442 diabetes patients: ten measurements, and the disease progression after one year",
    )
