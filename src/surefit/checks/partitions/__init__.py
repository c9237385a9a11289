"""Checks of models that are constant on cells."""
