"""Settings of clutrr, and presets for the paper's datasets."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from storyproof.benchmark import Config
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.families.kinship.placeholders.collection import Placeholders
from storyproof.families.kinship.rules import READINGS, STRICT, RuleSet, rules_of
from storyproof.families.kinship.tasks import CLEAN, DISCONNECTED, IRRELEVANT, SUPPORTING, TASKS
from storyproof.seeds import digest

NATURAL, SYNTHETIC = TEXTS = ("natural", "synthetic")
REFUSE, KEEP, DROP = MANNERS = ("refuse", "keep", "drop")
LEAST_K, MOST_K = 2, 15

_NOTHING = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders"), (str,)),
    **dict.fromkeys(("train_k", "test_k", "test_tasks"), (tuple, list)),
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), (bool,)),
    **dict.fromkeys(("placeholders", "test_placeholders"), (Placeholders, _NOTHING)),
    "rules": (RuleSet, _NOTHING),
    "keep_placeholders": (int, float),
}
_IN_WORDS = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders"), "a name"),
    **dict.fromkeys(("train_k", "test_k"), "several numbers"),
    "test_tasks": "several names",
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), "True or False"),
    **dict.fromkeys(("placeholders", "test_placeholders"), "what load_placeholders returns"),
    "rules": "what load_rules returns",
    "keep_placeholders": "a number",
}


@dataclass(frozen=True)
class ClutrrConfig(Config):
    """Settings of clutrr.

    Attributes:
        task: The noise in training stories.
        train_k: The numbers of facts in the chains of training stories.
        test_k: The numbers of facts in the chains of test stories.
        test_tasks: The noise in test stories, each with every `test_k`; that of training by default.
        reading: strict, or published for the paper's rules as they are.
        rules: Your own rules instead, as returned by `load_rules`.
        text: natural or synthetic.
        placeholders: Your own templates for natural text, as returned by `load_placeholders`.
        test_placeholders: Others for test stories; the same collection by default.
        holdout: Whether training and test have different patterns of three facts and more.
        split_placeholders: Whether training and test have different placeholders.
        bad_placeholders: What to do with your own templates that fail the checks: refuse (those that lack somebody or
            reveal the answer), keep, or drop (all doubtful ones).
        keep_placeholders: The share of placeholders that is used.
        cloze: Whether people are called `@entity-n` instead of having names.
    """

    task: str = CLEAN
    train_k: tuple[int, ...] = (2, 3)
    test_k: tuple[int, ...] = tuple(range(2, 11))
    test_tasks: tuple[str, ...] = ()
    reading: str = STRICT
    rules: RuleSet | None = None
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
            raise ConfigError(f"reading is '{self.reading}', but rules are also given; leave one of them out.")
        if self.text not in TEXTS:
            raise UnknownNameError("kind of text", self.text, TEXTS)
        if self.bad_placeholders not in MANNERS:
            raise UnknownNameError("way with bad placeholders", self.bad_placeholders, MANNERS)
        if self.text == SYNTHETIC and (self.placeholders or self.test_placeholders):
            raise ConfigError("synthetic text does not use placeholders; leave them out, or use natural text.")
        if self.test_placeholders and not self.placeholders:
            raise ConfigError("test_placeholders are given, but no placeholders for training; give both.")
        if not 0 < self.keep_placeholders <= 1:
            raise ConfigError(f"keep_placeholders is {self.keep_placeholders}; use a share above 0 and up to 1.")

    @property
    def used_rules(self) -> RuleSet:
        """The rules by which answers are derived."""
        return self.rules or rules_of(self.reading)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; collections and rules by name and hash."""
        found: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Placeholders):
                texts = sorted((list(key), list(templates)) for key, templates in value.templates.items())
                value = {"name": value.name, "sha256": digest(texts).hex()}
            elif isinstance(value, RuleSet):
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
