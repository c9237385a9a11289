"""One file a workload; each defines ``workload`` and the solvers that take part."""
