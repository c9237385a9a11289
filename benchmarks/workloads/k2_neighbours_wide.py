"""Ten nearest neighbours in 200 columns."""

from benchmarks.problems.neighbours import neighbours_workload

workload = neighbours_workload(__name__, d=200, floor="a product of 200 GF in single precision, about 1.4 s")
