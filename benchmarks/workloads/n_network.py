"""Twenty epochs of a network with one hidden layer, by Adam on batches of 200 rows."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
EPOCHS = 20


class Labeled(NamedTuple):
    """Rows and labels 0 to 9."""

    X: np.ndarray
    y: np.ndarray


def make(n: int, d: int) -> Labeled:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    hidden = np.tanh(X @ rng.standard_normal((d, 30)) / 4)
    return Labeled(X, (hidden @ rng.standard_normal((30, 10))).argmax(axis=1))


def measure(data: Labeled, answer) -> Quality:
    """Mean cross-entropy on the training rows, from the weights alone."""
    coefs, intercepts = answer
    scores = np.maximum(data.X @ coefs[0] + intercepts[0], 0) @ coefs[1] + intercepts[1]
    scores -= scores.max(axis=1, keepdims=True)
    return Quality(float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(scores)), data.y])))


workload = Workload(
    module=__name__,
    title="network 64-100-10, 20 epochs, 20 000 rows",
    recipe="Gaussian X, ten classes by a random tanh network; relu, Adam at rate 0.001, batches of 200, exactly 20 epochs",
    seed=SEED,
    objective="mean cross-entropy on the training rows after the last epoch",
    floor="17.8 GFlop of matrix products, about 0.25 s in double precision",
    gate=Gate("distance", 0.02, "training loss above the smallest of the run, relative"),
    sizes={"full": {"n": 20_000, "d": 64}, "quick": {"n": 2_000, "d": 64}, "warm": {"n": 500, "d": 64}},
    make=make,
    measure=measure,
)

SETTINGS = {"max_iter": EPOCHS, "n_iter_no_change": 10**6, "batch_size": 200, "random_state": SEED}


def _fitted(cls, data: Labeled):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopping after exactly 20 epochs is the task
        model = cls((100,), **SETTINGS).fit(data.X, data.y)
    return model.coefs_, model.intercepts_


@workload.solver(OURS)
def surefit(data: Labeled):
    from surefit import MLPClassifier

    return _fitted(MLPClassifier, data)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Labeled):
    from sklearn.neural_network import MLPClassifier

    return _fitted(MLPClassifier, data)
