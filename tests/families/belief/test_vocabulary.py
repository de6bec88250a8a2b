from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from storyproof.errors import ConfigError, VocabularyError
from storyproof.families.belief.benchmarks.base import BeliefConfig
from storyproof.families.belief.benchmarks.tomi import Tomi
from storyproof.families.belief.vocabulary import ROLES, default_vocabulary, from_lists, load_vocabulary, shares
from storyproof.families.belief.wording import LANGUAGES, find_wording

WORDS = {
    "agents": ["Ada", "Bo", "Cy"],
    "rooms": ["attic", "barn"],
    "containers": ["box", "jar"],
    "objects": ["key"],
}


def test_the_default_words_are_enough() -> None:
    words = default_vocabulary()
    sizes = {role: len(getattr(words, role)) for role in ROLES}
    assert sizes["agents"] >= 40
    assert sizes["rooms"] >= 30
    assert sizes["containers"] >= 13
    assert sizes["objects"] >= 60
    assert len({word for role in ROLES for word in getattr(words, role)}) == sum(sizes.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objects": ["key", "box"]}, "'box' is in two roles, 'containers' and 'objects'"),
        ({"agents": ["Ada", "Bo", "Ada"]}, "'Ada' stands twice in 'agents'"),
        ({"rooms": []}, "the list 'rooms' is empty"),
        ({"rooms": None}, "the list 'rooms' is empty"),
        ({"rooms": "attic"}, "'rooms' is not a list"),
        ({"rooms": ["attic", 12]}, "12 in 'rooms' is no text"),
        ({"rooms": ["attic", "big barn"]}, "'big barn' in 'rooms' is no single word"),
        ({"agents": ["The", "Bo", "Cy"]}, "'The' in 'agents' is a word of the sentences"),
        ({"colours": ["red"]}, "unknown list 'colours'"),
    ],
)
def test_unusable_words_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        from_lists({**WORDS, **change})


def test_a_missing_list_is_named() -> None:
    with pytest.raises(VocabularyError, match="'objects' is missing"):
        from_lists({role: words for role, words in WORDS.items() if role != "objects"})


@pytest.mark.parametrize("data", [None, [], "words", 3])
def test_what_is_no_mapping_is_refused(data: object) -> None:
    with pytest.raises(VocabularyError, match="expected the lists"):
        from_lists(data)


def test_too_few_rooms_are_refused() -> None:
    words = from_lists({**WORDS, "rooms": ["attic"]})
    with pytest.raises(VocabularyError, match="too few rooms: 1 found, tomi needs at least 2"):
        Tomi(BeliefConfig(vocabulary=words))


def test_a_file_is_named_in_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("agents: [Ada\nrooms: x")
    with pytest.raises(VocabularyError, match=r"words\.yaml, line \d"):
        load_vocabulary(path)
    path.write_text("agents: [Ada]\n")
    with pytest.raises(VocabularyError, match=r"words\.yaml: the list 'rooms' is missing"):
        load_vocabulary(path)
    with pytest.raises(VocabularyError, match="cannot read"):
        load_vocabulary(tmp_path / "nothing.yaml")


def test_shares_cut_a_list_without_remainder() -> None:
    words = [str(number) for number in range(10)]
    pieces = shares(words, [3, 1, 1], 1)
    assert [len(piece) for piece in pieces] == [5, 3, 2]
    assert [word for piece in pieces for word in piece] == words
    assert [len(piece) for piece in shares(words, [3, 1, 1], 3)] == [4, 3, 3]


def test_too_few_words_to_keep_apart_are_refused() -> None:
    words = replace(default_vocabulary(), agents=("Ada", "Bo", "Cy", "Di"))
    with pytest.raises(ConfigError, match="agents cannot be kept disjoint: 4 found"):
        Tomi(BeliefConfig(vocabulary=words, disjoint=("agents",)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_container_has_a_name_that_is_a_part_of_another(language: str) -> None:
    names = [name.casefold() for name in find_wording(language).vocabulary.containers]
    assert [(one, other) for one in names for other in names if one != other and one in other] == []


def test_no_container_of_tomi_has_a_name_that_is_a_part_of_another() -> None:
    names = default_vocabulary().containers
    assert [(one, other) for one in names for other in names if one != other and one in other] == []
