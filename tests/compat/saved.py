"""Results by name, kept on a file of JSON lines: a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Saved:
    """Results by name; without a path they live as long as the process."""

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.found = path, {}
        if path is not None and path.exists():
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            self.found = {line["name"]: line["result"] for line in lines}

    def result(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of this name; compute and keep it if there is none."""
        if name not in self.found:
            self.found[name] = compute()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"name": name, "result": self.found[name]}) + "\n")
        return self.found[name]
