"""The shortcut audit of stories with messages: what can be answered without following the whole chain of minds.

Heuristics name a place by where it stands in the story, or answer another question: where the object really is, or what
a shorter chain believes. Probes, which are trained, choose among candidates by counting the words of the question or of
story and question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from storyproof.example import Example
from storyproof.families.belief.baselines import checked_story, positions, rules_answer
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.rows import kind_of, places_of, reading_of
from storyproof.families.belief.world import EventKind
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import HEURISTIC, ShortcutReport, describe_best
from storyproof.shortcuts.split_setup import Fold, Trial, set_up
from storyproof.shortcuts.word_probes import probe_words
from storyproof.stats import Flags

POSITIONS = ("first", "last", "yes", "no", "nobody", "everybody")
SLOTS = "the kind of question; always the same for each: the first or last place, yes or no, nobody or everybody"
TRUNCATED = {
    "without_last_agent": "leaves the last agent of a chain out",
    "without_first_agent": "leaves the first agent of a chain out",
    "first_agent_alone": "answers what the first agent of a chain believes",
    "last_agent_alone": "answers what the last agent of a chain believes",
}
_READERS = {
    "first_mentioned": "always names the first place",
    "last_mentioned": "always names the place mentioned last",
    "kind_only": "knows only the kind of question",
    "reality": "answers with the real place of the object",
    **TRUNCATED,
    "algorithm_1": "follows the ToMi paper's Algorithm 1, which never looks at the agents,",
    "last_announced": "takes beliefs to be what was last announced to everybody, else by Algorithm 1,",
}
_BELIEFS = (Ask.BELIEF, Ask.SAYS, Ask.COMMON)
_PLACES = (*_BELIEFS, Ask.REALITY, Ask.MEMORY)


def find_nested_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer questions without following minds; see `audits.shortcuts.find_shortcuts`.

    Raises:
        ParseError: If a story or question cannot be read.
    """
    groups = ["false_belief" if each.false_belief else "no_false_belief" for each in test]
    trial = set_up(train, test, seed, groups)
    fixed = [_fixed(each) for each in trial.examples]
    right = np.array(
        [[said == each.answer for said in answers] for each, answers in zip(trial.examples, fixed, strict=True)]
    ).T
    slots = [kind_of(read_question(each.question)) for each in trial.examples]
    forced = force(right[:, trial.asked], slots[trial.first :], trial.cluster, trial.kinds, POSITIONS, SLOTS)
    rows = [
        trial.score(name, HEURISTIC, _READERS[name], True, hits, forced) for name, hits in _guess(trial, right, slots)
    ]
    if learned:
        rows += probe_words(trial, np.array([_class(each) for each in trial.examples], np.int64), forced, seed)
    return trial.report("theory_of_mind", forced, rows, describe_best(rows, forced, "belief"))


def _fixed(example: Example) -> list[str]:
    """Return the answers that stand for POSITIONS in an example; empty where there is none."""
    question, text = read_question(example.question), read_story(example.story)
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        return ["", "", text.wording.answer("yes"), text.wording.answer("no"), "", ""]
    if question.ask == Ask.BELIEVERS:
        everybody = text.wording.answer(tuple(sorted(text.cast)))
        return ["", "", "", "", text.wording.answer(()), everybody]
    said = [event.container for event in text.events if event.thing == question.thing and event.container]
    first, last = places_of(text.events, question.thing)[0], said[-1]
    return [text.wording.answer(first), text.wording.answer(last), "", "", "", ""]


def _class(example: Example) -> int:
    """Return the class of an answer, for probes: its place among those of the story, yes or no, nobody or everybody.

    What is neither, such as some of the people, is in no class.
    """
    fixed = _fixed(example)
    if example.answer in fixed[2:]:
        return fixed.index(example.answer)
    places = positions(example) if read_question(example.question).ask in _PLACES else []
    return len(POSITIONS) + places.index(example.answer) if example.answer in places else -1


def _guess(trial: Trial, right: Flags, slots: Sequence[str]) -> Iterator[tuple[str, Flags]]:
    """Yield for each heuristic its name, and which rows it answers correctly."""
    examples = [trial.examples[row] for row in trial.asked.tolist()]
    by_kind = np.zeros(len(examples), np.bool_)
    for fold in trial.folds:
        best = _best(right, slots, fold)
        by_kind[fold.ask - trial.first] = [right[best.get(slots[row], 0), row] for row in fold.ask.tolist()]
    yield "first_mentioned", right[0, trial.asked]
    yield "last_mentioned", right[1, trial.asked]
    yield "kind_only", by_kind
    for name, answer in _ANSWERS.items():
        yield name, np.array([answer(each) == each.answer for each in examples], np.bool_)


def _best(right: Flags, slots: Sequence[str], fold: Fold) -> dict[str, int]:
    """Return the position that is right most often for each kind of question, where it is learned from."""
    names = np.array(slots)[fold.fit]
    return {slot: int(right[:, fold.fit[names == slot]].sum(axis=1).argmax()) for slot in set(names.tolist())}


def _instead(choose: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[[Example], str]:
    """Return what answers questions about beliefs as if a shorter chain were asked about, and others by reality."""

    def answer(example: Example) -> str:
        question, text = read_question(example.question), read_story(example.story)
        if question.ask not in _PLACES:
            return ""
        chain = question.chain if question.ask == Ask.BELIEF else ()
        reading = reading_of(example.readings)
        return text.wording.answer(checked_story(example.story).belief(choose(chain), question.thing, reading))

    return answer


def _last_announced(example: Example) -> str:
    """Return what everybody was last told about the object; without an announcement, what Algorithm 1 answers."""
    question, text = read_question(example.question), read_story(example.story)
    said = [
        event.container for event in text.events if event.kind == EventKind.ANNOUNCE and event.thing == question.thing
    ]
    if question.ask not in _BELIEFS or not said:
        return rules_answer(example)
    return text.wording.answer(said[-1])


_ANSWERS: dict[str, Callable[[Example], str]] = {
    "reality": _instead(lambda chain: ()),
    "without_last_agent": _instead(lambda chain: chain[:-1]),
    "without_first_agent": _instead(lambda chain: chain[1:]),
    "first_agent_alone": _instead(lambda chain: chain[:1] if len(chain) > 1 else ()),
    "last_agent_alone": _instead(lambda chain: chain[-1:] if len(chain) > 1 else ()),
    "algorithm_1": rules_answer,
    "last_announced": _last_announced,
}
