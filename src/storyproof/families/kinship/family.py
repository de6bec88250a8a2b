"""Kinship as a family, and the columns that its rows may lack."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from storyproof.errors import DataError, ParseError, StoryproofError, quoted
from storyproof.example import Example, plain_schema
from storyproof.families.family import (
    Family,
    Graph,
    Picture,
    QuestionForm,
    ReadingProblem,
    Reference,
    Rewording,
    SampleStory,
    Step,
    StoryModel,
    load_conventions,
    number_names,
)
from storyproof.families.kinship.answer_language import TALK
from storyproof.families.kinship.audit.kinds import KINDS
from storyproof.families.kinship.checker import CONTRADICTED, STATUSES
from storyproof.families.kinship.mistakes import MISTAKES, mistaken_answers
from storyproof.families.kinship.people import person_names
from storyproof.families.kinship.procedures import DESCRIPTIONS as PROCEDURES
from storyproof.families.kinship.procedures import procedure_answers
from storyproof.families.kinship.prove_labels import entailed_relation, judge
from storyproof.families.kinship.relations import WORDS
from storyproof.families.kinship.row import KinshipRow, check_references, read_row
from storyproof.families.kinship.rules import PUBLISHED, STRICT
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.tasks import TASK_NUMBERS, noise_types, story_type
from storyproof.findings import Finding
from storyproof.language.answer_language import Talk
from storyproof.language.chain_of_thought import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.file_judge import FileJudge, Subject
    from storyproof.families.kinship.pictures.tree import FamilyStory
    from storyproof.families.paraphrasing import Paraphrasing
    from storyproof.shortcuts.results import ShortcutReport


_CONVENTIONS = Path(__file__).with_name("conventions.yaml")
_TABLE_3 = "Sinha et al. 2019, Table 3"
_PEOPLE = (
    Reference("people, limited time", _TABLE_3, "clutrr", "k", {2: 0.848, 3: 0.773, 4: 0.477, 5: 0.424, 6: 0.406}),
    Reference("people, unlimited time", _TABLE_3, "clutrr", "k", dict.fromkeys(range(2, 7), 1.0)),
)
_SAMPLES = (
    SampleStory(
        "A grandson",
        "Ann is the mother of Bob.\nCleo is Bob's sister.\nDan is the son of Cleo.",
        "What is Dan to Ann?",
    ),
    SampleStory(
        "Two families fit",  # an uncle may be one by marriage
        "Ann's son is Bob.\nBob's sister is Clara.\nDan is the uncle of Clara.",
        "What is Dan to Ann?",
    ),
)
_ASKED = re.compile(r"What is (.+?) to (.+?)\?")
_RELATION = re.compile(r"(?:what|who|how) (?:is|are) .+?(?: related)? to .+\?", re.IGNORECASE)  # as other datasets ask


class Kinship(Family):
    """Who is what to whom: stories that state relations between people, and questions about two of them."""

    name = "kinship"
    title = "kinship"
    schema = KINSHIP_SCHEMA
    nullable = frozenset({"status"})
    facts = ("k", "task", "query", "genders", "edges", "edge_types", "noise_types", "pattern", "placeholders")
    marks = frozenset({"edges"})
    kinds = KINDS
    answer_fields = frozenset({"answer", "target"})
    legend = (
        "Families: couples are joined by a line from which their children hang. Men have boxes with corners, women "
        "have round ones; grey boxes are people of whom the story does not speak. The two people asked about are "
        "filled, and the numbers lead along the proof."
    )
    mistakes = MISTAKES
    procedures = PROCEDURES
    references = _PEOPLE
    readings: ClassVar[Mapping[str, str]] = {
        STRICT: "what holds in every family that fits the story.",
        PUBLISHED: "what the CLUTRR paper's sixteen rules derive.",
    }
    samples = _SAMPLES
    standard = "strict kinship"
    statuses = STATUSES
    status_column = "status"
    edge_types = WORDS
    names_are_entities = True

    def reads(self, question: str) -> bool:
        """Return whether a question asks what somebody is to somebody."""
        from storyproof.families.kinship.user_text import is_asked

        return _RELATION.fullmatch(question.strip()) is not None or is_asked(question)

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, from its facts."""
        return complete(table, proved=proved)

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with facts and text, by oracle and checker."""
        from storyproof.families.kinship.audit.judge import KinshipJudge

        return KinshipJudge(subject)

    def judge_resource(self, path: Path) -> tuple[int, list[Finding]] | None:
        """Check a JSON file of placeholders."""
        from storyproof.families.kinship.placeholders.files import looks_like_placeholders

        if path.suffix != ".json" or not looks_like_placeholders(path):
            return None
        from storyproof.families.kinship.placeholders.checks import problems
        from storyproof.families.kinship.placeholders.files import load_placeholders
        from storyproof.families.kinship.templates import placeholder_id

        found = load_placeholders(path)
        common: dict[str, Any] = {"file": path.name, "expected": "a text that states its facts"}
        return found.count, [
            Finding(id=placeholder_id(flaw.key, flaw.text), kind=flaw.kind, field=flaw.kind, found=flaw.what, **common)
            for flaw in problems(found)
        ]

    def lines(self, story: str) -> str:
        """Return the story as it is: its reader finds the sentences of running text by itself."""
        return story

    def answer_in(self, text: str) -> str:
        """Return a relation in lower case, with hyphens and without article."""
        plain = text.strip().rstrip(".").casefold().removeprefix("the ").replace("_", "-").replace(" ", "-")
        return plain if plain in WORDS else text

    def prove_text(self, story: str, question: str, people: Collection[str] = ()) -> Example:
        """Read facts and genders from the text, and derive the answer and its proof."""
        from storyproof.families.kinship.states import prove_text

        return prove_text(story, question, people)

    def reword(self, story: str, question: str = "") -> Sequence[Rewording]:
        """Return a text in words that the reader knows."""
        from storyproof.families.kinship.language.rewording import reword

        return reword(story)

    def find_problems(self, story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
        """Return the words that are not understood, or what the question lacks."""
        from storyproof.families.kinship.user_text import find_problems

        return find_problems(story, question, people)

    def questions(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[str]:
        """Return the question about each two people."""
        from storyproof.families.kinship.user_text import list_questions

        return list_questions(story, people)

    def question_forms(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[QuestionForm]:
        """Return the question what somebody is to somebody."""
        return [QuestionForm("what one is to another", ("What is {0} to {1}?",))]

    def answers_by_reading(self, example: Example) -> Mapping[str, str]:
        """Return what holds in all families, and what the published rules derive."""
        from storyproof.families.kinship.states import answers_by_reading

        return answers_by_reading(example)

    def models(self, example: Example) -> Sequence[StoryModel]:
        """Return a family for each relation that is possible."""
        from storyproof.families.kinship.states import models_of

        return models_of(example)

    def steps(self, example: Example, order: int = 2) -> list[Step]:
        """Return what is stated, what follows, and a family that fits after each sentence."""
        from storyproof.families.kinship.states import steps_of

        return steps_of(example)

    def is_settled(self, example: Example) -> bool:
        """Return whether the answer is entailed; rows that do not say count as settled."""
        from storyproof.families.kinship.checker import ENTAILED

        return example.get("status") in (None, ENTAILED)

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else all kinship terms."""
        return example.candidates or WORDS

    def talk(self) -> Talk:
        """Return how replies about kin are read."""
        return TALK

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about who is what to whom."""
        from storyproof.families.kinship.statements import find_statements

        return find_statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with all families that fit the story."""
        from storyproof.families.kinship.statements import check_statement

        return check_statement(statement, example)

    def kind(self, example: Example) -> str:
        """Return the length of the chain, `k=3`."""
        return f"k={example.get('k')}"

    def kind_order(self, example: Example) -> tuple[Any, ...]:
        """Sort kinds by length."""
        return (example.get("k") or 0, self.kind(example))

    def measures(self, example: Example) -> Iterator[str]:
        """Yield the length, the task, and both together."""
        kind, task = self.kind(example), example.get("task")
        yield kind
        if task:
            yield f"task={task}"
            yield f"task={task}/{kind}"

    def facets(self, example: Example) -> Mapping[str, str]:
        """Return the length of the chain, the question type, and the types of noise."""
        noise = sorted(set(example.get("noise_types") or ()))
        return {
            "length": self.kind(example),
            "question type": example.question_type,
            "noise": ", ".join(noise) or "none",
        }

    def scale(self, example: Example) -> tuple[str, int] | None:
        """Return the length of the chain."""
        k = example.get("k")
        return None if k is None else ("k", k)

    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return what a reader answers who stops on the way, mixes up two people, or misses by a little."""
        return mistaken_answers(example)

    def procedure_answers(self, example: Example) -> Mapping[str, str]:
        """Return what a solver answers that follows one of the procedures."""
        return procedure_answers(example)

    def checked_answer(self, example: Example) -> str:
        """Answer by the families that fit the story; empty where they disagree."""
        from storyproof.families.kinship import baselines

        return baselines.checked_answer(example)

    def rules_answer(self, example: Example) -> str:
        """Answer by the CLUTRR paper's sixteen rules."""
        from storyproof.families.kinship import baselines

        return baselines.rules_answer(example)

    def exchangeable(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return the names of people with their genders; a name of both is left out."""
        genders: dict[str, set[str]] = defaultdict(set)
        for each in examples:
            for person in each.get("genders") or ():
                name, _, gender = person.rpartition(":")
                genders[name].add(gender)
        return {name: next(iter(found)) for name, found in genders.items() if len(found) == 1}

    def people(self, example: Example) -> Sequence[str]:
        """Return everybody in an example, in the order of its graph."""
        return person_names(example.get("genders"))

    def question_words(self, example: Example) -> Sequence[str] | None:
        """Return the two people asked about."""
        query = example.get("query")
        return None if query is None else list(query)

    def graph(self, example: Example) -> Graph | None:
        """Return people and the facts between them; noise in published data has no types.

        Raises:
            DataError: If the row lacks its facts, or they are about somebody else.
        """
        people = self.people(example)
        query: Sequence[str] = example.get("query") or ()
        if len(query) != 2 or not set(query) <= set(people) or example.get("edges") is None:
            raise DataError(f"{example.id} has the query {quoted(query)}; expected edges, and two of its genders.")
        try:
            check_references(example.extra, len(people))
        except ParseError as error:
            raise DataError(f"{example.id}: {error}") from error
        first, second = query
        return Graph(
            people, example.get("edges"), example.get("edge_types") or (), (people.index(first), people.index(second))
        )

    def model_facts(self, example: Example) -> tuple[Any, ...]:
        """Return who is asked about, who there is, and the facts between them."""
        return tuple(map(example.get, ("query", "genders", "edges", "edge_types")))

    def prompt_values(self, example: Example) -> dict[str, str]:
        """Return who is asked about, and to whom."""
        match = _ASKED.fullmatch(example.question)
        return {"person": match[1], "other": match[2]} if match else {"person": "", "other": ""}

    def conventions(self, example: Example, language: str = "") -> Sequence[str]:
        """Return the rules of strict kinship, or the published ones for an answer that holds only by these."""
        texts = load_conventions(_CONVENTIONS, language or self.language(example))
        reading = STRICT if not example.readings or STRICT in example.readings else PUBLISHED
        return texts[reading] if reading in (STRICT, *example.readings) else ()  # rules of the user's own have no text

    def lay_out(self, examples: Sequence[Example]) -> FamilyStory:
        """Show the story, the proof, and families that show the status of the answer."""
        from storyproof.families.kinship.pictures.tree import lay_out

        return lay_out(examples[0])

    def pictures(
        self, examples: Sequence[Example], marked: Collection[int] = (), answers: tuple[str, str] | None = None
    ) -> list[Picture]:
        """Draw families that fit the story: one in which the label holds, and one in which it does not."""
        from storyproof.families.kinship.pictures.picture import family_pictures

        try:
            return family_pictures(examples[-1])
        except (StoryproofError, LookupError, ValueError) as error:  # rows may name people who are not in their text
            is_ours = isinstance(error, StoryproofError)
            raise DataError(str(error) if is_ours else f"its text does not fit its question ({error})") from error

    def paraphrasing(self) -> Paraphrasing:
        """Return how stories that people write for one to three facts are collected and checked."""
        from storyproof.families.kinship.paraphrases import KinshipParaphrasing

        return KinshipParaphrasing()

    def fingerprint(self, story: str, facts: Mapping[str, Any]) -> str:
        """Return a story without the names of its people."""
        return number_names(story, set(person_names(facts.get("genders"))))

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without composing relations."""
        from storyproof.families.kinship.shortcuts.report import find_kinship_shortcuts

        return find_kinship_shortcuts(train, test, seed=seed, learned=learned)


FAMILY = Kinship()


_ANY = "child"  # stands for a label that does not fit; which one does not matter


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks; facts are taken as given.

    With `proved` all labels are replaced, and rows from whose facts no answer follows are left out.
    """
    rows = list(_complete(table.to_pylist(), proved))
    return pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))


def _read_unlabelled(values: dict[str, Any]) -> KinshipRow:
    """Read a row whose label cannot be right; raise DataError if something else is wrong with it."""
    try:
        return read_row(values, labelled=False)
    except ParseError as error:
        raise DataError(f"row {values['id']}: {error}") from error


def _complete(table: list[dict[str, Any]], proved: bool) -> Iterator[dict[str, Any]]:
    """Yield complete rows; with `proved`, leave out those from which no answer follows."""
    from storyproof.families.kinship.baselines import decide_genders  # with all that reads text

    kept: list[tuple[KinshipRow, bool]] = []  # each with whether its label can be right
    for values in table:
        try:
            row, fits = read_row(decide_genders(values)), True
        except ParseError:
            row, fits = _read_unlabelled(values), False
        answer = entailed_relation(row) if proved else row.answer or _ANY
        if answer is not None:
            kept.append((replace(row, answer=answer, values=values), fits or proved))
    for (row, fits), judged in zip(kept, judge(row.structure for row, _ in kept), strict=True):
        label = {
            "answer": row.word(row.query),
            "readings": judged.readings(row.query.predicate) if fits else [],
            "status": judged.status if fits else CONTRADICTED,
        }
        kind = story_type(noise_types(row.edges, row.k), row.pair, row.edges)
        task = row.values.get("task")
        found = {
            "story_id": row.values["id"],
            "story_type": kind,
            "question_type": f"task_{TASK_NUMBERS.get(task or kind, TASK_NUMBERS[kind])}.{row.k}",
            "benchmark": "clutrr",
            "split": "",
            "candidates": sorted(WORDS),
            "order": 0,
            "chain": [],
            "false_belief": False,
            "proof": [],
            "noise_types": [],
            "placeholders": [],
            "proof_steps": [],
            "proof_relations": [],
            "pattern": " ".join(fact.predicate for fact in row.chain),
            "k": row.k,
            **label,
        }
        unproved = ("proof_relations",) if row.steps is None else ()  # relations without steps are no proof
        given = {
            name: value
            for name, value in row.values.items()
            if value is not None and name not in unproved and not (proved and name in label)
        }
        yield {**found, **given}
