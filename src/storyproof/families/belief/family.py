"""Theory of mind as a family.

Stories are of two kinds, plain and nested (`story_kind`). What differs between them is asked of the kind that
`story_choice` finds; what is the same for both is here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from storyproof.errors import DataError, StoryproofError
from storyproof.example import Example
from storyproof.families.belief import encoding
from storyproof.families.belief.audit.kinds import KINDS
from storyproof.families.belief.mistakes import MISTAKES
from storyproof.families.belief.story_choice import (
    READING_DESCRIPTIONS,
    is_belief_question,
    nearest_kind,
    read_by_either,
    story_kind_of,
    story_kind_of_all,
    story_kind_of_text,
    story_kinds,
    work_by_kind,
)
from storyproof.families.belief.talk import TALK
from storyproof.families.family import Family, Picture, ReadingProblem, Step, StoryModel
from storyproof.replies import Talk
from storyproof.statements import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.timeline import Timeline
    from storyproof.families.judge import FileJudge, Subject
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


class BeliefFamily(Family):
    """Who believes what: stories of people who come, go and move things, and questions about their minds."""

    name = "belief"
    title = "theory of mind"
    kinds = KINDS
    legend = _LEGEND
    mistakes = MISTAKES
    readings = READING_DESCRIPTIONS
    asks_beliefs = True

    def reads(self, question: str) -> bool:
        """Return whether a question asks where something is, was, or is believed to be."""
        return is_belief_question(question)

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, from its text."""
        done = work_by_kind(table, lambda kind, rows, _: kind.complete(rows, proved=proved))
        if len(done) == 1:
            return done[0][1]
        places = np.concatenate([rows for rows, _ in done])
        return pa.concat_tables([completed for _, completed in done]).take(pa.array(places.argsort()))

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with the text, by oracle and checker."""
        from storyproof.families.belief.audit.judge import BeliefJudge

        return BeliefJudge(subject)

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""
        return read_by_either(lambda kind: kind.lines(story))

    def question_in(self, text: str) -> str:
        """Return the last question of a text."""
        return read_by_either(lambda kind: kind.question_in(text))

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide the last message, or if it has no story all of them."""
        return read_by_either(lambda kind: kind.split_prompt(messages))

    def find_problems(self, story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
        """Return the words that do not fit, and sentences that cannot happen."""
        return nearest_kind(story, question).find_problems(story, question)

    def questions(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[str]:
        """Return questions about memory, reality and beliefs up to an order."""
        return read_by_either(lambda kind: kind.questions(story, order))

    def answers_by_reading(self, example: Example) -> Mapping[str, str]:
        """Return the answer under each reading, by possible worlds."""
        return story_kind_of(example).answers_by_reading(example)

    def models(self, example: Example) -> Sequence[StoryModel]:
        """Return the worlds that the last of the chain may hold possible."""
        return story_kind_of(example).models(example)

    def steps(self, example: Example, order: int = 2) -> list[Step]:
        """Return who is where and who believes what after each sentence."""
        return story_kind_of(example).steps(example, order)

    def answers_in(self, story: str) -> Sequence[str]:
        """Return the containers in which something is put, or said to be."""
        return next(filter(None, (kind.answers_in(story) for kind in story_kinds())), ())

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else the containers in which the asked object was, sorted."""
        return example.candidates or story_kind_of(example).candidates(example)

    def mentionable(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else all containers that the story names."""
        return example.candidates or _containers(example.story)

    def answer_parts(self, example: Example) -> Mapping[str, Sequence[str]]:
        """Return the people of each candidate if the question asks who believes something."""
        return story_kind_of(example).answer_parts(example)

    def talk(self) -> Talk:
        """Return how replies about minds are read."""
        return TALK

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about minds and places."""
        return story_kind_of(example).statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
        return story_kind_of(example).check_statement(statement, example)

    def positions(self, example: Example) -> Sequence[str]:
        """Return the containers in which the asked object was, in the order of the story."""
        return story_kind_of(example).positions(example)

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
        return story_kind_of(example).mistaken_answers(example)

    def structure(self, example: Example) -> str:
        """Return what the question asks, without agents."""
        return story_kind_of(example).structure(example)

    def answer_class(self, example: Example) -> str:
        """Return whether the answer is where the object was first, last, or in between."""
        places = sorted(example.candidates, key=lambda name: example.story.find(f"the {name}."))
        if example.answer not in places:
            return ""
        place = places.index(example.answer)
        return "first" if place == 0 else "last" if place == len(places) - 1 else "between"

    def oracle_answer(self, example: Example) -> str:
        """Answer by the possible-worlds checker; empty where there is no belief."""
        return story_kind_of(example).oracle_answer(example)

    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1."""
        return story_kind_of(example).rules_answer(example)

    def people(self, example: Example) -> Sequence[str]:
        """Return the agents of a story in order of appearance."""
        return story_kind_of(example).people(example)

    def roles(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return which words are agents, objects, containers and rooms in all stories."""
        stories = dict.fromkeys(example.story for example in examples)
        return encoding.roles(lambda story: read_by_either(lambda kind: kind.words(story)), stories)

    def conventions(self, example: Example) -> Sequence[str]:
        """Return what the default reading takes for granted; nothing for an answer that holds under others only."""
        return story_kind_of(example).conventions(example)

    def prompt_values(self, example: Example) -> dict[str, str]:
        """Return whose mind is asked about first."""
        return {"person": example.chain[0] if example.chain else "", "other": ""}

    @property
    def prompt_keys(self) -> tuple[str, ...]:
        """The keys under which prompt files give wordings; `tom` is an older name."""
        return (self.name, "tom")

    def prompt_keys_of(self, example: Example) -> tuple[str, ...]:
        """Return also the key of the wording that lists the candidates, for questions that no container answers."""
        by_place = story_kind_of(example).is_answered_by_place(example)
        return self.prompt_keys if by_place else ("any", *self.prompt_keys)

    def lay_out(self, examples: Sequence[Example]) -> Timeline:
        """Follow the object of the last question through the story."""
        return story_kind_of(examples[-1]).lay_out(examples)

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
        return story_kind_of_text(story).fingerprint(story)

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without reasoning about belief."""
        return story_kind_of_all(test).shortcuts(train, test, seed=seed, learned=learned)


def _says_false(example: Example) -> bool:
    """Return whether the question type, or else the row, says that a false belief is asked for."""
    if example.question_type.endswith("_tom"):
        return not example.question_type.endswith("_no_tom")
    return example.false_belief


@lru_cache(maxsize=64)  # the questions of a story are adjacent
def _containers(story: str) -> tuple[str, ...]:
    """Return the containers that a story names; none if it is in a form that neither kind can read."""
    return tuple(next(filter(None, (kind.containers(story) for kind in story_kinds())), ()))


FAMILY = BeliefFamily()
