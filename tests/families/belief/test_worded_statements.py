"""Beliefs that a chain of thought states about stories with secrets and messages, compared with both provers."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import storyproof
from storyproof import rewards
from storyproof.datasets.reading import as_example
from storyproof.example import Example
from storyproof.families.belief.family import FAMILY
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import read_question
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading, parse_reading
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of
from storyproof.language.chain_of_thought import RIGHT, UNCLEAR, WRONG
from tests.families.belief.plots import ask_oracle, chains, plots

STORY = """Ann entered the hall.
Bob entered the hall.
Cleo entered the hall.
The key is in the box in the hall.
Bob exited the hall.
Bob entered the den.
Bob secretly began to watch the hall.
Ann moved the key to the jar.
Bob stopped watching.
Cleo moved the key to the pot."""
BOB = "Where will Bob look for the key?"
ROW = as_example({"story": STORY, "question": BOB})


def verdicts(text: str, row: Example = ROW) -> list[tuple[str, str]]:
    found = FAMILY.statements(text, row)
    return [(each.question, FAMILY.check_statement(each, row).kind) for each in found]


@pytest.mark.parametrize(
    ("text", "question", "kind"),
    [
        ("Bob thinks that the key is in the jar.", BOB, RIGHT),
        ("Bob thinks the key is in the box.", BOB, WRONG),
        ("Bob will look for the key in the pot.", BOB, WRONG),
        ("Bob does not think that the key is in the pot.", BOB, RIGHT),
        (
            "Bob believes that Ann thinks the key is in the jar.",
            "Where does Bob think that Ann searches for the key?",
            RIGHT,
        ),
        (
            "Ann believes that Bob thinks the key is in the jar.",
            "Where does Ann think that Bob searches for the key?",
            WRONG,
        ),
        (
            "Ann believes that Bob thinks the key is in the box.",
            "Where does Ann think that Bob searches for the key?",
            RIGHT,
        ),
        (
            "So Ann thinks that Cleo thinks that Bob thinks that Cleo believes it is in the box.",
            "Where does Ann think that Cleo thinks that Bob thinks that Cleo searches for the key?",
            RIGHT,
        ),
        ("The key is in the pot.", "Where is the key really?", RIGHT),
        ("The key is really in the jar.", "Where is the key really?", WRONG),
        ("The key was originally in the box.", "Where was the key at the beginning?", RIGHT),
        ("The key was first in the jar.", "Where was the key at the beginning?", WRONG),
        ("Bob does not know where the key is.", "Does Bob know where the key is?", RIGHT),
        ("Bob doesn't know where the key really is.", "Does Bob know where the key is?", RIGHT),
        ("Bob has no idea where it is now.", "Does Bob know where the key is?", RIGHT),
        ("Bob knows where the key is.", "Does Bob know where the key is?", WRONG),
        ("Ann knows where the key is, because she is there.", "Does Ann know where the key is?", RIGHT),
        ("Ann does not know where the key is.", "Does Ann know where the key is?", WRONG),
    ],
)
def test_a_statement_is_read_and_compared(text: str, question: str, kind: str) -> None:
    assert verdicts(text) == [(question, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Bob knows where the key was.",
        "Does Bob know where the key is?",
        "Bob thinks that Ann knows where the key is.",
        "Bob does not know where the coin is.",
        "Bob does not know where Ann is.",
        "If Bob had stayed, Bob knows where the key is.",
        "Cleo tells Ann that the key is in the jar.",
        "Cleo announces: the key is in the jar.",
        "Cleo whispers to Ann, the key is in the jar.",
        "Cleo's lie: the key is in the jar.",
        "Bob heard this, and the key is in the jar.",
        "The key is in the box in the hall.",  # a sentence of the story
    ],
)
def test_what_is_asked_supposed_or_reported_states_nothing(text: str) -> None:
    assert verdicts(text) == []


def test_the_first_wrong_step_is_reported() -> None:
    text = (
        "Bob watches in secret. So Bob thinks the key is in the jar. Ann thinks that Bob thinks the key is in the jar. "
        "Bob does not know where the key is.\nAnswer: jar"
    )
    report = rewards.check_steps(text, ROW)
    assert [step.verdict for step in report.steps] == [RIGHT, WRONG, RIGHT]
    wrong = report.first_wrong
    assert wrong is not None
    assert (wrong.index, wrong.stated, wrong.holds) == (
        1,
        "Ann thinks that Bob thinks that the key is in the jar",
        "box",
    )
    columns = {"story": [STORY], "question": [BOB], "answer": ["jar"]}
    assert rewards.stepwise([""], [text], **columns) == [pytest.approx(0.5 + 0.5 / 3)]


def test_what_held_before_is_wrong_only_where_the_text_is_not_on_its_way_through_the_story() -> None:
    early = "Bob thinks the key is in the box."
    assert verdicts(f"{early} Bob secretly watches the hall.") == [(BOB, UNCLEAR)]
    assert verdicts(f"Bob secretly watches the hall. {early}") == [(BOB, WRONG)]
    assert verdicts("Bob knows where the key is. Then Ann moved it.")[0][1] == UNCLEAR
    assert verdicts("Ann does not know where the key is. Then Ann moved it.")[0][1] == UNCLEAR  # before it was placed


def test_what_depends_on_the_reading_is_unclear_and_the_row_says_which_reading_counts() -> None:
    told = f"{STORY}\nBob entered the hall.\nAnn exited the hall.\nCleo moved the key to the box.\n" + (
        "Bob exited the hall.\nBob entered the yard.\nAnn entered the den.\n"
        "Ann announced everywhere that the key is in the pot."
    )
    asked = {"story": told, "question": "Where will Cleo look for the key?"}
    bob = "Bob thinks that the key is in the {}."
    for readings, holds in ((["open+always"], "pot"), (["open+fresher"], "box")):
        row = as_example({**asked, "readings": readings})
        found = {place: verdicts(bob.format(place), row)[0][1] for place in ("pot", "box", "jar")}
        assert found == {"pot": UNCLEAR, "box": UNCLEAR, "jar": WRONG, holds: RIGHT}


def test_a_chain_of_thought_about_a_story_in_another_language_is_not_read() -> None:
    german = find_wording("de")
    words = german.vocabulary
    person, room, thing, box = words.agents[0], words.rooms[0], words.objects[0], words.containers[0]
    events = [PlotEvent(EventKind.ENTER, person, room), PlotEvent(EventKind.PLACE, None, room, thing, box)]
    row = as_example(
        {"story": "\n".join(german.narrate(events)), "question": german.ask(BeliefQuestion(Ask.REALITY, thing))}
    )
    assert FAMILY.checked_answer(row) == box
    assert FAMILY.statements(f"{person} thinks that the {thing} is in the {box}.", row) == []


@settings(max_examples=25, deadline=None)
@example(116833, parse_reading("infer-mover+always"))  # somebody "is in" the room again, without entering it
@given(st.integers(0, 10**6), st.sampled_from(ALL_READINGS))
def test_statements_of_what_the_oracle_answers_are_right_and_of_other_places_are_not(
    seed: int, reading: BeliefReading
) -> None:
    [_, plot, *_] = plots(seed, 2)
    row = as_example(
        {
            "story": "\n".join(find_wording().narrate(plot)),
            "question": "Does Ada know where the key is?",
            "readings": [str(reading)],
        }
    )
    cast = cast_of(plot)
    puts = [
        event.container for event in plot if event.kind in (EventKind.PLACE, EventKind.MOVE) and event.thing == "key"
    ]
    places = {event.container for event in plot if event.thing == "key" and event.container}
    asked = [chain for chain in chains(cast, 3) if all(one != other for one, other in pairwise(chain))]
    answers = {each: dict(zip(asked, ask_oracle([plot], asked, "key", each)[0], strict=True)) for each in ALL_READINGS}

    def expected(said: str, by_reading: dict[BeliefReading, str | None]) -> str:
        if by_reading[reading] is None:
            return UNCLEAR
        if said == by_reading[reading]:
            return RIGHT
        return UNCLEAR if said in by_reading.values() else WRONG

    for chain in asked:
        thinks = " ".join(f"{agent} thinks that" for agent in chain)
        for place in places:
            [(_, kind)] = verdicts(f"{thinks} the key is in the {place}.", row)
            assert kind == expected(place, {each: found[chain] for each, found in answers.items()})
    for agent in cast:
        known = {each: "yes" if found[agent,] == puts[-1] else "no" for each, found in answers.items()}
        for verb, said in (("knows", "yes"), ("does not know", "no")):
            [(_, kind)] = verdicts(f"{agent} {verb} where the key is.", row)
            assert kind == expected(said, dict(known))


@pytest.mark.parametrize(
    "dials", [{"preset": "easy"}, {"preset": "medium"}, {"preset": "medium", "style": "narrative", "trust": "fresher"}]
)
def test_answers_of_generated_rows_are_right_steps_and_other_candidates_are_not(dials: dict[str, str]) -> None:
    stories = storyproof.stream("tom-k", seed=5, split="test", order=5, **dials)
    beliefs = 0
    for number in range(8):
        for row in stories[number].rows:
            asked = read_question(row.question)
            if asked.ask != Ask.BELIEF:
                continue
            beliefs += 1
            minds = " ".join(f"{agent} thinks that" for agent in row.chain)
            for place in row.candidates:
                [(question, kind)] = verdicts(f"{minds} the {asked.thing} is in the {place}.", row)
                assert question == row.question
                assert kind == RIGHT if place == row.answer else kind in (WRONG, UNCLEAR)
                assert kind != UNCLEAR or len(row.readings) < len(ALL_READINGS)
    assert beliefs == 8 * 5
