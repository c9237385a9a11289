"""Models of LIBLINEAR's and LIBSVM's own packages say the same as those that scikit-learn wraps."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from surefit import Invalidated, InvalidData, certify

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:200], Y[:200].astype(float)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
WINE, GRAPE = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)


@pytest.mark.parametrize(
    ("options", "twin"),
    [
        ("-s 0", LogisticRegression(solver="liblinear", C=2.0)),
        ("-s 6", LogisticRegression(solver="liblinear", l1_ratio=1.0, C=2.0)),
        ("-s 2", svm.LinearSVC(C=2.0)),
        ("-s 3", svm.LinearSVC(loss="hinge", C=2.0, max_iter=1_000_000)),
        ("-s 5", svm.LinearSVC(penalty="l1", C=2.0)),
    ],
)
def test_linear_classifiers(options, twin):
    train = pytest.importorskip("liblinear.liblinearutil").train
    model = train(Y, X, f"{options} -c 2 -B 1 -e 0.3 -q")
    certificate = certify(model, X, Y)
    certificate.verify(X, Y)
    (w, b), first = model.get_decfun(), model.get_labels()[0]
    sign = 1.0 if first == 1 else -1.0
    twin.fit(X, Y)
    twin.coef_, twin.intercept_ = sign * np.array([w]), sign * np.array([b])
    same = certify(twin, X, Y)
    assert certificate["audit.gap"].value == pytest.approx(same["audit.gap"].value, rel=1e-5, abs=1e-9)
    assert certificate["audit.labels"].value == same["audit.labels"].value


def test_linear_regression_classes_and_refusals():
    train = pytest.importorskip("liblinear.liblinearutil").train
    early = train(PROGRESS, DIABETES, "-s 11 -c 1 -p 5 -B 1 -e 0.5 -q")
    late = train(PROGRESS, DIABETES, "-s 11 -c 1 -p 5 -B 1 -e 1e-9 -q")
    gaps = [certify(model, DIABETES, PROGRESS)["audit.gap"].value for model in (early, late)]
    assert gaps[1] < 1e-3 * gaps[0]
    several = train(GRAPE, WINE, "-s 2 -c 1 -B 1 -e 1e-8 -q")
    certificate = certify(several, WINE, GRAPE)
    assert certificate.holds
    certificate.verify(WINE, GRAPE)
    with pytest.raises(InvalidData, match="solver type 4"):
        certify(train(GRAPE, WINE, "-s 4 -q"), WINE, GRAPE)
    with pytest.raises(Invalidated, match="coef_ was changed"):
        certificate.verify(WINE, GRAPE, model=train(GRAPE, WINE, "-s 2 -c 3 -B 1 -q"))


def test_kernel_machines():
    train = pytest.importorskip("libsvm.svmutil").svm_train
    model = train(Y.tolist(), X.tolist(), "-c 2 -g 0.03 -e 0.5 -q")
    certificate = certify(model, X, Y)
    certificate.verify(X, Y)
    best = certify(svm.SVC(C=2.0, gamma=0.03, tol=1e-9).fit(X, Y), X, Y)["audit.svm_gap"].numbers["objective"]
    claim = certificate["audit.svm_gap"]
    assert claim.numbers["objective"] - best <= claim.value * (1 + 1e-4)
    exact = certify(train(Y.tolist(), X.tolist(), "-c 2 -g 0.03 -e 1e-9 -q"), X, Y)
    assert exact["audit.svm_gap"].value < 1e-5
    nu = certify(train(Y.tolist(), X.tolist(), "-s 1 -n 0.1 -g 0.03 -e 1e-8 -q"), X, Y)
    assert nu["audit.svm_gap"].value < 1e-5
    tube = certify(train(PROGRESS.tolist(), DIABETES.tolist(), "-s 3 -c 10 -p 5 -e 1e-7 -q"), DIABETES, PROGRESS)
    assert tube.holds
    tube.verify(DIABETES, PROGRESS)
    several = certify(train(GRAPE.tolist(), WINE.tolist(), "-c 1 -e 1e-8 -q"), WINE, GRAPE)
    assert several["audit.svm_labels"].value == 0
    with pytest.raises(InvalidData, match="class weights"):
        certify(train(Y.tolist(), X.tolist(), "-w1 3 -q"), X, Y)
    with pytest.raises(InvalidData, match="type 2"):
        certify(train(Y.tolist(), X.tolist(), "-s 2 -q"), X, Y)
