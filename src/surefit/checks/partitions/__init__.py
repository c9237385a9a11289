"""Checkers of rules that are constant on cells."""
