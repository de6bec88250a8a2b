"""Dials: the settings of a benchmark as data, with their ranges, for programs that change the difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from storyproof.benchmark import Benchmark, Option, comma_separated
from storyproof.datasets.generate import load_benchmark, make_benchmark
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.runtime.notebook import NotebookView

SWITCH, CHOICE, CHOICES, NUMBER, NUMBERS, FILE, TEXT = KINDS = (
    "switch",
    "choice",
    "choices",
    "number",
    "numbers",
    "file",
    "text",
)


@dataclass(frozen=True, slots=True)
class Dial:
    """A setting of a benchmark.

    Attributes:
        name: What `stream`, `generate` and configs call it.
        flag: What the command line calls it.
        kind: `switch` (true or false), `choice` (one of `choices`), `choices` (some of them), `number`, `numbers`
            (a list), `file` (a path) or `text`.
        help: What it does.
        default: Its value unless it is set; None of a file for what storyproof ships.
        choices: The values that there are, if they are few.
        least: The lowest number that it takes.
        most: The highest.
        is_above: Whether the lowest number itself is too low.

    Example:
        >>> import storyproof
        >>> noise = storyproof.dials("tom-babi")["noise"]
        >>> noise.kind, noise.default, noise.least, noise.most
        ('number', 0.1, 0, 1)
    """

    name: str
    flag: str
    kind: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_above: bool = False

    @property
    def range(self) -> str:
        """What it can be, in words."""
        if self.choices:
            return ", ".join(self.choices)
        numbers = Option(self.help, least=self.least, most=self.most, is_above=self.is_above).range
        return numbers or {SWITCH: "true, false", FILE: "a path"}.get(self.kind, "any")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        values = {**asdict(self), "choices": list(self.choices)}
        return {**values, "default": list(self.default) if isinstance(self.default, tuple) else self.default}


class Dials(dict[str, Dial], NotebookView):
    """The dials of a benchmark by name; notebooks show them as a table."""


def dials(benchmark: str) -> Dials:
    """Return the dials of a benchmark by name: what changes its stories, and how far it can be turned.

    Args:
        benchmark: Its name, with or without a version.

    Raises:
        UnknownNameError: If there is no such benchmark.

    Example:
        >>> import storyproof
        >>> found = storyproof.dials("clutrr")
        >>> found["train_k"].range, found["train_k"].default
        ('2 to 15', (2, 3))
        >>> found["task"].choices[:3]
        ('clean', 'supporting', 'irrelevant')
    """
    made = load_benchmark(benchmark)
    return Dials({name: describe_dial(name, option, made) for name, option in made.config_type.options().items()})


def describe_dial(name: str, option: Option, benchmark: type[Benchmark]) -> Dial:
    """Return an option of a benchmark's config as a dial."""
    [declared] = [item for item in fields(benchmark.config_type) if item.name == name]
    default = None if declared.default is MISSING else declared.default
    return Dial(
        name,
        option.flag,
        _kind(option, default),
        option.help,
        default,
        option.choices,
        option.least,
        option.most,
        option.is_above,
    )


def _kind(option: Option, default: Any) -> str:
    if option.read is bool:
        return SWITCH
    if option.takes_path:
        return FILE
    if option.choices:
        return CHOICES if option.read is comma_separated else CHOICE
    if option.read in (int, float):
        return NUMBER
    return NUMBERS if option.least is not None and isinstance(default, tuple) else TEXT


def turn(benchmark: str, seed: int, settings: Mapping[str, Any], preset: str | None = None) -> Benchmark:
    """Build a benchmark with its dials turned.

    Args:
        benchmark: Its name.
        seed: Same seed, same content.
        settings: Values by the names of dials; a text is read as the command line would, such as "2-4" for lengths or
            the path of a file.
        preset: Named settings, which the others override.

    Raises:
        ConfigError: If there is no such benchmark, dial or preset, or a dial cannot be turned so far.
    """
    options = load_benchmark(benchmark).config_type.options()
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in options:
            dial_names = list(options)
            if not dial_names:
                raise ConfigError(f"{benchmark} has no dials; leave '{name}' out.")
            raise UnknownNameError(f"dial of {benchmark}", name, dial_names)
        option = options[name]
        if option.read is bool and not isinstance(value, bool):
            raise ConfigError(f"{name} is {value!r}; expected True or False.")
        values[name] = option.parse(value) if isinstance(value, str) and option.read is not str else value
    return make_benchmark(benchmark, seed, preset=preset, **values)
