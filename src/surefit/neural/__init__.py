"""Feed-forward networks with masks, shared weights, many activations, and certificates of stationarity."""
