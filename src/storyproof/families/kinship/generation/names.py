"""Names for the people of puzzles, such that no puzzle occurs twice with the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.relations import GENDERS
from storyproof.generation.seeds import Draws, Permutation

Numbers = npt.NDArray[np.int32]
_COUNTED = 3  # people whose names enumerate a puzzle's rows; every puzzle has at least as many
_SPARE = 24  # more people than any story has, so that a free name is always left


class NameAssigner:
    """Assigns names to people."""

    def __init__(self, pools: Sequence[Mapping[str, Sequence[str]]], *purpose: object) -> None:
        """Number the names.

        Args:
            pools: Names by gender; the people of a row have names of one pool, and a name is in one pool only. Both
                genders have the same names if names do not show the gender.
            *purpose: What the choice of names depends on.
        """
        self._shared = all(names[GENDERS[0]] == names[GENDERS[1]] for names in pools)
        kinds = GENDERS[:1] if self._shared else GENDERS
        lists = [names[gender] for names in pools for gender in kinds]
        self.names = [name for each in lists for name in each]
        self._sizes = np.array([len(each) for each in lists]).reshape(len(pools), len(kinds))  # [pool, gender]
        self._first = (np.cumsum(self._sizes) - self._sizes.ravel()).reshape(self._sizes.shape)
        self._fewest = int(self._sizes.min()) - _SPARE
        self.capacity: int = len(pools) * self._fewest**_COUNTED
        self._order = Permutation(self.capacity, *purpose, "names")

    def assign(
        self,
        places: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
        genders: npt.NDArray[np.integer],
        draws: Draws,
    ) -> Numbers:
        """Return names for the people of each row.

        Args:
            places: One number per row, below the capacity; different numbers give different names to the same puzzle.
            starts: One number per row, equal for equal puzzles: an offset into the lists of names.
            genders: [row, person], indices into GENDERS.
            draws: Random draws for the remaining people.

        Returns:
            Numbers of names, [row, person].
        """
        rows, people = genders.shape
        counted, pool = np.divmod(self._order(places), len(self._sizes))
        kinds = np.zeros_like(genders) if self._shared else genders
        chosen = np.empty((people, rows), np.int32)
        for person in range(people):
            if person < _COUNTED:
                found = (counted % self._fewest).astype(np.int32)
                counted //= self._fewest
            else:
                found = draws.below(self._fewest, rows).astype(np.int32)
            taken = np.where(kinds[:, person] == kinds[:, :person].T, chosen[:person], np.int32(1 << 30))
            for used in np.sort(taken, axis=0):
                found += found >= used
            chosen[person] = found
        turned = (np.ascontiguousarray(chosen.T) + starts[:, None]) % self._sizes[pool[:, None], kinds]
        numbers: Numbers = (turned + self._first[pool[:, None], kinds]).astype(np.int32)
        return numbers
