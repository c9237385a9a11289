"""Speed at equal quality: surefit and its peers on the same data, to the same certified accuracy, in one run.

``python -m benchmarks --list`` names the workloads; each is one file of :mod:`benchmarks.workloads`.
"""
