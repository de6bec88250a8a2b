"""CLUTRR the plain way: one puzzle at a time, thrown away until one fits, worded by `str.replace`.

Not used by storyproof; it is here to be compared with.
"""

from __future__ import annotations

import random
from typing import Any

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import GENDERS, Fact, word
from storyproof.families.kinship.rules import strict_rules


class PlainClutrr:
    def __init__(self, k: int, seed: int) -> None:
        self._k = k
        self._random = random.Random(seed)
        self._rules = strict_rules()
        self._templates = ours().templates
        self._traditions = [*our_names().values()]

    def puzzle(self) -> dict[str, Any]:
        while True:
            target = self._random.choice(self._rules.targets)
            chain, proof = self._expanded(target)
            genders = [self._random.choice(GENDERS) for _ in range(self._k + 1)]
            facts = [Fact(place, relation, place + 1) for place, relation in enumerate(chain)]
            if status(genders, facts, Fact(0, target, self._k)) == ENTAILED:
                break
        tradition = self._random.choice(self._traditions)
        names: list[str] = []
        for gender in genders:
            names.append(self._random.choice([name for name in tradition[gender] if name not in names]))
        lines = [self._line(fact, genders, names) for fact in facts]
        self._random.shuffle(lines)
        answer = word(target, genders[-1])
        return {"story": "\n".join(lines), "query": [names[0], names[-1]], "answer": answer, "proof": proof}

    def _expanded(self, target: str) -> tuple[list[str], list[tuple[int, str, tuple[str, str]]]]:
        """Open the target up until the chain is long enough; gives it with what was opened where."""
        chain, proof = [target], []
        while len(chain) < self._k:
            place = self._random.randrange(len(chain))
            body = self._random.choice(self._rules.bodies[chain[place]])
            proof.append((place, chain[place], body))
            chain[place : place + 1] = body
        return chain, proof

    def _line(self, fact: Fact, genders: list[str], names: list[str]) -> str:
        pair = genders[fact.first], genders[fact.second]
        text = self._random.choice(self._templates[(word(fact.predicate, pair[1]),), pair])
        for slot, person in enumerate((fact.first, fact.second)):
            text = text.replace(f"ENT_{slot}_{genders[person]}", names[person])
        return text
