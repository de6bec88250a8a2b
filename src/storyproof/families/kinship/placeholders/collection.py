"""Collections of placeholders: texts that state one, two or three kinship facts, with slots for the people.

The slot `ENT_1_female` is for person 1, a woman; in a text for the words ("son", "wife") person 1 is person 0's son
and person 2 is person 1's wife.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from storyproof.errors import ConfigError
from storyproof.families.kinship.relations import BASIC, GENDERS, predicate_of, word
from storyproof.generation.seeds import Draws

Key = tuple[tuple[str, ...], tuple[str, ...]]  # relation words, and the genders of all people

TEST_SHARE = 0.2
MOST_FACTS = 3


@dataclass(frozen=True)
class Placeholders:
    """A collection of texts.

    Attributes:
        name: storyproof for the shipped collection, the name of the file for others.
        templates: The texts for each combination of relation words and genders; no list is empty.
        aligned: Whether the texts for other genders of the same predicates are the same texts, in the same order.
    """

    name: str
    templates: Mapping[Key, tuple[str, ...]]
    aligned: bool = False

    @property
    def count(self) -> int:
        """The number of texts."""
        return sum(map(len, self.templates.values()))

    def share(self, fraction: float, *purpose: object) -> Placeholders:
        """Return a random part of each list, at least one text; smaller parts are contained in larger ones.

        Raises:
            ConfigError: If the fraction is not above 0 and at most 1.
        """
        if not 0 < fraction <= 1:
            raise ConfigError(f"a share of {fraction} placeholders was requested; use a number above 0 and at most 1.")
        if fraction == 1:
            return self
        orders = self._orders("share", *purpose)
        kept = {
            key: set(order[: max(1, math.ceil(fraction * len(order) - 1e-9))])  # 0.7 * 10 is slightly more than 7
            for key, order in orders.items()
        }
        return self._keep(kept)

    def split(self, *purpose: object) -> tuple[Placeholders, Placeholders]:
        """Split each list at random into train and test, about 4 to 1 and at least one text each.

        A single text for two or three facts goes to train, because test can state those facts one by one.

        Raises:
            ConfigError: If there is only one text for a single fact.
        """
        train: dict[Key, set[int]] = {}
        test: dict[Key, set[int]] = {}
        for key, order in self._orders("split", *purpose).items():
            if len(order) == 1 and len(key[0]) == 1:
                raise ConfigError(
                    f"{self.name} has only one placeholder for {_show(key)}; train and test need one each; add another."
                )
            count = max(1, round(len(order) * TEST_SHARE)) if len(order) > 1 else 0
            train[key], test[key] = set(order[count:]), set(order[:count])
        return self._keep(train), self._keep(test)

    def without(self, bad: Collection[tuple[Key, int]]) -> Placeholders:
        """Return the collection without some texts, and without their versions for other genders if it is aligned."""
        names = {(self._group(key), number) for key, number in bad}
        return self._keep(
            {
                key: {number for number in range(len(texts)) if (self._group(key), number) not in names}
                for key, texts in self.templates.items()
            }
        )

    def _group(self, key: Key) -> Sequence[object]:
        return tuple(predicate_of(word) for word in key[0]) if self.aligned else key

    def _orders(self, *purpose: object) -> dict[Key, list[int]]:
        """Draw an order for each list, the same for all genders if their lists are equally long."""
        lengths: dict[tuple[str, ...], set[int]] = {}
        for (words, _), texts in self.templates.items():
            lengths.setdefault(tuple(map(predicate_of, words)), set()).add(len(texts))
        orders: dict[Key, list[int]] = {}
        drawn: dict[tuple[object, ...], list[int]] = {}
        for (words, genders), texts in self.templates.items():
            predicates = tuple(map(predicate_of, words))
            group = (predicates,) if len(lengths[predicates]) == 1 else (words, genders)
            if group not in drawn:
                drawn[group] = Draws("placeholders", *purpose, *group).order(len(texts)).tolist()
            orders[words, genders] = drawn[group]
        return orders

    def _keep(self, numbers: Mapping[Key, Collection[int]]) -> Placeholders:
        kept = {
            key: tuple(text for number, text in enumerate(texts) if number in numbers[key])
            for key, texts in self.templates.items()
        }
        return replace(self, templates={key: texts for key, texts in kept.items() if texts})


def missing(placeholders: Placeholders, predicates: Sequence[str] = BASIC) -> list[Key]:
    """Return the single facts that stories need and that have no placeholder."""
    return [
        key
        for predicate in predicates
        for genders in all_genders((predicate,))
        if not placeholders.templates.get(key := ((word(predicate, genders[1]),), genders))
    ]


def require_singles(placeholders: Placeholders, predicates: Sequence[str] = BASIC) -> None:
    """Raise ConfigError unless every single fact that stories need has a placeholder."""
    lacking = missing(placeholders, predicates)
    if lacking:
        more = f" (and for {len(lacking) - 1} others)" if len(lacking) > 1 else ""
        raise ConfigError(
            f"{placeholders.name} has no placeholder for {_show(lacking[0])}{more}; "
            "every single fact needs one, so add at least one."
        )


def _show(key: Key) -> str:
    return f"'{'-'.join(key[0])}' with genders {'-'.join(key[1])}"


def all_genders(predicates: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all combinations of genders; spouses have different genders."""
    for genders in product(GENDERS, repeat=len(predicates) + 1):
        pairs = zip(predicates, genders, genders[1:], strict=False)
        if not any(predicate == "SO" and one == other for predicate, one, other in pairs):
            yield genders
