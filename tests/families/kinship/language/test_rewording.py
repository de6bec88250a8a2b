"""Stories about families in other words: what they are read as, and that bad texts stay refused."""

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.families.kinship.language.reader import read
from storyproof.families.kinship.language.reading import NotUnderstood
from storyproof.families.kinship.language.rewording import reword
from tests.families.kinship.language.texts import collection, try_to_read

READ_AS = {
    "[Omar] took his niece [Ada] fishing. He did n't.": "Omar went fishing with his niece Ada. / He didn't.",
    "Frank called his brother Boyd on the phone.": "Frank himself phoned Frank's brother Boyd.",
    "Jean and her sister Ida sang.": "Jean herself and Jean's sister Ida sang.",
    "Mary met her aunt Jo at the age of ten.": "Mary herself met Mary's aunt Jo.",
    "Jo has a brother Max.": "Jo has a brother called Max.",
    "Jo was with her other sister Ida.": "Jo was with her sister Ida.",
    "Rosa made a cake for her son Max's birthday.": "Rosa herself made a cake for the birthday of Rosa's son Max.",
    "Rob is the father of Max Max's sister Ida sang.": "Rob is the father of Max. / Max's sister Ida sang.",
    "Max is Jo's son and they sing.": "Max is Jo's son. / They sing.",
}
UNBOUND = (
    "Kim likes his brother Tom.",  # Kim may be a woman
    "Mary likes his brother Tom.",  # somebody else's
    "Peter saw John with his brother Tom.",  # Peter's or John's
    "Joe's grandfather Jason helped his mother Ida.",  # Joe's or Jason's
    "Kenneth and her mother Ida sang.",
    "Her mother Mary came, but her brother Tom was missing.",  # of whom, the sentence before says
)


@pytest.mark.parametrize(("text", "expected"), READ_AS.items())
def test_turns_of_phrase_are_read_in_other_words(text: str, expected: str) -> None:
    assert reword(text)[0].story.replace("\n", " / ") == expected


@pytest.mark.parametrize("text", UNBOUND)
def test_a_possessive_that_may_mean_somebody_else_stays(text: str) -> None:
    assert reword(text) == []


@pytest.mark.parametrize("name", ["bad_texts", "more_bad_texts", "fresh_bad_texts", "aimed_bad_texts"])
def test_bad_texts_have_no_single_reading_in_other_words_either(name: str) -> None:
    for entry in collection(name):
        if isinstance(try_to_read(entry["text"]), NotUnderstood):
            readings = [
                each for each in reword(entry["text"]) if not isinstance(try_to_read(each.story), NotUnderstood)
            ]
            assert len(readings) != 1, entry["text"]


def test_readings_with_different_answers_are_refused() -> None:
    story = storyproof.story("Walter's child Chris plays the tuba.")
    with pytest.raises(DataError, match="this can be read in several ways, with different answers"):
        story.ask("What is Chris to Walter?")


def test_readings_with_one_answer_are_read() -> None:
    story = storyproof.story("Ida is with her parents, Kim and Lee. Lee has a son called Max.")
    found = story.ask("Max is the ___ of Ida")
    assert (found.answer, found.is_confirmed) == ("brother", True)
    assert found.read_as[0][0] == "Ida is with her parents, Kim and Lee."


def test_a_name_shows_the_gender_of_whom_is_asked_about_and_this_is_said() -> None:
    story = storyproof.story("Max is the son of Frank.")
    assert story.ask("What is Frank to Max?").answer == "father"
    assert [each.message for each in story.problems("What is Frank to Max?")] == [
        "Frank is taken to be male, by the name alone."
    ]
    with pytest.raises(DataError, match="does not show whether Kim is male or female"):
        storyproof.story("Max is the son of Kim.").ask("What is Kim to Max?")


def test_what_the_reader_understands_is_not_reworded() -> None:
    text = "Ada and her brother Ben sang."
    assert read(text).facts
    assert storyproof.story(text).ask("What is Ben to Ada?").read_as == ()
