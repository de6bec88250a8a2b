"""The benchmark `tom-k`: beliefs of any order in random stories with secrets, messages and lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from storyproof.benchmark import Benchmark, Config, comma_separated, option
from storyproof.errors import ConfigError, ProofError
from storyproof.example import SCHEMA, SPLITS
from storyproof.families.belief import provers
from storyproof.families.belief.arrays import PlotArrays
from storyproof.families.belief.benchmarks.plain_plots import (
    SIX,
    PlainBlock,
    PlainPlots,
    count_plots,
    label_plain,
    plot_keys,
)
from storyproof.families.belief.benchmarks.plot_blocks import BlockDials, PlotBlock, draw_block, fill_noise
from storyproof.families.belief.benchmarks.plot_sampler import CONTAINERS, PlotDials
from storyproof.families.belief.benchmarks.question_sampler import (
    describe,
    share_of_lies_that_deceive,
)
from storyproof.families.belief.benchmarks.word_assignment import FirstWords, cast_words
from storyproof.families.belief.labels import LabelledQuestions, LabelWords, name_questions
from storyproof.families.belief.narration import Cast, Narrator
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.readings import ALL_READINGS, TRUSTS, BeliefReading
from storyproof.families.belief.readings import READINGS as PLAIN_READINGS
from storyproof.families.belief.rows import MOST_BELIEVERS, READINGS
from storyproof.families.belief.vocabulary import ROLES, Vocabulary, default_vocabulary
from storyproof.families.belief.wording import (
    LANGUAGES,
    STYLES,
    PlotWording,
    check_wording,
    divide_words,
    find_wording,
)
from storyproof.generation.arrow_columns import coded, identity
from storyproof.generation.seeds import Draws, Indices, Permutation

CONTROLS = (Ask.MEMORY, Ask.REALITY)
OTHERS = (Ask.SAYS, Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS, Ask.COMMON)
KINDS = tuple(str(ask) for ask in (*CONTROLS, *OTHERS))
PLAIN_STYLE = "tomi"
_ASKED, _PLOT, _MESSAGES, _WORDS = "Questions", "Plot", "Messages and secrets", "Wording"  # groups of dials
_SHARES = {"train": 3.0, "val": 1.0, "test": 1.0}  # of the words of a role that is kept disjoint
_LIES_COUNTED = 512  # stories of each split in which lies are counted
_KEPT = 64  # blocks that were drawn for the manifest and are kept until they are used: 30 MB
_PIECE = 3072  # stories that are proved and narrated at once
_GATHERING = 3  # of four who enter a room, go where most people are


def _dial(group: str, help: str, default: int, least: int, most: int) -> Any:
    metadata = option(help, read=int, default=str(default), least=least, most=most, group=group)
    return field(default=default, metadata=metadata)


def _choice(group: str, help: str, choices: Sequence[str]) -> Any:
    metadata = option(help, default=choices[0], choices=tuple(choices), metavar="|".join(choices), group=group)
    return field(default=choices[0], metadata=metadata)


@dataclass(frozen=True)
class TomKConfig(Config):
    """The dials of tom-k.

    Attributes:
        order: Through how many minds the deepest question goes; each story has one question of every order up to it.
        agents: How many people a story has; in ToMi's wording, at most.
        rooms: How many rooms.
        objects: How many objects.
        moves: How often an object is moved.
        tells: How many messages their speakers believe: to a room, in private, or to everybody.
        lies: How many messages their speakers do not believe.
        peeks: How often somebody secretly watches a room.
        distractions: How often somebody gets distracted.
        distractors: How many sentences change nothing.
        restatements: How often it is said again where an object is.
        length: How many sentences a story has; 0 gives everybody time to come and go.
        trust: Which hearers believe a message (decision 21).
        style: The wording; `tomi` has no messages or secrets, and the six questions of ToMi.
        language: The language.
        unknown: Whether questions are asked to which the answer is "unknown".
        robust: Whether only questions are asked whose answer is the same under all readings.
        questions: Which kinds of question are asked besides those about beliefs.
        disjoint: Roles of which no word may occur in two splits.
    """

    order: int = _dial(_ASKED, "The highest order of the questions about beliefs.", 3, 1, 8)
    agents: int = _dial(_PLOT, "People in a story; with --style tomi, at most this many.", 4, 2, 8)
    rooms: int = _dial(_PLOT, "Rooms.", 2, 1, 6)
    objects: int = _dial(_PLOT, "Objects.", 2, 1, 6)
    moves: int = _dial(_PLOT, "How often an object is moved.", 4, 0, 40)
    tells: int = _dial(_MESSAGES, "Honest messages.", 2, 0, 20)
    lies: int = _dial(_MESSAGES, "Messages that their speakers do not believe.", 1, 0, 20)
    peeks: int = _dial(_MESSAGES, "How often somebody secretly watches a room.", 1, 0, 20)
    distractions: int = _dial(_MESSAGES, "How often somebody is distracted.", 1, 0, 20)
    distractors: int = _dial(_PLOT, "Sentences that change nothing.", 1, 0, 40)
    restatements: int = _dial(_PLOT, "How often it is said again where an object is.", 0, 0, 20)
    length: int = _dial(_PLOT, "Sentences of a story; 0 leaves time for everybody to come and go.", 0, 0, 120)
    trust: str = _choice(_MESSAGES, "Which hearers believe a message.", TRUSTS)
    style: str = _choice(_WORDS, "The wording of the stories.", STYLES)
    language: str = _choice(_WORDS, "The language of the stories.", LANGUAGES)
    unknown: bool = field(
        default=False, metadata=option("Also ask questions to which nobody knows the answer.", read=bool, group=_ASKED)
    )
    robust: bool = field(
        default=False,
        metadata=option("Ask only questions with the same answer under all readings.", read=bool, group=_ASKED),
    )
    questions: tuple[str, ...] = field(
        default=KINDS,
        metadata=option(
            "Kinds of question besides beliefs, comma-separated.",
            read=comma_separated,
            default=",".join(KINDS),
            choices=KINDS,
            group=_ASKED,
        ),
    )
    disjoint: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Roles with no word in two splits: agents, rooms, objects, containers; comma-separated.",
            read=comma_separated,
            choices=ROLES,
            group=_WORDS,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_wording(self.language, self.style)
        for name, known in (("questions", KINDS), ("disjoint", ROLES)):
            values = getattr(self, name)
            object.__setattr__(self, name, tuple(each for each in known if each in values))
        if self.style == PLAIN_STYLE:
            self._check_plain()
        else:
            self._check_nested()

    def _check_nested(self) -> None:
        if self.order > self.agents + 1:
            raise ConfigError(
                f"--order is {self.order}, but with {self.agents} people a question of more than {self.agents + 1} "
                "minds is one of fewer in other words; use more --agents or a lower --order."
            )
        if not self.moves + self.tells + self.lies:
            raise ConfigError("--moves, --tells and --lies are all 0, so every object has one place only; raise one.")
        if self.peeks and self.rooms == 1:
            raise ConfigError(f"--peeks is {self.peeks}, but there is one room only; use --rooms 2 or more.")
        if self.lies and self.rooms == 1:
            raise ConfigError(
                f"--lies is {self.lies}, but there is one room only, where everybody sees the objects and nobody can "
                "be deceived; use --rooms 2 or more."
            )
        if str(Ask.BELIEVERS) in self.questions and self.agents > MOST_BELIEVERS:
            raise ConfigError(
                f"--agents is {self.agents}; questions of the kind '{Ask.BELIEVERS}' have every set of people among "
                f"their candidates, so use at most {MOST_BELIEVERS}, or leave them out of --questions."
            )
        if self.length and self.length < self._least_length:
            raise ConfigError(
                f"--length is {self.length}, but everybody and everything that is asked for takes {self._least_length} "
                "sentences; ask for less, or for more sentences."
            )

    def _check_plain(self) -> None:
        for name in ("tells", "lies", "peeks", "distractions"):
            if getattr(self, name):
                raise ConfigError(
                    f"--{name} is {getattr(self, name)}, but --style tomi has only comings, goings and moves."
                )
        expected = {"order": 2, "objects": 1, "unknown": False}
        for name, value in expected.items():
            if getattr(self, name) != value:
                raise ConfigError(
                    f"--{name} is {getattr(self, name)}; --style tomi has ToMi's six questions, so use {value}."
                )
        if not self.moves:
            raise ConfigError("--moves is 0; ToMi's questions are about who moves the object, so use 1 or more.")

    @property
    def _least_length(self) -> int:
        return PlotDials(**self._counts, walks=0).sentences

    @property
    def _counts(self) -> dict[str, int]:
        names = ("agents", "rooms", "objects", "moves", "tells", "lies", "peeks", "distractions")
        return {**{name: getattr(self, name) for name in (*names, "restatements")}, "noise": self.distractors}

    @cached_property
    def plot_dials(self) -> PlotDials:
        """How much happens in a story."""
        walks = self.length - self._least_length if self.length else 3 * self.agents
        # Plain stories shall hardly ever have the plot of another one, so people go anywhere in them. In a single room
        # people meet without waiting for one another.
        gathering = 0 if self.style == PLAIN_STYLE or self.rooms == 1 else _GATHERING
        return PlotDials(**self._counts, walks=walks, gathering=gathering)

    @property
    def reading(self) -> BeliefReading:
        """The reading that decides the answers."""
        return BeliefReading(trust=self.trust)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        if not self.restatements:  # what is drawn depends on these values, and data without them stay as they are
            del plain["restatements"]
        return {**plain, "questions": list(self.questions), "disjoint": list(self.disjoint)}


_PRESET_NAMES = (
    "order",
    "agents",
    "rooms",
    "objects",
    "moves",
    "tells",
    "lies",
    "peeks",
    "distractions",
    "distractors",
)
PRESETS: dict[str, dict[str, Any]] = {
    name: dict(zip(_PRESET_NAMES, values, strict=True))
    for name, values in {
        "easy": (2, 4, 1, 1, 4, 0, 0, 0, 0, 0),
        "medium": (3, 4, 2, 2, 4, 2, 1, 1, 1, 1),
        "hard": (4, 5, 2, 2, 6, 3, 2, 2, 1, 2),
        "extreme": (6, 6, 3, 3, 12, 4, 3, 3, 2, 4),
    }.items()
}
PRESETS["plain"] = {
    **dict.fromkeys(("tells", "lies", "peeks", "distractions"), 0),
    **{"order": 2, "agents": 5, "rooms": 2, "objects": 1, "moves": 2, "distractors": 1, "style": PLAIN_STYLE},
}


class TomK(Benchmark):
    """Beliefs of any order in random stories with secrets, messages and lies.

    World: people, rooms with three containers each, objects. Random comings and goings, placings and moves, secret
    watching, distraction, and messages to a room, in private or to everybody, honest or not. There is no recipe: at
    every sentence a story chooses among what can happen next. Whom hearers believe is a reading (`trust`).

    Questions: one about beliefs of each order from 1 to `order`, one about memory or reality, and one of another kind:
    what somebody would say, whether somebody knows where the object is or that somebody else is wrong, who believes
    something, and what a group commonly believes. In ToMi's wording (preset `plain`): the six questions of ToMi about
    the person who moves the object and one other, with equally many stories of ToMi's three types.

    Splits: differ in their stories, and on request in their words (`disjoint`).

    Known artefacts: an answer is a place that the story names with the object, so who guesses among these is right in
    a third to a half. In a share of the questions, which the manifest states by order, a shorter chain has the same
    answer. Speakers of honest messages say what they believe under the reading of the benchmark.

    Source: storyproof; the semantics are in decision 21. The events are those of Hi-ToM (He et al. 2023) and ExploreToM
    (Sclar et al. 2024), the plain wording that of ToMi (Le, Boureau and Nickel 2019).
    """

    name = "tom-k"
    version = 1
    family = "belief"
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 999)
    round = 3
    config_type = TomKConfig
    presets = PRESETS
    readings: ClassVar[tuple[str, ...]] = READINGS

    config: TomKConfig
    block_stories: int = 3072  # enough to balance answers, and few enough for small datasets

    def __init__(self, config: TomKConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or TomKConfig(), seed)
        made = self.config
        needed = {
            "agents": made.agents,
            "rooms": made.rooms,
            "objects": made.objects,
            "containers": CONTAINERS * made.rooms,
        }
        words = self.vocabulary
        words.require(needed, self.name)
        parts = divide_words(words, [_SHARES[split] for split in SPLITS], needed) if made.disjoint else []
        self._words: dict[str, dict[str, range]] = {}
        for number, split in enumerate(SPLITS):
            every = {role: range(len(getattr(words, role))) for role in ROLES}
            self._words[split] = every | {role: parts[number][role] for role in made.disjoint}
        self._plain = PlainPlots(made.agents, made.plot_dials, made.length) if made.style == PLAIN_STYLE else None
        if self._plain is not None:
            self.readings = PLAIN_READINGS  # type: ignore[misc]
        self._drawn: dict[tuple[str, int], PlotBlock] = {}
        self._counted: dict[tuple[str, int], PlainBlock] = {}  # what was drawn for the manifest and not yet used

    @cached_property
    def wording(self) -> PlotWording:
        """The words of stories, questions and answers."""
        return find_wording(self.config.language, self.config.style)

    @cached_property
    def _narrator(self) -> Narrator:
        """The words of plain stories, with the text that they occur in."""
        return Narrator(word for role in ROLES for word in getattr(self.vocabulary, role))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words by role; in ToMi's wording those of `tomi`."""
        return default_vocabulary() if self.config.style == PLAIN_STYLE else self.wording.vocabulary

    def rows_per_story(self, split: str) -> int:
        """Return the number of questions: one of each order, one control question and one of another kind."""
        if self._plain is not None:
            return 6
        return self.config.order + bool(self._kinds(CONTROLS)) + bool(self._kinds(OTHERS))

    def _kinds(self, known: Sequence[Ask]) -> list[Ask]:
        return [ask for ask in known if str(ask) in self.config.questions]

    def _sizes(self, split: str) -> tuple[int, ...]:
        """Return how many words there are for what makes a story unique; see `_cast`."""
        words = {role: len(role_words) for role, role_words in self._words[split].items()}
        return words["agents"], words["agents"] - 1, words["rooms"], words["objects"], words["containers"]

    @cached_property
    def _orders(self) -> dict[str, Permutation]:
        """In which order the words that make a story unique are used, by split."""
        return {split: Permutation(prod(self._sizes(split)), "cast", *self.identity) for split in SPLITS}

    def capacity(self, split: str) -> int:
        """Return how many stories differ in the words that make a story unique."""
        return min(prod(self._sizes(split)) // len(SPLITS), 10**9)

    def plots(self, split: str, index: int) -> PlotBlock:
        """Return a block of stories without words, with the questions that they are asked; the first ones are kept."""
        if (split, index) not in self._drawn:
            plots = self._draw(split, index)
            if index:
                return plots
            self._drawn[split, index] = plots
        return self._drawn[split, index]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawn": {}, "_counted": {}}  # workers need not be sent stories

    def _draw(self, split: str, index: int) -> PlotBlock:
        """Draw a block of stories without words, and choose the questions that they are asked."""
        made = self.config
        dials = BlockDials(
            made.plot_dials,
            made.order,
            made.reading,
            made.unknown,
            made.robust,
            self._kinds(CONTROLS),
            self._kinds(OTHERS),
        )
        return draw_block(dials, Draws(*self.identity, split, index, "plot"), self.block_stories)

    def _cast(self, split: str, index: int, stories: PlotArrays) -> Cast:
        """Draw the words of a block's stories.

        Who is named first and second, the object that is placed first, its container and its room are never the same
        twice, and can be told from the text, so no two stories have the same text.
        """
        count = stories.kind.shape[1]
        # A block may reach past the last story.
        numbers = np.minimum(np.arange(count) + index * self.block_stories, self.capacity(split) - 1)
        rank, digits = self._orders[split](numbers * len(SPLITS) + SPLITS.index(split)), list[Indices]()
        for size in self._sizes(split):
            rank, digit = np.divmod(rank, size)
            digits.append(digit)
        draws = Draws(*self.identity, split, index, "words")
        return cast_words(stories, self.config.plot_dials, self._words[split], FirstWords(*digits), draws)

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block: draw, choose questions, label by the oracle, confirm by the checker, narrate."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block; only these are labelled, confirmed and narrated."""
        stories = min(stories, self.block_stories)
        if self._plain is not None:
            return self._plain_table(split, index, stories)
        drawn = self.plots(split, index)
        cast = self._cast(split, index, drawn.stories)
        pieces = [
            self._table(split, index, drawn, cast, range(start, min(start + _PIECE, stories)))
            for start in range(0, stories, _PIECE)
        ]
        return pa.concat_tables(pieces).unify_dictionaries().combine_chunks()

    def _narrate(self, split: str, index: int, drawn: PlotBlock, cast: Cast, start: int) -> pa.Array:
        """Return the text of a whole piece of a block, so that it does not depend on how much of it is used."""
        end = min(start + _PIECE, self.block_stories)
        draws = Draws(*self.identity, split, index, start, "text")
        return self.wording.narrate_block(
            drawn.stories.between(start, end), drawn.lie[:, start:end], cast.between(start, end), draws
        )

    @cached_property
    def _label_words(self) -> LabelWords:
        return LabelWords.of(self.wording, self.vocabulary.agents, self.vocabulary.containers)

    def _table(self, split: str, index: int, drawn: PlotBlock, cast: Cast, columns: range) -> pa.Table:
        """Label, confirm and narrate some of a block's stories."""
        made, per_story = self.config, self.rows_per_story(split)
        start, end = columns.start, columns.stop
        asked = drawn.asked.between(start * per_story, end * per_story)
        asked = replace(asked, story=asked.story - start)
        stories, lie, words = drawn.stories.between(start, end), drawn.lie[:, start:end], cast.between(start, end)
        derived = provers.derive(stories, asked, made.reading, ALL_READINGS)
        for difference in provers.differences(stories, asked, derived):
            raise ProofError(provers.describe(stories, asked, derived, difference))
        named = name_questions(asked, words, self._label_words.agent_rank)
        unknown = np.full(asked.count, made.unknown)
        labels = LabelledQuestions(stories, lie, words, asked, named.chain, derived, made.reading, unknown)
        texts = self._narrate(split, index, drawn, cast, columns.start).slice(0, len(columns))
        found_columns = {
            **identity(self.name, split, index * self.block_stories + columns.start, len(columns), per_story),
            "story": coded(asked.story, texts),
            "question": self.wording.ask_block(asked.ask, named.thing, named.chain, named.place),
            **labels.columns(self._label_words),
        }
        return pa.table([found_columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def _plain_plots(self, split: str, index: int) -> PlainBlock:
        """Draw a block of plain stories without words."""
        assert self._plain is not None
        draws = Draws(*self.identity, split, index, "plot")
        drawn = self._plain.draw(draws, self.block_stories)
        # Noise within a story is about somebody of it, that after its end is cut off.
        return replace(drawn, stories=fill_noise(drawn.stories, self.config.objects, draws))

    def _plain_table(self, split: str, index: int, stories: int) -> pa.Table:
        """Label, confirm and narrate the first plain stories of a block."""
        drawn = self._counted.pop((split, index), None) or self._plain_plots(split, index)
        few = drawn.pick(np.arange(stories))
        cast = self._cast(split, index, drawn.stories).between(0, stories)
        labelled = label_plain(few, cast, self.vocabulary, self._narrator)
        columns = identity(self.name, split, index * self.block_stories, stories, len(SIX)) | labelled
        return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def notes(self, splits: Mapping[str, int]) -> dict[str, Any]:
        """Return how often cheap readers are right, or how many plots plain stories have and share between splits."""
        if self._plain is not None:
            keys: dict[str, list[bytes]] = {split: [] for split in splits}
            for split, count in splits.items():
                for index in range(self.block_count(count)):
                    plots = self._plain_plots(split, index)
                    keys[split] += plot_keys(plots)[: count - index * self.block_stories]
                    if len(self._counted) < _KEPT:
                        self._counted[split, index] = plots
            return {"plots": count_plots(keys)}
        rates, deceive = {}, {}
        for split, count in splits.items():
            kept, drawn = np.arange(min(count, self.block_stories)), self.plots(split, 0)
            rates[split] = describe([each.pick(kept) for each in drawn.beliefs])
            counted = min(count, _LIES_COUNTED)
            deceive[split] = share_of_lies_that_deceive(
                drawn.stories.between(0, counted), drawn.lie[:, :counted], self.config.reading
            )
        notes: dict[str, Any] = {"balance": {"stories_at_most": self.block_stories, "shares": rates}}
        if self.config.lies:
            notes["lies"] = {"stories_at_most": _LIES_COUNTED, "deceive": deceive}
        return notes

    def remarks(self, manifest: Mapping[str, Any]) -> list[str]:
        """Return how many plots there are, and how many of a split occur in training."""
        remarks = []
        for split, entry in manifest.get("plots", {}).items():
            shared = (
                f"; {100 * entry['in_train']:.2f}% of the stories have a plot of the training split"
                if "in_train" in entry
                else ""
            )
            remarks.append(f"{split}: {entry['distinct']:,} different plots{shared}")
        return remarks
