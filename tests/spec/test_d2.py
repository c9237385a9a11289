"""Items D35 to D59: logistic regression, decision trees, bagging and forests."""

import numpy as np
import pytest

import surefit as sf

approx = pytest.approx
SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
MOVIES = {"categorical_features": [0, 1, 2, 3], "categorical_split": "multiway", "criterion": "entropy"}


def test_D35():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    near = sf.LeastSquaresClassifier().fit(X, y)
    far = sf.LeastSquaresClassifier().fit(np.append(X, [[100.0]], axis=0), np.append(y, 1))
    cuts = [(0.5 - m.intercept_[0]) / m.coef_[0, 0] for m in (near, far)]
    assert cuts == approx([0, 1.372093], abs=5e-7) and far.predict([[1.0]])[0] == 0


def test_D36():
    z = np.linspace(-6, 6, 41)
    assert (
        sf.sigmoid_derivative(z) == approx(sf.sigmoid(z) * (1 - sf.sigmoid(z))) and sf.sigmoid_derivative(0.0) == 0.25
    )
    assert sf.sigmoid(0.0) == 0.5 and sf.sigmoid(40.0) == 1.0 and sf.sigmoid(-z) == approx(1 - sf.sigmoid(z))


def test_D37():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    model = sf.LogisticRegression().fit(X, y)
    assert np.array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    p = model.predict_proba(X)
    assert np.log(p[:, 1] / p[:, 0]) == approx(model.decision_function(X))


def test_D38():
    y = (SQUARE[:, 0] * SQUARE[:, 1] > 0).astype(int)
    assert sf.separability(SQUARE, y).separable is False
    lifted = np.column_stack([SQUARE, SQUARE[:, 0] * SQUARE[:, 1]])
    assert sf.separability(lifted, y).separable
    model = sf.LogisticRegression(C=np.inf, tol=1e-12).fit(SQUARE, y)
    assert model.coef_[0] == approx([0, 0], abs=1e-6)
    loss = sf.losses.value(sf.losses.Logistic(), 2.0 * y - 1, model.decision_function(SQUARE)).sum()
    assert loss == approx(4 * np.log(2)) and loss == approx(2.772589, abs=5e-7)


def test_D39():
    y = np.array([1.0, -1.0, 1.0])
    z = np.array([0.3, 2.0, -1.0])
    p, t = sf.sigmoid(z), (y + 1) / 2
    entropy = -t * np.log(p) - (1 - t) * np.log(1 - p)
    assert sf.losses.value(sf.losses.Logistic(), y, z) == approx(entropy)
    assert sf.losses.value(sf.losses.Logistic(), y, np.zeros(3)).sum() == approx(3 * np.log(2))


def test_D40():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 2)), np.where(rng.random(9) > 0.5, 1.0, -1.0)
    f = sf.optimizers.LinearScores(X, y, sf.losses.Logistic())
    w = rng.standard_normal(3)
    Z = np.column_stack([X, np.ones(9)])
    s = sf.sigmoid_derivative(Z @ w)
    assert 9 * f.hessian(w) == approx((Z * s[:, None]).T @ Z)
    assert 9 * np.trace(f.hessian(w)) == approx(np.sum(s * np.sum(Z**2, axis=1)))
    assert np.linalg.eigvalsh(9 * f.hessian(w))[-1] <= np.linalg.eigvalsh(Z.T @ Z)[-1] / 4 + 1e-12
    numeric = [(f.gradient(w + e) - f.gradient(w - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert f.hessian(w) == approx(np.array(numeric), abs=1e-7)


def test_D41():
    X, y = np.array([[0.1, 0.0], [3.0, 0.0], [-0.1, 0.0]]), np.array([1, 1, 0])
    report = sf.saturation_report([1.0, -2.0], X[:2])
    assert report.probabilities[0] == approx([0.52498, 0.95257], abs=5e-6) and report.probabilities[1, 0] == approx(
        0.73106, abs=5e-6
    )
    assert 1 - report.probabilities[1, 1] == approx(9.3e-14, rel=0.02) and np.all(report.probabilities[2] == 1)
    with pytest.warns(sf.DataWarning):
        model = sf.LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_ and np.all(np.diff(sf.saturation_report(model, X, y).losses) <= 0)


@pytest.mark.parametrize(
    ("lam", "w", "value"), [(1.0, 0.401058, 1.186029), (0.1, 1.633506, 0.623535), (0.01, 3.359275, 0.181187)]
)
def test_D42(lam, w, value):
    X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    model = sf.LogisticRegression(C=1 / (2 * lam), fit_intercept=False, tol=1e-13).fit(X, y)
    objective = (
        sf.losses.value(sf.losses.Logistic(), y, model.decision_function(X)).sum() + lam * model.coef_[0, 0] ** 2
    )
    assert model.coef_[0, 0] == approx(w, abs=2e-5) and objective == approx(value, abs=1e-6)
    both = sf.LogisticRegression(C=1 / (2 * lam), penalize_intercept=True, tol=1e-13).fit(X + 0.5, y)
    column = sf.LogisticRegression(C=1 / (2 * lam), fit_intercept=False, tol=1e-13).fit(sf.augment(X + 0.5), y)
    coef, intercept = sf.split_augmented(column.coef_[0])
    assert both.coef_[0] == approx(coef, abs=1e-5) and both.intercept_[0] == approx(intercept, abs=1e-5)
    assert both.verify(X + 0.5, y)["linear.gap"].ok


def test_D43():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    model = sf.LogisticRegression().fit(X, y)
    p = model.predict_proba([[0.2, 0.3], [1.2, 0.3]])
    odds = p[:, 1] / p[:, 0]
    assert odds[1] / odds[0] == approx(np.exp(model.coef_[0, 0]))
    found = model.odds(X)
    assert any(np.allclose(np.ravel(v)[-2:], np.exp(model.coef_[0])) for v in found.values() if np.size(v) >= 2)


def test_D44():
    import pandas as pd

    X, y = sf.data.load_movie_grid()
    names = sf.data.MOVIE_COLUMNS
    frame = pd.DataFrame({name: np.array(words)[X[:, j].astype(int)] for j, (name, words) in enumerate(names.items())})
    best = sf.optimal_tree(X, y, categorical_features=[0, 1, 2, 3])
    assert (best.tree.node_count - best.n_leaves, best.n_leaves) == (4, 6) and (len(y), y.sum()) == (24, 12)
    model = sf.DecisionTreeClassifier(
        criterion="entropy", categorical_features="from_dtype", categorical_split="multiway"
    ).fit(frame, y)
    holds = np.stack([clause.holds(frame) for clause in model.clauses()])
    assert "genre = Drama" in model.export_rules() and np.all(holds.sum(axis=0) == 1)
    fired = [model.clauses()[k].prediction for k in holds.argmax(axis=0)]
    assert np.array_equal(fired, model.predict(frame)) and np.array_equal(fired, y)  # the disjunction is the tree
    assert model.verify(frame, y)


def test_D45():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.where(X[:, 0] < 0.5, X[:, 1] < 0.4, X[:, 1] > 0.6).astype(int)
    model = sf.DecisionTreeClassifier(max_depth=3).fit(X, y)
    boxes = model.leaf_boxes()
    inside = np.all((X[:, None, :] > boxes.lower) & (X[:, None, :] <= boxes.upper), axis=2)
    assert np.all(inside.sum(axis=1) == 1)


def test_D46():
    X, y = sf.data.load_movie_grid()
    gains = sf.attribute_gains(X, y, categorical_features=[0, 1, 2, 3])
    assert gains == approx([0, 0.0817, 0.0817, 0.0817], abs=5e-5)
    greedy = sf.DecisionTreeClassifier(**MOVIES).fit(X, y)
    assert (greedy.tree_.node_count - greedy.get_n_leaves(), greedy.get_n_leaves()) == (7, 10)


def test_D47():
    X, y = sf.data.load_two_numbers_table()
    model = sf.DecisionTreeClassifier(max_depth=1).fit(X, y)
    leaves = model.apply(X)
    errors = sum(
        np.bincount(y[leaves == leaf]).sum() - np.bincount(y[leaves == leaf]).max() for leaf in np.unique(leaves)
    )
    assert 1 - model.score(X, y) == approx(errors / len(y))


def test_D48():
    assert (
        sf.entropy([0.5, 0.5]) == 1 and sf.entropy([0.9, 0.1]) == approx(0.468996, abs=5e-7) and sf.entropy([1, 0]) == 0
    )
    assert sf.entropy([1] * 8) == approx(3)
    assert sf.ImpurityDisplay().plot().lines_["entropy"].get_ydata().max() == 1


def test_D49():
    _, y = sf.data.load_or_table()
    assert sf.entropy(np.bincount(y)) == approx(0.650022, abs=5e-7)
    moles = np.array([2.0, 3.0])
    mixing = -8.314 * moles.sum() * np.sum(moles / moles.sum() * np.log(moles / moles.sum()))
    assert mixing == approx(8.314 * np.log(2) * moles.sum() * sf.entropy(moles))


def test_D50():
    X, y = sf.data.load_two_numbers_table()
    model = sf.DecisionTreeClassifier(criterion="entropy").fit(X, y)
    audit = model.gain_audit()
    assert np.sum(audit["n_rows"] / len(y) * audit["gain"]) == approx(1.0)
    assert sf.attribute_gains(X, y) == approx([0.5488, 0.5488], abs=5e-5)


def test_D51():
    X, y = sf.data.load_or_table()
    assert sf.gini(np.bincount(y)) == approx(0.277778, abs=5e-7)
    assert sf.attribute_gains(X, y, criterion="gini") == approx([0.111111, 0.055556], abs=5e-7)
    Z, t = sf.data.load_two_numbers_table()
    curve = sf.split_curve(Z[:, 0], t)
    assert curve.gain[curve.best] == approx(0.3) and curve.best_threshold == approx(0.56)


def test_D52():
    X, y = sf.data.load_or_table()
    x = X[:, 1]
    assert sf.mutual_information(x, y) == approx(0.190875, abs=5e-7) and sf.mutual_information(x, y) == approx(
        sf.mutual_information(y, x)
    )
    assert sf.mutual_information(x, y) == approx(sf.entropy(np.bincount(y)) - sf.conditional_entropy(y, given=x))
    table = [[np.sum((x == a) & (y == b)) for b in (0, 1)] for a in (0, 1)]
    assert sf.mutual_information(table) == approx(sf.mutual_information(x, y))


def test_D53():
    X, y = sf.data.load_or_table()
    assert sf.attribute_gains(X, y) == approx([0.316689, 0.190875], abs=5e-7)
    model = sf.DecisionTreeClassifier(criterion="entropy").fit(X, y)
    assert (model.tree_.feature[0], model.get_n_leaves(), model.score(X, y)) == (0, 3, 1.0)


def test_D54():
    curve = sf.split_curve([10, 26, 40, 50, 100, 120], [0, 0, 0, 1, 1, 0], criterion="entropy")
    assert curve.thresholds.tolist() == [18, 33, 45, 75, 110] and curve.thresholds[curve.boundary].tolist() == [45, 110]
    assert curve.gain == approx([0.1092, 0.2516, 0.4591, 0.0441, 0.1092], abs=5e-5) and curve.best_threshold == 45


def test_D55():
    X, y = sf.data.load_two_numbers_table()
    model = sf.DecisionTreeClassifier(criterion="entropy").fit(X, y)
    curves = model.node_splits(X, y)
    assert curves[0].best_threshold == approx(0.56) and curves[1].best_threshold == approx(0.84)
    assert curves[1].gain[curves[1].boundary] == approx([0.3113, 0.0488, 0.5488], abs=5e-5)
    assert (model.tree_.feature[0], model.tree_.threshold[0]) == (0, approx(0.56)) and model.get_n_leaves() == 3


def test_D56():
    y = np.array([0, 1, 1, 0])
    assert sf.DecisionTreeClassifier(min_gain=1e-6).fit(SQUARE, y).get_n_leaves() == 1
    assert sf.DecisionTreeClassifier().fit(SQUARE, y).score(SQUARE, y) == 1
    X, t = sf.data.load_two_numbers_table()
    limited = sf.DecisionTreeClassifier(max_depth=1, max_leaf_nodes=2, min_samples_split=4).fit(X, t)
    assert limited.get_depth() <= 1 and limited.get_n_leaves() <= 2


def test_D57():
    X, y, _ = sf.data.make_xor(300, random_state=0)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.1, -y, y)
    model = sf.DecisionTreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    full = sf.DecisionTreeClassifier(random_state=0).fit(X, y)
    assert model.get_n_leaves() < full.get_n_leaves() and model.verify(X, y)


def test_D58():
    for n, share in ((2, 0.25), (5, 0.32768), (10, 0.348678), (100, 0.366032)):
        assert (1 - 1 / n) ** n == approx(share, abs=5e-7)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    model = sf.BaggingRegressor(sf.Ridge(), n_estimators=40, random_state=0).fit(X, y)
    samples = sf.bootstrap_samples(model, X, y)
    assert all(len(rows) == 30 for rows in samples)
    absent = np.mean([30 - len(np.unique(rows)) for rows in samples]) / 30
    assert absent == approx((1 - 1 / 30) ** 30, abs=0.05)
    parts = sf.ensemble_ambiguity(model, X, y)
    assert parts.error == approx(parts.member_error - parts.spread) and parts.error <= parts.member_error
    forest = sf.RandomForestRegressor(5, random_state=0).fit(X, y)
    assert sf.ensemble_ambiguity(forest, X, y) == approx(forest.ambiguity(X, y))


def test_D59():
    X, y = sf.data.load_two_numbers_table()
    one = sf.RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    tree = sf.DecisionTreeClassifier(random_state=0).fit(X, y)
    assert np.array_equal(one.predict(X), tree.predict(X))
    fixed = sf.RandomForestClassifier(6, subset="tree", max_features=1, random_state=0).fit(X, y)
    assert all(len(set(t.feature[t.feature >= 0])) <= 1 for t in fixed.trees_)
