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

from storyproof.families.belief.nested import checker, oracle
from storyproof.families.belief.nested.readings import NESTED_READINGS, NestedReading
from tests.families.belief.nested import plots as asking
from tests.families.belief.nested.plots import PEOPLE, THINGS, Plot, chains, plots
from tests.families.belief.nested.surprises import SURPRISES

ORACLE = {
    "the first need not notice": ("((noticing & self.first) != 0) & ", ""),
    "one of the rest suffices": ("((group & self.rest) == self.rest)", "((group & self.rest) != 0)"),
    "secret observers are known": (
        "    present = _set_of(inside",
        "    present = _set_of(inside | (where.watched == room[:, None])",
    ),
    "the distracted notice": ("stories.mask_type)) & ~where.distracted\n", "stories.mask_type))\n"),
    "distracted watchers notice": (
        "(present | _set_of(where.watched == room[:, None], stories.mask_type)) & ~where.distracted",
        "(present & ~where.distracted) | _set_of(where.watched == room[:, None], stories.mask_type)",
    ),
    "who watches sees nothing": (" | _set_of(where.watched == room[:, None], stories.mask_type)", ""),
    "exits do not end distractions": (
        "regains = kind == EventKind.DISTRACT, walks |",
        "regains = kind == EventKind.DISTRACT, enters |",
    ),
    "exits do not end watching": ("stops = walks |", "stops = enters |"),
    "leavers do not know who stays": (
        "witnesses, aware = present | leaver, noticing | leaver",
        "witnesses, aware = present, noticing",
    ),
    "the distracted know who stays": ("        aware[1:] &= ~(leaver[1:] & where.distracted[:-1])\n", ""),
    "whispers are heard by all": ("np.where(whispered, in_room & two, in_room)", "in_room"),
    "whispers reach other rooms": ("in_room & two, in_room", "two, in_room"),
    "announcements stay in the room": ("np.where(announced, everybody, ", "np.where(announced, in_room, "),
    "the distracted hear": ("(group | secret) & ~_at(where.distracted, time, 0)", "group | secret"),
    "distracted watchers hear": (
        "(group | secret) & ~_at(where.distracted, time, 0)",
        "(group & ~_at(where.distracted, time, 0)) | secret",
    ),
    "watchers do not hear": ("(group | secret) &", "group &"),
    "watchers hear whispers": (
        "np.where(how == EventKind.TELL, watching",
        "np.where(how != EventKind.ANNOUNCE, watching",
    ),
    "speakers believe themselves": ("part &= ~(of_speaker & (chain.length == 1))", "part &= True"),
    "ears before eyes": (" & ~seen[time, columns]", ""),
    "closed containers are open": ("return seen & shown.put if self._reading.sight == CLOSED else seen", "return seen"),
    "as late is not late enough": (
        "return _last_time(known & agent_sees) < _last_time",
        "return _last_time(known & agent_sees) <= _last_time",
    ),
    "secret sights are not one's own": (
        "np.where(chain.length == 1, shown.noticing & chain.first, ",
        "np.where(False, chain.first, ",
    ),
    "whoever leaves together is trusted": ("> _row(stays, judge)", ">= _row(stays, judge)"),
    "the distrusted are sincere": ("np.where(of_speaker, chain.prefix.last, chain.last)", "chain.last"),
    "news are lies": (
        "suspects = looks | self._is_stale(few, seen, speaker, time)",
        "suspects = np.ones(len(some), np.bool_)",
    ),
    "who looks on catches nobody": ("suspects = looks | self", "suspects = self"),
    "liars are forgiven": ("np.maximum(speaker, 0)] > number", "np.maximum(speaker, 0)] != number"),
    "the first lie is believed": ("np.maximum(speaker, 0)] > number", "np.maximum(speaker, 0)] >= number"),
    "liars are taken at their word": (
        "self._caught[judge_node, np.maximum(speaker, 0)] > number",
        "of_speaker | (self._caught[judge_node, np.maximum(speaker, 0)] > number)",
    ),
    "all liars are one": (
        "self._caught[judge_node, np.maximum(speaker, 0)] > number",
        "self._caught[judge_node].min(axis=1) > number",
    ),
    "longer chains know no liars": (
        "self._find(self._key(story, longer)), node",
        "node * 0 + len(self._nodes), node",
    ),
    "unknown beliefs are contradicted": ("lies = (believed != NOBODY) & (believed", "lies = (believed"),
    "the mover is inferred by those who stay": (
        "walked_out = stories.agent[ended, columns] == agent",
        "walked_out = True",
    ),
    "the mover is inferred elsewhere": ("blamed = (met >= 0) & there & walked_out", "blamed = (met >= 0) & walked_out"),
    "the mover is inferred without surprise": ("returns & surprised &", "returns &"),
    "the mover is inferred at any order": ("flags |= (chain.length == 2) & returns", "flags |= returns"),
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
    "walking does not end distractions": (
        "            self._watched.pop(agent, None)\n            self._distracted &= ~(1 << agent)\n",
        "            self._watched.pop(agent, None)\n",
    ),
    "walking does not end watching": (
        "            self._watched.pop(agent, None)\n            self._distracted &= ~(1 << agent)\n",
        "            self._distracted &= ~(1 << agent)\n",
    ),
    "leavers do not know who stays": ("if self._sight != CLOSED and left == room:", "if False:"),
    "the distracted know who stays": ("not absent >> agent & 1)", "True)"),
    "leavers still see": ("step.leaver != agent and ", ""),
    "whispers are heard by all": (
        "            group &= 1 << speaker | 1 << self.cast[str(event.hearer)]\n",
        "            pass\n",
    ),
    "whispers reach other rooms": ("group &= 1 << speaker |", "group = 1 << speaker |"),
    "announcements stay in the room": ("(1 << len(self.cast)) - 1 if event.kind == _ANNOUNCE else ", ""),
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


def by_oracle(module: ModuleType, reading: NestedReading, thing: str) -> list[list[str | None]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "oracle", module)
        return asking.ask_oracle(stories(), ASKED, thing, reading)


def by_checker(module: Any, reading: NestedReading, thing: str) -> Iterator[list[str | None]]:
    for story in stories():
        worlds = module.MindWorlds(story, reading)
        yield [worlds.belief(chain, thing) for chain in ASKED]


@cache
def expected(reading: NestedReading, thing: str) -> list[list[str | None]]:
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


def readings(name: str) -> list[NestedReading]:
    """Return all readings, those first that a mutation is likely to show under."""
    words = {"mover": "infer-mover", "suspect": "infer-mover", "liar": "never-liars", "lie": "never-liars"}
    words |= {"late": "fresher", "stay": "fresher", "stale": "fresher", "closed": "closed", "leaves": "hi-tom"}
    words |= {"distrusted": "hi-tom", "doubts": "hi-tom", "secret": "fresher", "catches": "never-liars"}
    words |= {"contradicted": "never-liars", "news": "never-liars"}
    hints = {hint for word, hint in words.items() if word in name}
    return sorted(NESTED_READINGS, key=lambda reading: (-len(hints & set(reading)), reading.trust == "never-liars"))


@pytest.mark.parametrize("name", ORACLE)
def test_a_mistake_of_the_oracle_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutate(oracle, *ORACLE[name], monkeypatch)
    assert any(
        by_oracle(mutant, reading, thing) != expected(reading, thing) for reading in readings(name) for thing in THINGS
    )


@pytest.mark.parametrize("name", CHECKER)
def test_a_mistake_of_the_checker_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutate(checker, *CHECKER[name], monkeypatch)
    assert any(
        found != right
        for reading in readings(name)
        for thing in THINGS
        for found, right in zip(by_checker(mutant, reading, thing), expected(reading, thing), strict=True)
    )
