"""Settings of the kinship benchmark, and the paper's data sets by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from storyproof.benchmark import Config
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.families.kinship.placeholders import Placeholders
from storyproof.families.kinship.puzzles import CLEAN, DISCONNECTED, IRRELEVANT, SUPPORTING, TASKS
from storyproof.families.kinship.rules import READINGS, STRICT, Rules, rules_of
from storyproof.seeds import digest

NATURAL, SYNTHETIC = TEXTS = ("natural", "synthetic")
REFUSE, KEEP, DROP = MANNERS = ("refuse", "keep", "drop")
LEAST_K, MOST_K = 2, 15
TASK_NUMBERS = {task: number for number, task in enumerate(TASKS, start=1)}


_NOTHING = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders"), (str,)),
    **dict.fromkeys(("train_k", "test_k", "test_tasks"), (tuple, list)),
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), (bool,)),
    **dict.fromkeys(("placeholders", "test_placeholders"), (Placeholders, _NOTHING)),
    "rules": (Rules, _NOTHING),
    "keep_placeholders": (int, float),
}
_IN_WORDS = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders"), "a name"),
    **dict.fromkeys(("train_k", "test_k"), "several numbers"),
    "test_tasks": "several names",
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), "True or False"),
    **dict.fromkeys(("placeholders", "test_placeholders"), "what load_placeholders gives"),
    "rules": "what load_rules gives",
    "keep_placeholders": "a number",
}


@dataclass(frozen=True)
class ClutrrConfig(Config):
    """Settings of clutrr.

    Attributes:
        task: What noise the training stories have. train_k: How many facts their chains have. test_k: How many facts
        the test stories' chains have. test_tasks: What noise the test stories have, each with every k; by default that
        of training. reading: strict, or published for the paper's rules as they stand. rules: Rules of your own
        instead, read by `load_rules`. text: natural or synthetic. placeholders: Templates of your own for natural text,
        read by `load_placeholders`. test_placeholders: Others for the test stories; by default the same collection.
        holdout: Whether patterns of three facts and more are kept apart between training and test. split_placeholders:
        Whether placeholders are. bad_placeholders: What to do with templates of your own that fail our checks: refuse
        (those that lack somebody or
            reveal what is to be found out), keep, or drop (all that are doubtful).
        keep_placeholders: The share of placeholders that is used.
        cloze: Whether people are called `@entity-n` instead of having names.
    """

    task: str = CLEAN
    train_k: tuple[int, ...] = (2, 3)
    test_k: tuple[int, ...] = tuple(range(2, 11))
    test_tasks: tuple[str, ...] = ()
    reading: str = STRICT
    rules: Rules | None = None
    text: str = NATURAL
    placeholders: Placeholders | None = None
    test_placeholders: Placeholders | None = None
    holdout: bool = True
    split_placeholders: bool = True
    bad_placeholders: str = REFUSE
    keep_placeholders: float = 1.0
    cloze: bool = False

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            if not isinstance(getattr(self, name), kinds):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; expected {_IN_WORDS[name]}.")
        for task in (self.task, *self.test_tasks):
            if task not in TASKS:
                raise UnknownNameError("task", task, TASKS)
        for name in ("train_k", "test_k"):
            lengths = getattr(self, name)
            if not lengths or len(set(lengths)) < len(lengths):
                raise ConfigError(f"{name} is {list(lengths)}; give at least one length, each once.")
            for k in lengths:
                if not isinstance(k, int) or not LEAST_K <= k <= MOST_K:
                    raise ConfigError(f"{name} has {k}; chains have {LEAST_K} to {MOST_K} facts.")
        if len(set(self.test_tasks)) < len(self.test_tasks):
            raise ConfigError(f"test_tasks is {list(self.test_tasks)}; name each task once.")
        if self.reading not in READINGS:
            raise UnknownNameError("reading", self.reading, READINGS)
        if self.rules is not None and self.reading != STRICT:
            raise ConfigError(f"reading is '{self.reading}', but rules of your own are given; leave one of them out.")
        if self.text not in TEXTS:
            raise UnknownNameError("kind of text", self.text, TEXTS)
        if self.bad_placeholders not in MANNERS:
            raise UnknownNameError("way with bad placeholders", self.bad_placeholders, MANNERS)
        if self.text == SYNTHETIC and (self.placeholders or self.test_placeholders):
            raise ConfigError("synthetic text has templates of its own; leave placeholders out, or use natural text.")
        if self.test_placeholders and not self.placeholders:
            raise ConfigError("test_placeholders are given, but no placeholders for training; give both.")
        if not 0 < self.keep_placeholders <= 1:
            raise ConfigError(f"keep_placeholders is {self.keep_placeholders}; use a share above 0 and up to 1.")

    @property
    def used_rules(self) -> Rules:
        """The rules that answers are derived by."""
        return self.rules or rules_of(self.reading)

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain values; collections and rules by name and hash."""
        found: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Placeholders):
                texts = sorted((list(key), list(templates)) for key, templates in value.templates.items())
                value = {"name": value.name, "sha256": digest(texts).hex()}
            elif isinstance(value, Rules):
                value = value.name
            found[item.name] = list(value) if isinstance(value, tuple) else value
        return found


_ROBUST = (CLEAN, SUPPORTING, IRRELEVANT, DISCONNECTED)
PRESETS: dict[str, dict[str, Any]] = {
    "generalization-23": {"train_k": (2, 3), "test_k": tuple(range(2, 11))},
    "generalization-234": {"train_k": (2, 3, 4), "test_k": tuple(range(2, 11))},
    **{
        f"robust-{task}": {"task": task, "train_k": (2, 3), "test_k": (2, 3), "test_tasks": _ROBUST} for task in _ROBUST
    },
}
PRESET_COUNTS = {"train": 10_000, "val": 0, "test": 100}  # source 002, 2.1
