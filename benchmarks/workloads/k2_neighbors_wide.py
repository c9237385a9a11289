"""Ten nearest neighbors in 200 columns."""

from benchmarks.problems.neighbors import neighbors_workload

workload = neighbors_workload(__name__, d=200, floor="a product of 200 GF in single precision, about 1.4 s")
