"""Boosting: exact stumps on sorted columns, and trees on histograms of gradients."""
