"""Support vector classification with three kernels."""

from sklearn import datasets, svm

X, y = datasets.make_moons(80, noise=0.1, random_state=0)
for kernel in ("linear", "poly", "rbf"):
    model = svm.SVC(kernel=kernel, gamma=2, C=10).fit(X, y)
    print(kernel, model.n_support_, model.score(X, y))
    assert len(model.support_vectors_) == model.n_support_.sum()
assert model.score(X, y) > 0.95
