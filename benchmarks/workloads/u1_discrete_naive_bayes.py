"""Naive Bayes of counts and of bits."""

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, total, wrong
from benchmarks.workload import Gate, Workload

TASKS = (
    Namesake("naive_bayes", "MultinomialNB", {}, "labels", rows="counts"),
    Namesake("naive_bayes", "BernoulliNB", {}, "labels"),
    Namesake("naive_bayes", "ComplementNB", {}, "labels", rows="counts"),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The sum of the shares of wrong predictions."""
    return total(*(wrong(data, answer.said) for answer in answers.values()))


workload = Workload(
    module=__name__,
    title="MultinomialNB, BernoulliNB, ComplementNB, 50 000 x 100",
    recipe="two overlapping Gaussian classes; Poisson counts with the exponentials of the columns as rates; default parameters",
    seed=SEED,
    objective="sum of the shares of wrong predictions on a fifth of the rows",
    floor="three passes over 40 MB, about 0.03 s",
    gate=Gate("distance", 1e-3, "wrong predictions above the least of the run, relative"),
    sizes={"full": {"n": 50_000, "d": 100}, "quick": {"n": 3_000, "d": 10}, "warm": {"n": 500, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
