"""The laboratory: draw points, step an algorithm, watch what is proved, in a browser (needs panel)."""
