"""Claims of linear models, all derived from the gap theorem."""
