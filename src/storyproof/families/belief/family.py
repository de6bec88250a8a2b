"""Theory of mind as a family.

Stories with secrets and messages, and questions that only they have, are `nested`: their oracle, checker and text are
in a package of their own. Each method looks at the text and asks the one or the other.

What a method needs beyond the text of a story is imported when it is called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError, ParseError, StoryproofError
from storyproof.example import Example
from storyproof.families.belief import baselines, encoding, running_text
from storyproof.families.belief.audit.kinds import KINDS
from storyproof.families.belief.events import FEELINGS
from storyproof.families.belief.mistakes import MISTAKES, mistaken_answers
from storyproof.families.belief.nested.reading import is_nested, is_question, reads_further
from storyproof.families.belief.nested.readings import COMPARED_DESCRIPTIONS
from storyproof.families.belief.readings import CONVENTIONS, DESCRIPTIONS, OPEN
from storyproof.families.belief.talk import TALK
from storyproof.families.belief.text import parse, parse_question
from storyproof.families.family import Family, Picture, ReadingProblem, Step, StoryModel, number_names
from storyproof.replies import Talk
from storyproof.statements import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.timeline import Timeline
    from storyproof.families.judge import FileJudge, Subject
    from storyproof.shortcuts.results import ShortcutReport

_OTHER_KINDS = ("says", "knows_where", "knows_wrong", "believers", "common")
_AFTER_BELIEFS = 100  # more than any order
_ORDERS = {1: "first_order", 2: "second_order", 3: "third_order", 4: "fourth_order"}
_ACTS = re.compile(rf"(?:^|[.\n])\s*([^\s.?]+)\s+(?:entered|exited|moved|is\s+in|{'|'.join(FEELINGS)})\s+the\s")
_CAPTION = "What is asked for, what it is about, and who is where after each sentence, under the default readings"
_LEGEND = (
    "Stories about beliefs: the framed column is what the question asks for, with the label and the right answer "
    "below it. A bar lasts for as long as nothing changes. Dashed bars marked (false) are beliefs that are wrong "
    "about the object, or about what somebody else believes. Deciding sentences are bold, with a bar beside them."
)


class BeliefFamily(Family):
    """Who believes what: stories of people who come, go and move things, and questions about their minds."""

    name = "belief"
    title = "theory of mind"
    kinds = KINDS
    legend = _LEGEND
    mistakes = MISTAKES
    readings: ClassVar[Mapping[str, str]] = {**DESCRIPTIONS, **COMPARED_DESCRIPTIONS}
    asks_beliefs = True

    def reads(self, question: str) -> bool:
        """Return whether a question asks where something is, was, or is believed to be."""
        try:
            parse_question(question)
        except ParseError:
            return is_question(question)
        return True

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, from its text."""
        from storyproof.families.belief.derivation import complete

        first = table.select(["story", "question"]).slice(0, 1).to_pylist()
        if not any(is_nested(row["story"], row["question"]) for row in first):
            try:
                return complete(table, proved=proved)  # of most tables no story is read twice
            except DataError:  # perhaps of a later row that is nested
                pass
        texts = zip(table.column("story").to_pylist(), table.column("question").to_pylist(), strict=True)
        nested = [is_nested(story, question) for story, question in texts]
        if not any(nested):
            return complete(table, proved=proved)
        from storyproof.families.belief.nested.examples import complete_rows

        if all(nested):
            return complete_rows(table, proved=proved)
        chosen = pa.array(nested)
        plain = complete(table.filter(pc.invert(chosen)), proved=proved)
        both = pa.concat_tables([complete_rows(table.filter(chosen), proved=proved), plain])
        places = sorted(range(len(nested)), key=lambda place: not nested[place])  # the rows of `both`, by old place
        return both.take(pa.array(sorted(range(len(places)), key=places.__getitem__)))

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with the text, by oracle and checker."""
        from storyproof.families.belief.audit.judge import BeliefJudge

        return BeliefJudge(subject)

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""
        try:
            return running_text.divide_story(story)
        except ParseError as error:
            from storyproof.families.belief.nested.examples import divide_story

            try:
                return divide_story(story)
            except ParseError:
                raise error from None

    def question_in(self, text: str) -> str:
        """Return the last question of a text."""
        try:
            return running_text.last_question(text)[0]
        except ParseError as error:
            from storyproof.families.belief.nested.examples import last_question

            try:
                return last_question(text)
            except ParseError:
                raise error from None

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide the last message, or if it has no story all of them."""
        try:
            return running_text.split_messages(messages)
        except ParseError as error:
            from storyproof.families.belief.nested.examples import split_messages

            try:
                return split_messages(messages)
            except ParseError:
                raise error from None

    def find_problems(self, story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
        """Return the words that do not fit, and sentences that cannot happen."""
        from storyproof.families.belief.own_text import find_problems

        if is_nested(story, question) or reads_further(story):
            from storyproof.families.belief.nested import examples as nested

            return nested.find_problems(story, question)
        return find_problems(story, question)

    def questions(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[str]:
        """Return questions about memory, reality and beliefs up to an order."""
        from storyproof.families.belief.own_text import list_questions

        try:
            return list_questions(story, order)
        except ParseError as error:
            from storyproof.families.belief.nested import examples as nested

            try:
                return nested.list_questions(story, order)
            except ParseError:
                raise error from None

    def answers_by_reading(self, example: Example) -> Mapping[str, str]:
        """Return the answer under each reading, by possible worlds."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.answers_by_reading(example)
        from storyproof.families.belief.states import answers_by_reading

        return answers_by_reading(example)

    def models(self, example: Example) -> Sequence[StoryModel]:
        """Return the worlds that the last of the chain may hold possible."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.models_of(example)
        from storyproof.families.belief.states import models_of

        return models_of(example)

    def steps(self, example: Example, order: int = 2) -> list[Step]:
        """Return who is where and who believes what after each sentence."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.steps_of(example, order)
        from storyproof.families.belief.states import steps_of

        return steps_of(example, order)

    def answers_in(self, story: str) -> Sequence[str]:
        """Return the containers in which something is put, or said to be."""
        found = running_text.places_in(story)
        from storyproof.families.belief.nested import examples as nested

        return found or nested.containers_of(story)

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else the containers in which the asked object was, sorted."""
        if example.candidates:
            return example.candidates
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.candidates(example)
        try:
            return sorted(baselines.places_of(example))
        except ParseError:  # the question is in a form that cannot be parsed, or the story is
            return _containers(example.story)

    def mentionable(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else all containers that the story names."""
        return example.candidates or _containers(example.story)

    def talk(self) -> Talk:
        """Return how replies about minds are read."""
        return TALK

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about minds and places."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import statements as nested

            return nested.find_statements(text, example)
        from storyproof.families.belief.statements import find_statements

        return find_statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import statements as nested

            return nested.check_statement(statement, example)
        from storyproof.families.belief.statements import check_statement

        return check_statement(statement, example)

    def positions(self, example: Example) -> Sequence[str]:
        """Return the containers in which the asked object was, in the order of the story."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.positions(example)
        return baselines.places_of(example)

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
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.mistaken_answers(example)
        return mistaken_answers(example)

    def structure(self, example: Example) -> str:
        """Return what the question asks, without agents."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.structure(example)
        question = parse_question(example.question)
        return "memory" if question.memory else f"order {question.order}"

    def answer_class(self, example: Example) -> str:
        """Return whether the answer is where the object was first, last, or in between."""
        places = sorted(example.candidates, key=lambda name: example.story.find(f"the {name}."))
        if example.answer not in places:
            return ""
        place = places.index(example.answer)
        return "first" if place == 0 else "last" if place == len(places) - 1 else "between"

    def oracle_answer(self, example: Example) -> str:
        """Answer by the possible-worlds checker; empty where there is no belief."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.checked_answer(example)
        return baselines.oracle_answer(example)

    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.rules_answer(example)
        return baselines.rules_answer(example)

    def people(self, example: Example) -> Sequence[str]:
        """Return the agents of a story in order of appearance."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.people(example)
        return encoding.agents_of(example.story)

    def roles(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return which words are agents, objects, containers and rooms in all stories."""
        return encoding.roles(examples)

    def conventions(self, example: Example) -> Sequence[str]:
        """Return what the default reading takes for granted; nothing for an answer that holds under others only."""
        if is_nested(example.story, example.question):
            from storyproof.families.belief.nested import examples as nested

            return nested.conventions(example)
        return CONVENTIONS if not example.readings or OPEN in example.readings else ()

    def prompt_values(self, example: Example) -> dict[str, str]:
        """Return whose mind is asked about first."""
        return {"person": example.chain[0] if example.chain else "", "other": ""}

    @property
    def prompt_keys(self) -> tuple[str, ...]:
        """The keys under which prompt files give wordings; `tom` is an older name."""
        return (self.name, "tom")

    def prompt_keys_of(self, example: Example) -> tuple[str, ...]:
        """Return also the key of the wording that lists the candidates, for questions that no container answers."""
        if not is_nested(example.story, example.question):
            return self.prompt_keys
        from storyproof.families.belief.nested import examples as nested

        return self.prompt_keys if nested.is_answered_by_place(example) else ("any", *self.prompt_keys)

    def lay_out(self, examples: Sequence[Example]) -> Timeline:
        """Follow the object of the last question through the story."""
        if is_nested(examples[-1].story, examples[-1].question):
            from storyproof.families.belief.nested import examples as nested

            return nested.lay_out(examples)
        from storyproof.families.belief.timeline import lay_out

        return lay_out(list(examples))

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
            known = isinstance(error, StoryproofError)
            raise DataError(str(error) if known else f"its text does not fit its question ({error})") from error
        return [Picture(_CAPTION, wide, narrow)]

    def fingerprint(self, story: str, facts: Mapping[str, Any]) -> str:
        """Return a story without the names of those who act in it."""
        if is_nested(story, ""):
            from storyproof.families.belief.nested.reading import read_story

            return number_names(story, read_story(story).cast)
        text = story.casefold()
        return number_names(text, set(_ACTS.findall(text)))

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without reasoning about belief."""
        from storyproof.families.belief.shortcuts.report import find_belief_shortcuts

        if any(is_nested(each.story, each.question) for each in test):
            from storyproof.families.belief.nested.shortcuts import find_nested_shortcuts

            return find_nested_shortcuts(train, test, seed=seed, learned=learned)
        return find_belief_shortcuts(train, test, seed=seed, learned=learned)


def _says_false(example: Example) -> bool:
    """Return whether the question type, or else the row, says that a false belief is asked for."""
    if example.question_type.endswith("_tom"):
        return not example.question_type.endswith("_no_tom")
    return example.false_belief


@lru_cache(maxsize=64)  # the questions of a story are adjacent
def _containers(story: str) -> tuple[str, ...]:
    try:
        return tuple(sorted({event.container for event in parse(story) if event.container}))
    except ParseError:
        from storyproof.families.belief.nested.examples import containers_of

        return tuple(containers_of(story))  # none if the story is in a form that cannot be parsed


FAMILY = BeliefFamily()
