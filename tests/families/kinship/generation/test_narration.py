"""What is told is what was meant: lines are read back with the placeholders they were worded by."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import MOST_K, ClutrrConfig
from storyproof.families.kinship.generation.narration import Lines, PuzzleNarrator
from storyproof.families.kinship.generation.pattern_search import SearchedPatterns
from storyproof.families.kinship.generation.puzzle_maker import Puzzle, PuzzleMaker
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays, PuzzleTable
from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import BASIC, GENDERS, PREDICATES, Fact, predicate_of, word
from storyproof.families.kinship.rules import strict_rules
from storyproof.families.kinship.tasks import CLEAN, IRRELEVANT, MEMORY
from storyproof.families.kinship.templates import parse_line, synthetic
from storyproof.generation.seeds import Draws
from tests.groups import try_examples

NAMES = [f"Name-{number}" for number in range(40)]
OTHER = {"male": "female", "female": "male"}
OURS = "ours"


def arrays(puzzles: list[Puzzle]) -> PuzzleArrays:
    return PuzzleTable(SearchedPatterns(PuzzleMaker(strict_rules()).search, MOST_K)).arrays(puzzles)


def _reworded(text: str) -> str:
    return f"It is said that {text[:-1]}, which was no news/gossip."


@cache
def collection(name: str) -> Placeholders:
    """Collections that stories can be told in."""
    mine = ours().templates
    if name == "synthetic":
        return synthetic(PREDICATES)
    if name == "foreign":
        return Placeholders(name, {key: tuple(map(_reworded, texts)) for key, texts in mine.items()})
    if name == "uneven":  # singles only, and for other genders another number of texts
        return Placeholders(
            name,
            {
                key: texts[: 2 + 3 * (key[1][0] == "male") + (key[1][-1] == "male")]
                for key, texts in mine.items()
                if len(key[0]) == 1
            },
        )
    return ours()


COLLECTIONS = [OURS, "synthetic", "foreign", "uneven"]


def puzzle(relations: list[str], genders: list[str], noise: list[tuple[int, str, str]], asked: int | None) -> Puzzle:
    """A puzzle as it is told: wives of husbands, noise about people who come after those of the chain.

    Args:
        relations: Of the chain.
        genders: To choose from, one a person.
        noise: Whose relative somebody new is, what they are, and their gender.
        asked: For a memory puzzle the place of the fact that is asked for.
    """
    people = [genders[0]]
    facts = []
    for place, relation in enumerate(relations):
        people.append(OTHER[people[-1]] if relation == "SO" else genders[place + 1])
        facts.append(Fact(place, relation, place + 1))
    for first, relation, gender in noise:
        owner = first % len(people)
        facts.append(Fact(owner, relation, len(people)))
        people.append(OTHER[people[owner]] if relation == "SO" else gender)
    k = len(relations)
    query = Fact(0, "sibling", k) if asked is None else facts[asked]
    return Puzzle(
        CLEAN if asked is None else MEMORY,
        k,
        tuple(relations),
        tuple(facts),
        (IRRELEVANT,) * len(noise),
        query,
        tuple(people),
    )


genders = st.sampled_from(GENDERS)
relations = st.sampled_from(BASIC)


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzle:
    chain = draw(st.lists(relations, min_size=1, max_size=10))
    people = draw(st.lists(genders, min_size=len(chain) + 1, max_size=len(chain) + 1))
    noise = draw(st.lists(st.tuples(st.integers(0, 20), relations, genders), max_size=4))
    asked = draw(st.none() | st.integers(0, len(chain) - 1))
    return puzzle(chain, people, noise, asked)


def told(narrator: PuzzleNarrator, lines: Lines, row: int, story: str, plain: bool) -> list[list[tuple[str, str, str]]]:
    """The facts of each line, as names and words, read back."""
    texts = story.split("\n")
    used = lines.used[row]
    assert used[: len(texts)].all()
    assert not used[len(texts) :].any()
    ids = narrator.id_array.take(lines.template[row][: len(texts)]).to_pylist()
    found = []
    for text, recorded in zip(texts, ids, strict=True):
        facts = parse_line(text, None if plain else recorded)
        found.append([(fact.first, fact.word, fact.second) for fact in facts])
    return found


@pytest.mark.parametrize("name", COLLECTIONS)
@try_examples(25)
@given(st.lists(puzzles(), min_size=1, max_size=6), st.integers(0, 1 << 30))
def test_reading_gives_back_what_was_told(name: str, several: list[Puzzle], seed: int) -> None:
    narrator = PuzzleNarrator(strict_rules(), collection(name), NAMES)
    which = np.array([*range(len(several)), *range(len(several))], np.int32)
    lines = narrator.choose_lines(narrator.find_wordings(arrays(several)), which, Draws(seed))
    names = np.stack([np.random.default_rng(seed + row).permutation(len(NAMES)) for row in range(len(which))])
    stories = narrator.narrate(lines, names.astype(np.int32)).to_pylist()
    for row, story in enumerate(stories):
        meant = several[which[row]]
        called = [NAMES[number] for number in names[row]]
        facts = [
            (called[fact.first], word(fact.predicate, meant.genders[fact.second]), called[fact.second])
            for fact in meant.facts
        ]
        found = told(narrator, lines, row, story, plain=name == "synthetic")
        assert sorted(fact for line in found for fact in line) == sorted(facts)  # each once
        proving = {facts[meant.facts.index(meant.query)]} if meant.task == MEMORY else set(facts[: meant.k])
        assert lines.proves[row][: len(found)].tolist() == [bool(proving & set(line)) for line in found]
        assert not lines.proves[row][len(found) :].any()


@pytest.mark.parametrize("name", [OURS, "synthetic"])
def test_every_relation_can_be_told_for_all_genders(name: str) -> None:
    narrator = PuzzleNarrator(strict_rules(), collection(name), NAMES)
    for predicate, first, second in product(PREDICATES, GENDERS, GENDERS):
        if predicate.name == "SO" and first == second:
            continue
        one = puzzle([predicate.name], [first, second], [], None)
        lines = narrator.choose_lines(narrator.find_wordings(arrays([one])), np.zeros(3, np.int32), Draws(1))
        for row, story in enumerate(narrator.narrate(lines, np.array([[4, 7]] * 3, np.int32)).to_pylist()):
            found = told(narrator, lines, row, story, plain=name == "synthetic")
            assert found == [[("Name-4", word(predicate.name, second), "Name-7")]]


# --------------------------------------------------------------------------------------------- order and variety


def chains(count: int, relation: str = "sibling") -> Puzzle:
    return puzzle([relation] * count, ["male"] * (count + 1), [], None)


def test_lines_come_in_all_orders() -> None:
    narrator = PuzzleNarrator(strict_rules(), collection("synthetic"), NAMES)
    lines = narrator.choose_lines(narrator.find_wordings(arrays([chains(3)])), np.zeros(600, np.int32), Draws(1))
    stories = narrator.narrate(lines, np.tile(np.arange(4, dtype=np.int32), (600, 1))).to_pylist()
    sentences = [f"Name-{number + 1} is the brother of Name-{number}." for number in range(3)]
    counts = Counter(stories)
    assert set(counts) == {"\n".join(order) for order in permutations(sentences)}
    assert min(counts.values()) > 50


def test_noise_stands_anywhere() -> None:
    one = puzzle(["sibling", "sibling"], ["male"] * 3, [(0, "child", "female")], None)
    narrator = PuzzleNarrator(strict_rules(), collection("synthetic"), NAMES)
    lines = narrator.choose_lines(narrator.find_wordings(arrays([one])), np.zeros(300, np.int32), Draws(1))
    places = Counter(row.index(False) for row in lines.proves[:, :3].tolist())
    assert set(places) == {0, 1, 2}
    assert min(places.values()) > 60


def test_chains_are_cut_into_one_to_three_facts() -> None:
    narrator = PuzzleNarrator(strict_rules(), ours(), NAMES)
    combined = {tuple(map(predicate_of, words)) for words, _ in ours().templates if len(words) == 3}
    lines = narrator.choose_lines(
        narrator.find_wordings(arrays([puzzle(list(min(combined)), ["male"] * 4, [], None)])),
        np.zeros(300, int),
        Draws(1),
    )
    assert set(lines.used.sum(axis=1).tolist()) == {1, 2, 3}


@given(st.integers(2, 12), st.integers(0, 1 << 30))
@try_examples(30)
def test_no_text_twice_while_others_are_left(count: int, seed: int) -> None:
    key: Key = (("brother",), ("male", "male"))
    texts = tuple(f"ENT_0_male met his brother ENT_1_male {number} times." for number in range(count))
    narrator = PuzzleNarrator(strict_rules(), Placeholders("mine", {key: texts}), NAMES)
    lines = narrator.choose_lines(narrator.find_wordings(arrays([chains(count)])), np.zeros(50, np.int32), Draws(seed))
    for row in lines.template:
        assert len(set(row.tolist())) == count


@given(st.lists(genders, min_size=6, max_size=6), st.integers(0, 1 << 30))
@try_examples(30)
def test_nor_the_same_text_for_other_genders(people: list[str], seed: int) -> None:
    singles = {key: texts[:5] for key, texts in ours().templates.items() if len(key[0]) == 1}
    narrator = PuzzleNarrator(strict_rules(), Placeholders("mine", singles), NAMES)
    meant = puzzle(["sibling"] * 5, people, [], None)
    lines = narrator.choose_lines(narrator.find_wordings(arrays([meant])), np.zeros(20, np.int32), Draws(seed))
    for row in lines.template:
        numbers = {_parts(recorded)[2] for recorded in narrator.id_array.take(row).to_pylist()}
        assert len(numbers) == 5


def _parts(recorded: str) -> tuple[str, str, str]:
    words, genders, number = recorded.split("/", 2)
    return words, genders, number


def test_texts_are_used_again_when_all_are_used_up() -> None:
    key: Key = (("brother",), ("male", "male"))
    narrator = PuzzleNarrator(
        strict_rules(), Placeholders("mine", {key: ("ENT_0_male has a brother, ENT_1_male.",)}), NAMES
    )
    lines = narrator.choose_lines(narrator.find_wordings(arrays([chains(3)])), np.zeros(2, np.int32), Draws(0))
    assert lines.template.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_all_texts_are_used() -> None:
    made = Clutrr(ClutrrConfig(text="placeholders", train_k=(2,), test_k=(2,)), 0)
    used = {text for row in made.block("train", 0).column("placeholders").to_pylist() for text in row}
    known = {key for key in made.placeholders["train"].templates if set(map(predicate_of, key[0])) <= set(BASIC)}
    assert len(used) > 0.95 * sum(len(made.placeholders["train"].templates[key]) for key in known if len(key[0]) == 1)


@pytest.mark.parametrize("noise", [[], [(0, "SO", "male")]])
def test_what_has_no_words_is_refused(noise: list[Any]) -> None:
    key: Key = (("brother",), ("male", "male"))
    narrator = PuzzleNarrator(
        strict_rules(), Placeholders("mine", {key: ("ENT_0_male has a brother, ENT_1_male.",)}), NAMES
    )
    meant = puzzle(["sibling" if noise else "SO"], ["male"] * 2, noise, None)
    with pytest.raises(ConfigError, match=r"'mine' have none for 'wife' with genders male-female; .* add one, or use"):
        narrator.find_wordings(arrays([meant]))


# --------------------------------------------------------------------------- what a benchmark tells its stories in


def used(benchmark: Clutrr, split: str) -> set[str]:
    return {text for row in benchmark.block(split, 0).column("placeholders").to_pylist() for text in row}


@pytest.mark.parametrize("task", [CLEAN, IRRELEVANT, MEMORY])
def test_stories_read_back_as_they_were_meant(task: str) -> None:
    for row in (
        Clutrr(ClutrrConfig(text="placeholders", task=task, train_k=(2,), test_k=(2,)), 1)
        .block("train", 0)
        .to_pylist()[:600]
    ):
        names = [person.split(":")[0] for person in row["genders"]]
        facts = [
            (names[first], told, names[second])
            for (first, second), told in zip(row["edges"], row["edge_types"], strict=True)
        ]
        lines = [parse_line(*each) for each in zip(row["story"].split("\n"), row["placeholders"], strict=True)]
        assert sorted((fact.first, fact.word, fact.second) for line in lines for fact in line) == sorted(facts)
        asked = (row["query"][0], row["answer"], row["query"][1])
        chain = {asked} if row["story_type"] == MEMORY else set(facts[: row["k"]])
        proof = [
            number
            for number, line in enumerate(lines, start=1)
            if chain & {(fact.first, fact.word, fact.second) for fact in line}
        ]
        assert row["proof"] == proof


def test_train_and_test_share_no_text_when_split() -> None:
    made = Clutrr(ClutrrConfig(text="placeholders", train_k=(2, 3), test_k=(2, 3)), 5)
    train, test = used(made, "train"), used(made, "test")
    assert train
    assert test
    assert not train & test
    # Nor the same text for other genders.
    assert not {_alike_id(one) for one in train} & {_alike_id(one) for one in test}
    assert used(made, "val") & train
    assert not used(made, "val") & test


def _alike_id(recorded: str) -> tuple[tuple[str, ...], str]:
    words, _, number = _parts(recorded)
    return tuple(map(predicate_of, words.split(","))), number


def test_train_and_test_share_texts_when_not_split() -> None:
    made = Clutrr(ClutrrConfig(text="placeholders", train_k=(2, 3), test_k=(2, 3), split_placeholders=False), 5)
    assert made.placeholders["train"] == made.placeholders["test"] == ours()
    train, test = used(made, "train"), used(made, "test")
    assert len(train & test) > 0.7 * len(test)


def test_a_share_of_a_fifth_keeps_a_fifth() -> None:
    made = Clutrr(
        ClutrrConfig(text="placeholders", train_k=(2,), test_k=(2,), keep_placeholders=0.2, split_placeholders=False), 5
    )
    for key, texts in ours().templates.items():
        kept = made.placeholders["train"].templates[key]
        assert set(kept) <= set(texts)
        assert len(kept) == max(1, -(-len(texts) // 5))
    few = used(made, "train")
    assert len({_alike_id(one) for one in few if "," not in one.split("/")[0]}) <= 5 * len(BASIC)


def test_a_share_is_taken_of_each_side() -> None:
    made = Clutrr(ClutrrConfig(text="placeholders", keep_placeholders=0.2), 5)
    whole = Clutrr(ClutrrConfig(text="placeholders"), 5)
    for side in ("train", "test"):
        for key, texts in whole.placeholders[side].templates.items():
            kept = made.placeholders[side].templates[key]
            assert set(kept) <= set(texts)
            assert len(kept) == max(1, -(-len(texts) // 5))
