"""Checks of facts about labeled rows: separating directions, and proofs that none exist."""
