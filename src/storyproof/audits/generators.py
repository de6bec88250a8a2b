"""Audits of generators: draw samples over seeds and dials, hold each label against the proofs, and shrink what differs.

A generator is a function that returns a story, a question and an answer, or several of them. It is called with `seed`
if it takes one (else the generators of random numbers of Python and NumPy are seeded before each call) and with its
dials. It has a *tracker* if it also has `answer(story, question)`, which answers any question about any of its stories.
The tracker is asked further questions, made of the generator's own by exchanging names, and labels smaller stories.

Rows are judged by `audit`, so that causes and readings are those of files. Disagreements are grouped by cause, and some
of each group are shrunk: sentences are left out as long as the disagreement stays. With a tracker it is the tracker
that answers the smaller story; without one the label stays, and the proved answer has to stay what it was.
"""

from __future__ import annotations

import inspect
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import combinations, product
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from storyproof.audits.audit import audit
from storyproof.errors import ConfigError, quoted
from storyproof.families.family import load_family, own_example
from storyproof.findings import COLUMN, COMMON_KINDS, SAMPLES, TEXT, UNREAD, AuditReport, Finding

WRONG, DEPENDENT, FAILED = "wrong", "rule-dependent", "failed"
_BATCH, _FIRST_BATCH = 500, 50  # draws that are judged together
_FURTHER = 4  # further questions per draw
_MOST_TEMPLATES = 200
_MOST_COMBINATIONS = 100_000
_SHRUNK = 8  # disagreements of a group that are shrunk
_PAIRS, _TRIPLES = 24, 12  # sentences of a story of which any two, or three, are left out together
_EXTRACTIVE = 0.8  # share of answers in their stories from which on they are words of the story, not a kind of answer
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_DETAILS = re.compile(r": |; |, (?:probably|but|although) ")  # what follows them in a reason is about one story only
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NOT_ABOUT_ANSWERS = (*COMMON_KINDS, SAMPLES, TEXT, COLUMN)

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with the answer that the generator gives.

    Attributes:
        story: Its text, as the generator wrote it.
        question: What is asked.
        answer: The answer, as the generator wrote it.
        seed: The seed of the draw.
        dials: The dials of the draw.
        is_further: Whether the tracker was asked a further question.
    """

    story: str
    question: str
    answer: str
    seed: int
    dials: Mapping[str, Any] = field(default_factory=dict)
    is_further: bool = False

    @property
    def name(self) -> str:
        """The seed and the dials that it takes to draw it again."""
        return ", ".join(f"{name}={value}" for name, value in {"seed": self.seed, **self.dials}.items())

    @property
    def sentences(self) -> list[str]:
        """The sentences of its story."""
        lines = self.story.strip().split("\n")
        return [line for line in (lines if len(lines) > 1 else _SENTENCE.split(lines[0])) if line.strip()]

    def with_sentences(self, sentences: Sequence[str]) -> Sample:
        """Return the sample with fewer sentences."""
        return replace(self, story=("\n" if "\n" in self.story.strip() else " ").join(sentences))


class GeneratorFault(NamedTuple):
    """A sample whose answer is not the proved one, and why."""

    sample: Sample
    finding: Finding

    @property
    def consequence(self) -> str:
        """Whether it is wrong under every reading, or right under some."""
        return DEPENDENT if self.finding.reading or not self.finding.is_claim else WRONG


@dataclass(slots=True)
class CauseGroup:
    """Disagreements with the same cause.

    Attributes:
        consequence: `wrong` under every reading, `rule-dependent`, or `failed` if the generator raised an error.
        kind: The kind of finding.
        count: How many there are.
        further: How many of them are answers to further questions.
        seed: The seed of the first one.
        dials: The dials of the first one.
        smallest: The smallest one that was found by shrinking; None of errors.
        reason: Why it is wrong.
    """

    consequence: str
    kind: str
    count: int
    further: int
    seed: int
    dials: Mapping[str, Any]
    smallest: GeneratorFault | None
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        names = ("consequence", "kind", "count", "further", "seed", "dials", "reason")
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.smallest is not None:
            sample, finding = self.smallest
            shown: dict[str, Any] = {"story": sample.sentences, "question": sample.question, "answer": sample.answer}
            shown |= {"expected": finding.expected, "reading": finding.reading, "seed": sample.seed}
            values["smallest"] = {**shown, "dials": dict(sample.dials)}
        return values

    def __str__(self) -> str:
        further = f" ({self.further:,} further questions)" if self.further else ""
        lines = [
            f"{self.consequence}, {self.kind}: {self.count:,}{further}, first with {_place(self.seed, self.dials)}"
        ]
        if self.smallest is None:
            return f"{lines[0]}\n  {self.reason}"
        sample, finding = self.smallest
        expected = f", proved: {finding.expected}" if finding.expected else ""
        reading = f" (right under '{finding.reading}')" if finding.reading else ""
        lines += [f"    {sentence}" for sentence in sample.sentences]
        return "\n".join([*lines, f"    {sample.question} {sample.answer}{expected}{reading}", f"  {self.reason}"])


@dataclass(slots=True)
class GeneratorReport:
    """What was found in the samples of a generator.

    Attributes:
        generator: Its name.
        samples: How many draws were made.
        questions: How many questions they have, with further ones.
        further: How many further questions the tracker answered.
        judged: How many questions were understood.
        unread: The others, by what is not understood.
        conflicts: How many questions have two answers in the same story.
        counts: How many disagreements there are, by consequence; failed draws among them.
        causes: The groups, wrong ones first, then by size.
        unread_reasons: Why questions are not understood, with how many there are, the most frequent first.
    """

    generator: str
    samples: int = 0
    questions: int = 0
    further: int = 0
    judged: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    conflicts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    causes: list[CauseGroup] = field(default_factory=list)
    unread_reasons: Counter[str] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        """Whether every question is understood and has the proved answer, under the default reading."""
        return not self.causes and not self.unread and not self.conflicts

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        names = ("generator", "samples", "questions", "further", "judged", "unread", "conflicts")
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        values["unread"] = dict(self.unread)
        values |= {each: self.counts[each] for each in (WRONG, DEPENDENT, FAILED)}
        values["unread_reasons"] = dict(self.unread_reasons.most_common())
        return {**values, "causes": [each.as_dict() for each in self.causes]}


def audit_generator(
    generator: str | Callable[..., Any],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    dials: Mapping[str, Iterable[Any]] | None = None,
    readings: Sequence[str] = (),
    rules: str | os.PathLike[str] | None = None,
    stop: bool = False,
    progress: Progress = lambda samples: None,
) -> GeneratorReport:
    """Draw samples from a generator and compare every answer with what oracle and checker derive from the text.

    Args:
        generator: A function that returns (story, question, answer), a dictionary with these, or a list of such; an
            object with such a function as `sample`; or where one is, as `module:name`. With a method or attribute
            `answer(story, question)` it is also asked further questions, and labels shrunk stories.
        samples: How many draws.
        seed: The seed of the first draw; the others have the numbers after it.
        dials: What else it is called with: the values of each dial. All combinations take turns.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        rules: The file of rules that its kinship stories were made by, if they are its own.
        stop: Whether to stop as soon as a batch of samples has a disagreement.
        progress: Called with how many samples were judged since the last call.

    Raises:
        ConfigError: If there is no such generator, it lacks a dial, or it returns something else.

    Example:
        >>> from storyproof.audits.generators import audit_generator
        >>> def sample(seed):
        ...     story = "Ada entered the den. The key is in the box. The box is in the den. Ada exited the den."
        ...     return story, "Where will Ada look for the key?", "den" if seed == 3 else "box"
        >>> found = audit_generator(sample, samples=10)
        >>> found.counts["wrong"], found.causes[0].seed
        (1, 3)
    """
    if samples < 1:
        raise ConfigError(f"--samples is {samples}; expected a whole number from 1 on.")
    source = _Source(generator, {name: list(values) for name, values in (dials or {}).items()})
    settings = {"readings": tuple(readings), "rules": rules}
    report = GeneratorReport(source.name)
    disagreements: list[GeneratorFault] = []
    failures: list[tuple[int, Mapping[str, Any], str]] = []
    answers_in_story = 0
    while report.samples < samples:
        count = min(_BATCH, samples - report.samples)
        if stop:  # most that is wrong shows at once
            count = min(count, _FIRST_BATCH + report.samples)
        rows = list(source.draw(seed + report.samples, count, failures))
        answers_in_story += sum(each.answer.casefold() in each.story.casefold() for each in rows)
        found = _judge(rows, settings, report)
        disagreements += found
        report.samples += count
        progress(count)
        if stop and (found or failures):
            break
    report.counts.update(each.consequence for each in disagreements)
    report.counts[FAILED] = len(failures)
    is_extractive = answers_in_story >= _EXTRACTIVE * report.questions
    report.causes = [*_group(disagreements, source, settings, is_extractive), *_group_failures(failures)]
    return report


class _Source:
    """A generator as it is called, with its tracker and its dials."""

    def __init__(self, generator: str | Callable[..., Any], dials: Mapping[str, list[Any]]) -> None:
        target = _load(generator) if isinstance(generator, str) else generator
        self.name = generator if isinstance(generator, str) else getattr(target, "__qualname__", type(target).__name__)
        target = target() if isinstance(target, type) else target
        self._call = getattr(target, "sample", target)
        self.tracker = getattr(target, "answer", None)
        if not callable(self._call):
            raise ConfigError(f"'{self.name}' is {quoted(target)}; expected a function that returns a sample.")
        takes = inspect.signature(self._call).parameters
        takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in takes.values())
        for name, values in dials.items():
            if name not in takes and not takes_any:
                known = ", ".join(each for each in takes if each != "seed") or "none"
                raise ConfigError(f"'{self.name}' has no dial '{name}'; the parameters that it takes are: {known}.")
            if not values:
                raise ConfigError(f"the dial '{name}' has no values; give at least one.")
        self._takes_seed = "seed" in takes
        total = 1
        for values in dials.values():
            total *= len(values)
        if total > _MOST_COMBINATIONS:
            raise ConfigError(f"the dials have {total:,} combinations; expected at most {_MOST_COMBINATIONS:,}.")
        self._combinations = [dict(zip(dials, values, strict=True)) for values in product(*dials.values())]
        random.Random(0).shuffle(self._combinations)  # if there are more than samples, of all values some
        self._questions = _FurtherQuestions()

    def draw(self, first: int, count: int, failures: list[tuple[int, Mapping[str, Any], str]]) -> Iterator[Sample]:
        """Yield the samples of some seeds, with further questions; errors of the generator are added to a list."""
        for seed in range(first, first + count):
            dials = self._combinations[seed % len(self._combinations)]
            try:
                drawn = [Sample(*values, seed, dials) for values in self._sample(seed, dials)]
                yield from drawn
                if self.tracker is not None:
                    yield from self._ask_further(drawn)
            except ConfigError:
                raise
            except Exception as error:  # whatever a generator of somebody else raises is a finding
                failures.append((seed, dials, f"{type(error).__name__}: {error}"))

    def _sample(self, seed: int, dials: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        if self._takes_seed:
            return list(_triples(self._call(seed=seed, **dials), self.name))
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)
        return list(_triples(self._call(**dials), self.name))

    def _ask_further(self, drawn: Sequence[Sample]) -> Iterator[Sample]:
        for each in drawn:
            self._questions.learn(each)
        asked = {each.question for each in drawn}
        for story in dict.fromkeys(each.story for each in drawn):
            first = next(each for each in drawn if each.story == story)
            for question in self._questions.about(first, asked):
                if (answer := self.label(story, question)) is not None:
                    yield replace(first, question=question, answer=answer, is_further=True)

    def label(self, story: str, question: str) -> str | None:
        """Return what the tracker answers; None if it does not."""
        assert self.tracker is not None
        try:
            answer = self.tracker(story, question)
        except Exception:  # a smaller story need not be one that the tracker can follow
            return None
        return str(answer) if answer not in (None, "") else None


def _load(place: str) -> Any:
    """Import a generator; modules of the working directory are found too."""
    module, _, attribute = place.partition(":")
    if not module or not attribute:
        raise ConfigError(f"--generator is '{place}'; expected MODULE:FUNCTION, such as 'mypackage.stories:sample'.")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        return attrgetter(attribute)(import_module(module))
    except ImportError as error:
        raise ConfigError(f"--generator '{place}': {error}; expected a module that can be imported.") from error
    except AttributeError as error:
        raise ConfigError(f"--generator '{place}': {error}; expected the name of a function in it.") from error


def parse_dials(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of dials as the command line has them: `people=2..5`, `kind=a,b`.

    Raises:
        ConfigError: If there is no name or no value.
    """
    dials: dict[str, list[Any]] = {}
    for text in texts:
        name, _, given = text.partition("=")
        values: list[Any] = []
        for part in given.split(","):
            if bounds := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", part.strip()):
                values += range(int(bounds[1]), int(bounds[2]) + 1)
            elif part.strip():
                values.append(_value(part.strip()))
        if not name.isidentifier() or not values:
            raise ConfigError(f"the dial is '{text}'; expected NAME=VALUES, such as people=2..5 or kind=easy,hard.")
        dials[name] = values
    return dials


def _value(text: str) -> Any:
    """Return a number, true, false or none as such, and anything else as text."""
    if text.casefold() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.casefold()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _triples(value: Any, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield stories, questions and answers of what a generator returned."""
    parts = ("story", "question", "answer")
    if isinstance(value, Mapping) and all(part in value for part in parts):
        value = tuple(value[part] for part in parts)
    elif all(hasattr(value, part) for part in parts):
        value = tuple(getattr(value, part) for part in parts)
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[1], str):
        story, question, answer = value
        yield (story if isinstance(story, str) else "\n".join(story)), question, "" if answer is None else str(answer)
    elif isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        for each in value:
            if isinstance(each, str):
                break
            yield from _triples(each, name)
        else:
            return
        raise ConfigError(f"'{name}' returned {quoted(value)}; expected (story, question, answer).")
    else:
        raise ConfigError(f"'{name}' returned {quoted(value)}; expected (story, question, answer).")


class _FurtherQuestions:
    """Questions in the generator's own words: those that it asked, with other names in them."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._templates: dict[tuple[str, frozenset[str]], None] = {}
        self._random = random.Random(0)

    def learn(self, sample: Sample) -> None:
        """Take the form of a question: where it has names, and which words it shares with its story."""
        others = _WORD.findall(sample.question)[1:]
        in_story = set(_WORD.findall(sample.story))
        names = [each.removesuffix("'s") for each in others if each[0].isupper()]
        self._names.update(name for name in names if name in in_story or f"{name}'s" in in_story)
        if len(self._templates) < _MOST_TEMPLATES:
            shared = {each for each in others if each[0].islower() and each in in_story}
            form = _WORD.sub(lambda match: self._masked(match[0]), sample.question)
            self._templates.setdefault((form, frozenset(shared)))

    def _masked(self, word: str) -> str:
        name = word.removesuffix("'s")
        return "\0" + word[len(name) :] if name in self._names else word

    def about(self, sample: Sample, asked: Iterable[str]) -> list[str]:
        """Return further questions about a story: some, drawn at random."""
        words = set(_WORD.findall(sample.story))
        people = [each for each in sorted(self._names) if each in words or f"{each}'s" in words]
        forms = [form for form, shared in self._templates if shared <= words and form.count("\0") <= len(people)]
        questions = []
        for _ in range(_FURTHER if forms else 0):
            form = self._random.choice(forms)
            names = self._random.sample(people, form.count("\0"))
            question = "".join(part + name for part, name in zip(form.split("\0"), [*names, ""], strict=True))
            questions.append(question)
        known = set(asked)
        return [each for each in dict.fromkeys(questions) if each not in known]


def _judge(samples: Sequence[Sample], settings: Mapping[str, Any], report: GeneratorReport) -> list[GeneratorFault]:
    """Return which samples have another answer than the proved one, and count them all."""
    if not samples:
        return []
    found, unread, conflicts = find_disagreements(samples, settings)
    own = [each for each in unread if not samples[each.row].is_further]
    report.further += sum(each.is_further for each in samples) - (len(unread) - len(own))
    report.questions += len(samples) - (len(unread) - len(own))  # a further question need not be one that can be asked
    report.judged += len(samples) - len(unread)
    report.unread.update(each.field for each in own)
    report.unread_reasons.update(_without_names(each.found, samples[each.row].story) for each in own)
    report.conflicts += conflicts
    return found


def _without_names(reason: str, story: str) -> str:
    """Return a reason that is the same for all stories of a kind."""
    names = {word.removesuffix("'s") for word in _WORD.findall(story) if word[0].isupper()}
    return re.sub(r"\d+", "…", _WORD.sub(lambda match: "…" if match[0] in names else match[0], reason))


def find_disagreements(
    samples: Sequence[Sample], settings: Mapping[str, Any]
) -> tuple[list[GeneratorFault], list[Finding], int]:
    """Return disagreements, one for each sample that has any, samples that are not understood, and conflicts."""
    rows = [
        {"id": f"{number}", "story": each.story, "question": each.question, "answer": each.answer}
        for number, each in enumerate(samples)
    ]
    audited = audit(rows, **settings)
    _set_aside_unknown_labels(samples, audited)
    unread = [each for each in audited.findings if each.kind == UNREAD]
    first: dict[int, Finding] = {}
    set_aside = {each.row for each in unread}
    for each in audited.findings:
        if each.kind in _NOT_ABOUT_ANSWERS or each.row < 0 or each.row in set_aside:
            continue
        if each.is_claim or each.field == "answer":
            first.setdefault(each.row, each)
    found = [GeneratorFault(samples[row], finding) for row, finding in sorted(first.items())]
    return found, unread, audited.totals["conflicts"]


def _set_aside_unknown_labels(samples: Sequence[Sample], audited: AuditReport) -> None:
    """Count labels as not understood that are no answer of their family, where no other answer follows either."""
    for report in audited.files:
        for number, each in enumerate(report.findings):
            family = load_family(report.family) if each.kind != UNREAD and report.family else None
            if family is None or each.expected or each.kind not in family.statuses or each.field != "answer":
                continue
            row = {"story": samples[each.row].story, "question": samples[each.row].question, "answer": each.found}
            if each.found not in family.candidates(own_example(row, family.name)):
                reason = f"answer: '{each.found}' is none of the answers that can be proved"
                report.findings[number] = replace(each, kind=UNREAD, field="answer", found=reason)


# Groups and shrinking.


def _group(
    disagreements: Sequence[GeneratorFault], source: _Source, settings: Mapping[str, Any], is_extractive: bool
) -> list[CauseGroup]:
    """Return groups by cause with the smallest story of each; those that shrink to the same story are one."""
    groups: dict[tuple[str, ...], list[GeneratorFault]] = {}
    for each in disagreements:
        groups.setdefault(cause_of(each, is_extractive), []).append(each)
    chosen = [sorted(each, key=lambda one: len(one.sample.sentences))[:_SHRUNK] for each in groups.values()]
    flat = [each for some in chosen for each in some]
    shrunk = iter(_shrink(flat, source, settings, is_extractive))
    causes: dict[tuple[str, ...], CauseGroup] = {}
    for members, some in zip(groups.values(), chosen, strict=True):
        smallest = min((next(shrunk) for _ in some), key=lambda one: len(one.sample.sentences))
        first = members[0]
        further = sum(each.sample.is_further for each in members)
        group = CauseGroup(
            first.consequence,
            first.finding.kind,
            len(members),
            further,
            first.sample.seed,
            first.sample.dials,
            smallest,
            smallest.finding.reason,
        )
        shape = (first.consequence, first.finding.kind, _shape(smallest.sample))
        if shape in causes:
            causes[shape].count += group.count
            causes[shape].further += group.further
        else:
            causes[shape] = group
    return sorted(causes.values(), key=lambda each: (each.consequence != WRONG, -each.count))


def _group_failures(failures: Sequence[tuple[int, Mapping[str, Any], str]]) -> Iterator[CauseGroup]:
    """Yield the errors that the generator raised."""
    counts = Counter(message for _, _, message in failures)
    for message, count in counts.most_common():
        seed, dials = next((seed, dials) for seed, dials, other in failures if other == message)
        yield CauseGroup(FAILED, message.partition(":")[0], count, 0, seed, dials, None, message)


def cause_of(disagreement: GeneratorFault, is_extractive: bool) -> tuple[str, ...]:
    """Return what disagreements of one cause share: the reason without names and, of kinds of answers, the label."""
    finding = disagreement.finding
    head = _DETAILS.split(finding.reason)[0]
    shared = set(_WORD.findall(disagreement.sample.question)) & set(_WORD.findall(disagreement.sample.story))
    words = shared | set(_WORD.findall(f"{finding.found} {finding.expected}" if is_extractive else ""))
    masked = _WORD.sub(lambda match: "…" if match[0] in words or match[0][0].isupper() else match[0], head)
    label = "" if is_extractive else finding.found
    return disagreement.consequence, finding.kind, finding.reading, re.sub(r"\d+", "…", masked), label


def _shape(sample: Sample) -> str:
    """Return a sample with its words numbered in the order in which they occur, so that names do not matter."""
    numbers: dict[str, str] = {}
    return _WORD.sub(lambda match: numbers.setdefault(match[0], str(len(numbers))), f"{sample.story} {sample.question}")


def _shrink(
    disagreements: Sequence[GeneratorFault], source: _Source, settings: Mapping[str, Any], is_extractive: bool
) -> list[GeneratorFault]:
    """Leave out sentences of stories as long as the disagreement stays; all are shrunk side by side.

    Runs of sentences are left out first. Only where no run can be, any two are tried, then any three.
    """
    smallest = list(disagreements)
    causes = [cause_of(each, is_extractive) for each in smallest]
    stages = dict.fromkeys(range(len(smallest)), 0)
    while stages:
        candidates: list[Sample] = []
        owner_of: dict[int, int] = {}
        for place, stage in stages.items():
            for sample in _smaller(smallest[place].sample, _STAGES[stage], source):
                candidates.append(sample)
                owner_of[id(sample)] = place
        found = find_disagreements(candidates, settings)[0] if candidates else []
        before = list(smallest)
        for each in found:
            place = owner_of[id(each.sample)]
            is_same = cause_of(each, is_extractive) == causes[place]
            is_same &= source.tracker is not None or each.finding.expected == before[place].finding.expected
            if is_same and len(each.sample.sentences) < len(smallest[place].sample.sentences):
                smallest[place] = each
        moved = {place: 0 if smallest[place] is not before[place] else stage + 1 for place, stage in stages.items()}
        stages = {place: stage for place, stage in moved.items() if stage < len(_STAGES)}
    return smallest


def _runs(count: int) -> Iterator[Sequence[int]]:
    """Yield runs of places: the longer ones first."""
    size = count // 2
    while size:
        yield from (range(start, min(count, start + size)) for start in range(count))
        size //= 2


# How sentences of a story of some length are chosen to be left out.
_STAGES: tuple[Callable[[int], Iterable[Sequence[int]]], ...] = (
    _runs,
    lambda count: combinations(range(count), 2) if count <= _PAIRS else (),
    lambda count: combinations(range(count), 3) if count <= _TRIPLES else (),
)


def _smaller(sample: Sample, choose: Callable[[int], Iterable[Sequence[int]]], source: _Source) -> Iterator[Sample]:
    """Yield samples with fewer sentences, labelled by the tracker if there is one; they mention who is asked about."""
    sentences = sample.sentences
    named = set(_WORD.findall(sample.question)) & set(_WORD.findall(sample.story))
    for dropped in dict.fromkeys(map(frozenset, choose(len(sentences)))):
        rest = [sentence for place, sentence in enumerate(sentences) if place not in dropped]
        candidate = sample.with_sentences(rest)
        if not named <= set(_WORD.findall(candidate.story)):
            continue
        if source.tracker is None:
            yield candidate
        elif (answer := source.label(candidate.story, sample.question)) is not None:
            yield replace(candidate, answer=answer)


def _place(seed: int, dials: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in {"seed": seed, **dials}.items())
