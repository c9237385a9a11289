"""Decision trees with exact splits, pruning, missing values, categories, and a certificate for every split."""
