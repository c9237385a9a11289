"""Linear models of several targets, of the evidence and of positive targets."""

import numpy as np

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, squares, total
from benchmarks.workload import Gate, Workload

ALPHA = 0.01
TASKS = (
    Namesake("linear_model", "BayesianRidge", {}, "numbers"),
    Namesake("linear_model", "MultiTaskLasso", {"alpha": ALPHA}, "table"),
    Namesake("linear_model", "MultiTaskElasticNet", {"alpha": ALPHA}, "table"),
    Namesake("linear_model", "TweedieRegressor", {"power": 1.5, "alpha": ALPHA, "link": "log"}, "positive"),
    Namesake("linear_model", "GammaRegressor", {"alpha": ALPHA}, "positive"),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The sum of the objectives on the training rows; of the Bayesian model the mean squared error."""
    parts = [squares(data.numbers, answers["BayesianRidge"].said)]
    for name, ratio in (("MultiTaskLasso", 1.0), ("MultiTaskElasticNet", 0.5)):
        model = answers[name].model
        loss = 0.5 * np.sum((data.table - model.predict(data.X)) ** 2) / len(data.X)
        norms = np.sum(np.linalg.norm(model.coef_, axis=0))
        parts.append(loss + ALPHA * (ratio * norms + 0.5 * (1 - ratio) * np.sum(model.coef_**2)))
    y = data.positive
    for name in ("TweedieRegressor", "GammaRegressor"):
        model = answers[name].model
        m = model.predict(data.X)
        loss = 2 * y / np.sqrt(m) + 2 * np.sqrt(m) if name == "TweedieRegressor" else np.log(m) + y / m
        parts.append(float(np.mean(loss)) + 0.5 * ALPHA * float(np.sum(model.coef_**2)))
    return total(*parts)


workload = Workload(
    module=__name__,
    title="BayesianRidge, MultiTaskLasso/ElasticNet, Tweedie, Gamma, 20 000 x 50",
    recipe="three linear scores with noise, the exponential of one as a positive target; alpha 0.01, default tolerances",
    seed=SEED,
    objective="sum of the penalized objectives, and the mean squared error of BayesianRidge",
    floor="one Gram matrix of 20 000 x 50 for each, about 0.05 s",
    gate=Gate("distance", 1e-4, "objective above the least of the run, relative"),
    sizes={"full": {"n": 20_000, "d": 50}, "quick": {"n": 1_000, "d": 10}, "warm": {"n": 300, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
