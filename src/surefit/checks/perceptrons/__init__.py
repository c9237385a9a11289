"""Checks of what perceptrons claim: runs are repeated bit for bit, margins are enclosed."""
