"""Checks of nearest-neighbor models: their stored rows, and the neighbors that they find."""
