"""Limits for one session of the laboratory."""

from __future__ import annotations

MOST_POINTS = 1000  # points in the plane
MOST_ROWS = 50_000  # rows of an uploaded table
MOST_COLUMNS = 200
MOST_BYTES = 5_000_000  # of an upload
MOST_SESSIONS = 100  # pages open at the same time
LONGEST_STEP = 20.0  # seconds that one frame may take
MOST_UNDO = 50
LONGEST_STATE = 6_000  # characters of a link
