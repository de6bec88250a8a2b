"""Mistakes about minds against a derivation by who stood together when, which shares nothing with possible worlds."""

from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from storyproof.evaluation.answer_judge import UNSETTLED, MistakeFinder, describe
from storyproof.example import Example
from storyproof.families.belief.family import FAMILY
from storyproof.families.belief.mistakes import MISTAKES, mistaken_answers
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.tomi_text import ask, narrate, parse
from storyproof.families.belief.world import EventKind, PlotEvent, PlotState
from tests.families.belief.stories import AGENTS, BOXES, OTHER_THING, ROOMS, THING, possible_stories
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, changed, example


def asking(events: list[PlotEvent], chain: tuple[str, ...] = (), memory: bool = False) -> Example:
    kind = Ask.BELIEF if chain else Ask.MEMORY if memory else Ask.REALITY
    question = ask(BeliefQuestion(kind, THING, chain))
    return changed(example(), story=narrate(events), question=question, order=len(chain), candidates=list(BOXES))


def plain_belief(events: list[PlotEvent], chain: tuple[str, ...]) -> str | None:
    """Where the object was when all of the chain last stood in its room."""
    known, state = None, PlotState()
    for event in events:
        state.advance(event)
        room, box = state.left.get(THING, (None, None))
        if box and all(state.where.get(agent) == room for agent in chain):
            known = box
    return known


def others(name: str, chain: tuple[str, ...], agents: set[str]) -> set[tuple[str, ...]]:
    """The chains that a mistake takes for that of the question."""
    if name == "lower_order":
        return {part for length in range(1, len(chain)) for part in combinations(chain, length)}
    if name == "swapped_minds":
        swapped = set(permutations(chain))
        return {each for each in swapped if sum(a != b for a, b in zip(each, chain, strict=True)) in (0, 2)}
    length = max(1, len(chain))
    every = {each for each in AGENT_CHAINS[length] if set(each) <= agents | set(chain)}
    return {each for each in every if not chain or sum(a != b for a, b in zip(each, chain, strict=True)) == 1}


AGENT_CHAINS = {
    1: [(a,) for a in AGENTS],
    2: [(a, b) for a in AGENTS for b in AGENTS],
    3: [(a, b, c) for a in AGENTS for b in AGENTS for c in AGENTS],
}
chains = st.lists(st.sampled_from(AGENTS), max_size=3).map(tuple)


@given(possible_stories(asides=True), chains)
def test_minds_against_who_stood_together(events: list[PlotEvent], chain: tuple[str, ...]) -> None:
    events = parse(narrate(events))
    agents = {event.agent for event in events if event.agent}
    found = mistaken_answers(asking(events, chain))
    for name in ("lower_order", "swapped_minds", "other_agent"):
        expected = {plain_belief(events, each) for each in others(name, chain, agents) if set(each) <= agents}
        if name == "swapped_minds" and len(chain) < 2:
            expected = set()
        assert found[name] == expected - {None}, name


@given(possible_stories(asides=True), chains, st.booleans())
def test_places_against_the_text(events: list[PlotEvent], chain: tuple[str, ...], aside: bool) -> None:
    if aside:
        events = [*events, PlotEvent(EventKind.PLACE, None, ROOMS[1], OTHER_THING, "urn")]
    boxes = [
        line.removesuffix(".").split(" the ")[-1] for line in narrate(events).split("\n") if f"the {THING} to" in line
    ]
    boxes = [BOXES[0], *boxes]  # the first sentence about the object places it
    found = mistaken_answers(asking(events, chain))
    assert found["reality"] == {boxes[-1]}
    assert found["first_mention"] == {boxes[0]}
    assert found["last_mention"] == {"urn" if aside else boxes[-1]}
    assert found["earlier_place"] == set(boxes[1:-1])
    assert found["other_object"] == ({"urn"} if aside else set())


@given(possible_stories(), chains.filter(bool))
def test_each_wrong_answer_is_explained_once_and_in_order(events: list[PlotEvent], chain: tuple[str, ...]) -> None:
    each = asking(parse(narrate(events)), chain)
    finder, order = MistakeFinder(each), list(describe(FAMILY))
    for box in (*BOXES, "nonsense", ""):
        names = finder.explain(box)
        assert names
        assert sorted(names, key=order.index) == list(names)
        assert len(set(names)) == len(names)


def explain(given: str, /, **columns: object) -> str:
    return MistakeFinder(changed(example(), **columns)).explain(given)[0]


def test_known_cases() -> None:
    assert explain("jar", question=SEARCH) == "reality"
    assert explain("jar", question=BELIEF, answer="box") == "reality"
    assert explain("jar", question=MEMORY, answer="box") == "reality"
    assert explain("box", question=REALITY, answer="jar") == "other_agent"  # Ben's belief
    assert explain("box", question="Where will Ada look for the key?", answer="jar") == "other_agent"
    assert explain("tin", question=SEARCH) == "no_answer"
    assert explain("", question=SEARCH) == "no_answer"
    assert explain("box", question=SEARCH, answer="jar") == "label"  # the data are wrong
    assert explain("jar", question="Where will Cy look for the key?") == UNSETTLED  # nobody knows what he believes


def test_lower_order_is_told_from_reality() -> None:
    """Ben thinks that Ada, who left last, thinks what she thought when both were there; in fact she saw a move more."""
    story = [*STORY.split("\n"), "Ada moved the key to the tin.", "Ada exited the attic."]
    story += ["Cy entered the attic.", "Cy moved the key to the pot."]
    columns = {"story": "\n".join(story), "question": "Where does Ben think that Ada searches for the key?"}
    columns |= {"candidates": ["box", "jar", "pot", "tin"]}
    assert explain("tin", **columns) == "lower_order"
    assert explain("pot", **columns) == "reality"
    assert explain("jar", **columns) == "earlier_place"


def test_another_reading_comes_first() -> None:
    """Under `closed` entering the room shows nothing."""
    story = [*STORY.split("\n"), "Ben entered the attic."]
    columns = {"story": "\n".join(story), "answer": "jar"}
    assert MistakeFinder(changed(example(), **columns)).explain("box")[0] == "other_reading"


def test_every_mistake_is_described() -> None:
    assert set(mistaken_answers(example())) <= set(MISTAKES)
    assert all(description[0].islower() and not description.endswith(".") for description in MISTAKES.values())
