"""Nearest centroids, mini-batch k-means and Ward's clustering."""

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, scatter, total, wrong
from benchmarks.workload import Gate, Workload

TASKS = (
    Namesake("neighbors", "NearestCentroid", {}, "labels"),
    Namesake("cluster", "MiniBatchKMeans", {"n_clusters": 8, "random_state": 0, "n_init": 3}, asked=""),
    Namesake("cluster", "AgglomerativeClustering", {"n_clusters": 8}, asked=""),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The share of wrong labels and the scatter within clusters."""
    clusterings = (answers[name].model.labels_ for name in ("MiniBatchKMeans", "AgglomerativeClustering"))
    return total(wrong(data, answers["NearestCentroid"].said), *(scatter(data.X, labels) for labels in clusterings))


workload = Workload(
    module=__name__,
    title="NearestCentroid, MiniBatchKMeans, AgglomerativeClustering, 3 000 x 10",
    recipe="two overlapping Gaussian classes; 8 clusters, Ward's linkage",
    seed=SEED,
    objective="share of wrong labels and the scatter within clusters",
    floor="4.5 million distances, about 0.1 s",
    gate=Gate("distance", 0.05, "objective above the least of the run, relative"),
    sizes={"full": {"n": 3_000, "d": 10}, "quick": {"n": 500, "d": 10}, "warm": {"n": 200, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
