"""Claims about fitted numbers against the truth in sixty digits: no bound is below the error that it bounds.

The data are badly scaled and far from the origin, so that the errors of the fits are large enough to be seen.
"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import surefit

DIGITS = 60
N, D = 14, 2


def rows(seed: int):
    """Columns of 1e3 and 1e-3, far from the origin; a target and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * [1e3, 1e-3] + [1e6, 1.0]
    y = (X[:, 0] - 1e6) / 1e3 + 0.3 * rng.normal(size=N) + 1e4
    return X, y, (y > np.median(y)).astype(int)


@pytest.fixture(params=range(3))
def sample(request):
    with mpmath.workdps(DIGITS):
        yield rows(request.param)


def exact(array):
    """The floats of an array as a matrix of numbers with many digits."""
    return mpmath.matrix(np.atleast_2d(np.asarray(array, dtype=np.float64)).tolist())


def column(vector):
    return mpmath.matrix([mpf(float(v)) for v in np.ravel(vector)])


def squared_distance(a, b):
    return sum((mpf(float(p)) - mpf(float(q))) ** 2 for p, q in zip(a, b, strict=True))


def rbf(X, gamma):
    return mpmath.matrix([[mpmath.exp(-mpf(gamma) * squared_distance(a, b)) for b in X] for a in X])


def form(v, A):
    return (v.T * A * v)[0]


def above(model, name, truth, number=None):
    """Whether the claim, or a number of it, is at least the truth."""
    claim = model.certificate_[name]
    return claim.value >= truth if number is None else claim.numbers[number] >= truth


def test_kernel_ridge(sample):
    X, y, _ = sample
    gamma, alpha = 1e-7, 1e-4
    model = surefit.KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X, y)
    K, c, t = rbf(X, gamma), column(model.dual_coef_), column(y)
    best = mpmath.lu_solve(K + mpf(alpha) * mpmath.eye(N), t)

    def objective(c):
        r = t - K * c
        return (r.T * r)[0] + mpf(alpha) * form(c, K)

    assert above(model, "kernel_ridge.gap", objective(c) - objective(best))
    assert above(model, "kernel_ridge.distance", mpmath.sqrt(abs(form(c - best, K))))
    assert above(model, "kernel_ridge.norm", mpmath.sqrt(form(c, K)))


def test_gaussian_process(sample):
    X, y, _ = sample
    kernel, noise = surefit.kernels.RBF(gamma=1e-7), 1e-4
    model = surefit.GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y - 1e4)
    added = [mpf(float(v)) for v in np.broadcast_to(model.certificate_.model["noise_"], N)]
    K, t, c = rbf(X, 1e-7), column(y - 1e4), column(model.alpha_)
    A = K + mpmath.diag(added)
    best = mpmath.lu_solve(A, t)
    assert above(model, "gaussian_process.mean", mpmath.sqrt(abs(form(c - best, K))))
    evidence = -((t.T * best)[0] + mpmath.log(mpmath.det(A)) + N * mpmath.log(2 * mpmath.pi)) / 2
    assert above(model, "gaussian_process.evidence", abs(evidence - mpf(model.log_marginal_likelihood_value_)))


def test_bayesian_ridge(sample):
    X, y, _ = sample
    model = surefit.BayesianRidge().fit(X, y)
    A, t = exact(X), column(y)
    means = [sum(A[i, j] for i in range(N)) / N for j in range(D)]
    middle = sum(t) / N
    Z = mpmath.matrix([[A[i, j] - means[j] for j in range(D)] for i in range(N)])
    alpha, lam = mpf(model.alpha_), mpf(model.lambda_)
    precision = alpha * (Z.T * Z) + lam * mpmath.eye(D)
    best = mpmath.lu_solve(precision, alpha * (Z.T * mpmath.matrix([v - middle for v in t])))
    w = column(model.coef_)
    assert above(model, "bayesian_ridge.posterior", mpmath.sqrt(form(w - best, precision)))
    covariance, own = precision**-1, exact(model.sigma_)
    assert above(
        model, "bayesian_ridge.posterior", max(abs(own[j, j] / covariance[j, j] - 1) for j in range(D)), "variance"
    )
    intercept = middle - sum(m * v for m, v in zip(means, w, strict=True))
    assert above(model, "bayesian_ridge.posterior", abs(intercept - mpf(float(model.intercept_))), "intercept")


def test_k_means(sample):
    X, _, _ = sample
    model = surefit.KMeans(3, random_state=0).fit(X)
    A, centers, labels = exact(X), exact(model.cluster_centers_), model.labels_

    def distance(i, k):
        return sum((A[i, j] - centers[k, j]) ** 2 for j in range(D))

    inertia = sum(distance(i, labels[i]) for i in range(N))
    assert above(model, "k_means.inertia", abs(inertia - mpf(model.inertia_)))
    assert above(
        model, "k_means.nearest", max(distance(i, labels[i]) - distance(i, k) for i in range(N) for k in range(3))
    )
    groups = [np.flatnonzero(labels == k).tolist() for k in range(3)]
    means = [[sum(A[i, j] for i in rows) / len(rows) for j in range(D)] for rows in groups]
    assert above(model, "k_means.means", sum((centers[k, j] - means[k][j]) ** 2 for k in range(3) for j in range(D)))

    def scatter(rows):
        mean = [sum(A[i, j] for i in rows) / len(rows) for j in range(D)]
        return sum((A[i, j] - mean[j]) ** 2 for i in rows for j in range(D))

    own = [scatter(rows) for rows in groups]
    moves = [
        own[a] - scatter([r for r in groups[a] if r != i]) + own[b] - scatter([*groups[b], i])
        for a in range(3)
        for b in range(3)
        if a != b and len(groups[a]) > 1
        for i in groups[a]
    ]
    assert above(model, "k_means.single_move", max(moves))
    assert above(model, "k_means.gap", inertia - _least_inertia(A, scatter))


def _least_inertia(A, scatter):
    """The columns differ so much that the best clusters are intervals of the first one, or nearly: a partition that is good."""
    order = sorted(range(N), key=lambda i: A[i, 0])
    cuts = ((a, b) for a in range(1, N - 1) for b in range(a + 1, N))
    return min(scatter(order[:a]) + scatter(order[a:b]) + scatter(order[b:]) for a, b in cuts)


def test_nearest_centroid(sample):
    X, _, labels = sample
    model = surefit.NearestCentroid().fit(X, labels)
    A, own = exact(X), exact(model.centroids_)
    largest = [max(abs(A[i, j]) for i in range(N)) for j in range(D)]
    groups = [np.flatnonzero(labels == k).tolist() for k in range(2)]
    means = [[sum(A[i, j] for i in rows) / len(rows) for j in range(D)] for rows in groups]
    off = max(abs(own[k, j] - means[k][j]) / largest[j] for k in range(2) for j in range(D))
    assert above(model, "nearest_centroid.centroids", off)
    for j in range(D):
        squares = sum((A[i, j] - means[k][j]) ** 2 for k, rows in enumerate(groups) for i in rows)
        deviation = mpmath.sqrt(squares / (N - 2))
        stored = mpf(float(model.within_class_std_dev_[j]))
        assert above(model, "nearest_centroid.centroids", abs(stored - deviation) / largest[j], "deviation")


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_kernel_density(sample, kernel):
    X, _, _ = sample
    h = 500.0
    model = surefit.KernelDensity(bandwidth=h, kernel=kernel).fit(X)
    shape = {"gaussian": lambda u: mpmath.exp(-u * u / 2), "exponential": lambda u: mpmath.exp(-u)}[kernel]
    volume = 2 * mpmath.pi  # of both, in the plane
    found = model.score_samples(X)
    for i in range(N):
        total = sum(shape(mpmath.sqrt(squared_distance(X[i], b)) / h) for b in X)
        truth = mpmath.log(total / N / volume / mpf(h) ** 2)
        assert above(model, "kernel_density.values", abs(mpf(float(found[i])) - truth))


def test_principal_components(sample):
    X, _, _ = sample
    model = surefit.PCA(1).fit(X)
    A, V = exact(X), exact(model.components_)
    means = [sum(A[i, j] for i in range(N)) / N for j in range(D)]
    Z = mpmath.matrix([[A[i, j] - means[j] for j in range(D)] for i in range(N)])
    C = Z.T * Z / (N - 1)
    eigenvalues = mpmath.eigsy(C, eigvals_only=True)
    assert above(model, "eigen.mean", max(abs(m - mpf(float(v))) for m, v in zip(means, model.mean_, strict=True)))
    length = (V * V.T)[0]
    assert above(model, "eigen.orthonormal", abs(length - 1))
    stated = mpf(float(model.explained_variance_[0]))
    assert above(model, "eigen.residual", min(abs(stated - e) for e in eigenvalues))
    assert above(model, "eigen.gap", max(eigenvalues) - (V * C * V.T)[0] / length)
    assert model.certificate_["eigen.complete"].value <= max(eigenvalues)
    assert above(model, "eigen.complete", min(eigenvalues), "rest")


def test_nystroem_features(sample):
    X, _, _ = sample
    gamma = 1e-7
    model = surefit.Nystroem(gamma=gamma, n_components=6, random_state=0).fit(X)
    K, W = rbf(X, gamma), exact(model.normalization_)
    marks = mpmath.matrix([[K[i, int(k)] for k in model.component_indices_] for i in range(N)])
    features = marks * W
    products = features * features.T
    assert above(model, "feature_map.pairs", max(abs(products[i, j] - K[i, j]) for i in range(N) for j in range(N)))
    assert above(model, "feature_map.trace", sum(max(K[i, i] - products[i, i], 0) for i in range(N)))
