"""Generators from the package index, in the form that `storyproof audit --generator` calls.

Each function draws one sample of a package and words its facts so that storyproof reads them; question and label stay
those of the package. Nothing here computes an answer.

    cd examples/generators
    storyproof audit --generator public_generators:family_relationships --dial family_size=4..12
"""

import random
import re
from functools import cache
from typing import Any

Sample = tuple[str, str, str]


def family_relationships(seed: int, family_size: int = 6) -> Sample:
    """Draw from reasoning-gym's `family_relationships`, whose stories say who is married, and who their children are.

    They do not say who is male or female: that is taken from the package's own lists of names.
    """
    from reasoning_gym.graphs.family_relationships import FamilyRelationshipsConfig, FamilyRelationshipsDataset

    config = FamilyRelationshipsConfig(min_family_size=family_size, max_family_size=family_size, seed=seed, size=1)
    item = FamilyRelationshipsDataset(config)[0]
    story, _, question = item["question"].partition("\n\n")
    lines = []
    couple: tuple[str, str] = ("", "")
    for sentence in re.split(r"(?<=\.) ", story):
        if married := re.fullmatch(r"(\w+) is married to (\w+)\.", sentence):
            couple = married[1], married[2]
            lines.append(f"{couple[0]} is the {_word(config, couple[0], 'husband', 'wife')} of {couple[1]}.")
            continue
        children = re.sub(r"They have (a child|children) called |\.", "", sentence)
        for child in re.split(r", | and ", children):
            lines.append(f"{child} is the {_word(config, child, 'son', 'daughter')} of {couple[0]}.")
            lines.append(f"{couple[1]} is the {_word(config, couple[1], 'father', 'mother')} of {child}.")
    first, second = item["metadata"]["person1"], item["metadata"]["person2"]
    assert {first, second} <= set(re.findall(r"\w+", question))  # all its questions ask what the first is to the second
    return "\n".join(lines), f"What is {first} to {second}?", item["answer"]


def _word(config: Any, name: str, male: str, female: str) -> str:
    return male if name in config.male_names else female


def kinship_relation_resolution(seed: int, level: int = 0) -> Sample:
    """Draw from reasoning-core's `kinship_relation_resolution`: who is whose parent, and what two of them are.

    Nobody has a gender there; here all are men, so that brothers, uncles and nephews are what siblings would be.
    """
    task = _reasoning_core("kinship_relation_resolution", seed, level)
    entry = task.generate_example()
    parents, first, second = (entry.metadata[name] for name in ("parents", "a", "b"))
    people = [
        "Adam",
        "Bill",
        "Carl",
        "Dave",
        "Eric",
        "Fred",
        "Gary",
        "Hugh",
        "Ivan",
        "Jack",
        "Kurt",
        "Liam",
        "Mike",
        "Neil",
        "Otto",
        "Paul",
    ]
    name_of = {name: people[number] for number, name in enumerate(dict.fromkeys([*parents.values(), *parents]))}
    lines = [f"{name_of[child]} is the son of {name_of[parent]}." for child, parent in parents.items()]
    return "\n".join(lines), f"What is {name_of[first]} to {name_of[second]}?", entry.answer


def belief_tracking(seed: int, level: int = 0) -> Sample:
    """Draw from reasoning-core's `belief_tracking`: who watches a move with whom, and who tells whom what.

    It has no rooms. Here everything stands in a hall, and those who do not see a move are in the garden meanwhile. To
    come back shows them nothing, so its labels are those of the reading `closed`. An event that says more than our
    words do stays as it is, and its story counts as not understood: people who secretly watch others watching, reports
    of what somebody believes, and words of which the package does not say whether they are believed.
    """
    entry = _reasoning_core("belief_tracking", seed, level).generate_example()
    data, task = entry.metadata, _reasoning_core_task("belief_tracking")
    sentences = _sentences_of(task, data)
    hall = _Hall(list(data.agents))
    hall.lines += [f"The {thing} is in the {data.init['loc'][thing]} in the hall." for thing in data.objects]
    for spec, text in zip(data.specs, sentences, strict=True):
        hall.tell(spec, text, tuple(data.chain))
    *outer, last = data.chain
    thinks = "".join(f"{name} {'thinks' if at else 'think'} that " for at, name in enumerate(outer))
    question = f"Where does {thinks}{last} {'thinks' if outer else 'think'} the {data.object} is?"
    return "\n".join(hall.lines), question, entry.answer


def _sentences_of(task: Any, data: Any) -> list[str]:
    """Return the package's own sentences, one for each event."""
    from reasoning_core.tasks.belief_tracking import _event_from_metadata, _spec_from_metadata

    events = zip(map(_spec_from_metadata, data.specs), map(_event_from_metadata, data.trace), strict=True)
    return [task._event_text(spec, event) for spec, event in events]


_NOBODY = "Zoe"  # who moves what falls by itself


class _Hall:
    """Words who sees a move as who is in the hall."""

    def __init__(self, agents: list[str]) -> None:
        self.inside, self.agents = list(agents), agents
        self.lines = [f"{name} entered the hall." for name in (_NOBODY, *agents)]

    def tell(self, spec: Any, text: str, chain: tuple[str, ...]) -> None:
        """Add what happens in an event, or the package's own sentence."""
        if spec["kind"] == "move":
            self._move(spec, text)
        elif spec["scene"] == "failed_message":
            self.lines.append("Phone rang.")
        else:
            self._report(spec, text, chain)

    def _move(self, spec: Any, text: str) -> None:
        watching = list(spec["observers"])
        if spec["awareness_chains"] or spec["scene"] == "one_way_observation":
            self.lines.append(text)
            return
        actor = spec["actor"] or _NOBODY
        moved = f"{actor} moved the {spec['object']} to the {spec['destination']}."
        together = watching if spec["scene"] == "public_observation" else []
        self._gather({actor, *together})
        if spec["scene"] == "private_observation" and watching:
            moved = f"{watching[0]} secretly began to watch the hall.\n{moved}\n{watching[0]} stopped watching."
        self.lines.append(moved)

    def _report(self, spec: Any, text: str, chain: tuple[str, ...]) -> None:
        content = re.search(r'"The (\w+) is in the (\w+)"', text)
        pair = {spec["actor"], spec["target"]}
        accepted = spec["adoption_policy"] == "accept"
        sure = accepted and spec["scene"] in ("face_to_face", "confirmed_message", "visible_conversation")
        # What else two people think that each other thinks after such words, the package does not say as we do.
        is_clear = not set(chain) <= pair or chain == (spec["actor"],) or (accepted and chain == (spec["target"],))
        is_clear = is_clear or (sure and chain == (spec["actor"], spec["target"]))
        if spec["report_type"] != "direct_claim" or content is None or not is_clear:
            self.lines.append(text)
        elif accepted:
            self._gather(pair)
            said = f"that the {content[1]} is in the {content[2]}."
            self.lines.append(f"{spec['actor']} told {spec['target']} in private {said}")
        else:
            self.lines.append("Phone rang.")  # words that are not believed, of somebody who is not asked about

    def _gather(self, people: set[str]) -> None:
        for name in self.agents:
            if (name in self.inside) != (name in people):
                here, there = ("hall", "garden") if name in self.inside else ("garden", "hall")
                self.lines += [
                    *([f"{name} exited the {here}."] if here == "hall" else []),
                    f"{name} entered the {there}.",
                ]
        self.inside = [name for name in self.agents if name in people]


@cache
def _reasoning_core_task(name: str) -> Any:
    from reasoning_core import get_task

    return get_task(name)


def _reasoning_core(name: str, seed: int, level: int) -> Any:
    """Return a task of reasoning-core, which draws from Python's global generator of random numbers."""
    task = _reasoning_core_task(name)
    task.config = type(task.config)()
    task.config.set_level(level)
    random.seed(seed)
    return task


_RELATIONS = [
    "mother",
    "father",
    "son",
    "daughter",
    "brother",
    "sister",
    "husband",
    "wife",
    "grandmother",
    "grandfather",
    "grandson",
    "granddaughter",
    "uncle",
    "aunt",
    "niece",
    "nephew",
    "mother_in_law",
    "father_in_law",
    "son_in_law",
    "daughter_in_law",
    "brother_in_law",
    "sister_in_law",
]


def phantom_wiki(seed: int, people: int = 8, depth: int = 3) -> Sample:
    """Draw a family and a relation from phantom-wiki, whose answers come from rules in Prolog (SWI-Prolog)."""
    database = _prolog()
    for fact in ("parent(_, _)", "gender(_, _)", "type(_, _)"):
        list(database.prolog.query(f"retractall({fact})"))
    from phantom_wiki.facts.family import db_generate_family

    db_generate_family(database, seed, False, False, "", False, depth, 3, people, 0, 1)
    draw = random.Random(seed)
    found: list[tuple[str, str]] = []
    while not found:
        relation = draw.choice(_RELATIONS)
        found = sorted(set(_pairs(database, relation)))
    facts = [(parent, word, child) for word in ("mother", "father") for child, parent in _pairs(database, word)]
    facts += [(child, word, parent) for word in ("son", "daughter") for parent, child in _pairs(database, word)]
    lines = [f"{one} is the {word} of {two}." for one, word, two in dict.fromkeys(facts)]
    of, who = draw.choice(found)
    return "\n".join(lines), f"What is {who} to {of}?", relation.replace("_", "-")


def _pairs(database: Any, relation: str) -> list[tuple[str, str]]:
    """Return all X, Y of whom Y is the relation of X, by their first names, each of which is given once."""
    pairs = [(str(row["X"]), str(row["Y"])) for row in database.query(f"{relation}(X, Y)")]
    return [tuple(re.sub(r"^b'|'$", "", name).replace(" ", "") for name in pair) for pair in pairs]  # type: ignore[misc]


@cache
def _prolog() -> Any:
    from phantom_wiki.facts import get_database

    return get_database()
