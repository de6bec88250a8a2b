"""Sentences and clauses of chains of thought, and the time that reading them takes."""

import time

import pytest

from storyproof.datasets.reading import as_example
from storyproof.families.family import family_of
from storyproof.language.chain_of_thought import NameIndex, find_retractions, fold, tokenize
from tests.groups import only_first

BELIEF = as_example(
    {
        "story": "Ada entered the hall.\nBen entered the hall.\nThe key is in the red_box.",
        "question": "Where will Ada look for the key?",
    }
)
KIN = as_example({"story": "Ada is the mother of Ben.\nCleo is the sister of Ben.", "question": "What is Cleo to Ada?"})


def test_contractions_and_owners_are_divided() -> None:
    assert [token.lower for token in tokenize("She doesn't see Ada's red_box, won't she’ll?")] == [
        *("she", "does", "not", "see", "ada", "'s", "red", "box", ",", "will", "not", "she", "will", "?")
    ]


def test_names_are_found_whatever_joins_their_words() -> None:
    index = NameIndex(["red_box", "red"])
    for text in ("red box", "Red-Box", "RED_BOX"):
        assert index.match(tokenize(text), 0) == ("red_box", 2)
    assert index.match(tokenize("red jar"), 0) == ("red", 1)
    assert NameIndex(["Will"], is_proper=True).match(tokenize("will"), 0) is None


def test_sentences_are_compared_without_spelling_and_the_last_stop() -> None:
    assert fold("The  key is in the red_box.") == fold("the key is in the red box")


def test_retractions_are_found() -> None:
    assert len(find_retractions("So it is the jar. Wait, no. Hmm, that is wrong: I made a mistake.")) >= 3
    assert len(find_retractions("Hmm, that can't be right.")) == 1
    assert find_retractions("Ada waits for Ben. She knows nothing. That is right, and this is correct.") == []


SHAPES = {
    "names": "Ada and Ben and ",
    "minds": "Ada thinks that Ben thinks that ",
    "quotes": "“",
    "double quotes": '"',
    "apostrophes": "'a ",
    "hyphens": "red-",
    "commas": "Ada, ",
    "markers": "so that ",
    "words": "lorem ",
    "stops": ". ",
    "angles": "<a",
    "owners": "Ada's mother's ",
    "looks": "Ada will look for the key in ",
    "spaces": " ",
    "lines": "\n",
    "contractions": "n't",
    "underscores": "_a",
}


@pytest.mark.parametrize("row", [BELIEF, KIN], ids=["belief", "kinship"])
@pytest.mark.parametrize("shape", only_first(6, SHAPES))
def test_time_grows_with_the_length_of_the_text_and_not_with_its_square(shape: str, row: object) -> None:
    family = family_of(row)  # type: ignore[arg-type]

    def seconds(length: int) -> float:
        text = SHAPES[shape] * (length // len(SHAPES[shape]))
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            family.statements(text, row)  # type: ignore[arg-type]
            find_retractions(text)
            best = min(best, time.process_time() - begun)
        return best

    short, long = seconds(1_000), seconds(12_000)
    assert long < 12 * 4 * short + 0.02  # a square would be 144 times as much
