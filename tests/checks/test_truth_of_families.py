"""Claims of trees, ensembles, neighbors, clusters, partitions, networks and machines against rationals and sixty digits.

Each case fits a small problem and returns, for every claim, the number that the claim bounds; ``test_truth.py`` has the smooth models.
"""

from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import surefit

N = 14
CASES = []


def case(function):
    CASES.append(function)
    return function


def sample(seed=0):
    """Badly scaled rows, a target, and labels that no stump tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2)) * [1e2, 1e-2] + [1e3, 1.0]
    y = (X[:, 0] - 1e3) / 50 + 0.3 * rng.normal(size=N)
    c = (y + rng.normal(size=N) > 0).astype(int)
    c[:2] = 0, 1
    return X, y, c


def rational(values):
    return [Fraction(float(v)) for v in np.ravel(values)]


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def scatter(values):
    middle = mean(values)
    return sum((v - middle) ** 2 for v in values)


def by_group(groups, values):
    return [[v for g, v in zip(groups, values, strict=True) if g == k] for k in sorted(set(groups))]


@case
def tree(X, y, c):
    model = surefit.DecisionTreeRegressor(max_depth=2).fit(X, y)
    t, flat = rational(y), model.tree_
    rows = {0: np.arange(N)}
    worst = Fraction(0)
    for node in range(len(flat.kind)):
        if flat.left[node] < 0:
            continue
        own = rows[node]
        goes = X[own, flat.feature[node]] <= flat.threshold[node]
        rows[int(flat.left[node])], rows[int(flat.right[node])] = own[goes], own[~goes]

        def rest(left, own=own):
            return scatter([t[i] for i in own[left]]) + scatter([t[i] for i in own[~left]])

        cuts = [X[own, j] <= v for j in range(2) for v in np.unique(X[own, j])[:-1]]
        worst = max(worst, rest(goes) - min(rest(left) for left in cuts))
    leaves = [(node, [t[i] for i in rows[node]]) for node in rows if flat.left[node] < 0]
    yield model, "tree.splits", worst / scatter(t)
    yield model, "tree.accounting", sum(scatter(part) for _, part in leaves) / N
    yield model, "tree.leaves", max(abs(Fraction(float(flat.values[node, 0])) - mean(part)) for node, part in leaves)
    claim = model.certificate_["tree.limits"]
    assert claim.numbers["n_leaves"] == len(leaves) and claim.numbers["smallest"] == min(len(p) for _, p in leaves)


@case
def forest(X, y, c):
    model = surefit.RandomForestRegressor(2, max_bins=None, random_state=0).fit(X, y)
    off = Fraction(0)
    for member, drawn in zip(model, model.estimators_samples_, strict=True):
        said = member.predict(X[drawn])
        for value, part in ((v, [Fraction(float(y[i])) for i in drawn[said == v]]) for v in np.unique(said)):
            off = max(off, abs(Fraction(float(value)) - mean(part)))
    yield model, "forest.leaves", off
    bag = surefit.BaggingRegressor(n_estimators=3, random_state=0).fit(X, y)
    common = set.intersection(*(set(rows.tolist()) for rows in bag.estimators_samples_))
    assert bag.certificate_["forest.draws"].value == len(common)


@case
def boosted_stumps(X, y, c):
    model = surefit.AdaBoostClassifier(n_estimators=4).fit(X, c)
    said = [member.predict(X) for member in model.estimators_]
    alphas = [mpf(float(a)) for a in model.estimator_weights_]
    total = sum(alphas)
    lost = [sum(a for a, line in zip(alphas, said, strict=True) if line[i] != c[i]) for i in range(N)]
    D, half, edges = [mpf(1) / N] * N, [], []
    for alpha, line in zip(alphas, said, strict=True):
        error = sum(d for d, i in zip(D, range(N), strict=True) if line[i] != c[i])
        D = [d * mpmath.exp(alpha) if line[i] != c[i] else d for i, d in enumerate(D)]
        D = [d / sum(D) for d in D]
        half.append(abs(sum(d for d, i in zip(D, range(N), strict=True) if line[i] != c[i]) - mpf(1) / 2))
        edges.append(mpf(1) / 2 - error)
    yield model, "adaboost.product", sum(mpmath.exp(x - total / 2) for x in lost) / N
    yield model, "adaboost.training_error", mpf(sum(2 * x >= total for x in lost)) / N
    names = [claim.name for claim in model.certificate_.claims]
    if "adaboost.half_weight" in names:
        yield model, "adaboost.half_weight", max(half)
    if "adaboost.edges" in names:
        yield model, "adaboost.edges", mpmath.exp(-2 * sum(e * e for e in edges))
        assert model.certificate_["adaboost.edges"].numbers["edge"] <= min(edges)


@case
def boosted_medians(X, y, c):
    model = surefit.AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y)
    shares, off = [mpf(1) / N] * N, mpf(0)
    for member, error, alpha in zip(model.estimators_, model.estimator_errors_, model.estimator_weights_, strict=True):
        distance = [abs(mpf(float(p)) - mpf(float(v))) for p, v in zip(member.predict(X), y, strict=True)]
        each = [d / max(distance) for d in distance]
        off = max(off, abs(sum(s * e for s, e in zip(shares, each, strict=True)) - mpf(float(error))))
        beta = mpf(float(error)) / (1 - mpf(float(error)))
        off = max(off, abs(mpf(float(alpha)) + mpmath.log(beta)) / (1 + abs(mpmath.log(beta))))
        shares = [s * beta ** (1 - e) for s, e in zip(shares, each, strict=True)]
        shares = [s / sum(shares) for s in shares]
    yield model, "adaboost_r2.rounds", off


@case
def stump(X, y, c):
    model = surefit.DecisionStump().fit(X, c)
    errors = [
        sum(int((above if v > cut else 1 - above) != label) for v, label in zip(X[:, j], c, strict=True))
        for j in range(2)
        for cut in [-np.inf, *np.unique(X[:, j])]
        for above in (0, 1)
    ]
    yield model, "stump.optimal", Fraction(int(np.sum(model.predict(X) != c)) - min(errors), N)


@case
def single_linkage(X, y, c):
    model = surefit.AgglomerativeClustering(3, linkage="single").fit(X)
    A = [rational(row) for row in X]

    def apart(a, b):
        return min(sum((p - q) ** 2 for p, q in zip(A[i], A[j], strict=True)) for i in a for j in b)

    clusters = {i: [i] for i in range(N)}
    top = mpmath.sqrt(_number(max(apart([i], [j]) for i, j in combinations(range(N), 2))))
    far = off = mpf(0)
    for step, (a, b) in enumerate(model.children_.tolist()):
        own = mpmath.sqrt(_number(apart(clusters[a], clusters[b])))
        least = mpmath.sqrt(_number(min(apart(p, q) for p, q in combinations(clusters.values(), 2))))
        far, off = max(far, own - least), max(off, abs(own - mpf(float(model.distances_[step]))))
        clusters[N + step] = clusters.pop(a) + clusters.pop(b)
        if len(clusters) == 3:
            groups = [set(rows) for rows in clusters.values()]
    yield model, "agglomerative.merges", far / top
    assert model.certificate_["agglomerative.merges"].numbers["distance"] >= off / top
    assert sorted(map(sorted, groups)) == sorted(np.flatnonzero(model.labels_ == k).tolist() for k in range(3))
    yield model, "agglomerative.labels", 0


def _number(fraction):
    return mpf(fraction.numerator) / mpf(fraction.denominator)


@case
def neighbors(X, y, c):
    model = surefit.KNeighborsRegressor(3).fit(X, y)
    _, found = model.kneighbors(X)
    A = [rational(row) for row in X]
    squares = [[sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for b in A] for a in A]
    top = mpmath.sqrt(_number(max(map(max, squares))))
    far = max(
        mpmath.sqrt(_number(squares[i][found[i, r]])) - mpmath.sqrt(_number(sorted(squares[i])[r]))
        for i in range(N)
        for r in range(3)
    )
    yield model, "knn.neighbors", far / top
    yield model, "knn.rows", 0
    within = surefit.RadiusNeighborsRegressor(radius=80.0).fit(X, y)
    near = within.radius_neighbors(X, return_distance=False)
    truth = [{j for j in range(N) if squares[i][j] <= 6400} for i in range(N)]
    yield within, "knn.within", sum(len(truth[i] ^ set(near[i].tolist())) for i in range(N))


@case
def partitions(X, y, c):
    model, t = surefit.Regressogram().fit(X, y), rational(y)
    cells = np.asarray(model._training_cells).tolist()
    said = rational(model.predict(X))
    yield model, "partition.squares", sum((a - b) ** 2 for a, b in zip(t, said, strict=True))
    means = {k: mean(part) for k, part in zip(sorted(set(cells)), by_group(cells, t), strict=True)}
    yield model, "partition.means", max(abs(p - means[k]) for p, k in zip(said, cells, strict=True))
    rule = surefit.HistogramClassifier().fit(X, c)
    yield rule, "partition.training_error", Fraction(int(np.sum(rule.predict(X) != c)), N)
    cells, share = np.asarray(rule._training_cells).tolist(), rational(rule.predict_proba(X)[:, 1])
    ones = {k: mean(part) for k, part in zip(sorted(set(cells)), by_group(cells, rational(c)), strict=True)}
    yield rule, "partition.shares", max(abs(p - ones[k]) for p, k in zip(share, cells, strict=True))


@case
def mixture(X, y, c):
    Z = (X - [1e3, 1.0]) / [1e2, 1e-2]
    model = surefit.GaussianMixture(2, random_state=0).fit(Z)
    total = mpf(0)
    C = [mpmath.matrix(part.tolist()) for part in model.covariances_]
    for row in Z:
        density = mpf(0)
        for k in range(2):
            off = mpmath.matrix([mpf(float(a)) - mpf(float(b)) for a, b in zip(row, model.means_[k], strict=True)])
            form = (off.T * C[k] ** -1 * off)[0]
            density += (
                mpf(float(model.weights_[k])) * mpmath.exp(-form / 2) / (2 * mpmath.pi * mpmath.sqrt(mpmath.det(C[k])))
            )
        total += mpmath.log(density)
    yield model, "mixture.likelihood", -total / N
    factors = [mpmath.matrix(part.tolist()) for part in model.precisions_cholesky_]
    away = [P.T * A * P - mpmath.eye(2) for A, P in zip(C, factors, strict=True)]
    yield model, "mixture.factors", max(abs(entry) for part in away for entry in part)


@case
def network(X, y, c):
    Z = (X - [1e3, 1.0]) / [1e2, 1e-2]
    model = surefit.MLPRegressor(hidden_layer_sizes=(2,), max_iter=20, random_state=0).fit(Z, y)
    (W, V), (a, b) = model.coefs_, model.intercepts_
    loss = mpf(0)
    for row, target in zip(Z, y, strict=True):
        inner = [mpf(float(a[k])) + sum(mpf(float(row[j])) * mpf(float(W[j, k])) for j in range(2)) for k in range(2)]
        out = mpf(float(b[0])) + sum(max(inner[k], 0) * mpf(float(V[k, 0])) for k in range(2))
        loss += (out - mpf(float(target))) ** 2 / (2 * N)
    loss += mpf(model.alpha) * sum(mpf(float(w)) ** 2 for part in (W, V) for w in part.ravel()) / (2 * N)
    yield model, "network.objective", loss
    assert model.certificate_["network.objective"].numbers["low"] <= loss


@case
def boosted_trees(X, y, c):
    model = surefit.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2).fit(X, y)
    pairs = list(zip(rational(y), rational(model.predict(X)), strict=True))
    yield model, "boosted_trees.loss", sum((a - b) ** 2 for a, b in pairs) / (2 * N)
    assert model.certificate_["boosted_trees.loss"].numbers["start"] <= scatter(rational(y)) / (2 * N)


def _kernel_machine(model, X, gamma):
    """The matrix of the kernel and the coefficients of all rows."""
    K = mpmath.matrix(N, N)
    for i in range(N):
        for j in range(N):
            square = sum((mpf(float(p)) - mpf(float(q))) ** 2 for p, q in zip(X[i], X[j], strict=True))
            K[i, j] = mpmath.exp(-mpf(gamma) * square)
    coef = mpmath.zeros(N, 1)
    for i, v in zip(model.support_.tolist(), np.ravel(model.dual_coef_), strict=True):
        coef[i] = mpf(float(v))
    return K, coef


@case
def machines(X, y, c):
    gamma, signs = 1e-4, 2 * c - 1
    for gap, name, cls, target, price in (
        ("svc.gap", "svc.distance", surefit.SVC, c, lambda f, i: max(0, 1 - int(signs[i]) * f)),
        ("svr.gap", "svr.distance", surefit.SVR, y, lambda f, i: max(0, abs(f - mpf(float(y[i]))) - mpf(0.1))),
    ):
        loose, tight = (cls(gamma=gamma, tol=tol).fit(X, target) for tol in (1e-2, 1e-12))
        values, functions = [], []
        for model in (loose, tight):
            K, coef = _kernel_machine(model, X, gamma)
            f = K * coef
            slack = sum(price(f[i] + mpf(float(np.ravel(model.intercept_)[0])), i) for i in range(N))
            values.append((coef.T * f)[0] / 2 + slack)
            functions.append(coef)
        yield loose, gap, values[0] - values[1]
        apart = functions[0] - functions[1]
        distance = mpmath.sqrt(abs((apart.T * K * apart)[0]))
        yield loose, name, distance - mpf(tight.certificate_[name].value)


@case
def machines_with_nu(X, y, c):
    gamma = 1e-4
    for name, cls, data in (
        ("nu_svr.distance", surefit.NuSVR, (X, y)),
        ("one_class.distance", surefit.OneClassSVM, (X,)),
    ):
        loose, tight = (cls(gamma=gamma, tol=tol).fit(*data) for tol in (1e-2, 1e-12))
        K, first = _kernel_machine(loose, X, gamma)
        apart = first - _kernel_machine(tight, X, gamma)[1]
        distance = mpmath.sqrt(abs((apart.T * K * apart)[0]))
        yield loose, name, distance - mpf(tight.certificate_[name].value)


@case
def several_targets(X, y, c):
    Z, Y = (X - [1e3, 1.0]) / [1e2, 1e-2], np.column_stack([y, c])
    loose, tight = (surefit.MultiTaskLasso(alpha=0.1, tol=tol).fit(Z, Y) for tol in (1e-2, 1e-12))

    def objective(model):
        W, b = model.coef_, model.intercept_
        squares = sum(
            (mpf(float(Y[i, k])) - mpf(float(b[k])) - sum(mpf(float(W[k, j])) * mpf(float(Z[i, j])) for j in range(2)))
            ** 2
            for i in range(N)
            for k in range(2)
        )
        lengths = sum(mpmath.sqrt(sum(mpf(float(W[k, j])) ** 2 for k in range(2))) for j in range(2))
        return squares / (2 * N) + mpf(0.1) * lengths

    yield loose, "multi_task.gap", objective(loose) - objective(tight)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # networks are not fitted to the end
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("claims", CASES, ids=lambda function: function.__name__)
def test_no_claim_contradicts_the_truth(claims, seed):
    data = sample(seed)
    with mpmath.workdps(60):
        found = list(claims(*data))
        assert found
        for model, name, truth in found:
            claim = model.certificate_[name]
            truth = _number(truth) if isinstance(truth, Fraction) else mpf(truth)
            assert claim.entry.side in ("upper", "exact")
            if claim.entry.side == "exact":
                assert claim.value == truth, name
            assert mpf(float(claim.value)) >= truth, (
                f"{name}: {claim.value} is claimed, {mpmath.nstr(truth, 20)} is true"
            )
