"""Matrix decomposition: principal component analysis and kernel principal component analysis."""
