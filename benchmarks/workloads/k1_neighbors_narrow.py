"""Ten nearest neighbors in 20 columns."""

from benchmarks.problems.neighbors import neighbors_workload

workload = neighbors_workload(__name__, d=20, floor="a product of 20 GF in single precision, about .14 s")
