"""Many sessions at once: each moves its points again and again; the memory of the server must stay bounded.

``python -m tests.lab.sessions --sessions 50 --seconds 120`` prints a table; ``make reliability`` runs it.
"""

import argparse
import asyncio
import json
import random
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.browser import laboratory

PATHS = ("/", "/perceptron-margin", "/duality-gap", "/overfitting", "/boosting", "/k-means-bound")
PATIENCE = 120.0  # seconds that one answer may take


class Outcome(NamedTuple):
    """What a run measured."""

    sessions: int
    changes: int
    pictures: int  # updates that the server sent
    idle: float  # MB of the server before the first session
    opened: float  # MB with all sessions open
    most: float  # MB at most
    slowest: float  # seconds of the slowest change

    def table(self) -> str:
        """Return the numbers as a table."""
        names = ("sessions", "changes", "updates sent", "MB idle", "MB opened", "MB at most", "slowest change (s)")
        numbers = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in self]
        return "\n".join(f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), numbers))


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("the server has ended")


class Client:
    """A visitor without a browser: it speaks the server's websocket protocol."""

    def __init__(self, socket: Any):
        self.socket, self.number, self.updates, self.source, self.columns = socket, 0, 0, "", []

    @classmethod
    async def open(cls, address: str, path: str) -> "Client":
        from tornado.httpclient import AsyncHTTPClient, HTTPRequest
        from tornado.websocket import websocket_connect

        page = await AsyncHTTPClient().fetch(address + path, request_timeout=PATIENCE)
        token = re.search(r'"token":"([^"]+)"', page.body.decode("utf-8")).group(1)
        request = HTTPRequest(address.replace("http", "ws") + path.rstrip("/") + "/ws", headers={"Origin": address})
        client = cls(await websocket_connect(request, subprotocols=["bokeh", token]))
        await client.receive("ACK")
        await client.send("PULL-DOC-REQ", {})
        document = await client.receive("PULL-DOC-REPLY")
        client.source, client.columns = points_of(document)
        return client

    async def send(self, kind: str, content: dict) -> None:
        self.number += 1
        for part in ({"msgid": str(self.number), "msgtype": kind}, {}, content):
            await self.socket.write_message(json.dumps(part))

    async def receive(self, kind: str) -> Any:
        """Return the content of the next message of a kind; updates on the way are counted."""
        while True:
            header = json.loads(await self.frame())
            await self.frame()
            content = await self.frame()
            for _ in range(2 * header.get("num_buffers", 0)):
                await self.frame()
            if header["msgtype"] == kind:
                return json.loads(content)
            assert header["msgtype"] != "ERROR", content
            self.updates += header["msgtype"] == "PATCH-DOC"

    async def frame(self) -> str:
        frame = await asyncio.wait_for(self.socket.read_message(), PATIENCE)
        assert frame is not None, "the server closed the connection"
        return frame

    async def move(self) -> None:
        """Move every point a little, as a very busy hand would."""
        columns = dict(self.columns)
        columns["x"] = [x + random.gauss(0.0, 0.05) for x in columns["x"]]
        new = {"type": "map", "entries": [[name, column] for name, column in columns.items()]}
        event = {"kind": "ModelChanged", "model": {"id": self.source}, "attr": "data", "new": new}
        await self.send("PATCH-DOC", {"events": [event]})
        await self.receive("OK")


def points_of(part: Any) -> tuple[str, list]:
    """Return id and columns of the drawn points in a document, or ('', [])."""
    if isinstance(part, list):
        return next((found for entry in part if (found := points_of(entry))[0]), ("", []))
    if not isinstance(part, dict):
        return "", []
    if part.get("name") == "ColumnDataSource":
        entries = part.get("attributes", {}).get("data", {}).get("entries", [])
        if "label" in dict(entries):
            return part["id"], entries
    return points_of(list(part.values()))


async def visit(clients: list[Client], pid: int, seconds: float) -> tuple[int, float, float]:
    """Let the clients take turns; return the changes, the most memory and the slowest change."""
    changes, most, slowest, end = 0, 0.0, 0.0, time.monotonic() + seconds
    while time.monotonic() < end or changes < len(clients):
        start = time.monotonic()
        await clients[changes % len(clients)].move()
        slowest, most, changes = max(slowest, time.monotonic() - start), max(most, resident(pid)), changes + 1
    return changes, most, slowest


async def run(address: str, pid: int, sessions: int, seconds: float) -> Outcome:
    """Open the sessions, let them work, and measure the server."""
    idle = resident(pid)
    clients = [await Client.open(address, PATHS[k % len(PATHS)]) for k in range(sessions)]
    opened = resident(pid)
    changes, most, slowest = await visit(clients, pid, seconds)
    for client in clients:
        client.socket.close()
    return Outcome(
        sessions, changes, sum(client.updates for client in clients), idle, opened, max(opened, most), slowest
    )


def exercise(sessions: int, seconds: float) -> Outcome:
    """Run a laboratory and its visitors."""
    with laboratory() as (address, process):
        return asyncio.run(run(address, process.pid, sessions, seconds))


def main() -> None:
    """Run as told, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    print(exercise(arguments.sessions, arguments.seconds).table())


if __name__ == "__main__":
    main()
