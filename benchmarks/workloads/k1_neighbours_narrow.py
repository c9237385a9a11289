"""Ten nearest neighbours in 20 columns."""

from benchmarks.problems.neighbours import neighbours_workload

workload = neighbours_workload(__name__, d=20, floor="a product of 20 GF in single precision, about .14 s")
