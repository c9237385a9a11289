"""Working-set solver for box-constrained kernel machines: support vector classification and regression."""
