"""What a model is by default decides what its trainings come to, so a change of it needs another version."""

import pytest

from storyproof.errors import ConfigError
from storyproof.seeds import digest
from storyproof.solvers.neural.encoding import POOL
from storyproof.solvers.neural.models import usual_options
from storyproof.solvers.neural.recipes import MODELS
from storyproof.solvers.neural.settings import Settings

PINNED = {
    "bert": (1, "1f15c4e4"),
    "bert-lstm": (1, "559cd543"),
    "bilstm-attention": (1, "aa1dc0c6"),
    "bilstm-mean": (1, "41776430"),
    "entnet": (1, "15c35349"),
    "gat": (1, "ec716cf1"),
    "mac": (1, "3833f4a2"),
    "memnn": (1, "c0851338"),
    "relnet": (1, "e9d3b82a"),
    "rmc": (1, "515ee9f8"),
    "rn": (2, "0793e1c4"),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_another_default_is_another_version(name: str) -> None:
    """If this fails: raise the recipe's version (experiments then train anew), and pin what it says."""
    made = MODELS[name]
    found = digest(usual_options(name), Settings(**made.training).as_dict(), POOL).hex()[:8]
    assert (made.version, found) == PINNED[name]


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ({"epochs": "3"}, "a whole number"),
        ({"epochs": 2.5}, "a whole number"),
        ({"batch": True}, "a whole number"),
        ({"rate": "0.1"}, "a number"),
        ({"clip": False}, "a number"),
        ({"recast": "no"}, "true or false"),
        ({"decay": 1}, "true or false"),
    ],
)
def test_settings_of_another_kind(setting: dict[str, object], kind: str) -> None:
    [(name, value)] = setting.items()
    with pytest.raises(ConfigError, match=f"{name} is {value!r}; use {kind}"):
        Settings(**setting)  # type: ignore[arg-type]
