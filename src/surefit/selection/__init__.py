"""Model selection: data splits, cross-validation, active design, and bias-variance decompositions."""
