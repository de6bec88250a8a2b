"""The protocol between families and everything that is built on them.

A family is one kind of reasoning with its own meaning, text, oracle and checker. Formats, audits, solvers, evaluation
and reports never ask which family a row belongs to: they look its family up (`family_of`, `recognise`) and call it.
Another package adds a family through the entry point group `storyproof.families`; nothing here names it.

`Core` is what every family must say: what its rows look like, and what follows from their text. The other classes are
capabilities: each has defaults that suit plain text with one list of candidates per question, and a family overrides
what it has more of. `Family` has them all; `RowwiseFamily` is the short way to one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pyarrow as pa

from storyproof.catalog import DEFAULT_FAMILY, load, names
from storyproof.errors import DataError, NoRulesError, ParseError
from storyproof.example import SCHEMA, Example
from storyproof.io.bounded_input import parse_yaml, read_text
from storyproof.language.answer_language import PLAIN_TALK, Talk
from storyproof.language.chain_of_thought import RIGHT, UNCLEAR, WRONG, Statement, StatementVerdict
from storyproof.pictures.svg import standalone

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from storyproof.families.file_judge import FileJudge, Subject
    from storyproof.families.paraphrasing import Paraphrasing
    from storyproof.findings import Finding
    from storyproof.shortcuts.results import ShortcutReport

ENGLISH = "en"
ANY_FAMILY = "any"  # the key of a prompt's wording for all families
OWN = "own"  # the id of an example that a user wrote
NO_MINDS: Mapping[str, Any] = {"order": 0, "chain": [], "false_belief": False}  # labels of questions about no beliefs
_NUMBERED = re.compile(r"\b(?:sentence|line) (\d{1,6})\b")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_TOKEN = re.compile(r"@?\w(?:[\w-]*\w)?")
_USUAL = 1000  # characters of a question that is worth remembering
_HEADINGS = {
    ENGLISH: "Rules for this story:",
    "de": "Regeln für diese Geschichte:",
    "es": "Reglas para esta historia:",
    "zh": "这个故事的规则：",
}


class Picture(NamedTuple):
    """A picture.

    Attributes:
        caption: What it shows, as plain text.
        svg: The picture as SVG, for `storyproof.pictures.svg.standalone` or a page of the same theme.
        narrow: The same for narrow screens; empty if the picture is narrow already or has no other form.
    """

    caption: str
    svg: str
    narrow: str = ""

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook."""
        return standalone(self.svg)


class Reference(NamedTuple):
    """Published accuracies along a scale, to be shown beside a solver's.

    Attributes:
        title: Whose they are, such as "people".
        source: Where they are published.
        benchmark: The benchmark on which they were measured.
        scale: The scale, as `Family.scale` names it.
        values: The accuracy at each point.
    """

    title: str
    source: str
    benchmark: str
    scale: str
    values: Mapping[int, float]


class ReadingProblem(NamedTuple):
    """A place of a text that cannot be read, or that says something impossible.

    Attributes:
        message: What is wrong, and what was expected.
        part: Where it is: `story` or `question`.
        line: The line of that part, counted from 1; 0 if it is about the whole.
        column: The column of that line, counted from 1; 0 if it is about the whole line.
        length: How many characters it is about; 0 up to the end of the line.
        is_fatal: Whether the text cannot be answered because of it.
        fixes: What the place could be replaced by, the most likely first.
        is_impossible: Whether it is readable but cannot happen; it can be shown, but no answer is stated about it.
    """

    message: str
    part: str = "story"
    line: int = 0
    column: int = 0
    length: int = 0
    is_fatal: bool = True
    fixes: tuple[str, ...] = ()
    is_impossible: bool = False


class Rewording(NamedTuple):
    """A text as people write it, in sentences that its family reads.

    Attributes:
        story: The sentences, one per line.
        read_as: What was changed, as (what was written, what it was read as); the second is empty if it says nothing.
        question: The question in the words of these sentences; empty if it stays as it is.
    """

    story: str
    read_as: tuple[tuple[str, str], ...]
    question: str = ""


class StateEntry(NamedTuple):
    """Something that holds after a sentence.

    Attributes:
        group: What it belongs to, such as "who is where".
        name: What it is about, such as "Ada thinks".
        value: What holds; empty for nothing.
        is_wrong: Whether it is a belief that is wrong.
        chain: Whose mind it is about, outermost first: Ada and Bo for what Ada thinks that Bo thinks.
        pair: Between whom it holds: Ada and Bo for what Bo is to Ada.
    """

    group: str
    name: str
    value: str
    is_wrong: bool = False
    chain: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()


class Step(NamedTuple):
    """The state of a story after one of its sentences.

    Attributes:
        sentence: The sentence.
        entries: What holds then; the same names in the same order in all steps, as far as they are known.
        picture: The state as a picture; None if there is none.
    """

    sentence: str
    entries: tuple[StateEntry, ...] = ()
    picture: Picture | None = None


class StoryModel(NamedTuple):
    """A world that fits a story, found by the checker.

    Attributes:
        answer: What the answer is there; empty for none.
        caption: What the world is like, in a sentence.
        picture: The world as a picture; None if there is none.
    """

    answer: str
    caption: str
    picture: Picture | None = None


class QuestionForm(NamedTuple):
    """A kind of question about a story, to be completed with the names of people.

    Attributes:
        title: What is asked, in a few words.
        templates: The question for more and more people, who are `{0}`, `{1}` …; one without people has one template.
    """

    title: str
    templates: tuple[str, ...]


class SampleStory(NamedTuple):
    """A story that shows what a family is about, with a question.

    Attributes:
        title: What it shows, in a few words.
        story: Its text, one sentence per line.
        question: What is asked about it.
    """

    title: str
    story: str
    question: str


class Graph(NamedTuple):
    """A story as a graph, for models that read graphs.

    Attributes:
        nodes: The names of its nodes.
        edges: Pairs of nodes, by number.
        edge_types: The type of each edge, one of `Family.edge_types`; empty if it is not known.
        asked: The two nodes that the question is about, by number.
    """

    nodes: Sequence[str]
    edges: Sequence[tuple[int, int]]
    edge_types: Sequence[str]
    asked: tuple[int, int]


class Core(ABC):
    """What a family must say: what its rows look like, and what follows from their text.

    Attributes:
        name: What users and files call it.
        title: What messages call it, such as "theory of mind".
        schema: The columns of its rows: those of all families, then its own.
        nullable: Columns that may be empty in a complete row.
        facts: Its own columns that cannot be derived from the text.
        marks: Its own columns by which a table is recognised; empty if only the text tells.
        unproved: Answers that no sentence proves, such as "not known".
    """

    name: ClassVar[str]
    title: ClassVar[str]
    schema: ClassVar[pa.Schema] = SCHEMA
    nullable: ClassVar[frozenset[str]] = frozenset()
    facts: ClassVar[tuple[str, ...]] = ()
    marks: ClassVar[frozenset[str]] = frozenset()
    unproved: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def reads(self, question: str) -> bool:
        """Return whether a question is in a form that this family can parse."""

    @abstractmethod
    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, from its text and facts.

        Args:
            table: Rows of this family.
            proved: Replace all labels by those that follow; rows from which no answer follows are left out.

        Raises:
            DataError: If a row cannot be read.
        """

    @abstractmethod
    def judge(self, subject: Subject) -> FileJudge:
        """Return what judges the rows of a file, by oracle and checker, for `verify` and `audit`.

        Raises:
            UnknownNameError: If a setting of the subject names something that the family does not know.
        """

    @abstractmethod
    def checked_answer(self, example: Example) -> str:
        """Answer by the checker, from the text; empty if no answer follows."""

    def people(self, example: Example) -> Sequence[str]:
        """Return the names of the people in a story, in a fixed order."""
        return ()

    def language(self, example: Example) -> str:
        """Return the language of an example as a code such as `de`; prompts are in the same."""
        return ENGLISH


class Pictures(Core):
    """How stories are shown.

    Attributes:
        legend: How to read its pictures; empty if it has none.
    """

    legend: ClassVar[str] = ""

    def lay_out(self, examples: Sequence[Example]) -> RenderableType:
        """Return the questions of one story, with their proofs, as an object that Rich can print at any width.

        By default these are the numbered sentences, then each question with its answer and proof.
        """
        return list_questions(examples)

    def pictures(
        self, examples: Sequence[Example], marked: Collection[int] = (), answers: tuple[str, str] | None = None
    ) -> list[Picture]:
        """Draw a story as SVG.

        Args:
            examples: The questions of one story; the last one is the one to draw.
            marked: The deciding sentences, counted from 1.
            answers: The given and the correct answer, where they differ.

        Raises:
            DataError: If there is nothing to draw, with the reason.
        """
        raise DataError(f"stories of {self.title} have no picture.")


class OwnTexts(Pictures):
    """What is understood of texts that people write.

    Attributes:
        readings: The readings that `answers_by_reading` compares, each described in words that follow its name.
        samples: Stories that show what it is about.
    """

    readings: ClassVar[Mapping[str, str]] = {}
    samples: ClassVar[Sequence[SampleStory]] = ()

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line; raise ParseError if it cannot be divided.

        By default a sentence ends with a full stop, a question mark or an exclamation mark before a space.
        """
        return "\n".join(_SENTENCE_END.split(story.strip()))

    def reword(self, story: str, question: str = "") -> Sequence[Rewording]:
        """Return a text that cannot be read as it is in sentences that can; several if it has several readings.

        Raises:
            ParseError: If something in it is not understood, with the sentence.
        """
        return ()

    def answer_in(self, text: str) -> str:
        """Return an answer of somebody else's data in the form that labels have; by default as it is."""
        return text

    def question_in(self, text: str) -> str:
        """Return the question that a text ends in, without what stands around it; raise ParseError if there is none."""
        return text.strip()

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide what a user says to a model into story, one sentence per line, and question.

        Args:
            messages: The user's messages, with instructions around story and question or examples before them.

        Raises:
            ParseError: If there is no story or question of this family.
        """
        raise ParseError(f"prompts about {self.title} cannot be divided into story and question.")

    def answers_in(self, story: str) -> Sequence[str]:
        """Return the possible answers that a story names, in its order; none if that cannot be told."""
        return ()

    def prove_text(self, story: str, question: str, people: Collection[str] = ()) -> Example:
        """Read a story that has nothing but its text, and derive all labels by the oracle.

        The answer is empty if none follows.

        Args:
            story: One sentence per line.
            question: What is asked about it.
            people: The names of the people in it, for families that cannot tell them from other words by themselves.

        Raises:
            DataError: If one of them cannot be read.
        """
        given = {"id": OWN, "story_id": OWN, "benchmark": "", "split": "", "story": story, "question": question}
        [row] = self.complete(pa.Table.from_pylist([given]), proved=True).to_pylist() or [{}]
        return own_example(given | {name: value for name, value in row.items() if value is not None}, self.name)

    def find_problems(self, story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
        """Return where a text cannot be read or says something impossible; none if all is well.

        By default it is where the message of `prove_text` says: at "sentence 3" or "line 3", or in the question.
        """
        if not self.reads(question):
            return [ReadingProblem(f"this is not a question about {self.title}.", "question", 1)]
        try:
            self.prove_text(story, question, people)
        except DataError as error:
            message = str(error).removeprefix(f"row {OWN}: ")
            match = _NUMBERED.search(message)
            return [ReadingProblem(message, line=int(match[1]) if match else 0)]
        return []

    def questions(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[str]:
        """Return questions that can be asked about a story, in a fixed order; by default none are known.

        Args:
            story: One sentence per line.
            order: Through how many minds they may go.
            people: The names of the people in it, see `prove_text`.

        Raises:
            DataError: If the story cannot be read.
        """
        return ()

    def question_forms(self, story: str, order: int = 2, people: Collection[str] = ()) -> Sequence[QuestionForm]:
        """Return the kinds of question that can be asked about a story, each for up to `order` minds; by default none.

        Args:
            story: One sentence per line.
            order: Through how many minds they may go.
            people: The names of the people in it, see `prove_text`.

        Raises:
            DataError: If the story cannot be read.
        """
        return ()

    def answers_by_reading(self, example: Example) -> Mapping[str, str]:
        """Return the answer under each of `readings`, empty where there is none.

        Raises:
            DataError: If the example cannot be read.
        """
        return {}

    def models(self, example: Example) -> Sequence[StoryModel]:
        """Return worlds that fit a story and differ in the answer, by the checker.

        An answer follows if it is the same in all of them. By default none are known.

        Raises:
            DataError: If the example cannot be read.
        """
        return ()

    def steps(self, example: Example, order: int = 2) -> list[Step]:
        """Return the state of a story after each of its sentences.

        By default it is the picture of the story so far.

        Args:
            example: The story, with a question.
            order: Through how many minds beliefs are followed.

        Raises:
            DataError: If the story cannot be read.
        """
        sentences = example.story.split("\n")
        steps = []
        for number, sentence in enumerate(sentences, start=1):
            so_far = replace(example, story="\n".join(sentences[:number]))
            try:
                picture = self.pictures([so_far], [each for each in example.proof if each <= number])[0]
            except (DataError, LookupError, ValueError):  # the question may be about what is yet to come
                picture = None
            steps.append(Step(sentence, picture=picture))
        return steps


class Answering(OwnTexts):
    """What can be answered, what a reply says, and what simple baselines answer."""

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the possible answers: the row's candidates, else what its text tells; empty if it tells nothing.

        Prompts offer them and baselines choose from them.
        """
        return example.candidates

    def mentionable(self, example: Example) -> Sequence[str]:
        """Return all that a reply may name as an answer: the row's candidates, else whatever the text allows.

        Matchers look for these, so that a reply which also names something that is no possible answer is not taken for
        a clear one. Without candidates in the row this may be more than `candidates`.
        """
        return self.candidates(example)

    def talk(self) -> Talk:
        """Return how free-text replies to this family's questions are read."""
        return PLAIN_TALK

    def positions(self, example: Example) -> Sequence[str]:
        """Return the candidates in an order that means the same in all examples, for baselines that guess by place."""
        return example.candidates

    def answer_parts(self, example: Example) -> Mapping[str, Sequence[str]]:
        """Return what each candidate consists of, if the candidates are all sets of some things, such as people.

        People tick the things that belong to the answer instead of choosing among all sets. By default candidates are
        whole, and nothing is returned.
        """
        return {}

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text states about the story of an example, in its order; by default nothing is understood.

        What is not understood is left out, and so is what a text only supposes, asks, reports or quotes.
        """
        return ()

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement about the story of an example with what is proved.

        By default its question is asked of the story's text.
        """
        try:
            holds = self.prove_text(example.story, statement.question, self.people(example)).answer
        except DataError as error:
            return StatementVerdict(UNCLEAR, reason=str(error))
        if not holds:
            return StatementVerdict(UNCLEAR, reason="no answer follows.")
        return StatementVerdict(RIGHT if (holds in statement.answers) != statement.is_denied else WRONG, holds)

    def rules_answer(self, example: Example) -> str:
        """Answer by the simple rules that a paper gives for this family; empty if they give no answer."""
        raise NoRulesError(f"the solver 'rules' knows no rules of {self.title}; choose another solver.")


class Groups(Core):
    """How results are broken down.

    Attributes:
        mistakes: Mistakes of reasoning that lead to wrong answers, those that explain most first; each with what such
            an answer is, in words that follow "answered".
        procedures: What a solver may follow instead of reasoning, each described in words that follow "the solver"; the
            first is to follow the rules. `diagnose` compares answers with what they would answer.
        references: Published accuracies that reports show beside those of solvers.
        asks_beliefs: Whether questions ask for beliefs, so that results are also shown for false beliefs by themselves.
    """

    mistakes: ClassVar[Mapping[str, str]] = {}
    procedures: ClassVar[Mapping[str, str]] = {}
    references: ClassVar[Sequence[Reference]] = ()
    asks_beliefs: ClassVar[bool] = False

    def kind(self, example: Example) -> str:
        """Return the group of an example by which accuracy is reported, such as `first_order` or `k=3`."""
        return example.question_type

    def is_control(self, example: Example) -> bool:
        """Return whether a question only checks that the story was read, such as one about memory or reality."""
        return False

    def kind_order(self, example: Example) -> tuple[Any, ...]:
        """Return where an example's kind stands among others in tables."""
        return (self.kind(example),)

    def measures(self, example: Example) -> Iterator[str]:
        """Yield the names of all groups that an example counts in, besides the average."""
        yield self.kind(example)

    def facets(self, example: Example) -> Mapping[str, str]:
        """Return the groups that an example belongs to, by what divides them, such as `question type`."""
        return {"question type": example.question_type, "story type": example.story_type}

    def scale(self, example: Example) -> tuple[str, int] | None:
        """Return how hard an example is: the name of a scale, such as `k`, and its place there; None if not known."""
        return None

    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return the answers to which each of `mistakes` leads; the right answer may be among them.

        Raises:
            ParseError: If the example cannot be read.
            DataError: If it lacks something.
        """
        return {}

    def procedure_answers(self, example: Example) -> Mapping[str, str]:
        """Return what each of `procedures` answers; nothing for those that give no answer.

        Raises:
            ParseError: If the example cannot be read.
        """
        return {}

    def structure(self, example: Example) -> str:
        """Return what is known of an example without its text, for the baseline that knows the most frequent answer."""
        return example.question_type

    def answer_class(self, example: Example) -> str:
        """Return the class of an example's answer over which solved examples in prompts are balanced."""
        return example.answer


class ModelInput(Core):
    """What models and participants read besides the words of story and question.

    Attributes:
        edge_types: What edges of its graphs can be; empty if its stories have no graphs.
        names_are_entities: Whether models read names as numbered entities unless told otherwise.
    """

    edge_types: ClassVar[tuple[str, ...]] = ()
    names_are_entities: ClassVar[bool] = False

    def question_words(self, example: Example) -> Sequence[str] | None:
        """Return what a neural model is asked instead of the words of the question; None for the words."""
        return None

    def graph(self, example: Example) -> Graph | None:
        """Return a story as a graph; None if it has none."""
        return None

    def model_facts(self, example: Example) -> tuple[Any, ...]:
        """Return all that neural models read of an example besides its text; it identifies training data."""
        return ()

    def roles(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return the role of each word that has one role only; words of one role may be permuted in training."""
        return {}

    def exchangeable(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return the role of each word, as it is written, that can stand for any other of its role in a story."""
        return {}

    def prompt_values(self, example: Example) -> dict[str, str]:
        """Return values for the placeholders {person} and {other} of prompts, and {story} if it has paragraphs."""
        return {"person": "", "other": ""}

    def prompt_keys(self, example: Example) -> tuple[str, ...]:
        """Return the keys under which prompt files give a wording for an example, the most fitting first."""
        return (self.name,)

    def conventions(self, example: Example, language: str = "") -> Sequence[str]:
        """Return the rules that the answer rests on and that a reader cannot know, in sentences; by default none.

        They are part of every prompt, and people see them with the story.

        Args:
            example: The row; only rules that its story or question can need are returned.
            language: The language of the rules, by default that of the row; English if they are not written in it.
        """
        return ()

    def paraphrasing(self) -> Paraphrasing | None:
        """Return how people's paraphrases of facts are collected and checked; by default they cannot be."""
        return None


class Audits(Core):
    """What audits find and count besides wrong labels.

    Attributes:
        kinds: What can be wrong with rows, each with a sentence that describes it; see `Finding.kind`. What matters
            most for those who use the data comes first.
        answer_fields: The fields of findings that say that the answer is wrong, or that none follows; see
            `Finding.field`.
        standard: What decides whether an answer follows, such as "strict kinship"; empty if one follows from every row
            that can be read.
        statuses: What an answer can be by that standard, what is right first.
        status_column: The column in which rows say so; audits add it to mark rows without a right answer.
    """

    kinds: ClassVar[Mapping[str, str]] = {}
    answer_fields: ClassVar[frozenset[str]] = frozenset({"answer"})
    standard: ClassVar[str] = ""
    statuses: ClassVar[tuple[str, ...]] = ()
    status_column: ClassVar[str] = ""

    def is_settled(self, example: Example) -> bool:
        """Return whether an answer follows from an example at all."""
        return True

    def judge_resource(self, path: Path) -> tuple[int, list[Finding]] | None:
        """Check a file of the family that holds no rows, such as wordings; None if it is not such a file.

        Returns:
            How many entries it has, and what is wrong with them.

        Raises:
            DataError: If it cannot be read.
        """
        return None

    def fingerprint(self, story: str, facts: Mapping[str, Any]) -> str:
        """Return a story without its names, so that stories that differ in names only are equal.

        Args:
            story: Its text.
            facts: The values of the columns `facts`.
        """
        return number_names(story, ())

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Measure how well examples can be answered without the reasoning that they claim to test."""
        raise DataError(f"there are no shortcut probes for {self.title}.")


def own_example(values: Mapping[str, Any], family: str = "") -> Example:
    """Build an example from the columns that are known of a user's own story; the others are empty."""
    empty: dict[str, Any] = {
        **dict.fromkeys(("id", "story_id"), OWN),
        **dict.fromkeys(("benchmark", "split", "answer", "question_type", "story_type"), ""),
        **{"order": 0, "false_belief": False, "candidates": [], "chain": [], "readings": [], "proof": []},
    }
    return Example.from_row({**empty, **values}, family)


def number_names(text: str, names: Collection[str]) -> str:
    """Replace names by numbers in order of appearance, and fold case and spaces."""
    numbers: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        return f"#{numbers.setdefault(match[0], len(numbers))}" if match[0] in names else match[0]

    return " ".join(_TOKEN.sub(replace, text).casefold().split())


def list_questions(examples: Sequence[Example]) -> RenderableType:
    """Return a story and its questions as lines of text."""
    from rich.console import Group
    from rich.text import Text

    first = examples[0]
    sentences = [
        Text.assemble((f"{number:>3} ", "dim"), line) for number, line in enumerate(first.story.split("\n"), start=1)
    ]
    answers = [
        Text.assemble(each.question, (" → ", "dim"), (each.answer, "bold"), (_proof_of(each), "dim"))
        for each in examples
    ]
    return Group(Text.assemble(("story ", "dim"), f"{first.story_id}  {first.story_type}"), *sentences, *answers)


def _proof_of(example: Example) -> str:
    numbers = ", ".join(map(str, example.proof or ()))
    return f"  (proved by {numbers})" if numbers else ""


class Family(Answering, OwnTexts, Pictures, Groups, ModelInput, Audits):
    """One kind of reasoning: `Core`, which every family must implement, and optional capabilities.

    Required are `name`, `title`, `reads`, `complete`, `judge` and `checked_answer`; everything else has a default.
    """

    @property
    def is_always_settled(self) -> bool:
        """Whether an answer follows from every row that can be read."""
        return not self.standard

    def provides(self, member: str) -> bool:
        """Return whether the family has a member of its own, rather than the default of `Family`."""
        return getattr(type(self), member) is not getattr(Family, member)


def convention_text(*questions: Example) -> str:
    """Return the conventions of questions about one story as a list below a heading, in its language; else nothing."""
    family = family_of(questions[0])
    rules = sorted((family.conventions(each) for each in questions), key=len, reverse=True)
    lines = dict.fromkeys(line for each in rules for line in each)
    heading = _HEADINGS.get(family.language(questions[0]), _HEADINGS[ENGLISH])
    return "\n".join([heading, *(f"- {line}" for line in lines)]) if lines else ""


@cache
def load_conventions(path: Path, language: str) -> dict[str, Any]:
    """Read a file with the texts of conventions, by name and language; return those of a language, or else English."""
    texts = parse_yaml(read_text(path))
    return {name: by_language.get(language, by_language[ENGLISH]) for name, by_language in texts.items()}


@cache
def families() -> tuple[Family, ...]:
    """Return all families: those of storyproof, then those of other packages."""
    return tuple(load_family(name) for name in names("family"))


@cache  # it is asked for with every example
def load_family(name: str) -> Family:
    """Return a family by name.

    Raises:
        UnknownNameError: If there is no such family.
    """
    family: Family = load("family", name)
    return family


def recognise(columns: Iterable[str], question: str = "") -> Family:
    """Return the family of a table: by its columns, else by a question, else the default family."""
    present = frozenset(columns)
    marked = [family for family in families() if family.marks and family.marks <= present]
    if marked:
        return max(marked, key=lambda family: len(family.marks))
    if not question:
        return load_family(DEFAULT_FAMILY)
    return _by_question(question) if len(question) < _USUAL else _by_question.__wrapped__(question)


@lru_cache(maxsize=4096)
def _by_question(question: str) -> Family:
    readers = (family for family in families() if family.reads(question))
    return next(readers, load_family(DEFAULT_FAMILY))


def family_of(example: Example) -> Family:
    """Return the family of an example."""
    if example.family:
        return load_family(example.family)
    return recognise(example.extra, example.question)


def family_of_table(table: pa.Table) -> Family:
    """Return the family of a table's rows."""
    questions = table.column("question") if "question" in table.column_names and table.num_rows else None
    return recognise(table.column_names, str(questions[0].as_py() or "") if questions is not None else "")


def schema_of(columns: Iterable[str]) -> pa.Schema:
    """Return the schema that a table with these columns follows."""
    return recognise(columns).schema
