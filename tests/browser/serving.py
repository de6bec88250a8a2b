"""A server of storyproof for tests of its pages."""

from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import storyproof


def start_server(data: Path, **settings: Any) -> str:
    """Start `serve` for as long as this process runs; return its address."""
    addresses: Queue[str] = Queue()
    given = {"port": 0, "seed": 7, "ready": addresses.put, **settings}
    Thread(target=storyproof.serve, args=[data], kwargs=given, daemon=True).start()
    return addresses.get(timeout=120)
