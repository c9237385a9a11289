"""scikit-learn's own examples and tests, run with its classes and with ours: ``python -m tests.compat --examples PATH --tests``."""
