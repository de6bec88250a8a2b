"""How long the server works on what a visitor does first."""

import time
from pathlib import Path

from storyproof.web.app import create_app
from tests.web.client import Client
from tests.web.test_stories import QUESTION, STORY

PLACE = {"benchmark": "tomi", "split": "test", "number": 0}


def test_the_server_answers_the_first_interaction_at_once(tmp_path: Path) -> None:
    """A new story, its steps and an edit take the server at most 100 ms in 95 of 100 cases."""
    client = Client(create_app(tmp_path, seed=7))
    taken = []
    for place in range(40):
        for path, body in (
            ("/api/story", PLACE | {"place": place}),
            ("/api/steps", PLACE | {"place": place, "asked": 0}),
            ("/api/read", {"story": STORY, "question": QUESTION}),
        ):
            start = time.process_time()
            assert client.post(path, body).status == 200
            taken.append(time.process_time() - start)
    assert sorted(taken)[int(0.95 * len(taken))] < 0.1
