"""Options that are declared once, with the fields of the dataclass that they set.

The command line takes their names, help, defaults and ranges from there, and so do the dials of the explorer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from storyproof.errors import ConfigError, UnknownNameError, listed


@dataclass(frozen=True)
class Option:
    """How a setting is given on the command line.

    Attributes:
        help: What it does, in one sentence.
        read: Convert its text to a value; raises ValueError with what was expected. `bool` makes it a switch.
        flag: The option, such as `--train-k`; by default the name of the field with dashes.
        default: How help shows the default; empty to show none.
        metavar: How help shows the value.
        choices: The values that there are, if they are few; a page offers them.
        least: The lowest number that it takes, or that a list of numbers may have; None if it takes no numbers.
        most: The highest.
        is_above: Whether the lowest number itself is too low.
        is_repeated: Whether the option may be given several times.
        is_on: Whether a switch is on by default, so that it can be switched off; `Declared.options` says so.
        is_rare: Whether it is given as `--option NAME=VALUE`, where a command has that, rather than as one of its own.
        group: The heading under which a page offers it, if a page has many.
    """

    help: str
    read: Callable[[str], Any] = str
    flag: str = ""
    default: str = ""
    metavar: str = "<str>"
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_above: bool = False
    is_repeated: bool = False
    is_rare: bool = False
    group: str = ""
    is_on: bool = False

    @property
    def spoken(self) -> str:
        """What messages call it, as users give it."""
        return f"--option {self.flag.removeprefix('--')}" if self.is_rare else self.flag

    @property
    def takes_path(self) -> bool:
        """Whether its value is the path of a file or folder."""
        return self.metavar == "<path>"

    @property
    def range(self) -> str:
        """The numbers that it takes, in words; empty if it takes others, or its help lists them."""
        if self.least is None or self.most is None:
            return ""
        return f"above {self.least} to {self.most}" if self.is_above else f"{self.least} to {self.most}"

    @property
    def allowed(self) -> str:
        """The numbers that it takes, as they follow "use a number"."""
        return f"above {self.least} and up to {self.most}" if self.is_above else f"from {self.least} to {self.most}"

    @property
    def described(self) -> str:
        """What it does, with the numbers that it takes."""
        return f"{self.help.removesuffix('.')} ({self.range})." if self.range else self.help

    def check(self, value: Any) -> None:
        """Check a value against what is declared: the range of its numbers, and its choices.

        Raises:
            ConfigError: If it is not such a value; names the option.
        """
        if self.read is bool and not isinstance(value, bool):
            raise ConfigError(f"{self.flag} is {value!r}; expected True or False.")
        if self.choices:
            if self.read is comma_separated and isinstance(value, str):
                raise ConfigError(f"{self.flag} is {value!r}; expected a list of {listed(self.choices)}.")
            for each in value if isinstance(value, tuple | list) else (value,):
                if each not in self.choices:
                    raise UnknownNameError(f"value of {self.flag}", str(each), self.choices)
        if self.least is None or self.most is None:
            return
        numbers = (int, float) if self.read is float else int
        for each in value if isinstance(value, tuple | list) else (value,):
            in_range = (
                isinstance(each, numbers)
                and not isinstance(each, bool)
                and self.least <= each <= self.most
                and not (self.is_above and each == self.least)
            )
            if not in_range:
                kind = "number" if self.read is float else "whole number"
                if isinstance(value, tuple | list):
                    raise ConfigError(f"{self.flag} has {each!r}; use {kind}s {self.allowed}.")
                raise ConfigError(f"{self.flag} is {value!r}; use a {kind} {self.allowed}.")

    def parse(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            ConfigError: If it cannot be read; names the option.
        """
        try:
            return self.read(text)
        except ValueError as error:
            plain = {int: "expected a whole number", float: "expected a number"}
            expected = next((text for kind, text in plain.items() if self.read is kind), str(error))
            raise ConfigError(f"{self.flag} is '{text}'; {expected}.") from error


def option(
    help: str,
    *,
    read: Callable[[str], Any] = str,
    flag: str = "",
    default: str = "",
    metavar: str = "",
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    is_above: bool = False,
    is_repeated: bool = False,
    is_rare: bool = False,
    group: str = "",
) -> dict[str, Any]:
    """Return the metadata of a field that makes it an option of the command line; see `Option`."""
    shown = metavar or f"<{read.__name__ if read in (int, float) else 'str'}>"
    found = Option(help, read, flag, default, shown, choices, least, most, is_above, is_repeated, is_rare, group)
    return {"option": found}


def comma_separated(text: str) -> tuple[str, ...]:
    """Return the parts of a text such as `agents, rooms`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True)
class Declared:
    """Base of settings whose fields may be options of the command line.

    A value outside the declared range or choices is refused. Subclasses that check more call `super().__post_init__()`
    first.
    """

    def __post_init__(self) -> None:
        defaults = {item.name: item.default for item in fields(self)}
        for name, declared in type(self).options().items():
            value = getattr(self, name)
            if value is not None or defaults[name] is not None:
                declared.check(value)

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the options of the command line by the names of their fields."""
        options = {}
        for item in fields(cls):
            declared = item.metadata.get("option")
            if declared is not None:
                flag = declared.flag or "--" + item.name.replace("_", "-")
                options[item.name] = replace(declared, flag=flag, is_on=item.default is True)
        return options
