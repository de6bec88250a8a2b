"""Settings of the kinship benchmark, and the data sets of the paper as presets."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from storyproof.benchmark import Config, comma_separated, option
from storyproof.errors import ConfigError
from storyproof.families.kinship.language.scenes import Scenes, load_scenes
from storyproof.families.kinship.placeholders import Placeholders, load_placeholders
from storyproof.families.kinship.rules import READINGS, STRICT, RuleSet, load_rules, rules_of
from storyproof.families.kinship.tasks import CLEAN, DISCONNECTED, IRRELEVANT, SUPPORTING, TASKS
from storyproof.generation.seeds import digest

NATURAL, PLAIN, PLACEHOLDERS, SYNTHETIC = TEXTS = ("natural", "plain", "placeholders", "synthetic")
REFUSE, KEEP, DROP = MANNERS = ("refuse", "keep", "drop")
ONE_TRADITION, ALL_TRADITIONS = NAMINGS = ("one", "mixed")
LEAST_K, MOST_K = 2, 15
_CHAIN, _WORDS, _TEMPLATES = "Facts", "Wording", "Templates and scenes"  # groups of dials

_NOTHING = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders", "names"), (str,)),
    **dict.fromkeys(("train_k", "test_k", "test_tasks"), (tuple, list)),
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), (bool,)),
    **dict.fromkeys(("placeholders", "test_placeholders"), (Placeholders, _NOTHING)),
    "rules": (RuleSet, _NOTHING),
    "keep_placeholders": (int, float),
}
_IN_WORDS = {
    **dict.fromkeys(("task", "reading", "text", "bad_placeholders", "names"), "a name"),
    **dict.fromkeys(("train_k", "test_k"), "several numbers"),
    "test_tasks": "several names",
    **dict.fromkeys(("holdout", "split_placeholders", "cloze"), "True or False"),
    **dict.fromkeys(("placeholders", "test_placeholders"), "what load_placeholders returns"),
    "rules": "what load_rules returns",
    "keep_placeholders": "a number",
}


def _lengths(text: str) -> tuple[int, ...]:
    """Return the lengths in a text such as `2,3` or `2-10`."""
    lengths: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError("expected numbers such as 2,3 or 2-10")
        if len(first) > 4 or len(last) > 4:  # surely a mistake, and the range would fill the memory
            raise ValueError(f"chains have {LEAST_K} to {MOST_K} facts")
        lengths += range(int(first), int(last or first) + 1)
    if not lengths:
        raise ValueError("expected at least one length, such as 2-10")
    return tuple(lengths)


@dataclass(frozen=True)
class ClutrrConfig(Config):
    """Settings of clutrr.

    Attributes:
        task: The noise in training stories.
        test_tasks: The noise in test stories, each with every k; by default that of training.
        train_k: How many facts the chains of training stories have.
        test_k: How many facts the chains of test stories have.
        reading: `strict`, or `published` for the rules of the paper.
        rules: Rules of your own instead, read by `load_rules`.
        placeholders: Templates of your own for natural text, read by `load_placeholders`.
        test_placeholders: Other templates for the test stories; by default the same collection.
        bad_placeholders: What to do with templates of your own that fail the checks: `refuse` (those that lack a
            person or reveal the answer), `keep`, or `drop` (all that are doubtful).
        keep_placeholders: The share of the templates that is used; of natural text, of the scenes.
        split_placeholders: Whether training and test use different templates; in natural text, scenes.
        holdout: Whether test patterns of three facts and more are kept out of training.
        cloze: Whether people are called `@entity-n` instead of having names.
        text: `natural`, a paragraph about one occasion; `plain`, sentences that state facts and nothing else;
            `placeholders`, texts of a fixed collection; or `synthetic`, the same sentence for every fact.
        scenes: Occasions of your own for natural text, read by `load_scenes`.
        test_scenes: Others for the test stories; by default a fifth of the same collection.
        names: `one` if all people of a story have names of one tradition, such as Greek or Igbo names, or `mixed`.
        sibling_run: How many sibling facts may follow each other in a chain. A relation that has fewer than two such
            patterns at some length gets those with the shortest runs instead.
    """

    task: str = field(
        default=CLEAN,
        metadata=option(
            "clean, supporting, irrelevant, disconnected, all, memory or mixed (clean and memory).",
            default=CLEAN,
            choices=TASKS,
            group=_CHAIN,
        ),
    )
    train_k: tuple[int, ...] = field(
        default=(2, 3),
        metadata=option(
            "Facts in training chains: 2,3 or 2-4.",
            read=_lengths,
            default="2,3",
            least=LEAST_K,
            most=MOST_K,
            group=_CHAIN,
        ),
    )
    test_k: tuple[int, ...] = field(
        default=tuple(range(2, 11)),
        metadata=option(
            "Facts in test chains.", read=_lengths, default="2-10", least=LEAST_K, most=MOST_K, group=_CHAIN
        ),
    )
    test_tasks: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Tasks of the test stories, comma-separated; by default the same.",
            read=comma_separated,
            flag="--test-task",
            choices=TASKS,
            group=_CHAIN,
        ),
    )
    reading: str = field(
        default=STRICT,
        metadata=option(
            "strict or published (the rules of the paper).", default=STRICT, choices=READINGS, group=_CHAIN
        ),
    )
    text: str = field(
        default=NATURAL,
        metadata=option("natural, plain, placeholders or synthetic.", default=NATURAL, choices=TEXTS, group=_WORDS),
    )
    names: str = field(
        default=ONE_TRADITION,
        metadata=option(
            "Whether the names of a story are of one naming tradition or mixed: one or mixed.",
            default=ONE_TRADITION,
            choices=NAMINGS,
            group=_WORDS,
        ),
    )
    cloze: bool = field(
        default=False, metadata=option("Call people @entity-n instead of names.", read=bool, group=_WORDS)
    )
    rules: RuleSet | None = field(
        default=None, metadata=option("A YAML file with your own rules.", read=load_rules, metavar="<path>")
    )
    placeholders: Placeholders | None = field(
        default=None,
        metadata=option(
            "A JSON file of templates in the published format, instead of the built-in ones.",
            read=load_placeholders,
            metavar="<path>",
        ),
    )
    test_placeholders: Placeholders | None = field(
        default=None,
        metadata=option("The same for the test stories.", read=load_placeholders, metavar="<path>"),
    )
    holdout: bool = field(
        default=True,
        metadata=option(
            "Whether test patterns of 3 facts and more are kept out of training.",
            read=bool,
            default="holdout",
            group=_CHAIN,
        ),
    )
    split_placeholders: bool = field(
        default=True,
        metadata=option(
            "Whether training and test use different templates.", read=bool, default="split", group=_TEMPLATES
        ),
    )
    bad_placeholders: str = field(
        default=REFUSE,
        metadata=option(
            "Templates that fail the checks: refuse (those that lack a person or reveal an answer), keep or drop.",
            default=REFUSE,
            choices=MANNERS,
            group=_TEMPLATES,
        ),
    )
    keep_placeholders: float = field(
        default=1.0,
        metadata=option(
            "Share of the templates that is used; of natural text, of the scenes.",
            read=float,
            default="1.0",
            least=0,
            most=1,
            is_above=True,
            group=_TEMPLATES,
        ),
    )
    scenes: Scenes | None = field(
        default=None,
        metadata=option(
            "A folder of scenes (YAML files), instead of the built-in ones.", read=load_scenes, metavar="<path>"
        ),
    )
    test_scenes: Scenes | None = field(
        default=None,
        metadata=option("The same for the test stories.", read=load_scenes, metavar="<path>"),
    )
    sibling_run: int = field(
        default=3,
        metadata=option(
            "Sibling facts in a row that a chain may have, if its answer allows.",
            read=int,
            default="3",
            least=1,
            most=MOST_K,
            group=_CHAIN,
        ),
    )

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            if not isinstance(getattr(self, name), kinds):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; expected {_IN_WORDS[name]}.")
        super().__post_init__()
        for name in ("train_k", "test_k"):
            lengths = getattr(self, name)
            if not lengths or len(set(lengths)) < len(lengths):
                raise ConfigError(f"{name} is {list(lengths)}; give at least one length, each once.")
        if len(set(self.test_tasks)) < len(self.test_tasks):
            raise ConfigError(f"test_tasks is {list(self.test_tasks)}; name each task once.")
        if self.rules is not None and self.reading != STRICT:
            raise ConfigError(f"reading is '{self.reading}', but rules are also given; leave one of them out.")
        if self.text in (SYNTHETIC, PLAIN) and (self.placeholders or self.test_placeholders):
            raise ConfigError(f"{self.text} text does not use placeholders; leave them out, or use natural text.")
        if self.test_placeholders and not self.placeholders:
            raise ConfigError("test_placeholders are given, but no placeholders for training; give both.")
        for name in ("scenes", "test_scenes"):
            if not isinstance(getattr(self, name), Scenes | None):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; expected what load_scenes returns.")
        if self.test_scenes is not None and self.scenes is None:
            raise ConfigError("test_scenes are given, but no scenes for training; give both.")
        if self.scenes is not None and self.style != NATURAL:
            raise ConfigError(f"{self.style} text does not use scenes; leave them out, or use natural text.")
        if self.cloze and self.names != ONE_TRADITION:
            raise ConfigError(f"names is '{self.names}', but cloze stories have no names; leave one of them out.")

    @property
    def style(self) -> str:
        """How stories are worded: placeholders of one's own need not be asked for twice."""
        return PLACEHOLDERS if self.placeholders is not None else self.text

    @property
    def used_rules(self) -> RuleSet:
        """The rules by which answers are derived."""
        return self.rules or rules_of(self.reading)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; collections and rules by name and hash."""
        values: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Placeholders):
                texts = sorted((list(key), list(templates)) for key, templates in value.templates.items())
                value = {"name": value.name, "sha256": digest(texts).hex()}
            elif isinstance(value, Scenes):
                value = {"name": value.name, "sha256": digest(repr(value.scenes)).hex()}
            elif isinstance(value, RuleSet):
                value = value.name
            values[item.name] = list(value) if isinstance(value, tuple) else value
        return values


_ROBUST = (CLEAN, SUPPORTING, IRRELEVANT, DISCONNECTED)
USUAL_COUNTS = {"train": 10_000, "val": 0, "test": 100}  # those of the paper's data sets
PRESETS: dict[str, dict[str, Any]] = {
    "generalization-23": {**USUAL_COUNTS, "train_k": (2, 3), "test_k": tuple(range(2, 11))},
    "generalization-234": {**USUAL_COUNTS, "train_k": (2, 3, 4), "test_k": tuple(range(2, 11))},
    **{
        f"robust-{task}": {
            **USUAL_COUNTS,
            "task": task,
            "train_k": (2, 3),
            "test_k": (2, 3),
            "test_tasks": _ROBUST,
        }
        for task in _ROBUST
    },
}
