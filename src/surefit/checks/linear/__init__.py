"""Claims of linear models: all of them follow from the one gap theorem."""
