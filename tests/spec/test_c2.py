"""Items C34 to C65: trees, boosting, VC theory, min-kernel matrices, Bayesian logistic regression."""

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx
SIX, TARGETS = np.arange(1.0, 7.0)[:, None], np.array([1, 1, -1, -1, 1, 1])


def test_C34():
    curve = sf.split_curve(np.arange(10), [0] * 8 + [1, 0])
    assert curve.impurity == approx([1.7778, 1.75, 1.7143, 1.6667, 1.6, 1.5, 1.3333, 1.0, 1.7778], abs=5e-5)
    assert curve.unweighted == approx([0.1975, 0.2188, 0.2449, 0.2778, 0.32, 0.375, 0.4444, 0.5, 0.1975], abs=5e-5)
    assert curve.n_left[curve.best] == 8 and curve.n_left[int(np.argmin(curve.unweighted))] == 1


def test_C35():
    X, y = sf.data.load_two_numbers_table()
    model = sf.DecisionTreeClassifier(min_samples_split=5).fit(X, y)
    assert model.verify(X, y)["tree.splits"].ok and np.all(model.gain_audit()["gain"] >= 0)
    assert np.all(model.gain_audit()["n_rows"] >= 5)


def test_C36():
    X, y, _ = sf.data.make_xor(200, random_state=0)
    model = sf.DecisionTreeClassifier(pruning="cost_complexity", cv=5).fit(X, y)
    record = model.pruning_
    assert np.all(np.diff(record.n_leaves) < 0) and np.all(np.diff(record.risks) >= 0)
    assert model.verify(X, y)["tree.pruning"].ok


def test_C37():
    X, y, truth = sf.data.make_xor(600, random_state=0)
    early = sf.DecisionTreeClassifier(min_gain=0.01).fit(X, y)
    pruned = sf.DecisionTreeClassifier(pruning="cost_complexity", cv=5).fit(X, y)
    assert early.get_n_leaves() == 1 and pruned.score(X, y) > 0.98 and truth["bayes_risk"] == 0
    assert sf.gini([1, 1]) == 0.5


def test_C38(tmp_path):
    rows = np.random.default_rng(0).random((5, 57)).round(3)
    (tmp_path / "spambase.data").write_text("\n".join(",".join([*map(str, r), str(i % 2)]) for i, r in enumerate(rows)))
    data = sf.data.load_spam(tmp_path / "spambase.data")
    assert data.X.shape == (5, 57) and data.y.tolist() == [0, 1, 0, 1, 0]


def test_C39():
    X, y = sf.data.load_two_numbers_table()
    w = np.array([1, 2, 1, 0, 3, 1, 1, 2])
    weighted = sf.DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=w)
    repeated = sf.DecisionTreeClassifier(max_depth=2).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert np.array_equal(weighted.tree_.threshold, repeated.tree_.threshold, equal_nan=True)


def test_C40():
    model = sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS)
    trace = sf.adaboost_trace(model, SIX, TARGETS)
    assert model.estimator_weights_ == approx(2 * trace.alphas)
    for m, member in enumerate(model.estimators_):
        assert trace.weights[m + 1][member.predict(SIX) != TARGETS].sum() == approx(0.5)


def test_C41():
    X, y, _ = sf.data.make_chi2_10(300, random_state=0)
    model = sf.AdaBoostClassifier(n_estimators=30).fit(X, y)
    trace = sf.adaboost_trace(model, X, y)
    gammas = 0.5 - trace.errors
    product = np.prod(trace.normalizers)
    assert trace.exponential_loss == approx(product) and product == approx(np.prod(np.sqrt(1 - 4 * gammas**2)))
    assert (
        model.training_errors_[-1] <= product <= np.exp(-2 * np.sum(gammas**2)) <= np.exp(-2 * 30 * gammas.min() ** 2)
    )


def test_C42():
    rng = np.random.default_rng(0)
    X, y, w = rng.standard_normal((15, 2)), rng.choice([-1, 1], 15), rng.random(15)
    stump = sf.DecisionStump().fit(X, y, sample_weight=w)
    error = w[stump.predict(X) != y].sum()
    brute = min(
        w[np.where(X[:, j] <= s, z, -z) != y].sum() for j in range(2) for s in [*X[:, j], -np.inf] for z in (-1, 1)
    )
    assert error == approx(brute) and error <= w.sum() / 2


def test_C43():
    X, y, truth = sf.data.make_chi2_10(1000, random_state=0)
    assert truth["best_stump_error"] == approx(0.4543, abs=2e-4) and stats.chi2(10).median() == approx(9.3418, abs=5e-5)
    X_test, y_test, _ = sf.data.make_chi2_10(3000, random_state=1)
    model = sf.AdaBoostClassifier(n_estimators=150).fit(X, y)
    errors = [np.mean(said != y_test) for said in model.staged_predict(X_test)]
    assert errors[0] > 0.4 and errors[-1] < 0.25


def test_C44():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    model = sf.ForwardStagewise(n_terms=15).fit(X, y)
    assert np.all(np.diff(model.losses_) <= 1e-12)


def test_C45():
    stage = sf.ForwardStagewise(loss="exponential", n_terms=3).fit(SIX, TARGETS)
    trace = sf.adaboost_trace(sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS), SIX, TARGETS)
    assert np.array_equal(stage.predict(SIX), np.sign(trace.scores))
    assert stage.losses_[-1] == approx(trace.exponential_loss)


def test_C46():
    model = sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS)
    f = sf.adaboost_trace(model, SIX, TARGETS).scores
    assert model.predict_proba(SIX)[:, 1] == approx(sf.sigmoid(2 * f)) and model.predict_proba(SIX)[:, 1] == approx(
        sf.sigmoid(model.decision_function(SIX))
    )
    p = 0.3
    best = 0.5 * np.log(p / (1 - p))
    assert p * np.exp(-best) + (1 - p) * np.exp(best) == approx(2 * np.sqrt(p * (1 - p)))


def test_C47():
    world = sf.ClassDistribution([0.5, 0.5], [stats.norm(-1), stats.norm(1)])
    study = sf.consistency_study(
        lambda n: sf.KNeighborsClassifier(2 * round(n**0.5 / 2) + 1), world, [20, 300], repeats=3
    )
    assert np.all(study.excess >= 0) and study.bayes_risk == approx(stats.norm.cdf(-1))


def test_C48():
    model = sf.LabelModel(lambda x: 0.1 + 0.8 * (x[:, 0] > 0.4))
    cuts = [lambda x, t=t: (x[:, 0] > t).astype(int) for t in np.linspace(0, 1, 21)]
    X, y = model.sample(200, 0)
    found = sf.finite_class_erm(cuts, X, y)
    risks = np.array([model.risk(c).value for c in cuts])
    deviation = np.abs(found.errors - risks).max()
    assert risks[found.chosen] - risks.min() <= 2 * deviation


def test_C49():
    x = np.sort(np.random.default_rng(0).random(30))
    found = sf.bounds.ks_distance(x, lambda t: t)
    assert float(getattr(found, "value", found)) == approx(stats.kstest(x, "uniform").statistic)


def test_C50():
    assert [sf.bounds.hoeffding(n=n, delta=0.05).radius for n in (160, 1000, 10_000)] == approx(
        [0.1074, 0.0429, 0.0136], abs=5e-5
    )
    with pytest.raises(Exception, match="train|seen|same"):
        X, y, _ = sf.data.make_two_gaussians(60, random_state=0)
        model = sf.LogisticRegression().fit(X, y)
        sf.risk_certificate(model, X, y, X_train=X)


def test_C51():
    found = sf.bounds.labelings(np.array([[0.0], [1.0], [2.0]]), "stumps")
    assert len(found.labels) == 6 < 8
    assert sf.bounds.shatters(np.array([[0.0], [1.0]]), "stumps")


def test_C52():
    assert sf.bounds.vc(sf.bounds.set_class("stumps"), n=1000, delta=0.05).radius == approx(0.6369, abs=5e-5)
    assert sf.bounds.vc(2, n=1000, delta=0.05, form="power").radius == approx(0.7775, abs=5e-5)
    assert sf.bounds.vc(2, n=100, delta=0.05).vacuous


def test_C53():
    line = [np.arange(n, dtype=float)[:, None] for n in range(1, 7)]
    assert [len(sf.bounds.labelings(p, "intervals").labels) for p in line] == [2, 4, 7, 11, 16, 22]
    assert [len(sf.bounds.labelings(p, "rays").labels) for p in line] == [2, 3, 4, 5, 6, 7]
    dims = {"intervals": 2, "half_spaces": 3, "rectangles": 4, "all_sets": np.inf}
    assert {
        name: sf.bounds.vc_dimension(name, d=2 if name in ("half_spaces", "rectangles") else 1) for name in dims
    } == dims


def test_C54():
    for n in (5, 20):
        assert sf.bounds.sauer(n, 2) == n * (n + 1) // 2 + 1 <= (n + 1) ** 2
        assert np.exp(sf.bounds.log_growth(n, 2, "power")) == approx(min((n + 1) ** 2, 2**n))


@pytest.mark.parametrize(
    ("V", "sizes"),
    [(1, (350, 1594, 50923)), (3, (805, 3817, 129227)), (11, (2979, 14102, 476450)), (58, (18388, 84908, 2769462))],
)
def test_C55(V, sizes):
    assert tuple(sf.bounds.vc(V, radius=r, delta=0.05, form="power").n for r in (1.0, 0.5, 0.1)) == sizes


def test_C56():
    deviation = sf.bounds.vc(3, n=10**6, delta=0.05, form="power")
    assert deviation.radius == approx(0.0386, abs=5e-5) and deviation.erm_excess().radius == approx(
        2 * deviation.radius
    )


def test_C57():
    X, y, _ = sf.data.make_two_gaussians(20_000, random_state=0)
    bound = sf.vc_risk_bound(sf.LinearDiscriminantAnalysis().fit(X, y), X, y)
    error = sf.training_error(sf.LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert (
        bound.value == approx(error + np.sqrt(32 / 20_000 * (3 * np.log(20_001) + np.log(160))), rel=1e-6)
        and not bound.vacuous
    )
    Z, t, _ = sf.data.make_two_gaussians(100, random_state=0)
    few = sf.vc_risk_bound(sf.Perceptron(max_iter=2, tol=None).fit(Z, t), Z, t)
    assert few.value == 1 and few.vacuous
    machine = sf.SVC(kernel="rbf").fit(Z, t)
    assert type(sf.vc_risk_bound(machine, Z, t)).__name__ == "NoBound"
    for cls in (
        sf.LogisticRegression,
        sf.LinearSVC,
        sf.LinearDiscriminantAnalysis,
        sf.FisherDiscriminant,
        sf.LeastSquaresClassifier,
    ):
        claim = cls().fit(Z, t).certificate_["risk.vc"]  # every linear classifier without a sharper bound carries it
        assert claim.value == 1 and "vacuous" in claim.statement and claim.numbers["dimension"] == 3
    certified = sf.Certified(sf.LinearDiscriminantAnalysis(), by="vc").fit(X, y)
    assert certified.risk_bound_ == approx(bound.value) and certified.verify(X, y)
    surer = sf.Certified(sf.LinearDiscriminantAnalysis(), by="vc", confidence=0.99).fit(X, y)
    assert surer.risk_bound_ > certified.risk_bound_
    with pytest.raises(sf.InvalidParameter, match="a linear classifier"):
        sf.Certified(sf.SVC(kernel="rbf"), by="vc").fit(Z, t)


def test_C58():
    errors, dims = (0.40, 0.22, 0.20, 0.199), (2, 3, 4, 5)

    def deviation(k, delta):
        return sf.bounds.vc(dims[k], n=10**4, delta=delta, form="power")

    table = sf.bounds.structural_risk(errors, deviation, 0.05, "none")
    assert table.sums == approx([0.6742, 0.5435, 0.5662, 0.6035], abs=5e-5) and table.best == 1


def test_C59():
    assert type(sf.bounds.vc(np.inf, n=100, delta=0.05)).__name__ == "NoBound"  # kernel machines need other arguments
    X, y, _ = sf.data.make_two_gaussians(400, random_state=0)
    machine = sf.SVC(kernel="rbf", gamma=1.0).fit(X, y)
    assert type(sf.vc_risk_bound(machine, X, y)).__name__ == "NoBound"
    assert machine.certificate_["svc.compression"].value <= 1  # by support vectors
    assert (
        sf.Certified(sf.SVC(kernel="rbf"), by="holdout", random_state=0).fit(X, y).risk_bound_ < 0.5
    )  # by rows kept back


def test_C60():
    x = np.array([0.1, 0.3, 0.35, 0.9])
    K = sf.kernels.Min()(x[:, None])
    assert np.linalg.det(K) == approx(np.prod(np.diff(np.append(0, x))))
    L = np.tril(np.tile(np.sqrt(np.diff(np.append(0, x))), (4, 1)))
    assert np.linalg.cholesky(K) == approx(L)


def test_C61():
    x, lam = np.array([0.1, 0.3, 0.35, 0.9]), 0.05
    K = sf.kernels.Min()(x[:, None])
    H = sf.hat_matrix(sf.SmoothingSpline(1, lam=lam, form="special"), x[:, None])
    assert H == approx(K @ np.linalg.inv(K + 4 * lam * np.eye(4)))
    assert np.linalg.eigvalsh(H) == approx(1 / (1 + 4 * lam / np.linalg.eigvalsh(K)))


def test_C62():
    inverse = np.linalg.inv(sf.kernels.Min()(np.arange(1, 5)[:, None] / 4))
    assert np.diag(inverse) == approx([8, 8, 8, 4]) and np.diag(inverse, 1) == approx([-4, -4, -4])


def test_C63():
    x, lam, n = np.array([0.1, 0.3, 0.35, 0.9]), 0.05, 4
    H = sf.hat_matrix(sf.SmoothingSpline(1, lam=lam), x[:, None])
    P = np.full((n, n), 1 / n)
    Q, K = np.eye(n) - P, sf.kernels.Min()(x[:, None])
    assert H == approx(P + Q @ np.linalg.inv(Q + lam * n * np.linalg.inv(K)) @ Q, abs=1e-10)
    assert np.linalg.eigvalsh(H)[-1] == approx(1) and np.all(np.linalg.eigvalsh(H)[:-1] < 1)


def test_C64():
    assert sf.logistic_normal_mean([0.3, -0.3, 0.0], 4.0) == approx([0.5453, 0.4547, 0.5], abs=5e-5)
    assert sf.logistic_normal_mean(0.3, 9.0) < sf.logistic_normal_mean(0.3, 1.0)


def test_C65():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((7, 2)), np.array([0, 1, 1, 0, 1, 0, 1])
    model = sf.BayesianLogisticRegression(method="gaussian", prior_covariance=2.0).fit(X, y)
    S = np.linalg.inv(np.eye(2) / 2 + 7 / 4 * np.eye(2))
    assert model.posterior_covariance_ == approx(S) and model.posterior_mean_ == approx(0.5 * S @ (X.T @ (2 * y - 1)))
