"""Small mistakes in either prover are noticed by comparing the two on random stories.

Each mutation replaces a piece of the module's code by another. `make mutants` makes many more, by program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from storyproof.families.belief import answers, oracle
from storyproof.families.belief import trajectories as course
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING, BeliefReading
from tests.families.belief import plots as asking
from tests.families.belief import possible_worlds as checker
from tests.families.belief.plots import PEOPLE, THINGS, Plot, chains, plots
from tests.families.belief.surprises import SURPRISES
from tests.families.belief.test_answers import assert_proved

ORACLE = {
    "the first need not notice": ("found = one_of(noticing, ", "found = one_of(group, "),
    "one of the rest suffices": ("        if member.any():", "        if member.any() and not agent:"),
    "nobody else need be there": (
        "found &= group[:, agent].take(index, axis=1) | (member",
        "found &= ~group.dtype.type(0) | (member",
    ),
    "speakers believe themselves": ("told[:, alone] &= ~", "told[:, alone] |= 0 * "),
    "messages are about everything": (
        "        told &= _at(course.about, asked.spot)\n",
        "",
    ),
    "ears before eyes": (
        "np.where(has(informed.shown, decided), put, decided)",
        "np.where(has(informed.told, decided), decided, put)",
    ),
    "closed containers are open": (
        "        if self._sight == CLOSED:\n            seen &=",
        "        if False:\n            seen &=",
    ),
    "as late is not late enough": (
        "return is_later(known & sees, known & self._of(shown.present, agent, asked))",
        "return ~is_later(known & self._of(shown.present, agent, asked), known & sees)",
    ),
    "secret sights are not one's own": ("np.where(chain.length == 1, own, seen)", "seen"),
    "whoever leaves together is trusted": (
        "self._of(present, speaker, asked) & so_far, self._of(present, judge, asked) & so_far\n            )",
        "self._of(present, judge, asked) & so_far, self._of(present, speaker, asked) & so_far\n            )\n"
        "            found = ~found",
    ),
    "the distrusted are sincere": ("np.where(of_speaker, chain.before_last, chain.last)", "chain.last"),
    "news are lies": (
        "suspects = looks | self._is_stale(few, asked, speaker, time)",
        "suspects = np.ones(len(some), np.bool_)",
    ),
    "who looks on catches nobody": ("suspects = looks | self", "suspects = self"),
    "liars are forgiven": ("self._caught[judge_node, speaker] > number", "self._caught[judge_node, speaker] != number"),
    "the first lie is believed": (
        "self._caught[judge_node, speaker] > number",
        "self._caught[judge_node, speaker] >= number",
    ),
    "liars are taken at their word": (
        "self._caught[judge_node, speaker] > number",
        "of_speaker | (self._caught[judge_node, speaker] > number)",
    ),
    "all liars are one": (
        "self._caught[judge_node, speaker] > number",
        "self._caught[judge_node].min(axis=1) > number",
    ),
    "longer chains know no liars": ("self._find(key), node)", "node * 0 + len(self._nodes), node)"),
    "unknown beliefs are contradicted": ("lies = (believed != NOBODY) & (believed", "lies = (believed"),
    "messages never win over sights": (
        "return is_later(self._credulous.told, self._credulous.shown)",
        "return is_later(self._credulous.shown, self._credulous.told)",
    ),
    "the mover is inferred by those who stay": (
        "        left &= stories.agent[np.minimum(met + 1, len(stories.kind) - 1), origin] == agent",
        "        left &= met >= 0",
    ),
    "the mover is inferred elsewhere": (
        "has(mine, met) & has(course.home[:, thing, room, story], time)",
        "has(mine, met)",
    ),
    "the mover is inferred without surprise": (
        " & (remembered != NOBODY) & (remembered != place)",
        " & (remembered != NOBODY)",
    ),
    "the mover is inferred by whoever knew nothing": (
        " & (remembered != NOBODY) & (remembered != place)",
        " & (remembered != place)",
    ),
    "the mover is inferred at any order": (
        "(asked.chain.length == 2) & (asked.chain.first >= 0)",
        "(asked.chain.length >= 2) & (asked.chain.first >= 0)",
    ),
}

COURSE = {
    "secret observers are known": (
        "        return Sights(present, (present | secret)",
        "        present |= secret\n        return Sights(present, present",
    ),
    "the distracted notice": ("(present | secret) & ~self.away[:, :, None]", "present | secret"),
    "distracted watchers notice": (
        "(present | secret) & ~self.away[:, :, None]",
        "(present & ~self.away[:, :, None]) | secret",
    ),
    "who watches sees nothing": ("(present | secret) & ~self", "present & ~self"),
    "leavers do not know who stays": (
        "shown.present | leaving, shown.noticing | (leaving & ~away)",
        "shown.present, shown.noticing",
    ),
    "the distracted know who stays": ("shown.noticing | (leaving & ~away)", "shown.noticing | leaving"),
    "whispers are heard by all": ("near & (told | by | self.to)", "near"),
    "whispers are heard by nobody": ("told | by | self.to", "told | by"),
    "whispers reach other rooms": (
        "(near & (told | by | self.to))",
        "(near & told) | by | self.to",
    ),
    "announcements stay in the room": ("(anywhere & self.announced & spoken)", "(near & self.announced & spoken)"),
    "announcements reach those in no room": ("(anywhere & self.announced", "(self.announced"),
    "announcements from no room are heard": ("self.announced & spoken)", "self.announced)"),
    "the distracted hear": ("(group | (watched & told)) & ~self.away", "group | (watched & told)"),
    "distracted watchers hear": (
        "(group | (watched & told)) & ~self.away",
        "(group & ~self.away) | (watched & told)",
    ),
    "watchers do not hear": ("(group | (watched & told)) & ~self.away", "group & ~self.away"),
    "watchers hear whispers": ("(group | (watched & told))", "(group | watched)"),
    "walking ends distractions": (
        'self._said("distracts"), self.heeds,',
        'self._said("distracts"), self.heeds | self.walks,',
    ),
    "walking ends watching": ('self._last("peeks", self.looks)', 'self._last("peeks", self.looks | self.walks)'),
    "attention does not end distractions": (
        '("heeds", EventKind.DISTRACT, EventKind.ATTEND,',
        '("heeds", EventKind.DISTRACT, EventKind.DISTRACT,',
    ),
    "watching does not end": (
        '("looks", EventKind.PEEK, EventKind.UNPEEK,',
        '("looks", EventKind.PEEK, EventKind.PEEK,',
    ),
    "whoever enters stays": ('return self._last("enters", self.walks)', 'return self._last("enters", 0 * self.walks)'),
    "objects stay in their first rooms": (
        'return self._last("placed", self.puts)',
        'return self._last("placed", 0 * self.puts)',
    ),
    "whispers are for their speakers": ("EventKind.WHISPER, stories.hearer)", "EventKind.WHISPER, stories.agent)"),
    "whispers are for the room": (
        '"told", EventKind.TELL, EventKind.TELL)',
        '"told", EventKind.TELL, EventKind.WHISPER)',
    ),
    "of two messages one is lost": ("found[rank[time, column] - 1, column] = time", "found[0, column] = time"),
}

ANSWERS = {
    "nothing kept a chain from learning more": (
        "later[:, minds] = np.where(is_news, ~so_far, so_far.dtype.type(0))",
        "pass",
    ),
    "no belief rests on a message": ("np.where(is_told, decided, -1)", "np.full_like(decided, -1)"),
    "no belief rests on where the object was put": ("keep_last(puts[:, minds] & so_far) | ", ""),
    "objects do not come into other rooms": (" | (moved & ~so_far))", ")"),
    "nobody watches or is distracted": (
        "doings = (course.walks, course.looks, course.heeds) if is_first else (course.walks,)",
        "doings = (course.walks,)",
    ),
    "the last of a chain is left out": ("frozenset(chain[1:]), ())", "frozenset(chain[1:-1]), ())"),
    "what failed once is not tried again": ("failed[:, active[is_shorter]] = 0", "pass"),
    "nothing is tried again": ("changed[active] |= is_shorter", "pass"),
    "what is needed is left out": (
        "until(np.minimum(failing - 1, tried), words)",
        "until(np.minimum(failing, tried), words)",
    ),
    "nobody doubts a message": ("rest = np.flatnonzero(doubtful)", "rest = np.flatnonzero(doubtful)[:0]"),
    "changed beliefs do not matter": (
        "all_places[begin[of] + belief - told.begin[question[belief]]] = places",
        "pass",
    ),
    "answers are proved, not what they compare": (
        "shared = np.flatnonzero(self._asked.ask[beliefs.question] == _COMMON)",
        "shared = np.arange(len(part))",
    ),
    "all that a group shares is proved": (
        "shared = np.flatnonzero(self._asked.ask[beliefs.question] == _COMMON)",
        "shared = np.zeros(0, np.intp)",
    ),
    "every belief of a group is decisive": (
        "is_common = (self._asked.ask[told.question] == _COMMON)[question].take(belief)",
        "is_common = np.zeros(len(belief), np.bool_)",
    ),
    "who is asked about is counted": (
        "np.where(asked.chain[:1, some] == agent, np.int8(STRANGER), np.int8(agent))",
        "np.full_like(asked.chain[:1, some], agent)",
    ),
    "whoever is right about the other knows": ("(own == real) & (thought == other)", "(thought == other)"),
    "whoever is right knows": ("(own == real) & (thought == other)", "(own == real)"),
    "those who differ agree": ("np.where(lowest == highest, lowest, NOBODY)", "lowest"),
}

CHECKER = {
    "secret observers are known": (
        "group = self._inside(room)\n        noticing = (group",
        "group = self._inside(room) | self._watchers(room)\n        noticing = (group",
    ),
    "the distracted notice": (
        "noticing = (group | self._watchers(room)) & ~self._distracted",
        "noticing = group | self._watchers(room)",
    ),
    "distracted watchers notice": (
        "noticing = (group | self._watchers(room)) & ~self._distracted",
        "noticing = group & ~self._distracted | self._watchers(room)",
    ),
    "who watches sees nothing": ("(group | self._watchers(room)) & ~", "group & ~"),
    "walking ends distractions": (
        "            self._where[agent] = target\n",
        "            self._where[agent] = target\n            self._distracted &= ~(1 << agent)\n",
    ),
    "walking ends watching": (
        "            self._where[agent] = target\n",
        "            self._where[agent] = target\n            self._watched.pop(agent, None)\n",
    ),
    "leavers do not know who stays": ("if self._sight != CLOSED and left == room:", "if False:"),
    "the distracted know who stays": ("not absent >> agent & 1)", "True)"),
    "leavers still see": ("step.leaver != agent and ", ""),
    "whispers are heard by all": (
        "            group &= 1 << speaker | 1 << self.cast[str(event.hearer)]\n",
        "            pass\n",
    ),
    "whispers reach other rooms": ("group &= 1 << speaker |", "group = 1 << speaker |"),
    "announcements stay in the room": ("if event.kind == _ANNOUNCE and room is not None:", "if False:"),
    "announcements from no room are heard": (
        "if event.kind == _ANNOUNCE and room is not None:",
        "if event.kind == _ANNOUNCE:",
    ),
    "announcements reach those in no room": (
        "self._mask(agent for agent, there in self._where.items() if there is not None)",
        "(1 << len(self.cast)) - 1",
    ),
    "the distracted hear": ("_TELL else group) & ~self._distracted", "_TELL else group)"),
    "distracted watchers hear": (
        "(group | self._watchers(room) if event.kind == _TELL else group) & ~self._distracted",
        "group & ~self._distracted | (self._watchers(room) if event.kind == _TELL else 0)",
    ),
    "watchers do not hear": ("if event.kind == _TELL else group", "if False else group"),
    "watchers hear whispers": ("if event.kind == _TELL else group", "if event.kind != _ANNOUNCE else group"),
    "speakers believe themselves": ("point.mind != _REAL and not point.doubts)", "not point.doubts)"),
    "nobody is taken at its word": ("point.mind != _REAL and not point.doubts)", "False)"),
    "doubts do not matter": ("point.mind != _REAL and not point.doubts)", "point.mind != _REAL)"),
    "everybody in the group knows of the distracted": (
        "audience = step.noticing if point.mind == _REAL else step.group\n",
        "audience = step.noticing\n",
    ),
    "secret sights are shared": ("Point(_GROUP if step.group >> agent & 1 else agent, True)", "Point(_GROUP, True)"),
    "closed containers are open": ("elif self._sight != CLOSED or thing == put:", "else:"),
    "closed containers stay shut": ("elif self._sight != CLOSED or thing == put:", "elif self._sight != CLOSED:"),
    "ears before eyes": (
        "longer, sight))\n        self._last[thing] = None\n",
        "longer, sight))\n",
    ),
    "as late is not late enough": ("is_own=False) >= own", "is_own=False) > own"),
    "secret sights are not one's own": ("(is_own or step.group >> agent & 1)", "step.group >> agent & 1"),
    "whoever leaves together is trusted": ("if time >= stayed[speaker]", "if time > stayed[speaker]"),
    "the distrusted are sincere": ("self._trust in (NEVER_LIARS, HI_TOM))", "self._trust == NEVER_LIARS)"),
    "liars are taken at their word": ("self._trust in (NEVER_LIARS, HI_TOM))", "self._trust == HI_TOM)"),
    "news are lies": ("if self._fresher(step, agent, held) and (its < 0 or its != step.sight):", "if False:"),
    "who looks on catches nobody": (" and (its < 0 or its != step.sight):", ":"),
    "liars are forgiven": ("if self._liars[held] >> step.speaker & 1:", "if False:"),
    "all liars are one": ("if self._liars[held] >> step.speaker & 1:", "if self._liars[held]:"),
    "unknown beliefs are contradicted": ("return believed in (_NO_PLACE, step.place)", "return believed == step.place"),
    "the mover is inferred by those who stay": ("                self._left.pop((other, agent), None)\n", ""),
    "the mover is inferred elsewhere": ("if x == agent and there == room)", "if x == agent)"),
    "the mover is inferred without surprise": ("if believed in (_NO_PLACE, step.place):", "if believed == _NO_PLACE:"),
    "the mover is inferred by whoever knew nothing": (
        "if believed in (_NO_PLACE, step.place):",
        "if believed == step.place:",
    ),
    "suspects know of the suspicion": (
        "if point.mind == step.finder and step.suspects >> agent & 1 else None",
        "if step.suspects >> agent & 1 else None",
    ),
}

ASKED = [*chains(PEOPLE[:4], 2), *(chain for chain in chains(PEOPLE[:3], 3) if len(chain) == 3)]


@cache
def stories() -> list[Plot]:
    return [*([*row[1]] for row in SURPRISES), *plots(11, 240)]


def by_oracle(module: ModuleType, reading: BeliefReading, thing: str) -> list[list[str | None]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "oracle", module)
        return asking.ask_oracle(stories(), ASKED, thing, reading)


def by_checker(module: Any, reading: BeliefReading, thing: str) -> Iterator[list[str | None]]:
    for story in stories():
        worlds = module.MindWorlds(story, reading)
        yield [worlds.belief(chain, thing) for chain in ASKED]


@cache
def expected(reading: BeliefReading, thing: str) -> list[list[str | None]]:
    """Return the answers of the oracle as it is; that the checker agrees is tested elsewhere."""
    return by_oracle(oracle, reading, thing)


def mutate(module: ModuleType, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a copy of a module with a change of its code."""
    code = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert old in code, f"{old!r} is not in {module.__name__} any more; adapt the mutation"
    changed = ModuleType(f"{module.__name__}_mutant")
    monkeypatch.setitem(sys.modules, changed.__name__, changed)  # dataclasses look their module up
    exec(compile(code.replace(old, new), changed.__name__, "exec"), changed.__dict__)
    return changed


def readings(name: str) -> list[BeliefReading]:
    """Return all readings, those first that a mutation is likely to show under."""
    words = {"mover": "infer-mover", "suspect": "infer-mover", "liar": "never-liars", "lie": "never-liars"}
    words |= {"late": "fresher", "stay": "fresher", "stale": "fresher", "closed": "closed", "leaves": "hi-tom"}
    words |= {"distrusted": "hi-tom", "doubts": "hi-tom", "secret": "fresher", "catches": "never-liars"}
    words |= {"contradicted": "never-liars", "news": "never-liars"}
    hints = {hint for word, hint in words.items() if word in name}
    return sorted(ALL_READINGS, key=lambda reading: (-len(hints & set(reading)), reading.trust == "never-liars"))


@pytest.mark.parametrize("name", ORACLE)
def test_a_mistake_of_the_oracle_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutate(oracle, *ORACLE[name], monkeypatch)
    assert any(
        by_oracle(mutant, reading, thing) != expected(reading, thing) for reading in readings(name) for thing in THINGS
    )


@pytest.mark.parametrize("name", COURSE)
def test_a_mistake_in_following_a_story_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = {(reading, thing): expected(reading, thing) for reading in readings(name) for thing in THINGS}
    monkeypatch.setattr(asking, "course", mutate(course, *COURSE[name], monkeypatch))
    assert any(by_oracle(oracle, *asked) != answers for asked, answers in right.items())


@pytest.mark.parametrize("name", CHECKER)
def test_a_mistake_of_the_checker_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutate(checker, *CHECKER[name], monkeypatch)
    assert any(
        found != right
        for reading in readings(name)
        for thing in THINGS
        for found, right in zip(by_checker(mutant, reading, thing), expected(reading, thing), strict=True)
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_a_mistake_in_finding_proofs_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prover = mutate(answers, *ANSWERS[name], monkeypatch).PlotAnswers
    noticed = []
    for reading in (DEFAULT_READING, BeliefReading(trust="fresher"), BeliefReading("closed")):
        try:
            assert_proved(prover, reading, 1200)
        except AssertionError:
            noticed.append(reading)
            break
    assert noticed
