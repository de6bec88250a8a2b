"""How much of published text is understood: `python -m benchmarks.understood DIR`, for docs/sentences.md.

Each row of each set goes through `storyproof.story(text).ask(question)`, as anybody would paste it: nothing but its
story and its question is used. What is read is compared with what the row says about itself: its answer; of CLUTRR also
its facts (`story_edges` with `edge_types`). Facts are the same if they say the same of the same people, from either
side ("Ada is Ben's mother", "Ben is Ada's son").

Crowd workers made mistakes: where text and row contradict each other, no reader of the text finds the row's facts. They
are counted apart, by the checker: no family fits both.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import storyproof
from benchmarks.measure import Record
from storyproof.errors import StoryproofError
from storyproof.families.kinship.checker import CONTRADICTED, ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.relations import Fact, inverse, predicate_of
from storyproof.stories import ProvedAnswer

_SMALL = 1000  # rows; all of them are read


class Row(NamedTuple):
    """A row of somebody else's file: what is asked, what it says is right, and of CLUTRR its facts."""

    story: str
    question: str
    answer: str
    people: tuple[str, ...] = ()
    genders: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


def clutrr(folder: Path) -> Iterator[Row]:
    """Yield published CLUTRR: crowd-written text with the names in brackets."""
    for path in sorted(folder.glob("*/*.csv")):
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                people = tuple(each.partition(":")[0] for each in row["genders"].split(","))
                genders = tuple(each.partition(":")[2] for each in row["genders"].split(","))
                first, second = ast.literal_eval(row["query"])
                edges, types = ast.literal_eval(row["story_edges"]), ast.literal_eval(row["edge_types"])
                # Noise has no types in these files, so only the facts of the chain can be compared.
                facts = tuple(Fact(a, predicate_of(word), b) for (a, b), word in zip(edges, types, strict=False))
                is_clean = len(edges) == len(types)
                yield Row(
                    row["story"], f"What is {second} to {first}?", row["target"], people, genders, facts * is_clean
                )


def belief_files(*paths: Path) -> Iterator[Row]:
    """Yield files that storyproof reads as they are: ToMi and ToM-bAbI."""
    for path in paths:
        for row in storyproof.load(path).to_pylist():
            yield Row(row["story"], row["question"], row["answer"])


def hi_tom(path: Path) -> Iterator[Row]:
    """Yield Hi-ToM, without the instructions that some stories carry in front of their numbered sentences."""
    for row in json.loads(path.read_text(encoding="utf-8"))["data"]:
        lines = [line for line in row["story"].splitlines() if re.match(r"\d+ ", line)]
        yield Row("\n".join(lines), row["question"], row["answer"])


def simtom(path: Path) -> Iterator[Row]:
    """Yield SimToM."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Row(row["story"], row["question"], row["answer"])


def percept_tomi(path: Path) -> Iterator[Row]:
    """Yield Percept-ToMi, whose stories are lists of sentences."""
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield Row("\n".join(f"{each}." for each in ast.literal_eval(row["story"])), row["question"], row["answer"])


def tombench(path: Path, *, chinese: bool) -> Iterator[Row]:
    """Yield the location items of ToMBench."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = {name.split("\n")[-1]: value for name, value in json.loads(line).items()}
        if "Location" not in row["ABILITY"]:
            continue
        story, question, option = ("故事", "问题", "选项") if chinese else ("STORY", "QUESTION", "OPTION-")
        yield Row(row[story], row[question], row[f"{option}{row['ANSWER']}"])


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "ToMi": lambda folder: belief_files(*sorted((folder / "tomi").glob("*.txt"))),
    "ToMi, regenerated": lambda folder: belief_files(folder / "tomi-regenerated/sample.txt"),
    "ToM-bAbI": lambda folder: belief_files(*sorted((folder / "tom-babi").glob("*/*.txt"))),
    "SimToM": lambda folder: simtom(folder / "field/simtom_test_balanced.jsonl"),
    "Percept-ToMi": lambda folder: percept_tomi(folder / "field/Percept-ToMi.csv"),
    "Hi-ToM": lambda folder: hi_tom(folder / "field/Hi-ToM_data.json"),
    "Hi-ToM of AutoToM": lambda folder: hi_tom(folder / "field/Hi-ToM_autotom.json"),
    "ToMBench, location, English": lambda folder: tombench(folder / "field/tombench_false_belief.jsonl", chinese=False),
    "ToMBench, location, Chinese": lambda folder: tombench(folder / "field/tombench_false_belief.jsonl", chinese=True),
    "CLUTRR": lambda folder: clutrr(folder / "clutrr"),
}


class Result(NamedTuple):
    """What became of a row.

    Attributes:
        reason: Why it is not read; empty if it is.
        is_right: Whether its answer follows, under any reading.
        facts: Of CLUTRR: `equal` (the same facts, or each follows from the others), `more` (the row's facts follow, and
            more is said), `part` (not all of them follow, nothing else is said), `contradicted` (no family fits both
            the text and the row) or `other`.
    """

    reason: str = ""
    is_right: bool = False
    facts: str = ""


def try_row(row: Row) -> Result:
    """Return what becomes of a row."""
    try:
        found = storyproof.story(row.story).ask(row.question)
    except StoryproofError as error:
        return Result(str(error))
    answers = {_plain(each) for each in (found.answer, *found.by_reading.values())}
    return Result("", _plain(row.answer) in answers, _compare_facts(row, found) if row.facts else "")


def _plain(answer: str) -> str:
    return re.sub(r"[\s_]+", " ", answer).strip().lower().removeprefix("the ")


def _compare_facts(row: Row, found: ProvedAnswer) -> str:
    """Compare what was read with the facts of a row; see `Result`."""
    shown = dict(each.split(":") for each in found.example.get("genders") or ())
    genders = dict(zip(row.people, row.genders, strict=True))
    people = list(dict.fromkeys((*row.people, *shown)))  # some texts name people who are not in the row
    known = [genders.get(name) or shown[name] for name in people]
    names = list(shown)
    edges, words = found.example.get("edges") or (), found.example.get("edge_types") or ()
    place = [people.index(name) for name in names]
    read = [Fact(place[one], predicate_of(word), place[other]) for (one, other), word in zip(edges, words, strict=True)]
    if {_one_side(each) for each in read} == {_one_side(each) for each in row.facts}:
        return "equal"
    if {CONTRADICTED, IMPOSSIBLE} & {status(known, read, each) for each in row.facts}:
        return "contradicted"
    among = [each for each in read if max(each.first, each.second) < len(row.people)]
    is_stated, is_all = _follow(row.facts, read, known), _follow(among, row.facts, known)
    return {(True, True): "equal", (True, False): "more", (False, True): "part", (False, False): "other"}[
        is_stated, is_all
    ]


def _one_side(fact: Fact) -> Fact:
    """Return a fact from the side of one of its people, the same for both."""
    return min(fact, Fact(fact.second, inverse(fact.predicate), fact.first))


def _follow(facts: Sequence[Fact], given: Sequence[Fact], genders: Sequence[str]) -> bool:
    return all(status(genders, given, each) == ENTAILED for each in facts)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("published", type=Path, help="the folder with published data")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS), help="which sets")
    parser.add_argument("--every", type=int, default=1, help="of large sets, take one row of so many")
    parser.add_argument(
        "--reasons", type=int, default=0, help="show so many of the reasons for which rows are not read"
    )
    parser.add_argument("--differing", type=int, default=0, help="show so many texts with other facts than the row's")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    for name in chosen.sets:
        reasons: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        differing: list[str] = []
        rows = list(SETS[name](chosen.published))
        for row in rows[:: chosen.every if len(rows) > _SMALL else 1]:
            found = try_row(row)
            counts["rows"] += 1
            counts["read"] += not found.reason
            counts["right"] += found.is_right
            counts["compared"] += bool(found.facts)
            counts[found.facts or "none"] += 1
            if found.reason:
                reasons[re.sub(r"'[^']*'|\d+", "…", found.reason)[:110]] += 1
            if found.facts in ("more", "part", "contradicted", "other"):
                differing.append(f"{found.facts}: {row.story} | {row.facts} | {row.people}")
        for key in (
            "rows",
            "read",
            "right",
            *(("compared", "equal", "more", "part", "contradicted", "other") * (name == "CLUTRR")),
        ):
            record.note(f"{name} {key}", counts[key])
        print(f"{name}: {dict(counts)}", flush=True)
        for reason, count in reasons.most_common(chosen.reasons):
            print(f"  {count} {reason}")
        print("\n".join(f"  {each}" for each in differing[: chosen.differing]))
    record.write(chosen.json)


if __name__ == "__main__":
    main()
