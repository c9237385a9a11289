"""Interactive laboratory in a browser: draw points, step through an algorithm, see its certificate (needs panel)."""
