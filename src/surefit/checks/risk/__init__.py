"""Checks of claims about new data: losses are recounted, splits are redrawn, and bounds are confirmed."""
