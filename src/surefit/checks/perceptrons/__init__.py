"""Checks of perceptrons: runs are repeated bit for bit, and margins are enclosed."""
