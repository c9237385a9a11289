"""Feature maps of kernels: finitely many features whose inner products approximate the kernel, with proved errors."""
