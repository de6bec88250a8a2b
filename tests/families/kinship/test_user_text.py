import subprocess
import sys

import pytest

from storyproof.errors import ParseError
from storyproof.evaluation.ask import own_example
from storyproof.families import kinship
from storyproof.families.kinship.baselines import checked_answer
from storyproof.families.kinship.user_text import rows_of_text


@pytest.mark.parametrize(
    ("story", "question", "answer"),
    [
        ("Omar's niece Freya rowed. Freya's brother Ali swam.", "What is Ali to Omar?", "nephew"),
        ("Omar's niece Freya rowed. Freya's brother Ali swam.", "How is Ali related to Omar?", "nephew"),
        ("Karim's father Omar rowed. Omar's wife Leila swam.", "What is Leila to Karim?", "mother"),
        ("The sea was calm. Omar has a son called Karim. His wife Leila swam.", "What is Leila to Omar?", ""),
        ("Freya's husband Omar rowed. Freya has a son called Ali.", "What is Omar to Ali?", "father"),
        ("Omar's niece Freya rowed. Ali's uncle Tariq swam.", "What is Tariq to Omar?", ""),
    ],
)
def test_the_oracle_answers_from_the_text_alone(story: str, question: str, answer: str) -> None:
    if answer or "His wife" not in story:
        assert checked_answer(own_example(story, question)) == answer
    else:  # "His" can be Omar or Karim
        with pytest.raises(ParseError, match="line 3, sentence 3, column 1, 'His': not understood"):
            checked_answer(own_example(story, question))


@pytest.mark.parametrize(
    ("story", "question", "message"),
    [
        ("Bex's niece Freya rowed.", "What is Bex to Freya?", "does not show whether Bex is male or female"),
        ("Omar's niece Freya rowed.", "What is Ali to Freya?", "does not name 'Ali'; it names Freya, Omar"),
        ("Omar's niece Freya rowed.", "Is Freya a niece to Omar?", "not a kinship question"),
        ("Omar's late niece Freya rowed.", "What is Freya to Omar?", "column 13, 'niece': not understood"),
    ],
)
def test_what_cannot_be_read_is_reported(story: str, question: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        rows_of_text(story, question)


def test_genders_that_are_not_shown_are_tried() -> None:
    rows = rows_of_text("Omar's niece Freya rowed. Ali has a brother called Tariq.", "What is Freya to Omar?")
    assert len(rows) == 4
    assert {tuple(row["genders"]) for row in rows} == {
        (f"Ali:{one}", "Freya:female", f"Omar:{other}", "Tariq:male")
        for one in ("male", "female")
        for other in ("male", "female")
    }


def test_the_reader_is_offered_by_the_family() -> None:
    [fact] = kinship.read("Omar's niece Freya rowed.").facts
    assert (fact.first, fact.word, fact.second) == ("Omar", "niece", "Freya")
    [found] = kinship.read_many(["Omar's former niece Freya rowed."], [["Omar", "Freya"]])
    assert isinstance(found, kinship.NotUnderstood)
    assert set(kinship.__all__) >= {"read", "read_many", "NotUnderstood", "Reading"}
    with pytest.raises(AttributeError, match="has no attribute 'write'"):
        _ = kinship.write


def test_the_reader_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, storyproof.families.kinship; print('storyproof.families.kinship.language.reader' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"
