"""Every public estimator either is registered for rows in partitions, and listed in the docs, or says in one sentence which ones are."""

import inspect
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from sklearn.base import BaseEstimator

import surefit
from surefit._names import HOME
from surefit.cluster.fitting import trainers
from surefit.core.errors import InvalidData

X = da.from_array(np.random.default_rng(0).normal(size=(40, 3)), chunks=(20, 3))
Y = da.from_array(np.arange(40) % 2, chunks=20)
CLASSES = [cls for name in HOME if inspect.isclass(cls := getattr(surefit, name)) and issubclass(cls, BaseEstimator)]
ESTIMATORS = [cls for cls in CLASSES if hasattr(cls, "fit")]


def supported(cls):
    return any(base.__name__ in trainers() for base in cls.__mro__)


def made(cls):
    """Return an estimator; parameters without a default are other estimators or whole numbers."""
    inputs = list(inspect.signature(cls.__init__).parameters.values())[1:]
    needed = [p.name for p in inputs if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return cls(**{name: surefit.Ridge() if name == "estimator" else 1 for name in needed})


@pytest.mark.parametrize("cls", [cls for cls in ESTIMATORS if not supported(cls)], ids=lambda cls: cls.__name__)
def test_estimators_that_need_rows_in_memory_name_those_that_do_not(cls):
    with pytest.raises(InvalidData, match=rf"^{cls.__name__}: .*rows in memory; .*DecisionTreeClassifier, .*Ridge"):
        made(cls).fit(X, Y)


def test_the_docs_list_the_estimators_that_take_partitions():
    page = (Path(__file__).parents[2] / "docs" / "scaling.rst").read_text()
    named = {cls.__name__ for cls in ESTIMATORS if cls.__name__ in trainers()}
    assert len(named) > 30 and [name for name in sorted(named) if f"``{name}``" not in page] == []
