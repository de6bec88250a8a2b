"""Texts of users: the exact place of a problem, and what can be asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError, ParseError
from storyproof.families.belief.arrays import MOST_AGENTS, MOST_SENTENCES
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.tomi_text import parse_sentence
from storyproof.families.belief.user_text import (
    chains_of,
    find_problems,
    list_questions,
    question_forms,
    suggest_question,
)
from storyproof.families.family import load_family

GOOD = "Ada entered the attic.\nThe key is in the box."
ASKED = "Where will Ada look for the key?"


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("Ada went into the attic.", (5, 4)),
        ("Ada entered a attic.", (13, 1)),
        ("Ada entered the attic", (17, 5)),
        ("Ada entered the attic!", (17, 6)),
        ("The key is on the box.", (12, 2)),
        ("Ada moved the key into the jar.", (19, 4)),
        ("Ada moved the key to the", (25, 0)),
        ("Ada adores the jar.", (5, 6)),
        ("Ada", (4, 0)),
        ("Phone rings.", (7, 6)),
    ],
)
def test_the_first_word_that_does_not_fit(sentence: str, place: tuple[int, int]) -> None:
    [problem] = find_problems(f"{GOOD}\n{sentence}", ASKED)
    assert (problem.line, problem.column, problem.length) == (3, *place)
    assert problem.is_fatal


def test_all_bad_sentences_are_found() -> None:
    found = find_problems(f"Ada sat.\n{GOOD}\n\nBo stood.", ASKED)
    assert [each.line for each in found] == [1, 5]  # the empty line does not matter beside these
    assert [each.line for each in find_problems(f"{GOOD}\n", ASKED)] == [3]


@given(st.text(alphabet="Ada entrdhkym.ovisl\t|Tx ", max_size=40))
def test_a_sentence_is_a_problem_if_it_cannot_be_parsed(sentence: str) -> None:
    try:
        parse_sentence(sentence)
        readable = True
    except ParseError:
        readable = False
    found = [each for each in find_problems(f"{GOOD}\n{sentence}", ASKED) if each.is_fatal]
    assert bool(found) != readable
    for each in found:
        assert each.line == 3
        assert 0 <= each.column <= len(sentence) + 1
        assert each.column + each.length <= len(sentence) + 1


def test_questions_that_the_story_does_not_allow() -> None:
    assert [each.part for each in find_problems(GOOD, "Where is Ada?")] == ["question"]
    [stranger] = find_problems(GOOD, "Where will Bo look for the key?")
    assert not stranger.is_fatal
    [deep] = find_problems(GOOD, f"Where does Ada think that {'Ada thinks that ' * 8}Ada searches for the key?")
    assert "at most 8" in deep.message


def test_more_than_can_be_handled() -> None:
    many = "\n".join(f"Person{number} entered the attic." for number in range(300))
    assert any("at most" in each.message for each in find_problems(f"{many}\nThe key is in the box.", ASKED))


def test_listed_questions_can_be_read() -> None:
    story = f"{GOOD}\nBo entered the attic.\nCy entered the hall."
    found = list_questions(story, 3)
    assert len(found) == len(set(found)) == 2 + (3 * 3 + 1) + (6 * 2 + 3) + 3 * 2 * 2
    assert all(load_family("belief").reads(each) for each in found)
    assert not any(problem.is_fatal for each in found for problem in find_problems(story, each))
    with pytest.raises(DataError, match="expected 1 to 8"):
        list_questions(story, 9)


def test_nobody_thinks_of_their_own_thoughts() -> None:
    assert list(chains_of("ab", 3)) == [("a", "b", "a"), ("b", "a", "b")]


@pytest.mark.parametrize(
    ("line", "question", "message", "part", "place", "is_fatal", "is_impossible"),
    [
        ("Ada exited the barn.", ASKED, "this cannot happen: Ada exits the barn", "story", (3, 0, 0), False, True),
        ("The box is in the box.", ASKED, "the box cannot be in itself", "story", (3, 0, 0), True, False),
        ("The Ada is in the box.", ASKED, "Ada is somebody elsewhere", "story", (3, 0, 0), True, False),
        ("", "Where will Bo look for the key?", "Bo is in no room", "question", (1, 12, 2), False, False),
        ("", "Where is the hat really?", "does not say where the hat is", "question", (1, 14, 3), True, False),
        (
            "",
            f"Where does Ada think that {'Ada thinks that ' * 7}Ada searches for the key?",
            "goes through 9 minds; at most 8 can",
            "question",
            (1, 0, 0),
            True,
            False,
        ),
    ],
)
def test_each_problem_has_its_place(
    line: str, question: str, message: str, part: str, place: tuple[int, int, int], is_fatal: bool, is_impossible: bool
) -> None:
    [problem] = find_problems(f"{GOOD}\n{line}" if line else GOOD, question)
    assert message in problem.message
    assert (problem.part, (problem.line, problem.column, problem.length)) == (part, place)
    assert (problem.is_fatal, problem.is_impossible) == (is_fatal, is_impossible)


def test_the_longest_question_is_no_problem() -> None:
    assert not find_problems(GOOD, f"Where does Ada think that {'Ada thinks that ' * 6}Ada searches for the key?")
    [question] = list_questions(GOOD, 8)[2:3]
    assert question == ASKED
    for order in (0, 9):
        with pytest.raises(DataError, match=f"the order is {order}; expected 1 to 8"):
            list_questions(GOOD, order)
        with pytest.raises(DataError, match=f"the order is {order}; expected 1 to 8"):
            question_forms(GOOD, order)


@pytest.mark.parametrize(
    ("line", "fixes"),
    [
        ("Ada moved the key to the jar", ("jar.",)),
        ("Bo entred the attic.", ("entered", "exited")),
        ("Ada exitted the attic.", ("exited", "entered")),
        ("Ada entered the attic,", ("attic.",)),
        ("Ada went the attic.", ("entered",)),
        ("The key was in the box.", ("is",)),
        ("Ada lik the jar.", ("likes",)),
        ("Ada dislik the jar.", ("dislikes",)),
        ("Ada moved the key into the jar.", ("to",)),
        ("Ada xyz the jar.", ()),
        ("Ada the jar.", ()),  # a known word in another place is no misspelling
        ("Ada moved the key to the ,", ()),
        ("Ada moved the k?y to the jar.", ()),
    ],
)
def test_words_that_would_fit_are_suggested(line: str, fixes: tuple[str, ...]) -> None:
    [problem] = find_problems(f"{GOOD}\n{line}", ASKED)
    assert problem.fixes == fixes
    assert ("the words known are" in problem.message) == (not fixes)


@pytest.mark.parametrize(("length", "quoted"), [(79, 79), (80, 80), (81, 80), (90, 80)])
def test_long_words_are_cut(length: int, quoted: int) -> None:
    [problem] = find_problems(f"{GOOD}\nAda {'x' * length} the jar.", ASKED)
    assert f"'{'x' * quoted}'" in problem.message
    assert problem.length == length


@pytest.mark.parametrize(
    ("lines", "problems"),
    [
        (["The box is in the bag."], [(3, "the box is a container elsewhere in the story.")]),
        (["The box is in the box."], [(3, "the box cannot be in itself.")]),
        (
            ["The hat is in the Ada.", "The Ada is in the Ada."],
            [(3, "Ada is somebody"), (4, "the Ada cannot be in itself")],
        ),
        (["Bo entered the Ada.", "The Ada is in the Bo."], [(3, "Ada is somebody"), (4, "Ada is somebody")]),
        (["The Bo is in the Ada.", "Bo entered the attic."], [(3, "Bo is somebody")]),
        (["Bo entered the hall.", "Cy entered the room."], [(4, "the room can be the attic or the hall; name it.")]),
        (["Cy entered the room."], [(3, "the room can be the attic; name it.")]),
        (
            ["Bo entered the hall.", "Cy entered the den.", "Di entered the cellar.", "Di exited the room."],
            [(6, "the room can be the attic or the cellar or the den or the hall; name it.")],
        ),
        (["Ada moved the key to the bag.", "Ada likes the box."], []),
    ],
)
@pytest.mark.parametrize("question", [ASKED, "Does Ada know where the key is?"])
def test_words_have_one_role(lines: list[str], problems: list[tuple[int, str]], question: str) -> None:
    found = [each for each in find_problems("\n".join([GOOD, *lines]), question) if not each.is_impossible]
    assert [each.line for each in found] == [line for line, _ in problems]
    for each, (_, message) in zip(found, problems, strict=True):
        assert message in each.message


KNOWS = "Does Ada know where the key is?"


@pytest.mark.parametrize(
    ("line", "question", "message", "part", "number", "is_fatal", "is_impossible"),
    [
        ("Ada exited the barn.", KNOWS, "this cannot happen: Ada exits the barn", "story", 3, False, True),
        ("", "Does Ada know where the hat is?", "the story does not say where the hat is.", "question", 1, True, False),
        ("", "Does Bo know where the key is?", "Bo is not in the story", "question", 1, False, False),
        ("Ada xyz.", KNOWS, "sentence 3: not a sentence of a story", "story", 3, True, False),
        (
            "Ada got distracted.",
            "Does Ada know where key is?",
            "not a question about a story",
            "question",
            1,
            True,
            False,
        ),
        (
            "Bo likes the hat.",
            "Does Ada know where key is?",
            "this question is not understood",
            "question",
            1,
            True,
            False,
        ),
    ],
)
def test_problems_with_questions_of_other_kinds(
    line: str, question: str, message: str, part: str, number: int, is_fatal: bool, is_impossible: bool
) -> None:
    [problem] = find_problems(f"{GOOD}\n{line}" if line else GOOD, question)
    assert problem.message.startswith(message)
    assert (problem.part, problem.line, problem.is_fatal, problem.is_impossible) == (
        part,
        number,
        is_fatal,
        is_impossible,
    )


def test_a_room_without_a_name_is_no_problem() -> None:
    assert not find_problems("Ada entered the room.\nThe key is in the box.", ASKED)


@pytest.mark.parametrize(("sentences", "is_problem"), [(MOST_SENTENCES, False), (MOST_SENTENCES + 1, True)])
def test_stories_are_as_long_as_can_be_handled(sentences: int, is_problem: bool) -> None:
    story = "\n".join([GOOD, *["Ada likes the key."] * (sentences - 2)])
    message = f"the story has {sentences} sentences; at most {MOST_SENTENCES} can be handled."
    assert (message in [each.message for each in find_problems(story, ASKED)]) == is_problem


@pytest.mark.parametrize(("people", "is_problem"), [(MOST_AGENTS, False), (MOST_AGENTS + 1, True)])
def test_stories_have_as_many_people_as_can_be_handled(people: int, is_problem: bool) -> None:
    story = "\n".join([GOOD, *(f"P{number} entered the attic." for number in range(people - 1))])
    message = f"the story has {people} agents; at most {MOST_AGENTS} can be handled."
    assert (message in [each.message for each in find_problems(story, ASKED)]) == is_problem


def test_roles_are_those_of_english_words_only() -> None:
    story = "Johanna betrat das Badezimmer.\nDer Schlüssel war in der Wiege im Badezimmer."
    assert not find_problems(story, "Weiß Johanna, wo der Schlüssel ist?")


@pytest.mark.parametrize(
    ("things", "question", "suggested"),
    [
        ("", "Where will Ada look for a key?", "Where will Ada look for the key?"),
        ("", "Where will Ada looks for?", "Where will Ada look for the key?"),
        ("", "Where  will   Ada look for key?", "Where will Ada look for the key?"),
        ("", "Where is key really?", "Where is the key really?"),
        ("", "Where was key at the start?", "Where was the key at the beginning?"),
        ("", "Where does Ada think Bo searches for the key?", "Where does Ada think that Bo searches for the key?"),
        ("", "Where is it?", None),
        ("Ada likes the hat.", "Where will Ada looks for?", "Where will Ada look for the key?"),
        ("The hat is in the jar.", "Where will Ada looks for?", None),
        ("The hat is in the jar.", "Where is key really?", "Where is the key really?"),
        ("The hat is in the jar.", "Where is the hat reely?", "Where is the hat really?"),
        ("The hat is in the jar.", "Where is the hat or the key reely?", None),
        ("Ada likes the hat.", "Where is key really?", "Where is the key really?"),
        (
            "Cy entered the attic.",
            "Where does Ada think Bo thinks that Cy searches for the key?",
            "Where does Ada think that Bo thinks that Cy searches for the key?",
        ),
        (
            "Cy entered the attic.\nDi entered the attic.",
            "Where does Ada think Bo thinks that Cy thinks that Di searches for the key?",
            None,
        ),
    ],
)
def test_the_nearest_question_is_suggested(things: str, question: str, suggested: str | None) -> None:
    story = f"{GOOD}\nBo entered the attic." + (f"\n{things}" if things else "")
    meant = "" if suggested is None else f" Did you mean '{suggested}'?"
    assert suggest_question(question, read_story(story).events) == meant


def test_questions_are_listed_by_order() -> None:
    story = f"{GOOD}\nZoe entered the attic.\nBo entered the attic.\nAda likes the hat."
    for order, most in ((1, 1), (2, 2), (3, 3)):
        minds = [len(read_question(each).chain) for each in list_questions(story, order)]
        assert max(minds) == most
    common = [each for each in list_questions(story, 2) if "commonly" in each]
    assert common[0] == "Where do Ada and Bo commonly believe the key to be?"
    assert not any("the hat" in each for each in list_questions(story, 2))
    crowd = "\n".join(f"P{number} entered the attic." for number in range(20))
    assert len(list_questions(f"{GOOD}\n{crowd}", 3)) == 300


def test_forms_of_questions_in_languages_that_decline_names() -> None:
    story = (
        "Johanna betrat das Badezimmer.\nHeike betrat das Badezimmer.\nDer Schlüssel war in der Wiege im Badezimmer."
    )
    templates = [template for form in question_forms(story, 2) for template in form.templates]
    assert templates[:2] == ["Wo wird {0} den Schlüssel suchen?", "Was glaubt {0}, wo {1} den Schlüssel suchen wird?"]
    assert "Wo vermuten {0} und {1} übereinstimmend den Schlüssel?" in templates
    assert not any("Johanna" in template or "Heike" in template for template in templates)


FORMS = [
    ("where somebody looks for the key", ["Where will {0} look for the key?"]),
    ("where the key is really", ["Where is the key really?"]),
    ("where the key was at first", ["Where was the key at the beginning?"]),
    ("what somebody says about the key", ["What would {0} say if asked where the key is?"]),
    ("who knows where the key is", ["Does {0} know where the key is?"]),
]


def test_forms_of_questions() -> None:
    alone = [*FORMS, ("who believes that the key is in the box", ["Who believes that the key is in the box?"])]
    assert [(form.title, list(form.templates)) for form in question_forms(GOOD, 2)] == alone
    story = f"{GOOD}\nBo entered the attic.\nAda likes the hat.\nAda moved the key to the jar."
    looks, *rest = FORMS
    expected = [
        (looks[0], [*looks[1], "Where does {0} think that {1} searches for the key?"]),
        *rest,
        (
            "who knows that somebody is wrong about the key",
            ["Does {0} know that {1} is wrong about where the key is?"],
        ),
        ("what two people commonly believe about the key", ["Where do {0} and {1} commonly believe the key to be?"]),
        ("who believes that the key is in the box", ["Who believes that the key is in the box?"]),
        ("who believes that the key is in the jar", ["Who believes that the key is in the jar?"]),
    ]
    assert [(form.title, list(form.templates)) for form in question_forms(story, 2)] == expected
    assert list(question_forms(story, 1)[0].templates) == looks[1]
