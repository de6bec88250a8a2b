"""Published sets that an audit recognises by their columns, with the rules that their own prompts state.

A set's rules are readings of its family. Where a prompt leaves something open, several readings fit it, and a label is
right under the set's own rules if it is right under one of them. Rules are stated here in our words; no text of a set
is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storyproof.formats import explore_tom, tombench
from storyproof.formats.restated import Restated

_NESTED = ("open+hi-tom", "open+always", "open+fresher", "open+never-liars")
_CLOSED = ("closed+always",)


def _always(records: Sequence[Mapping[str, Any]]) -> bool:
    return True


def _texts(records: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    return [value for record in records if isinstance(value := record.get(name), str)]


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A set of stories and questions that somebody published.

    Attributes:
        name: What reports call it.
        columns: Columns that each of its records has.
        source: Who made it, and where it can be had.
        licence: Its licence; empty if none is stated.
        stated: The rules in its own prompt, in our words; that it states none, if it does not.
        rules: The readings that fit these rules, the most natural one first; empty if none are stated.
        confirms: Returns whether records with these columns are of this set.
        restate: Returns the rows of a record, if the set has something else than story and question in words that are
            read, such as a summary instead of a question.
    """

    name: str
    columns: frozenset[str]
    source: str
    licence: str
    stated: str
    rules: tuple[str, ...] = ()
    confirms: Callable[[Sequence[Mapping[str, Any]]], bool] = _always
    restate: Callable[[Mapping[str, Any]], Sequence[Restated]] | None = None

    def describe(self) -> str:
        """Return in a line what it is and which rules it states."""
        named = f" ({' or '.join(self.rules)})" if self.rules else ""
        return f"recognised as {self.name}; its own rules: {self.stated}{named}"


def _is_regenerated_hi_tom(records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether every story begins with the same instructions, as in AutoToM's file."""
    stories = _texts(records, "story")
    return bool(stories) and all("chronological order" in story.split("\n")[0] for story in stories)


def _is_tom_rl(records: Sequence[Mapping[str, Any]]) -> bool:
    return not {*_texts(records, "data_source")}.isdisjoint({"hi_tom", "explore_tom"})


_NAME = r"\[[^\]]+\]"
_ASIDES = re.compile(
    rf"{_NAME} (?:is into|spends a lot of time on|loves browsing|is a native of|graduated from|is an alumni of|"
    rf"is an employee of|is a proud alumni of|works at|was born in|follows|watches|votes for|strongly believes in|"
    rf"once attended|loves to (?:do|play)|is very active on|is not that active on)\b.*"
    rf"|{_NAME} is (?:where {_NAME} goes to work|the place where {_NAME} was born)\."
)
_SUMMARIES = (
    rf"(?P<who>{_NAME}) is (?P<whose>{_NAME})'s (?P<relation>[\w-]+)\.?",
    rf"(?P<whose>{_NAME}) has an? (?P<relation>[\w-]+) (?:who is|called) (?P<who>{_NAME})\.?",
    rf"(?P<who>{_NAME}) is (?:an?|the) (?P<relation>[\w-]+) of (?P<whose>{_NAME})\.?",
)


def _ask_for_summary(record: Mapping[str, Any]) -> Sequence[Restated]:
    """Return the row of a record of CLUTRR's early generator with a question in place of the summary.

    Sentences about work, schools, places, media, politics and hobbies, which say nothing of families, are left out.
    """
    story, summary = record.get("story"), record.get("summary")
    if not isinstance(story, str) or not isinstance(summary, str):
        return [Restated(record, None, None)]
    facts = [each for each in re.split(r"(?<=\.)\s+", story.strip()) if not _ASIDES.fullmatch(each)]
    told = " ".join(facts).replace("[", "").replace("]", "")
    found = next((match for each in _SUMMARIES if (match := re.fullmatch(each, summary.strip()))), None)
    if found is None:
        return [Restated({**record, "story": told}, story, None)]
    who, whose = (found[name].strip("[]") for name in ("who", "whose"))
    asked = {"question": f"What is {who} to {whose}?", "answer": found["relation"]}
    return [Restated({**record, "story": told, **asked}, story, None)]


_HI_TOM = frozenset({"prompting_type", "deception", "story_length", "question_order", "sample_id", "story", "choices"})
_HI_TOM_RULES = (
    "everybody present sees what happens until they leave; everybody hears a public claim, only two people a private "
    "one; people believe those who left the object's room later than they did, and the order of exits is known to all; "
    "their own words change nothing for speakers"
)
PUBLISHED = (
    PublishedSet(
        "Hi-ToM, regenerated by AutoToM",
        _HI_TOM,
        "AutoToM, github.com/SCAI-JHU/AutoToM, benchmarks/data/Hi-ToM_data.json",
        "Apache-2.0",
        _HI_TOM_RULES,
        ("open+hi-tom",),
        _is_regenerated_hi_tom,
    ),
    PublishedSet(
        "Hi-ToM",
        _HI_TOM,
        "He et al. 2023, github.com/ying-hui-he/Hi-ToM_dataset",
        "Apache-2.0",
        _HI_TOM_RULES,
        ("open+hi-tom",),
    ),
    PublishedSet(
        "ToM-RL (Hi-ToM and ExploreToM)",
        frozenset({"prompt", "answer", "data_source", "question", "story", "reward_model"}),
        "Lu et al. 2025, github.com/bigai-ai/ToM-RL, data/cleaned_tom",
        "MIT",
        "everybody present sees what happens until they leave; people infer only what those think "
        "whom they have met or exchanged words with; the prompt does not say whom they believe, nor what they see in "
        "containers on entering",
        (*_NESTED, *_CLOSED),
        _is_tom_rl,
        explore_tom.restate,
    ),
    PublishedSet(
        "SimToM",
        frozenset({"story", "question", "answer", "story_type", "question_type", "containers"}),
        "Wilf et al. 2023, github.com/shawnsihyunlee/simulatedtom, data/fixedtomi",
        "MIT",
        "people know what they do and what happens in the room they are in, also where the objects there are",
        ("open+always", "infer-mover+always"),
    ),
    PublishedSet(
        "Percept-ToMi",
        frozenset({"qTypeRaw", "story", "question", "perceivers", "cands", "answer"}),
        "Jung et al. 2024, github.com/chanijung/PercepToM, dataset/Percept-ToMi.csv",
        "",
        "none; a column lists who perceives each sentence: those in the room",
        ("open+always", "infer-mover+always", "closed+always"),
    ),
    PublishedSet(
        "CLUTRR, an early generator (gen_m*)",
        frozenset({"story", "summary"}),
        "uclnlp/ctp, github.com/uclnlp/ctp, data",
        "CC BY-NC 4.0 (CLUTRR)",
        "none; the summary states the relation that the story implies",
        confirms=lambda records: any("[" in each for each in _texts(records, "summary")),
        restate=_ask_for_summary,
    ),
    PublishedSet(
        "ToMBench",
        frozenset({"能力\nABILITY", "STORY", "QUESTION", "OPTION-A", "答案\nANSWER"}),
        "Chen et al. 2024, github.com/zhchen18/ToMBench, data",
        "MIT",
        "none",
        restate=tombench.restate,
    ),
)


CLUTRR_SETS: Mapping[str, str] = {  # the folders of the published files, by what models are trained on
    "data_089907f8": "generalisation, trained on 2 and 3 facts",
    "data_db9b8f04": "generalisation, trained on 2, 3 and 4 facts",
    "data_7c5b0e70": "robustness, trained on clean stories",
    "data_06b8f2a1": "robustness, trained with supporting facts",
    "data_523348e6": "robustness, trained with irrelevant facts",
    "data_d83ecc3e": "robustness, trained with disconnected facts",
}


def find_published(records: Sequence[Mapping[str, Any]]) -> PublishedSet | None:
    """Return the published set that some records are of; None if they are of none that is known."""
    names = {name for record in records for name in record}
    known = (each for each in PUBLISHED if each.columns <= names)
    return next((each for each in known if each.confirms(records)), None)
