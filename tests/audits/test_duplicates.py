import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.audits import duplicates
from storyproof.audits.duplicates import (
    CONFLICT,
    NEAR,
    QUESTION,
    STORY,
    STRUCTURAL,
    Conflict,
    OverlapReport,
    SplitOverlap,
    find_overlaps,
)
from storyproof.datasets.reading import find_sources
from storyproof.errors import ConfigError
from storyproof.generation.seeds import Draws
from tests.groups import try_examples
from tests.samples import MEMORY, REALITY, SEARCH
from tests.samples import STORY as TALE

EXACT = {"near": False}


@dataclass(frozen=True)
class Told:
    """Rows in memory: story id, story, question, and maybe answers."""

    split: str | None
    rows: list[tuple[str | None, str, str]]
    name: str = "made"
    answers: tuple[str | None, ...] | None = None

    def tables(self) -> Iterator[pa.Table]:
        for start in range(0, len(self.rows), 7):
            part = self.rows[start : start + 7]
            columns = {
                "id": [f"{self.split}-{start + place}" for place in range(len(part))],
                "story_id": pa.array([story for story, _, _ in part], pa.string()),
                "story": [text for _, text, _ in part],
                "question": [question for _, _, question in part],
            }
            if self.answers is not None:
                columns["answer"] = pa.array(self.answers[start : start + 7], pa.string())
            yield pa.table(columns)


def told(split: str, *stories: str, questions: tuple[str, ...] = (MEMORY,)) -> Told:
    rows = [(f"{split}{number}", text, question) for number, text in enumerate(stories) for question in questions]
    return Told(split, rows)


def pick(report: OverlapReport, kind: str, first: str, second: str) -> SplitOverlap:
    (found,) = [each for each in report.overlaps if (each.kind, each.first, each.second) == (kind, first, second)]
    return found


def counts(found: SplitOverlap) -> tuple[int, int, int]:
    return found.first_affected, found.second_affected, found.pairs


def words(seed: int, count: int = 60) -> list[str]:
    return [f"w{number}" for number in Draws("words", seed).below(5000, count).tolist()]


RENAMED = TALE.replace("Ada", "Zoe").replace("Ben", "Kim")
OTHER = TALE.replace("key", "map")


def test_same_story() -> None:
    train, test = told("train", TALE, OTHER, TALE), told("test", RENAMED, TALE, TALE)
    found = find_overlaps([train, test], **EXACT)
    assert found.parts == {"train": {"stories": 3, "questions": 3}, "test": {"stories": 3, "questions": 3}}
    assert counts(pick(found, STORY, "train", "train")) == (2, 2, 1)
    assert counts(pick(found, STORY, "test", "test")) == (2, 2, 1)
    between = pick(found, STORY, "train", "test")
    assert counts(between) == (2, 2, 4)
    assert between.share == 2 / 3
    assert [(each.first, each.second) for each in between.examples] == [("train0", "test1"), ("train0", "test2")]
    assert found.near == {}
    assert not [each for each in found.overlaps if each.kind == NEAR]


def test_story_with_several_questions_is_one() -> None:
    asked = (MEMORY, REALITY, SEARCH)
    found = find_overlaps([told("train", TALE, OTHER, questions=asked)], **EXACT)
    assert found.parts == {"train": {"stories": 2, "questions": 6}}
    assert not any(each.pairs for each in found.overlaps)


def test_rows_without_story_ids_are_of_one_story_if_it_is_the_same() -> None:
    rows = [(None, text, question) for question in (MEMORY, REALITY) for text in (TALE, OTHER)]
    found = find_overlaps([Told("train", rows)], **EXACT)
    assert found.parts["train"]["stories"] == 2
    assert counts(pick(found, STORY, "train", "train")) == (0, 0, 0)


def test_questions_between_sentences_make_no_new_story() -> None:
    # The story goes on after the first question; what counts is all of it.
    begun = "\n".join(TALE.split("\n")[:3])
    train = Told("train", [("a", begun, MEMORY), ("a", TALE, REALITY)])
    found = find_overlaps([train, told("test", begun, TALE)], **EXACT)
    assert found.parts["train"]["stories"] == 1
    assert counts(pick(found, STORY, "train", "test")) == (1, 1, 1)
    assert counts(pick(found, QUESTION, "train", "test")) == (1, 1, 1)


def test_same_question() -> None:
    train = told("train", TALE, OTHER, questions=(MEMORY, REALITY))
    test = Told("test", [("t", TALE, REALITY), ("t", TALE, SEARCH)])
    found = pick(find_overlaps([train, test], **EXACT), QUESTION, "train", "test")
    assert (found.first_total, found.second_total) == (4, 2)
    assert counts(found) == (1, 1, 1)
    assert [(each.first, each.second) for each in found.examples] == [("train-1", "test-0")]


def labelled(split: str, *rows: tuple[str, str | None]) -> Told:
    """Rows that ask the same: story and answer of each."""
    asked = [(f"{split}{number}", text, MEMORY) for number, (text, _) in enumerate(rows)]
    return Told(split, asked, answers=tuple(answer for _, answer in rows))


def test_same_question_with_another_answer() -> None:
    train = labelled("train", (TALE, "box"), (OTHER, "box"), (TALE, "jar"), (TALE, "box"), (OTHER, "box"))
    test = labelled("test", (TALE, "box"), (OTHER, "box"), (OTHER, "crate"), (RENAMED, "jar"))
    found = find_overlaps([train, test], **EXACT)
    within = pick(found, CONFLICT, "train", "train")
    assert counts(within) == (3, 3, 2)
    assert (within.first_total, within.second_total) == (5, 5)
    assert within.examples == [Conflict("train-0", "train-2", 1.0, "box", "jar")]
    between = pick(found, CONFLICT, "train", "test")
    assert counts(between) == (3, 2, 3)
    assert between.share == 0.5
    assert between.examples == [
        Conflict("train-2", "test-0", 1.0, "jar", "box"),
        Conflict("train-1", "test-2", 1.0, "box", "crate"),
    ]
    assert counts(pick(found, CONFLICT, "test", "test")) == (2, 2, 1)
    assert [each.second_answer for _, each in found.conflicts()] == ["jar", "box", "crate", "crate"]
    plain = next(each for each in found.as_dict()["overlaps"] if each["kind"] == CONFLICT)
    twins = {"first": "train-0", "second": "train-2", "similarity": 1.0}
    assert plain["examples"] == [{**twins, "first_answer": "box", "second_answer": "jar"}]


def test_what_has_no_answer_is_in_no_conflict() -> None:
    found = find_overlaps([labelled("train", (TALE, None), (TALE, "box")), told("test", TALE)], **EXACT)
    assert not any(each.pairs for each in found.overlaps if each.kind == CONFLICT)
    assert pick(found, QUESTION, "train", "train").pairs == 1


@given(*[st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", "z", None])), max_size=9)] * 2)
def test_conflicts_by_counting(train: list[tuple[str, str | None]], test: list[tuple[str, str | None]]) -> None:
    def differ(one: tuple[str, str | None], two: tuple[str, str | None]) -> bool:
        return one[0] == two[0] and None not in (one[1], two[1]) and one[1] != two[1]

    found = find_overlaps([labelled("train", *train), labelled("test", *test)], **EXACT)
    pairs = [(first, second) for first, one in enumerate(train) for second, two in enumerate(test) if differ(one, two)]
    between = pick(found, CONFLICT, "train", "test")
    assert counts(between) == (len({one for one, _ in pairs}), len({two for _, two in pairs}), len(pairs))
    twins = [pair for pair in combinations(range(len(train)), 2) if differ(train[pair[0]], train[pair[1]])]
    disputed = len({place for pair in twins for place in pair})
    assert counts(pick(found, CONFLICT, "train", "train")) == (disputed, disputed, len(twins))


def test_same_but_for_names_case_and_spaces() -> None:
    swapped = TALE.replace("Ada", "?").replace("Ben", "Ada").replace("?", "Ben")
    spaced = RENAMED.replace(" the ", "  the ").replace("\n", " ")
    found = find_overlaps(
        [told("train", TALE), told("test", RENAMED, OTHER, swapped, spaced, RENAMED.upper())], **EXACT
    )
    assert counts(pick(found, STORY, "train", "test")) == (0, 0, 0)
    structural = pick(found, STRUCTURAL, "train", "test")
    assert counts(structural) == (1, 4, 4)
    assert [each.second for each in structural.examples] == ["test0", "test2", "test3", "test4"]


def test_text_of_any_other_kind_is_folded_only() -> None:
    found = find_overlaps([told("train", "Once  upon A time"), told("test", "once upon\na TIME", "Twice upon a time")])
    assert counts(pick(found, STRUCTURAL, "train", "test")) == (1, 1, 1)


def test_who_is_who_matters() -> None:
    # Ada and Ben enter and one of them leaves: which one makes another story.
    other = TALE.replace("Ben exited", "Ada exited").replace("Ada moved", "Ben moved")
    found = find_overlaps([told("train", TALE, other)], **EXACT)
    assert counts(pick(found, STRUCTURAL, "train", "train")) == (0, 0, 0)


def test_structural_examples_have_different_texts() -> None:
    found = find_overlaps([told("train", TALE), told("test", TALE, RENAMED)], **EXACT)
    structural = pick(found, STRUCTURAL, "train", "test")
    assert counts(structural) == (1, 2, 2)
    assert [each.second for each in structural.examples] == ["test1"]


def test_people_of_kinship_are_those_with_a_gender(tmp_path: Path) -> None:
    made = storyproof.generate("clutrr", test=6, test_k=(2,)).to_pylist()
    row = made[0]
    names = [each.split(":")[0] for each in row["genders"]]
    fresh = dict(zip(names, ("Xa", "Yb", "Zc"), strict=False))
    text = json.dumps({name: value for name, value in row.items() if name not in ("id", "story_id")})
    renamed = re.sub("|".join(names), lambda match: fresh[match[0]], text)
    rows = [row, {**json.loads(renamed), "id": "r", "story_id": "r"}]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    found = find_overlaps(find_sources(tmp_path), **EXACT)
    assert counts(pick(found, STORY, "test", "test")) == (0, 0, 0)
    assert counts(pick(found, STRUCTURAL, "test", "test")) == (2, 2, 1)


def test_another_dataset_is_not_held_against_itself() -> None:
    other = [told("train", TALE, TALE), told("test", OTHER)]
    found = find_overlaps([told("train", OTHER), told("test", RENAMED)], other, **EXACT)
    assert {(each.first, each.second) for each in found.overlaps if each.kind == STORY} == {
        ("train", "train"),
        ("train", "test"),
        ("test", "test"),
        *((ours, theirs) for ours in ("train", "test") for theirs in ("against train", "against test")),
    }
    assert counts(pick(found, STORY, "train", "against test")) == (1, 1, 1)
    assert counts(pick(found, STRUCTURAL, "test", "against train")) == (1, 2, 2)


def test_parts_that_are_called_the_same() -> None:
    found = find_overlaps([Told("test", [("a", TALE, MEMORY)], "x"), Told("test", [("a", TALE, MEMORY)], "y")], **EXACT)
    assert list(found.parts) == ["test (x)", "test (y)"]
    unnamed = find_overlaps([Told(None, [("a", TALE, MEMORY)], "some/where.jsonl")], **EXACT)
    assert list(unnamed.parts) == ["where.jsonl"]


STORIES = st.lists(st.sampled_from("abcdef"), max_size=12)


@given(STORIES, STORIES)
def test_counts_by_counting(train: list[str], test: list[str]) -> None:
    found = find_overlaps([told("train", *train), told("test", *test)], examples=1000, **EXACT)
    between = pick(found, STORY, "train", "test")
    pairs = [(first, second) for first, one in enumerate(train) for second, two in enumerate(test) if one == two]
    assert counts(between) == (len({one for one, _ in pairs}), len({two for _, two in pairs}), len(pairs))
    twins = [pair for pair in combinations(range(len(train)), 2) if train[pair[0]] == train[pair[1]]]
    assert counts(pick(found, STORY, "train", "train")) == (
        *[len({place for pair in twins for place in pair})] * 2,
        len(twins),
    )
    for each in between.examples:
        assert train[int(each.first.removeprefix("train"))] == test[int(each.second.removeprefix("test"))]
    turned = pick(find_overlaps([told("test", *test), told("train", *train)], **EXACT), STORY, "test", "train")
    assert counts(turned) == (between.second_affected, between.first_affected, between.pairs)


def jaccard(first: str, second: str) -> float:
    one, two = ({tuple(text.split()[at : at + 3]) for at in range(len(text.split()) - 2)} for text in (first, second))
    return len(one & two) / len(one | two)


def changed(text: str, *places: int) -> str:
    parts = text.split()
    for place in places:
        parts[place] = f"other{place}"
    return " ".join(parts)


def test_near() -> None:
    base = [" ".join(words(number)) for number in range(40)]
    close = [changed(text, 0) for text in base[:10]]  # one of 58 shingles differs
    apart = [changed(text, 5, 15, 25, 35, 45) for text in base[10:20]]  # fifteen do, similarity 0.59
    found = find_overlaps([told("train", *base), told("test", *close, *apart)])
    near = pick(found, NEAR, "train", "test")
    assert counts(near) == (10, 10, 10)
    assert (near.first_total, near.second_total, near.share) == (40, 20, 0.5)
    assert len(near.examples) == 5
    for each in near.examples:
        assert each.first.removeprefix("train") == each.second.removeprefix("test")
        number = int(each.first.removeprefix("train"))
        assert each.similarity == pytest.approx(jaccard(base[number], close[number]))
    assert counts(pick(found, NEAR, "train", "train")) == (0, 0, 0)
    assert found.near["compared"] == 60
    looser = find_overlaps([told("train", *base), told("test", *close, *apart)], threshold=0.5)
    assert counts(pick(looser, NEAR, "train", "test")) == (20, 20, 20)


def test_near_are_those_that_a_full_search_finds() -> None:
    base = " ".join(words(0, 80))
    texts = [changed(base, *range(0, 4 * number, 4)) for number in range(6)] + [" ".join(words(9, 80))]
    expected = {
        (first, second)
        for first, second in combinations(range(len(texts)), 2)
        if jaccard(texts[first], texts[second]) >= 0.9
    }
    near = pick(find_overlaps([told("train", *texts)], threshold=0.9, examples=50), NEAR, "train", "train")
    pairs = [sorted(int(name.removeprefix("train")) for name in (each.first, each.second)) for each in near.examples]
    assert {(one, two) for one, two in pairs} == expected
    assert near.first_affected == near.second_affected == len({place for pair in expected for place in pair})
    similarities = [each.similarity for each in near.examples]
    assert similarities == sorted(similarities, reverse=True)


def test_names_make_a_difference_and_the_same_text_is_not_near() -> None:
    found = find_overlaps([told("train", TALE), told("test", RENAMED, TALE)])
    assert counts(pick(found, NEAR, "train", "test")) == (0, 0, 0)
    assert counts(pick(found, STORY, "train", "test")) == (1, 1, 1)


def test_near_counts_stories_not_texts() -> None:
    text = " ".join(words(1))
    near = pick(find_overlaps([told("train", text, text), told("test", changed(text, 0))]), NEAR, "train", "test")
    assert counts(near) == (2, 1, 1)


def test_short_and_wordless_texts() -> None:
    found = find_overlaps([told("train", "one two", "…", ""), told("test", "One two!", "—")])
    assert counts(pick(found, NEAR, "train", "test")) == (1, 1, 1)


def test_samples_are_bounded_and_say_so() -> None:
    base = [" ".join(words(number)) for number in range(30)]
    train, test = told("train", *base), told("test", *(changed(text, 0) for text in base[:4]))
    near = pick(find_overlaps([train, test], near_texts=14), NEAR, "train", "test")
    assert (near.first_total, near.second_total) == (10, 4)  # the small split goes in whole
    whole = pick(find_overlaps([train, test]), NEAR, "train", "test")
    assert counts(whole) == (4, 4, 4)
    assert near.pairs <= whole.pairs


def test_search_ends_after_so_many_proposals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_MOST_PROPOSALS", 100)
    text = " ".join(words(2))
    found = find_overlaps([told("train", *(f"{text} {number}" for number in range(200)))])
    near = pick(found, NEAR, "train", "train")
    assert found.near["compared"] == near.first_total < 30
    assert near.first_affected == near.first_total


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8, 0.95, 1.0])
def test_bands(threshold: float) -> None:
    bands, rows, recall = duplicates._bands(threshold)
    assert bands * rows <= 128
    assert bands >= 2
    assert recall == pytest.approx(1 - (1 - threshold**rows) ** bands)
    assert recall >= 0.97


def test_same_findings_in_another_process() -> None:
    # Strings hash differently in every process; nothing may hang on that.
    base = [" ".join(words(number)) for number in range(8)]
    expected = find_overlaps([told("train", TALE, *base), told("test", RENAMED, *(changed(each, 0) for each in base))])
    program = (
        "import json\n"
        "from tests.audits.test_duplicates import TALE, RENAMED, changed, find_overlaps, told, words\n"
        "base = [' '.join(words(number)) for number in range(8)]\n"
        "test = told('test', RENAMED, *(changed(each, 0) for each in base))\n"
        "print(json.dumps(find_overlaps([told('train', TALE, *base), test]).as_dict()))\n"
    )
    environment = {"PYTHONHASHSEED": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == expected.as_dict()


@try_examples(5)
@given(st.integers(0, 1000))
def test_generated_splits_share_nothing(seed: int) -> None:
    table = storyproof.generate("tomi", train=6, test=6, seed=seed)
    rows = table.select(["story_id", "story", "question", "split"]).to_pylist()
    sources = [
        Told(split, [(row["story_id"], row["story"], row["question"]) for row in rows if row["split"] == split])
        for split in ("train", "test")
    ]
    found = find_overlaps(sources)
    assert found.parts["train"] == {"stories": 6, "questions": 36}
    assert not any(each.pairs for each in found.overlaps if each.kind in (STORY, QUESTION, NEAR))


def test_as_dict() -> None:
    found = find_overlaps([told("train", TALE), told("test", TALE)]).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["overlaps"][1] == {
        "kind": "story",
        "first": "train",
        "second": "test",
        "first_total": 1,
        "second_total": 1,
        "first_affected": 1,
        "second_affected": 1,
        "pairs": 1,
        "examples": [{"first": "train0", "second": "test0", "similarity": 1.0}],
        "share": 1.0,
    }
    assert {"threshold", "shingle_words", "recall_at_threshold", "compared", "chosen", "proposals"} == set(
        found["near"]
    )


def test_nothing_at_all() -> None:
    found = find_overlaps([Told("train", [])])
    assert found.parts == {"train": {"stories": 0, "questions": 0}}
    assert all(each.share == 0 for each in found.overlaps)


def test_wrong_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"threshold is 1\.2; use a similarity above 0, up to 1"):
        find_overlaps([told("train", TALE)], threshold=1.2)
    with pytest.raises(ConfigError, match="near_texts is 0; use 1 or more"):
        find_overlaps([told("train", TALE)], near_texts=0)
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(ConfigError, match=r"datasketch, which is not installed; run pip install 'storyproof\[audit\]'"):
        find_overlaps([told("train", TALE)])
    assert find_overlaps([told("train", TALE)], **EXACT).near == {}
