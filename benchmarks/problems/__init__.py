"""What several workloads share: data generators, objectives, and how each package is called."""
