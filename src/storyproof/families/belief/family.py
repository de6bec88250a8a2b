"""Theory of mind as a family.

All stories are read to the same events and answered by the same provers. Rows in ToMi's own wording have ToMi's labels
(agent numbers in question types, story types by beliefs) and are read as arrays; `reading.is_nested` tells them from
the others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from storyproof.errors import DataError, ParseError, StoryproofError
from storyproof.example import Example
from storyproof.families.belief import (
    baselines,
    mistakes,
    sentence_split,
    statements,
    states,
    timeline,
    user_text,
)
from storyproof.families.belief.answer_language import TALK
from storyproof.families.belief.audit.causes import KINDS
from storyproof.families.belief.conventions import conventions
from storyproof.families.belief.mistakes import MISTAKES
from storyproof.families.belief.procedures import DESCRIPTIONS as PROCEDURES
from storyproof.families.belief.procedures import procedure_answers
from storyproof.families.belief.read_text import is_nested, is_question, paragraphs, read_question, read_story
from storyproof.families.belief.readings import DESCRIPTIONS, READING_DESCRIPTIONS
from storyproof.families.belief.rows import kind_of
from storyproof.families.belief.tomi_text import FEELINGS
from storyproof.families.belief.world import EventKind
from storyproof.families.family import (
    ANY_FAMILY,
    Family,
    Picture,
    QuestionForm,
    ReadingProblem,
    Rewording,
    SampleStory,
    Step,
    StoryModel,
    number_names,
)
from storyproof.language.answer_language import Talk
from storyproof.language.chain_of_thought import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.timeline import Timeline
    from storyproof.families.file_judge import FileJudge, Subject
    from storyproof.shortcuts.results import ShortcutReport


_OTHER_KINDS = ("says", "knows_where", "knows_wrong", "believers", "common")
_AFTER_BELIEFS = 100  # more than any order
_ORDERS = {1: "first_order", 2: "second_order", 3: "third_order", 4: "fourth_order"}
_CAPTION = "What is asked for, what it is about, and who is where after each sentence, under the default readings"
_LEGEND = (
    "Stories about beliefs: the framed column is what the question asks for, with the label and the right answer "
    "below it. A bar lasts for as long as nothing changes. Dashed bars marked (false) are beliefs that are wrong "
    "about the object, or about what somebody else believes. Deciding sentences are bold, with a bar beside them."
)
_SAMPLES = (
    SampleStory(
        "Sally and Anne",
        "Sally entered the playroom.\nAnne entered the playroom.\nThe marble is in the basket.\n"
        "Sally exited the playroom.\nAnne moved the marble to the box.",
        "Where will Sally look for the marble?",
    ),
    SampleStory(
        "A secret look",  # as in the story of the ice-cream van, one does not know that the other knows
        "Nora entered the kitchen.\nTheo entered the kitchen.\nThe cake is in the oven in the kitchen.\n"
        "Nora exited the kitchen.\nNora entered the hall.\nNora secretly began to watch the kitchen.\n"
        "Theo moved the cake to the fridge.",
        "Where does Theo think that Nora searches for the cake?",
    ),
    SampleStory(
        "A lie",
        "Ada entered the office.\nBen entered the office.\nThe letter is in the drawer in the office.\n"
        "Ben exited the office.\nAda moved the letter to the safe.\nBen entered the hall.\nAda exited the office.\n"
        "Ada entered the hall.\nAda lied to Ben in private and said that the letter is in the cabinet.",
        "Where will Ben look for the letter?",
    ),
)


class BeliefFamily(Family):
    """Who believes what: stories of people who come, go and move things, and questions about their minds."""

    name = "belief"
    title = "theory of mind"
    kinds = KINDS
    legend = _LEGEND
    mistakes = MISTAKES
    procedures = PROCEDURES
    readings: ClassVar[Mapping[str, str]] = {**DESCRIPTIONS, **READING_DESCRIPTIONS}
    samples = _SAMPLES
    asks_beliefs = True
    unproved = frozenset({"no", "nobody"})

    def reads(self, question: str) -> bool:
        """Return whether a question asks where something is, was, or is believed to be."""
        return is_question(question)

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, from its text."""
        from storyproof.families.belief.fill_columns import complete

        return complete(table, proved=proved)

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with the text, by oracle and checker."""
        from storyproof.families.belief.audit.judge import BeliefJudge

        return BeliefJudge(subject)

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""
        return sentence_split.divide_story(story)

    def reword(self, story: str, question: str = "") -> Sequence[Rewording]:
        """Return a story in plain sentences."""
        from storyproof.families.belief.rewording import reword
        from storyproof.families.belief.translation import language_of, translate

        return [translate(story, question) if language_of(question) else reword(story, question)]

    def question_in(self, text: str) -> str:
        """Return the last question of a text."""
        return sentence_split.last_question(text)

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide the last message, or if it has no story all of them."""
        return sentence_split.split_messages(messages)

    def find_problems(self, story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
        """Return the words that do not fit, and sentences that cannot happen."""
        return user_text.find_problems(story, question)

    def questions(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[str]:
        """Return questions about memory, reality and beliefs up to an order."""
        return user_text.list_questions(story, order)

    def question_forms(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[QuestionForm]:
        """Return the kinds of question about each object."""
        return user_text.question_forms(story, order)

    def answers_by_reading(self, example: Example) -> Mapping[str, str]:
        """Return the answer under each reading, by possible worlds."""
        return states.answers_by_reading(example)

    def models(self, example: Example) -> Sequence[StoryModel]:
        """Return the worlds that the last of the chain may hold possible."""
        return states.models_of(example)

    def steps(self, example: Example, order: int = 2) -> list[Step]:
        """Return who is where and who believes what after each sentence."""
        return states.steps_of(example, order)

    def answers_in(self, story: str) -> Sequence[str]:
        """Return the containers in which something is put, or said to be."""
        return sentence_split.places_in(story) or _containers(story)

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else the containers in which the asked object was, sorted."""
        if example.candidates:
            return example.candidates
        try:
            return baselines.candidates(example)
        except ParseError:  # of the question
            return _containers(example.story)

    def mentionable(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else all containers that the story names."""
        return example.candidates or _containers(example.story)

    def answer_parts(self, example: Example) -> Mapping[str, Sequence[str]]:
        """Return the people of each candidate if the question asks who believes something."""
        return baselines.answer_parts(example)

    def talk(self) -> Talk:
        """Return how replies about minds are read."""
        return TALK

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about minds and places."""
        return statements.find_statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
        return statements.check_statement(statement, example)

    def positions(self, example: Example) -> Sequence[str]:
        """Return the containers in which the asked object was, in the order of the story."""
        return baselines.positions(example)

    def kind(self, example: Example) -> str:
        """Return memory, reality, first_order, second_order and so on, and the kinds that nested beliefs have."""
        if example.question_type.startswith(_OTHER_KINDS):
            return example.question_type.removesuffix("_tom").removesuffix("_no")
        if example.order == 0:
            return "memory" if example.question_type == "memory" else "reality"
        return _ORDERS.get(example.order, f"order_{example.order}")

    def is_control(self, example: Example) -> bool:
        """Return whether a question is about memory or reality."""
        return example.order == 0

    def kind_order(self, example: Example) -> tuple[Any, ...]:
        """Sort kinds by order of belief; the other kinds, which may have several orders, come after them."""
        kind = self.kind(example)
        return (_AFTER_BELIEFS if kind.startswith(_OTHER_KINDS) else example.order, kind)

    def measures(self, example: Example) -> Iterator[str]:
        """Yield the kind, and the kind among false or true beliefs as the question type says."""
        kind = self.kind(example)
        yield kind
        yield f"{kind}/{'false_belief' if _says_false(example) else 'no_false_belief'}"

    def facets(self, example: Example) -> Mapping[str, str]:
        """Return question type, kind, story type, and whether the belief that is asked for is false."""
        belief = (
            {} if self.is_control(example) else {"belief": "false belief" if example.false_belief else "true belief"}
        )
        return {**super().facets(example), "kind": self.kind(example), **belief}

    def scale(self, example: Example) -> tuple[str, int] | None:
        """Return the order of belief; questions about memory and reality are not on the scale."""
        return ("order", example.order) if example.order else None

    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return what other questions about the same story have as answers, by possible worlds."""
        return mistakes.mistaken_answers(example)

    def procedure_answers(self, example: Example) -> Mapping[str, str]:
        """Return what a solver answers that follows one of the procedures, by possible worlds."""
        return procedure_answers(example)

    def structure(self, example: Example) -> str:
        """Return what the question asks, without agents."""
        return kind_of(read_question(example.question))

    def answer_class(self, example: Example) -> str:
        """Return whether the answer is where the object was first, last, or in between."""
        places = sorted(example.candidates, key=lambda name: example.story.find(f"the {name}."))
        if example.answer not in places:
            return ""
        place = places.index(example.answer)
        return "first" if place == 0 else "last" if place == len(places) - 1 else "between"

    def checked_answer(self, example: Example) -> str:
        """Answer by the checker, in the words of the story; empty where there is no belief."""
        answer = baselines.checked_answer(example)
        if answer or not is_nested(example.story, example.question):
            return answer
        # Of a text of one's own it may be asked what nobody knows, though that is no candidate.
        return read_story(example.story).wording.answer(None)

    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1."""
        return baselines.rules_answer(example)

    def people(self, example: Example) -> Sequence[str]:
        """Return the agents of a story in order of appearance; nobody if the story cannot be read."""
        try:
            return read_story(example.story).cast
        except ParseError:
            return ()

    def roles(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return which words are agents, objects, containers and rooms in all stories."""
        return {word.lower(): role for word, role in self.exchangeable(examples).items()}

    def exchangeable(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return which words are agents, objects, containers and rooms in all stories, as they are written."""
        return roles(dict.fromkeys(example.story for example in examples))

    def language(self, example: Example) -> str:
        """Return the language of the pack that reads the story; English if none does."""
        try:
            return read_story(example.story).wording.language
        except ParseError:
            return super().language(example)

    def conventions(self, example: Example, language: str = "") -> Sequence[str]:
        """Return the rules of what people notice and believe that the story and the question need."""
        return conventions(example, language or self.language(example))

    def prompt_values(self, example: Example) -> dict[str, str]:
        """Return whose mind is asked about first, and the story in paragraphs."""
        person = example.chain[0] if example.chain else ""
        return {"person": person, "other": "", "story": paragraphs(example.story)}

    def prompt_keys(self, example: Example) -> tuple[str, ...]:
        """Return first the key of the wording that lists the candidates, for questions that no container answers."""
        by_place = set(self.candidates(example)) <= set(_containers(example.story))
        return (self.name,) if by_place or not is_nested(example.story, example.question) else (ANY_FAMILY, self.name)

    def lay_out(self, examples: Sequence[Example]) -> Timeline:
        """Follow the object of the last question through the story."""
        return timeline.lay_out(examples)

    def pictures(
        self, examples: Sequence[Example], marked: Collection[int] = (), answers: tuple[str, str] | None = None
    ) -> list[Picture]:
        """Draw who is where and who believes what after each sentence."""
        from storyproof.families.belief.picture import belief_timeline

        try:
            timeline = self.lay_out(examples)
            wide, narrow = (
                belief_timeline(timeline, marked, asked=examples[-1].chain, answers=answers, narrow=narrow)
                for narrow in (False, True)
            )
        except (StoryproofError, LookupError, ValueError) as error:  # rows may name people that are not in their text
            is_ours = isinstance(error, StoryproofError)
            raise DataError(str(error) if is_ours else f"its text does not fit its question ({error})") from error
        return [Picture(_CAPTION, wide, narrow)]

    def fingerprint(self, story: str, facts: Mapping[str, Any]) -> str:
        """Return a story without the names of those who act in it."""
        return number_names(story.casefold(), {name.casefold() for name in people_of(story)})

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without reasoning about belief."""
        if any(is_nested(each.story, each.question) for each in test):
            from storyproof.families.belief.shortcuts.nested import find_nested_shortcuts

            return find_nested_shortcuts(train, test, seed=seed, learned=learned)
        from storyproof.families.belief.shortcuts.report import find_belief_shortcuts

        return find_belief_shortcuts(train, test, seed=seed, learned=learned)


def _says_false(example: Example) -> bool:
    """Return whether the question type, or else the row, says that a false belief is asked for."""
    if example.question_type.endswith("_tom"):
        return not example.question_type.endswith("_no_tom")
    return example.false_belief


@lru_cache(maxsize=64)  # the questions of a story are adjacent
def _containers(story: str) -> tuple[str, ...]:
    """Return the containers that a story names, sorted; none if it cannot be read."""
    try:
        return tuple(sorted({event.container for event in read_story(story).events if event.container}))
    except ParseError:
        return ()


FAMILY = BeliefFamily()


_ROLES = ("agent", "agent", "thing", "container", "room")  # of the words of an event
_ACTOR = re.compile(
    rf"(?:^|(?<=[.!?\n]))\s*(?!the\s)([\w-]+)\s+(?:entered|exited|moved|is|{'|'.join(FEELINGS)})\s+\S", re.IGNORECASE
)


def people_of(story: str) -> Sequence[str]:
    """Return the people of a story, also those who only like something; if it cannot be read, who seems to act."""
    try:
        events = read_story(story).events
    except ParseError:
        return list(dict.fromkeys(_ACTOR.findall(story)))
    named = (name for event in events for name in (event.agent, event.hearer))
    return list(dict.fromkeys(name for name in named if name is not None))


def roles(stories: Iterable[str]) -> dict[str, str]:
    """Return the role of each word that plays one role only; none if a story cannot be read."""
    played: dict[str, set[str]] = defaultdict(set)
    written: dict[str, str] = {}
    for story in stories:
        try:
            events = read_story(story).events
        except ParseError:
            return {}
        for event in events:
            if event.kind in (EventKind.NOISE, EventKind.FEEL):  # anything may be liked
                continue
            words = (event.agent, event.hearer, event.thing, event.container, event.room)
            for word, role in zip(words, _ROLES, strict=True):
                if word:
                    played[word.lower()].add(role)
                    written[word.lower()] = word
    return {written[word]: next(iter(parts)) for word, parts in played.items() if len(parts) == 1}
