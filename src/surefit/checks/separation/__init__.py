"""Checks of facts about labeled rows: directions that separate them, and proofs that there are none."""
