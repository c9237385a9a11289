"""Checks of decision trees: rows are routed again, and splits, leaves, stopping rules and prunings are re-derived."""
