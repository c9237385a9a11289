"""Feed-forward networks with masks, shared weights, every sigmoid of the notes, and certificates of stationarity."""
