"""What the reader of kinship stories accepts, misreads and how fast it is: `python -m benchmarks.reader`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.measure import cpu_seconds
from storyproof.families.kinship.language.reader import Reading, read_many, read_table
from tests.families.kinship.language.narrated import Narrated, check, narrate
from tests.families.kinship.language.texts import BAD, GOOD, LIMITS, read_bad, read_good

STORIES = 4096
ROUNDS = 5
CASES = tuple(
    (lengths, task, split)
    for lengths, task in (((3,), "clean"), (tuple(range(2, 11)), "clean"), (tuple(range(2, 11)), "all"))
    for split in ("train", "test")
)
ORIGIN = {
    "bad_texts": "written without sight of the reader",
    "more_bad_texts": "aimed at its constructions",
    "fresh_bad_texts": "written without sight of the reader, later; 7 were accepted at first",
    "aimed_bad_texts": "aimed at its word lists; 101 were accepted at first",
    "known_limits": "aimed at its word lists; only knowledge of the world tells that they are bad",
    "good_texts": "written without sight of the reader",
    "fresh_good_texts": "written without sight of the reader, later; 20 were refused at first",
}


def misread(stories: list[Narrated]) -> int:
    found = read_many([story.text for story in stories], [story.names for story in stories])
    pairs = zip(stories, found, strict=True)
    return sum(not isinstance(reading, Reading) or check(story, reading) is not None for story, reading in pairs)


def rate(work: Callable[[list[str], list[tuple[str, ...]]], object], stories: list[Narrated]) -> float:
    """Stories per CPU second, the best of some rounds."""
    texts, names = [story.text for story in stories], [story.names for story in stories]
    return len(stories) / min(cpu_seconds(partial(work, texts, names)) for _ in range(ROUNDS))


def print_texts() -> None:
    """Print how many of the collected texts are accepted, refused and read wrongly."""
    print(f"{'texts':<18}{'all':>5}{'accepted':>10}{'refused':>9}{'wrong':>7}")
    for name in (*BAD, LIMITS, *GOOD):
        result = read_good(name) if name in GOOD else read_bad(name)
        counts = len(result.texts), len(result.accepted), len(result.refused), len(result.wrong)
        print(f"{name:<18}{counts[0]:>5}{counts[1]:>10}{counts[2]:>9}{counts[3]:>7}  {ORIGIN[name]}")


def print_stories() -> None:
    """Print how many narrated stories are misread, and how many are read per CPU second."""
    print(f"{'k':<6}{'task':<8}{'split':<6}{'stories':>8}{'misread':>9}{'objects/s':>12}{'arrays/s':>12}")
    for lengths, task, split in CASES:
        stories = narrate(STORIES, lengths, task, split=split, split_placeholders=True)
        span = f"{lengths[0]}-{lengths[-1]}" if len(lengths) > 1 else str(lengths[0])
        rates = rate(read_many, stories), rate(read_table, stories)
        counts = f"{len(stories):>8,}{misread(stories):>9}"
        print(f"{span:<6}{task:<8}{split:<6}{counts}{rates[0]:>12,.0f}{rates[1]:>12,.0f}")


def main() -> None:
    print_texts()
    print()
    print_stories()


if __name__ == "__main__":
    main()
