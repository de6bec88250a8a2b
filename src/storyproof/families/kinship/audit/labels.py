"""Every label of a kinship row compared with its facts, and its facts with its text.

Columns of CLUTRR's CSV that repeat what the rest of a row says are compared too. For generated rows the expected text
is known word for word. For others it is known that `node_mapping` leads to everybody, in the order of `genders`, and
that `clean_story` consists of words of the story.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from storyproof.errors import ParseError
from storyproof.example import SCHEMA, story_of_id
from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.clutrr_csv import clean_story, node_mapping, target_texts
from storyproof.families.kinship.clutrr_records import literal
from storyproof.families.kinship.deletion import GenderLines, Gives, ProofTest, derives, entails
from storyproof.families.kinship.language.names import genders_of_names
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.oracle import replay
from storyproof.families.kinship.placeholders.checks import FATAL, check
from storyproof.families.kinship.prove_labels import LabelJudgement
from storyproof.families.kinship.relations import GENDERS, NAMES, Fact, inverse, word
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import PUBLISHED, STRICT, RuleSet, published_rules, strict_rules
from storyproof.families.kinship.stated_facts import (
    Piece,
    Text,
    read_texts,
    remove_brackets,
    split_sentences,
    split_story,
    stated_facts,
)
from storyproof.families.kinship.tasks import CLEAN, MEMORY, MIXED, TASK_NUMBERS, TASKS, noise_types, story_type
from storyproof.families.kinship.templates import parse_question, placeholder_of
from storyproof.families.kinship.user_text import asked_people


def check_columns(
    row: KinshipRow, pieces: Sequence[Piece] | None, *, generated: bool, is_natural: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is wrong in these columns: field, found, expected.

    Args:
        row: The row, whose values have the columns as they are in the file; columns that it lacks are not checked.
        pieces: The pieces of the story with the facts that they state; None if they are not known.
        generated: Whether storyproof generated the row.
        is_natural: Whether the pieces are sentences of natural text.
    """
    mapping, query, target = (row.values.get(name) for name in ("node_mapping", "text_query", "text_target"))
    everybody = tuple(range(len(row.names)))
    if mapping not in (None, right := node_mapping(row)) and (generated or _leads_to(mapping) != everybody):
        yield "node_mapping", mapping, right
    if generated and query:
        yield "text_query", query, "nothing"
    if generated and target is not None:
        texts = [repr([text]) for text in target_texts(row)]
        if target not in texts:
            yield "text_target", target, texts[0]
    if row.values.get("clean_story") is not None:
        yield from _check_clean_story(row, pieces, generated, is_natural)


@lru_cache(maxsize=4096)  # the same few values recur
def _leads_to(mapping: str) -> tuple[Any, ...]:
    """Return whom a mapping leads to, in its order; nobody if it is not a mapping."""
    names = literal(mapping)
    return tuple(names.values()) if isinstance(names, dict) else ()


def _check_clean_story(
    row: KinshipRow, pieces: Sequence[Piece] | None, generated: bool, is_natural: bool
) -> Iterator[tuple[str, Any, Any]]:
    text = row.values["clean_story"]
    if generated and pieces is not None:
        if text != (expected := clean_story(row, pieces, is_natural=is_natural)):
            yield "clean_story", text, expected
        return
    bare = remove_brackets(text)
    words, whole = Counter(bare.split()), Counter(row.values["story"].split())
    if words - whole or (generated and len(row.edges) == row.k and words != whole):
        yield "clean_story", text, "the story's own sentences about the chain"
    elif generated and any(row.names[person] not in bare for edge in row.edges[: row.k] for person in edge):
        yield "clean_story", text, "a text that mentions everybody in the chain"


_SHARED = SCHEMA.names[SCHEMA.names.index("answer") :]
LABELS = (*_SHARED, "k", "task", "noise_types", "pattern", "status", "proof_steps")
_OWN_RULES = re.compile(r"rules-[0-9a-f]{16}")

Difference = tuple[str, Any, Any]  # field, found, expected
FACTS = "facts"  # the field of rows whose columns do not fit together


def check_row(
    row: KinshipRow,
    judged: LabelJudgement,
    unchecked: Counter[str] | None = None,
    rules: RuleSet | None = None,
    reading: Reading | NotUnderstood | None = None,
    *,
    deleted: Counter[str] | None = None,
) -> Iterator[Difference]:
    """Yield what is wrong in a row: field, found, expected.

    Args:
        row: The row.
        judged: What oracle and checker say about it.
        unchecked: Counts of rows without a value to compare, by column; added to.
        rules: The rules by which it was derived, if neither the strict nor the published ones.
        reading: What the reader found in `natural_text`; by default it is read now.
        deleted: If given, the proof is checked by deletion; takes how many were, under `proof`.
    """
    unchecked = Counter() if unchecked is None else unchecked
    for name in LABELS:
        if row.values.get(name) is None and not (name == "status" and judged.status is None):
            unchecked[name] += 1
    yield from _check_question(row)
    for problem in row.values.get("problems") or ():
        field, _, what = problem.partition(": ")
        yield field, what, "a value that fits the rest of the row"
    used = (rules,) if rules else (strict_rules(), published_rules())
    yield from _check_answer(row, judged)
    yield from _check_candidates(row, used)
    yield from _check_proof(row, judged, used)
    yield from _check_kind(row)
    if row.untyped:
        unchecked["edge_types"] += 1
        yield from check_columns(row, None, generated=_is_generated(row))
    else:
        gives = None if deleted is None else _answer_test(row, judged, used)
        yield from _check_text(row, unchecked, rules, reading, Counter() if deleted is None else deleted, gives)


def _check_question(row: KinshipRow) -> Iterator[Difference]:
    question = row.values["question"]
    try:  # others ask in their own words
        pair = parse_question(question) if _is_generated(row) else asked_people(question)
    except ParseError as error:
        yield "question", str(error), "a kinship question"
        return
    if pair != row.asked_names:
        yield "question", question, f"a question about {' and '.join(row.asked_names)}"


def _check_answer(row: KinshipRow, judged: LabelJudgement) -> Iterator[Difference]:
    values = row.values
    holds, given = judged.readings(row.query.predicate), values.get("readings")
    readings = [name for name in given or () if name in (STRICT, *judged.derived)]
    if judged.status == IMPOSSIBLE and given is not None:
        yield "story", "a story that fits no family", "a story that is possible"
    elif given is not None and len(readings) == len(given) and not holds:
        yield "answer", values["answer"], _derived_answer(row, judged)
    elif given is not None and readings != holds:
        yield "readings", given, holds
    elif given is None and row.steps is None and not holds and values.get("status") in (None, ENTAILED):
        yield "answer", values["answer"], _derived_answer(row, judged)
    if values.get("status") is not None and values["status"] != judged.status:
        yield "status", values["status"], judged.status
    strange = [name for name in given or () if name not in (STRICT, PUBLISHED) and not _OWN_RULES.fullmatch(name)]
    if strange:
        yield "readings", given, "known readings"


def _check_candidates(row: KinshipRow, rules: Sequence[RuleSet]) -> Iterator[Difference]:
    """Expect all words of the targets of some rules; where stated facts are asked for, also those of what is stated."""
    candidates = row.values.get("candidates")
    if candidates is None:
        return
    target_sets = [each.targets for each in rules]
    if row.values.get("task") in (MEMORY, MIXED):
        target_sets = [(*each.targets, *each.stated) for each in rules]
    lists = [
        sorted({each.word(target, gender) for target in targets for gender in GENDERS})
        for each, targets in zip(rules, target_sets, strict=True)
    ]
    if candidates not in lists or row.values["answer"] not in candidates:
        yield "candidates", candidates, lists[0]


def _derived_answer(row: KinshipRow, judged: LabelJudgement) -> str:
    """Return what is derived for the asked pair, by the first reading that derives anything."""
    relations = next((each for each in judged.derived.values() if each), [])
    words = [word(each, row.genders[row.pair[1]]) for each in relations if each in NAMES]
    return " or ".join(words) or "no answer that follows"


def _check_proof(row: KinshipRow, judged: LabelJudgement, rules: Sequence[RuleSet]) -> Iterator[Difference]:
    if row.steps is None:
        return
    wrong = [replay(each, row.facts, row.query, row.steps) for each in rules]
    if all(wrong):
        yield "proof_steps", wrong[-1], f"a proof of {row.values['answer']}"
    elif _is_generated(row):
        chain = 1 if story_type((), row.pair, row.edges) == MEMORY else row.k  # facts from which the answer follows
        # What follows only with the help of further facts takes more steps than the chain has.
        has_more = len(row.facts) > row.k
        if len(row.steps) < chain - 1 or (len(row.steps) >= chain and not has_more):
            yield "proof_steps", f"{len(row.steps)} steps", f"{chain - 1} steps, one fact after another"
        if judged.size is not None and judged.size < chain:
            yield "k", row.k, f"{judged.size}, because the answer follows from {judged.size} facts"


def _is_generated(row: KinshipRow) -> bool:
    """Return whether storyproof generated a row, according to its id."""
    return story_of_id(row.values["id"] or "") is not None


def _check_kind(row: KinshipRow) -> Iterator[Difference]:
    """Compare what kind of story a row claims to be with its facts."""
    values = row.values
    noise = noise_types(row.edges, row.k)
    kind = story_type(noise, row.pair, row.edges)
    if values.get("noise_types") is not None and values["noise_types"] != noise:
        yield "noise_types", values["noise_types"], noise
    if values.get("story_type") is not None and values["story_type"] != kind:
        yield "story_type", values["story_type"], kind
    pattern = " ".join(fact.predicate for fact in row.chain)
    if values.get("pattern") is not None and values["pattern"] != pattern:
        yield "pattern", values["pattern"], pattern
    task = values.get("task")
    if task is not None and task not in TASKS:
        yield "task", task, " or ".join(TASKS)
        return
    if task is not None and task != kind and not (task == MIXED and kind in (CLEAN, MEMORY)):
        yield "task", task, kind
    name = f"task_{TASK_NUMBERS[task or kind]}.{row.k}"
    if values.get("question_type") is not None and values["question_type"] != name:
        yield "question_type", values["question_type"], name
    for field, expected in (("order", 0), ("chain", []), ("false_belief", False)):
        if values.get(field) is not None and values[field] != expected:
            yield field, values[field], expected
    if _is_generated(row):
        yield from _check_generated(row, kind)


def _check_generated(row: KinshipRow, kind: str) -> Iterator[Difference]:
    """Check what holds for all rows that storyproof generates."""
    steps = [(place, place + 1) for place in range(row.k)]
    if list(row.edges[: row.k]) != steps or not (kind == MEMORY or row.asked == (0, row.k)):
        yield "edges", row.edges, "a chain of facts from the first asked person to the second"
    if {person for edge in row.edges for person in edge} != set(range(len(row.names))):
        yield "genders", row.values["genders"], "exactly the people of whom something is stated"
    for name, gender in zip(row.names, row.genders, strict=True):
        implied = genders_of_names().get(name, gender)
        if implied != gender:
            yield "genders", f"{name}:{gender}", f"{name}:{implied}"


def natural_text(row: KinshipRow) -> Text | None:
    """Return the text of a row that only the reader can understand; None if there is another way."""
    story, placeholders = row.values["story"], row.values.get("placeholders")
    if row.untyped or (placeholders is None and not row.values.get("syn_story")):
        return None
    text = Text(story, placeholders or (), row.names)
    return text if text.is_natural and (placeholders is not None or split_story(row, story) is None) else None


def _answer_test(row: KinshipRow, judged: LabelJudgement, rules: Sequence[RuleSet]) -> Gives | None:
    """Return what decides whether facts give the label, under the first reading by which it holds; None if none is."""
    holds = judged.readings(row.query.predicate)
    if STRICT in holds:
        return entails(row.genders, row.query)
    return next((derives(each, row.query) for each in rules if each.name in holds), None)


def _check_text(
    row: KinshipRow,
    unchecked: Counter[str],
    rules: RuleSet | None,
    reading: Reading | NotUnderstood | None,
    deleted: Counter[str],
    gives: Gives | None,
) -> Iterator[Difference]:
    """Compare the facts with those that the story states, and the lines of the proof with where it states them."""
    placeholders = row.values.get("placeholders")
    if placeholders is None:
        yield from _check_running_text(row, unchecked, reading)
        return
    for recorded in placeholders:
        for flaw in _fatal(recorded):
            yield "placeholders", recorded, f"a placeholder without this flaw: {flaw}"
    text = Text(row.values["story"], placeholders, row.names)
    if text.is_natural and reading is None:
        [reading] = read_texts([text])
    try:
        facts = stated_facts(row, text, rules, reading)
    except ParseError as error:
        yield "story", str(error), "each fact once"
        return
    stated = [fact for line in facts for fact in line]
    is_same = sorted(stated) == sorted(row.facts) if _is_generated(row) else _sides(stated) == _sides(row.facts)
    if not is_same:
        yield "story", _other_facts(row, facts), "each fact once"
        return
    yield from _check_gender_is_shown(row, reading)
    used = {row.query} if row.query in row.facts else set(row.chain)
    proof = [number for number, line in enumerate(facts, start=1) if used & set(line)]
    given = row.values.get("proof")
    if given is None or (gives is None and given == proof):
        return
    test = ProofTest(facts, gives or entails(row.genders, row.query), _gender_lines(row, text, reading))
    deleted["proof"] += gives is not None
    yield from _proof_disagreement(given, "" if gives is None else test.find_flaw(given), test.add_gender(proof))


def _sides(facts: Iterable[Fact]) -> set[Fact]:
    """Return facts from the side of one of their people: texts of others may say a fact twice, and from both sides."""
    return {min(each, Fact(each.second, inverse(each.predicate), each.first)) for each in facts}


def _gender_lines(row: KinshipRow, text: Text, reading: Reading | NotUnderstood | None) -> GenderLines | None:
    """Return where natural text shows the gender of the person asked about; None of other text."""
    if not isinstance(reading, Reading):
        return None
    name = row.asked_names[1]
    return GenderLines(
        text.story, text.names, name, frozenset(fact.line for fact in reading.facts if fact.second == name)
    )


def _proof_disagreement(given: Sequence[int], flaw: str, chosen: Sequence[int]) -> Iterator[Difference]:
    """Yield a proof that is not the chosen one, or that does not hold."""
    shown = f"[{', '.join(map(str, given))}], {flaw}" if flaw else given
    if given != chosen:
        yield "proof", shown, chosen
    elif flaw:
        yield "proof", shown, "sentences that give the answer, and of which none can be left out"


def check_proof(row: KinshipRow, reading: Reading | NotUnderstood | None) -> Iterator[Difference]:
    """Check by deletion the proof of a row of which everything else holds, under strict kinship."""
    text = Text(row.values["story"], row.values["placeholders"], row.names)
    given, facts = row.values["proof"], stated_facts(row, text, reading=reading)
    test = ProofTest(facts, entails(row.genders, row.query), _gender_lines(row, text, reading))
    return _proof_disagreement(given, test.find_flaw(given), given)


def _other_facts(row: KinshipRow, lines: Sequence[Sequence[Fact]]) -> str:
    """Return how the facts of a text differ from those of the edges."""
    stated = Counter(fact for line in lines for fact in line)
    recorded = Counter(row.facts)
    parts = [
        f"{what} {', '.join(row.sentence(fact) for fact in sorted(facts))}"
        for what, facts in (
            ("a text that states", stated - recorded),
            ("a text that does not state", recorded - stated),
        )
        if facts and all(fact.predicate in NAMES for fact in facts)
    ]
    return "; ".join(parts) or "other facts than those of the edges"


def _check_gender_is_shown(row: KinshipRow, reading: Reading | NotUnderstood | None) -> Iterator[Difference]:
    """Expect natural text to show the gender on which the answer depends; names alone do not show it."""
    name = row.asked_names[1]
    if isinstance(reading, Reading) and name not in reading.genders:
        yield "story", f"a text that does not show whether {name} is male or female", "a text that shows it"


@lru_cache(maxsize=20_000)
def _fatal(recorded: str) -> tuple[str, ...]:
    """Return the fatal flaws of a recorded placeholder."""
    try:
        (words, genders), template = placeholder_of(recorded)
        return tuple(each.what for each in check(words, genders, template) if each.kind in FATAL)
    except (ParseError, KeyError):
        return ()  # reported when the line is read


def _check_running_text(
    row: KinshipRow, unchecked: Counter[str], reading: Reading | NotUnderstood | None
) -> Iterator[Difference]:
    """Compare the facts with a CSV's story; one with synthetic sentences is in words that are known or understood."""
    story, plain = row.values["story"], row.values.get("syn_story")
    if not plain:
        unchecked["story"] += 1
        lacking = [name for name in row.names if name not in story]
        if _is_generated(row) and lacking:
            yield "story", f"a text without {', '.join(lacking)}", "a text that mentions everybody"
        yield from check_columns(row, None, generated=_is_generated(row))
        return
    if reading is None:
        [reading] = read_texts([natural_text(row)])
    if reading is None:
        pieces = split_story(row, story)
        if pieces is None:
            yield "story", "a text that does not state the facts in known words", "each fact once"
    else:
        pieces = split_sentences(row, story, reading) if isinstance(reading, Reading) else None
        try:
            facts = stated_facts(row, Text(story, (), row.names), reading=reading)
        except ParseError as error:
            yield "story", str(error), "each fact once"
        else:
            if pieces is None:
                yield "story", _other_facts(row, facts), "each fact once"
            yield from _check_gender_is_shown(row, reading)
    if split_story(row, plain) is None:
        yield "syn_story", "a text that does not state the facts in known words", "each fact once"
    yield from check_columns(row, pieces, generated=_is_generated(row), is_natural=reading is not None)
