"""Working-set solver of kernel machines with a box: support vector classification and regression."""
