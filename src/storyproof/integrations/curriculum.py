"""A curriculum that follows the success rate: harder stories above a target, easier ones below it.

Difficulty is a ladder. Its lowest rung has every dial at its easiest value; each rung above turns one dial one step
further, the dials in turn. So one number says how hard stories are, and the same rewards lead to the same stories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from storyproof.datasets.dials import NUMBER, NUMBERS, Dial, dials, turn
from storyproof.datasets.stream import Stream, stream
from storyproof.errors import ConfigError, UnknownNameError, quoted
from storyproof.stories import StoryText

_MOST_VALUES = 100  # of a dial


class Curriculum:
    """The settings of a benchmark, turned up and down by observed rewards.

    Args:
        benchmark: Its name.
        ranges: For each dial that is turned, its values from easy to hard; for a number also the pair (least, most) of
            two whole numbers, which stands for all between them. A whole number for a dial that takes several, such as
            `train_k`, stands for that one alone.
        target: The success rate to keep to: the mean reward of a rung.
        margin: By how much the mean may differ from the target before anything changes.
        window: How many rewards decide.
        rung: Where to start.
        fixed: Other dials, which stay as they are.

    Raises:
        ConfigError: If a dial is unknown, a value is beyond its range, or a number makes no sense.

    Example:
        >>> from storyproof.integrations.curriculum import Curriculum
        >>> curriculum = Curriculum("clutrr", {"train_k": (2, 4)}, target=0.7, window=4)
        >>> curriculum.settings
        {'train_k': (2,)}
        >>> curriculum.update([1, 1, 1, 1])
        {'train_k': (3,)}
        >>> curriculum.update([0, 0, 1, 0])
        {'train_k': (2,)}
    """

    def __init__(
        self,
        benchmark: str,
        ranges: Mapping[str, Sequence[Any]],
        *,
        target: float = 0.7,
        margin: float = 0.05,
        window: int = 64,
        rung: int = 0,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        if not 0 < target < 1 or not 0 <= margin < min(target, 1 - target):
            raise ConfigError(
                f"the target is {target!r} and the margin {margin!r}; expected a target between 0 and 1 and a margin "
                "that leaves room on both sides."
            )
        if not _is_whole(window, 1):
            raise ConfigError(f"the window is {window!r}; expected a whole number from 1 on.")
        if not ranges:
            raise ConfigError("a curriculum needs at least one dial; storyproof.dials(benchmark) lists them.")
        all_dials = dials(benchmark)
        for name in ranges:
            if name not in all_dials:
                raise UnknownNameError(f"dial of {benchmark}", name, list(all_dials))
        self.benchmark = benchmark
        self.target, self.margin, self.window = target, margin, window
        self._fixed = dict(fixed or {})
        self._values = {name: _expand(all_dials[name], given) for name, given in ranges.items()}
        self._rungs = _ladder({name: len(values) for name, values in self._values.items()})
        if not _is_whole(rung, 0) or rung >= len(self._rungs):
            raise ConfigError(f"the rung is {rung!r}; expected 0 to {len(self._rungs) - 1}.")
        self.rung = rung
        self._waiting: list[float] = []
        self._positions: dict[int, int] = {}
        for place in {
            0,
            len(self._rungs) - 1,
        }:  # both ends must be possible, so that a long run does not stop on the way
            turn(benchmark, 0, {**self._fixed, **self.settings_at(place)})

    @property
    def settings(self) -> dict[str, Any]:
        """The dials as they are now, for `storyproof.stream` or `generate`."""
        return self.settings_at(self.rung)

    @property
    def rungs(self) -> int:
        """How many rungs the ladder has."""
        return len(self._rungs)

    def settings_at(self, rung: int) -> dict[str, Any]:
        """Return the dials of a rung, without those that stay fixed."""
        return {name: self._values[name][place] for name, place in self._rungs[rung].items()}

    def update(self, rewards: Iterable[float]) -> dict[str, Any]:
        """Take in the rewards of stories of the current rung, and return the settings for the next ones.

        After each `window` rewards the rung changes by one if their mean is off the target by more than the margin.
        Rewards beyond that window belong to stories of the old rung, and are dropped.

        Args:
            rewards: From 0 to 1, such as those of `storyproof.rewards.exact`.

        Raises:
            ConfigError: If a reward is not a number from 0 to 1.
        """
        given = [float(reward) for reward in rewards]
        for reward in given:
            if not 0 <= reward <= 1:
                raise ConfigError(f"a reward is {reward!r}; expected a number from 0 to 1.")
        self._waiting += given
        while len(self._waiting) >= self.window:
            mean = sum(self._waiting[: self.window]) / self.window
            del self._waiting[: self.window]
            before = self.rung
            if mean > self.target + self.margin:
                self.rung = min(self.rung + 1, self.rungs - 1)
            elif mean < self.target - self.margin:
                self.rung = max(self.rung - 1, 0)
            if self.rung != before:
                self._waiting.clear()
        return self.settings

    def stories(self, seed: int = 0, split: str = "train") -> Iterator[StoryText]:
        """Yield stories without end, each with the settings of the moment at which it is asked for; none comes twice.

        Args:
            seed: Same seed and same rewards, same stories.
            split: Which split.
        """
        made: dict[int, Stream] = {}
        while True:
            rung = self.rung
            if rung not in made:
                made[rung] = stream(self.benchmark, seed=seed, split=split, **self._fixed, **self.settings)
            position = self._positions.get(rung, 0)
            self._positions[rung] = position + 1
            yield made[rung][position]

    def state_dict(self) -> dict[str, Any]:
        """Return where the curriculum is, as plain values for JSON."""
        return {
            "benchmark": self.benchmark,
            "ladder": self._identity(),
            "rung": self.rung,
            "waiting": list(self._waiting),
            "positions": {str(rung): position for rung, position in sorted(self._positions.items())},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume where a curriculum of the same benchmark, dials and numbers was.

        Raises:
            ConfigError: If the state is that of another curriculum, or of none.
        """
        if not isinstance(state, Mapping) or not _is_whole(state.get("rung"), 0):
            raise ConfigError(f"{quoted(state)} is not the state of a curriculum; expected what state_dict() returned.")
        if (state.get("benchmark"), state.get("ladder")) != (self.benchmark, self._identity()):
            raise ConfigError(
                f"the state is of another curriculum: of {quoted(state.get('benchmark'))} with "
                f"{quoted(state.get('ladder'))}; here it is {quoted(self.benchmark)} with {quoted(self._identity())}."
            )
        if state["rung"] >= self.rungs:
            raise ConfigError(f"the state has rung {state['rung']}; expected 0 to {self.rungs - 1}.")
        self.rung = state["rung"]
        self._waiting = [float(reward) for reward in state.get("waiting", ())]
        self._positions = {int(rung): int(position) for rung, position in state.get("positions", {}).items()}

    def _identity(self) -> dict[str, Any]:
        """Return all that decides what a rung is and when it changes, as plain values."""
        return {
            "values": {name: [_plain(value) for value in values] for name, values in self._values.items()},
            "fixed": {name: _plain(value) for name, value in self._fixed.items()},
            "target": self.target,
            "margin": self.margin,
            "window": self.window,
        }


def _expand(dial: Dial, given: Sequence[Any]) -> list[Any]:
    """Return the values of a dial from easy to hard."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ConfigError(f"the range of '{dial.name}' is {quoted(given)}; expected its values from easy to hard.")
    values = list(given)
    numeric = dial.kind in (NUMBER, NUMBERS)
    if numeric and isinstance(given, tuple) and len(values) == 2 and all(_is_whole(each) for each in values):
        step = 1 if values[0] <= values[1] else -1
        values = list(range(values[0], values[1] + step, step))
    if len(values) > _MOST_VALUES:
        raise ConfigError(f"the range of '{dial.name}' has {len(values)} values; expected at most {_MOST_VALUES}.")
    for value in values if numeric else ():
        for number in value if isinstance(value, Sequence) and not isinstance(value, str) else (value,):
            too_low = dial.least is not None and isinstance(number, int | float) and number < dial.least
            if too_low or (dial.most is not None and isinstance(number, int | float) and number > dial.most):
                raise ConfigError(f"the range of '{dial.name}' has {number!r}; expected {dial.range}.")
    if dial.kind == NUMBERS:
        values = [(value,) if _is_whole(value) else value for value in values]
    return values


def _ladder(sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Return the rungs: each turns one dial one step further than the one below, the dials in turn."""
    rung = dict.fromkeys(sizes, 0)
    rungs = [dict(rung)]
    while any(rung[name] < size - 1 for name, size in sizes.items()):
        for name, size in sizes.items():
            if rung[name] < size - 1:
                rung[name] += 1
                rungs.append(dict(rung))
    return rungs


def _is_whole(value: Any, least: int | None = None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value
