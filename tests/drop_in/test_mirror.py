"""surefit.sklearn: scikit-learn's module paths, surefit's estimators."""

import importlib
import subprocess
import sys
from unittest.mock import patch

import matplotlib
import pytest
import sklearn
import sklearn.linear_model
import sklearn.tree

import surefit
import surefit.sklearn
from surefit.sklearn import report
from surefit.sklearn.mirror import is_estimator


def test_a_name_is_ours_where_we_have_it_and_scikit_learns_elsewhere():
    from surefit.sklearn.linear_model import Lars, Lasso
    from surefit.sklearn.model_selection import train_test_split

    assert Lasso is surefit.Lasso
    assert Lars is sklearn.linear_model.Lars
    assert train_test_split is importlib.import_module("sklearn.model_selection").train_test_split


def test_modules_are_reached_as_attributes_and_by_star():
    assert surefit.sklearn.svm.SVC is surefit.SVC
    assert surefit.sklearn.__version__ == sklearn.__version__
    space: dict = {}
    exec("from surefit.sklearn.tree import *", space)
    assert space["DecisionTreeClassifier"] is surefit.DecisionTreeClassifier
    assert space["ExtraTreeClassifier"] is importlib.import_module("sklearn.tree").ExtraTreeClassifier
    exec("from surefit.sklearn.gaussian_process.kernels import *", space)  # a module without __all__
    assert space["RBF"] is importlib.import_module("sklearn.gaussian_process.kernels").RBF


def test_trees_of_both_libraries_are_drawn():
    from surefit.sklearn import tree

    matplotlib.use("Agg")
    X, y = [[0.0], [1.0]], [0, 1]
    for kind in (tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier):
        model = kind().fit(X, y)
        assert "0.50" in tree.export_text(model) and len(tree.plot_tree(model)) >= 3
        assert "digraph" in tree.export_graphviz(model)


def test_private_modules_are_scikit_learns_own():
    from surefit.sklearn.linear_model._coordinate_descent import Lasso

    assert Lasso is sklearn.linear_model.Lasso


def test_a_patch_of_a_private_module_reaches_scikit_learn(monkeypatch):
    mirror = importlib.import_module("surefit.sklearn.linear_model._ridge")
    original = importlib.import_module("sklearn.linear_model._ridge")
    kept, spec = original._solve_svd, original.__spec__
    with patch.object(mirror, "_solve_svd", side_effect=kept) as other:
        assert original._solve_svd is other
        sklearn.linear_model.Ridge(solver="svd").fit([[0.0], [1.0]], [0.0, 1.0])
        other.assert_called_once()
    assert original._solve_svd is mirror._solve_svd is kept
    assert original.__spec__ is spec
    monkeypatch.setattr(mirror, "_solve_svd", None)
    assert original._solve_svd is None
    monkeypatch.undo()
    assert original._solve_svd is kept
    mirror.new = 1
    assert original.new == 1
    del mirror.new
    assert not hasattr(original, "new")
    public = importlib.import_module("surefit.sklearn.linear_model")
    with patch.object(public, "Lars", "theirs"):
        assert public.Lars == "theirs" != sklearn.linear_model.Lars


def test_names_that_do_not_exist_raise_as_usual():
    with pytest.raises(ImportError):
        importlib.import_module("surefit.sklearn.nothing")
    with pytest.raises(ImportError):
        exec("from surefit.sklearn.svm import Nothing")


def test_report_splits_all_estimators_into_ours_and_theirs():
    found = report()
    assert not set(found.replaced) & set(found.kept)
    for module, name in found.replaced:
        mirrored = getattr(importlib.import_module(f"surefit.{module}"), name)
        original = getattr(importlib.import_module(module), name)
        assert mirrored is getattr(surefit, name) is not original
        assert is_estimator(original)
    for module, name in found.kept:
        assert getattr(importlib.import_module(f"surefit.{module}"), name) is getattr(
            importlib.import_module(module), name
        )
    assert "SVC" in str(found)


def test_importing_surefit_does_not_import_scikit_learn():
    code = "import sys, surefit; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
