"""How online perceptrons run: orders, streams, starts, threads, budgets, callbacks, logs."""

import os
import signal
import threading
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from surefit import AveragedPerceptron, InvalidParameter, KernelPerceptron, Perceptron, VotedPerceptron


def noisy(n=300, d=6, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.argmax(X[:, :classes] + 0.6 * rng.standard_normal((n, classes)), axis=1)


def separable(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ np.arange(1.0, d + 1)
    keep = np.abs(score) > 2
    return X[keep], (score[keep] > 0).astype(int)


@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize("classes", [2, 3])
def test_row_by_row_is_one_pass(cls, classes):
    X, y = noisy(n=60, classes=classes)
    whole = cls(max_iter=1, tol=None, order="cyclic").fit(X, y)
    stream = cls()
    for i in range(60):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(classes))
    assert np.array_equal(stream.last_coef_, whole.last_coef_)
    assert np.array_equal(stream.last_intercept_, whole.last_intercept_)
    assert stream.decision_function(X) == pytest.approx(whole.decision_function(X), rel=1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_log_of_a_stream_is_the_log_of_the_pass(multi_class):
    X, y = noisy(n=50, classes=3)
    whole = Perceptron(max_iter=1, tol=None, order="cyclic", multi_class=multi_class).fit(X, y).mistake_log_
    stream = Perceptron(multi_class=multi_class)
    for part in np.array_split(np.arange(50), 7):
        stream.partial_fit(X[part], y[part], classes=[0, 1, 2])
    log = stream.mistake_log_
    for problem in np.unique(whole["problem"]):
        here, there = log["problem"] == problem, whole["problem"] == problem
        assert np.array_equal(log["row"][here], whole["row"][there])
        assert log["squared_norm"][here] == pytest.approx(whole["squared_norm"][there])


def test_a_row_that_is_right_changes_nothing():
    X, y = separable()
    model = Perceptron(order="cyclic").fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    model.verify(X, y)


def test_certificate_of_a_stream_is_about_the_last_rows():
    X, y = noisy()
    model = Perceptron().partial_fit(X[:200], y[:200], classes=[0, 1]).partial_fit(X[200:], y[200:])
    claim = model.certificate_["perceptron.risk"]
    assert claim.numbers["n"] == 100 and "start_independent_of_rows" in claim.assumptions
    model.verify(X[200:], y[200:])


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "random"])
def test_every_order_separates_within_the_bound(order):
    X, y = separable()
    model = Perceptron(order=order, tol=None, random_state=3).fit(X, y)
    assert model.converged_ and model.score(X, y) == 1.0
    claim = model.certificate_["perceptron.novikoff"]
    assert claim.value <= claim.limit
    found = model.verify(X, y)
    assert found["perceptron.margin"].level == found["perceptron.novikoff"].level == "enclosed"


def test_shuffled_passes_visit_each_row_once_and_the_seed_decides():
    X, y = noisy(n=100)
    X[:] = 0.0  # every visit is a mistake that changes nothing but the offset
    y[:] = np.arange(100) % 2
    one, two = (Perceptron(max_iter=3, tol=None, fit_intercept=False, random_state=s).fit(X, y) for s in (1, 2))
    for turn in range(3):
        rows = one.mistake_log_["row"][one.mistake_log_["pass"] == turn]
        assert np.array_equal(np.sort(rows), np.arange(100)) and not np.array_equal(rows, np.arange(100))
    assert not np.array_equal(one.mistake_log_["row"], two.mistake_log_["row"])
    again = Perceptron(max_iter=3, tol=None, fit_intercept=False, random_state=1).fit(X, y)
    assert np.array_equal(one.mistake_log_["row"], again.mistake_log_["row"])


def test_shuffles_are_fair():
    # Each row should come first about equally often: chi-square of 12 cells stays below its 1e-6 quantile (50.2).
    X, y = np.zeros((12, 1)), np.arange(12) % 2
    model = Perceptron(max_iter=6000, tol=None, fit_intercept=False).fit(X, y)
    first = np.bincount(model.mistake_log_["row"].reshape(6000, 12)[:, 0], minlength=12)
    assert np.sum((first - 500) ** 2 / 500) < 50.2


def test_threads_do_not_change_a_bit():
    X, y = noisy(n=500, classes=5)
    one, two = (Perceptron(n_jobs=n, max_iter=4, tol=None).fit(X, y) for n in (None, 2))
    assert np.array_equal(one.coef_, two.coef_)


def test_warm_start_goes_on_where_the_last_fit_ended():
    X, y = noisy()
    options = {"order": "cyclic", "tol": None}
    whole = Perceptron(max_iter=6, **options).fit(X, y)
    parts = Perceptron(max_iter=3, warm_start=True, **options).fit(X, y).fit(X, y)
    assert np.array_equal(whole.coef_, parts.coef_)
    assert "perceptron.risk" not in [claim.name for claim in parts.certificate_.claims]
    parts.verify(X, y)
    with pytest.raises(InvalidParameter, match="warm_start"):
        parts.fit(X[:, :3], y)


def test_early_stopping_keeps_rows_aside():
    X, y = noisy(n=400)
    model = Perceptron(early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert model.ending_ == "plateau" and model.certificate_.grade == "C"
    assert np.sum(model.mistake_counts_ > 0) <= 300
    model.verify(X, y)


def test_log_may_be_cut_and_counts_still_prove_the_weights():
    X, y = noisy()
    model = Perceptron(max_iter=5, tol=None, max_log=7, order="cyclic").fit(X, y)
    assert len(model.mistake_log_["row"]) == 7 < model.n_updates_ == model.mistake_counts_.sum()
    model.verify(X, y)


@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron])
def test_time_budget_returns_a_model(cls):
    X, y = noisy(n=5000, d=40)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = cls(max_iter=10**6, tol=None, max_time=0.05).fit(X, y)
    assert model.ending_ == "max_time" and model.score(X, y) > 0.6


def test_ctrl_c_returns_a_model():
    X, y = noisy(n=5000, d=40)
    Perceptron(max_iter=1, tol=None).fit(X, y)  # compiled before the clock starts
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
        model = Perceptron(max_iter=10**7, tol=None).fit(X, y)
    timer.join()
    assert model.ending_ == "interrupted"


class StopAfter:
    """A callback that ends the fit after some passes."""

    def __init__(self, passes):
        self.passes, self.seen, self.open = passes, [], 0

    def setup(self, estimator, context):
        self.open += 1

    def teardown(self, estimator, context):
        self.open -= 1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata:
            self.seen.append((metadata["n_iter"], metadata["gap"]))
        return len(self.seen) >= self.passes


def test_callbacks_see_every_pass_and_can_stop():
    X, y = noisy()
    callback = StopAfter(4)
    with pytest.warns(ConvergenceWarning, match="callback"):
        model = Perceptron(tol=None).set_callbacks(callback).fit(X, y)
    assert [n for n, _ in callback.seen] == [1, 2, 3, 4] and callback.open == 0
    assert model.n_iter_ == 4 and model.ending_ == "callback"
    assert [gap for _, gap in callback.seen] == pytest.approx(model.mistakes_per_pass_ / 300)


def test_verbose_says_one_line_a_pass(capsys):
    X, y = noisy()
    Perceptron(max_iter=2, tol=None, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("Perceptron: pass 1, ")


def test_joint_walk_moves_two_classes_at_a_time():
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model = Perceptron(multi_class="joint", fit_intercept=False, order="cyclic").fit(X, [0, 1, 2])
    # by hand: (2,0) moves classes 0 and 1; (0,1): scores (0,0,0), rival 0; (-1,-1): scores (-1, 1, 0), rival 1
    assert model.coef_.tolist() == [[2.0, -1.0], [-1.0, 2.0], [-1.0, -1.0]]
    assert np.sum(model.coef_, axis=0).tolist() == [0.0, 0.0]
    assert model.n_updates_ == 3 and model.converged_
    assert model.certificate_["perceptron.joint_novikoff"].holds
    model.verify(X, [0, 1, 2])


def test_joint_walk_equals_the_plain_one_on_long_rows():
    # Kesler: the multi-class perceptron is the plain one on rows (0, .., x, .., -x, .., 0), given the rivals it met.
    X, y = noisy(n=80, classes=3)
    model = Perceptron(multi_class="joint", fit_intercept=False, max_iter=3, tol=None, order="cyclic").fit(X, y)
    W = np.zeros((3, 6))
    for _ in range(3):
        for x, label in zip(X, y, strict=True):
            scores = W @ x
            own, scores[label] = scores[label], -np.inf
            rival = int(np.argmax(scores))
            if own <= scores[rival]:
                W[label] += x
                W[rival] -= x
    assert model.coef_ == pytest.approx(W)


def test_sparse_and_dense_agree_for_all_kinds():
    X, y = noisy(classes=3)
    X[np.abs(X) < 0.6] = 0.0
    for model in (
        Perceptron(multi_class="joint"),
        AveragedPerceptron(multi_class="joint", max_iter=4, tol=None),
        VotedPerceptron(max_iter=3),
    ):
        dense = model.fit(X, y).decision_function(X)
        model.fit(sparse.csr_array(X), y)
        assert model.decision_function(sparse.csr_array(X)) == pytest.approx(dense, rel=1e-9, abs=1e-9)
        model.verify(sparse.csr_array(X), y)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("start", [False, True])
def test_lazy_average_is_the_average(joint, start):
    X, y = noisy(n=70, classes=3)
    rng = np.random.default_rng(0)
    init = (rng.standard_normal((3, 6)), rng.standard_normal(3)) if start else (None, None)
    options = {"max_iter": 2, "tol": None, "order": "cyclic", "eta0": 0.7}
    model = AveragedPerceptron(**options, multi_class="joint" if joint else "ovr").fit(X, y, *init)
    W, b = (init[0].copy(), init[1].copy()) if start else (np.zeros((3, 6)), np.zeros(3))
    mean_W, mean_b = np.zeros((3, 6)), np.zeros(3)
    for i in [*range(70), *range(70)]:
        scores = W @ X[i] + b
        move = np.where(np.arange(3) == y[i], 1.0, -1.0)
        if joint:
            rival = np.argmax(np.where(move > 0, -np.inf, scores))
            move = np.where((move > 0) | (np.arange(3) == rival), move, 0.0) * (scores[y[i]] <= scores[rival])
        else:
            move = move * (move * scores <= 0)
        W, b = W + 0.7 * np.outer(move, X[i]), b + 0.7 * move
        mean_W, mean_b = mean_W + W / 140, mean_b + b / 140
    assert model.coef_ == pytest.approx(mean_W) and model.intercept_ == pytest.approx(mean_b)
    assert model.last_coef_ == pytest.approx(W) and model.last_intercept_ == pytest.approx(b)
    model.verify(X, y)


def test_votes_are_those_of_all_weight_vectors():
    X, y = noisy(n=60)
    model = VotedPerceptron(max_iter=3, order="cyclic").fit(X, y)
    w, b, votes, total = np.zeros(6), 0.0, np.zeros(60), 0
    for _ in range(3):
        for i in range(60):
            t = 2 * y[i] - 1
            if t * (X[i] @ w + b) <= 0:
                w, b = w + t * X[i], b + t
            votes += np.where(X @ w + b > 0, 1, -1)
            total += 1
    assert model.decision_function(X) == pytest.approx(votes / total)
    assert model.survivals_.sum() == total == 180
    assert len(model.survivals_) == model.n_updates_ + 1


def test_vote_of_one_pass_has_a_risk_bound():
    X, y = separable(n=3000)
    model = VotedPerceptron(max_iter=1).fit(X, y)
    single, vote = model.certificate_["perceptron.risk"], model.certificate_["perceptron.vote_risk"]
    assert vote.value == pytest.approx(2 * (single.value + 1 / len(y))) and vote.value < 0.5
    model.verify(X, y)
    assert "perceptron.vote_risk" not in [c.name for c in VotedPerceptron(max_iter=2).fit(X, y).certificate_.claims]


@pytest.mark.parametrize(
    "make",
    [Perceptron, AveragedPerceptron, VotedPerceptron, partial(KernelPerceptron, kernel="linear", order="cyclic")],
)
def test_a_score_of_zero_has_the_sign_that_the_updates_give_it(make):
    X, y = np.array([[0.0], [-1.0], [2.0]]), np.array([1, -1, 1])
    for mistake, expected in (("sign", 1), ("<=0", -1), ("<0", -1)):
        model = make(fit_intercept=False, mistake=mistake, max_iter=3, tol=None).fit(X, y)
        assert model.decision_function([[0.0]])[0] in (0.0, 1.0, -1.0)
        assert model.predict([[0.0]])[0] == expected, mistake
    model = make(fit_intercept=False, mistake="sign", max_iter=3, tol=None).fit(X, y)
    assert model.score(X, y) == 1.0  # with sign(0) = 1 the zero row is right, as it was during the fit
