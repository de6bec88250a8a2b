"""How fast kinship stories are read, and how many are misread: `python -m benchmarks.reader`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.measure import cpu_seconds
from storyproof.families.kinship.language.reader import Reading, read_many, read_table
from tests.families.kinship.language.narrated import Narrated, check, narrate

STORIES = 4096
ROUNDS = 5
CASES = (((3,), "clean"), (tuple(range(2, 11)), "clean"), (tuple(range(2, 11)), "all"))


def misread(stories: list[Narrated]) -> int:
    found = read_many([story.text for story in stories], [story.names for story in stories])
    pairs = zip(stories, found, strict=True)
    return sum(not isinstance(reading, Reading) or check(story, reading) is not None for story, reading in pairs)


def rate(work: Callable[[list[str], list[tuple[str, ...]]], object], stories: list[Narrated]) -> float:
    """Stories per CPU second, the best of some rounds."""
    texts, names = [story.text for story in stories], [story.names for story in stories]
    return len(stories) / min(cpu_seconds(partial(work, texts, names)) for _ in range(ROUNDS))


def main() -> None:
    print(f"{'k':<6}{'task':<8}{'misread':>8}{'objects/s':>12}{'arrays/s':>12}")
    for lengths, task in CASES:
        stories = narrate(STORIES, lengths, task)
        span = f"{lengths[0]}-{lengths[-1]}" if len(lengths) > 1 else str(lengths[0])
        rates = rate(read_many, stories), rate(read_table, stories)
        print(f"{span:<6}{task:<8}{misread(stories):>8}{rates[0]:>12,.0f}{rates[1]:>12,.0f}")


if __name__ == "__main__":
    main()
