"""Benchmarks as the explorer offers them: which dials they have, and the recipe that some settings make."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from storyproof.benchmark import Benchmark, Option
from storyproof.catalog import load, names
from storyproof.datasets.dials import CHOICE, CHOICES, NUMBER, SWITCH, describe_dial
from storyproof.datasets.generate import load_benchmark, make_benchmark
from storyproof.datasets.shards import writable_formats
from storyproof.errors import ConfigError, StoryproofError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.families.family import load_family

_KEPT = 32  # recipes; the tables of a large one take some megabytes


def describe_benchmarks() -> list[dict[str, Any]]:
    """Return all benchmarks that can be imported, with their dials, for the page."""
    found = []
    for name in names("benchmark"):
        try:
            benchmark: type[Benchmark] = load("benchmark", name)
            family = load_family(benchmark.family)
        except StoryproofError:
            continue  # one broken package must not break the page
        summary = (benchmark.__doc__ or "").strip().split("\n\n")[0]
        found.append(
            {
                "name": name,
                "version": benchmark.version,
                "family": family.name,
                "title": family.title,
                "samples": [each._asdict() for each in family.samples],
                "summary": " ".join(summary.split()),
                "dials": [
                    _describe_dial(setting, option, benchmark)
                    for setting, option in benchmark.config_type.options().items()
                    if not option.takes_path
                ],
                "presets": {
                    preset: {setting: _shown(value) for setting, value in values.items() if setting not in SPLITS}
                    for preset, values in benchmark.presets.items()
                },
                "formats": list(writable_formats(benchmark)),
                "round": benchmark.round,
                "test_parts": benchmark.test_parts,
            }
        )
    return found


def _describe_dial(name: str, option: Option, benchmark: type[Benchmark]) -> dict[str, Any]:
    dial = describe_dial(name, option, benchmark)
    return {
        "name": name,
        "label": option.flag.removeprefix("--").replace("-", " "),
        "help": option.help,
        "group": option.group,
        "kind": dial.kind if dial.kind in (SWITCH, CHOICE, CHOICES, NUMBER) else "text",
        "choices": list(option.choices),
        "least": option.least,
        "most": option.most,
        "whole": option.read is int,
        "range": dial.range,
        "default": _shown(dial.default) if dial.kind != "text" else option.default,
    }


def _shown(value: Any) -> str | bool:
    """Return a setting as the page holds it: a truth value, or the text that the command line would take."""
    if isinstance(value, bool):
        return value
    return "" if value is None else ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class DialSettings:
    """A benchmark with its dials turned.

    Attributes:
        benchmark: Its name.
        preset: Named settings; empty for none.
        settings: The dials by name: a truth value for a switch, else the text that the command line would take.
    """

    benchmark: str
    preset: str = ""
    settings: Mapping[str, str | bool] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells these dials from others."""
        return json.dumps([self.benchmark, self.preset, self.settings], sort_keys=True)

    def make(self, seed: int) -> Benchmark:
        """Build the benchmark.

        Raises:
            ConfigError: If there is no such benchmark or dial, or a dial cannot be turned so.
        """
        if self.benchmark not in names("benchmark"):  # the page offers current versions only
            raise UnknownNameError("benchmark", self.benchmark, names("benchmark"))
        options = load_benchmark(self.benchmark).config_type.options()
        known = {name: option for name, option in options.items() if not option.takes_path}
        values: dict[str, Any] = {}
        for name, value in self.settings.items():
            if name not in known:
                raise UnknownNameError(f"dial of {self.benchmark}", name, known)
            option = known[name]
            if (option.read is bool) != isinstance(value, bool):
                expected = "true or false" if option.read is bool else "a text"
                raise ConfigError(f"{option.flag} is {value!r}; expected {expected}.")
            if isinstance(value, bool):
                values[name] = value
            elif value.strip():
                values[name] = option.parse(value.strip())
        return make_benchmark(self.benchmark, seed, preset=self.preset or None, **values)


class Recipes:
    """Benchmarks with small blocks, kept for the next story of the same dials.

    Args:
        seed: Of all stories.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lock = Lock()
        self._made: OrderedDict[str, tuple[Benchmark, Lock]] = OrderedDict()

    def find(self, dials: DialSettings) -> tuple[Benchmark, Lock]:
        """Return a benchmark, and the lock under which one thread at a time may use it.

        Raises:
            ConfigError: If it cannot be made.
        """
        key = dials.key
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = dials.make(self._seed).with_small_blocks(), Lock()
        with self._lock:
            made = self._made.setdefault(key, made)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return made
