"""Feature maps of kernels: finitely many features whose inner products are near the kernel, with proved errors."""
