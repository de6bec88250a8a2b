"""How much a server is asked at once: more while that makes it faster, less when it complains.

The limit doubles as long as replies come faster for it, then grows by one at a time while they come about as fast as
ever (additive increase). It is halved whenever the server is overloaded or does not answer (multiplicative decrease),
once for all requests that were on their way then. After that it goes back half way at a time to where it was refused,
and if the server now bears that, on as in the beginning.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_START = 32
_FASTER = 1.05  # so much faster, or a doubled limit brought nothing
_SLOW = 2.0  # replies that take so much longer than at best wait in a queue


class Pace:
    """The limit of one server.

    Args:
        most: At most so many requests in flight.
        clock: Tells seconds.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self.limit = min(_START, most)
        self.in_flight = 0
        self.paused_until = 0.0
        self._doubling = True
        self._refused_at = 0  # the limit that was too much last, until it is reached again
        self._replies, self._took = 0, 0.0
        self._since, self._halved = clock(), clock()
        self._rate, self._best_s = 0.0, float("inf")

    @property
    def open(self) -> bool:
        """Whether one more may be asked now."""
        return self.in_flight < self.limit and self.paused_until <= self._clock()

    @property
    def load(self) -> float:
        """How busy it is, for a choice between servers."""
        return self.in_flight / self.limit

    def replied(self, seconds: float) -> None:
        """Take note of a good reply."""
        self._replies += 1
        self._took += seconds
        if self._replies >= self.limit:
            self._look_back()

    def refused(self, started: float, wait_s: float = 0.0) -> None:
        """Take note that the server is overloaded, or does not answer.

        Args:
            started: When it was sent; what was sent before the last halving halves nothing again.
            wait_s: Ask nothing for so long.
        """
        now = self._clock()
        self.paused_until = max(self.paused_until, now + wait_s)
        if started >= self._halved:
            self._halved = now
            self._doubling = False
            self._refused_at = self.limit
            self.limit = max(1, self.limit // 2)
            self._replies, self._took, self._since = 0, 0.0, now

    def _look_back(self) -> None:
        """Adapt the limit after as many replies as it allows at once."""
        now = self._clock()
        rate, mean_s = self._replies / max(now - self._since, 1e-9), self._took / self._replies
        self._best_s = min(self._best_s, mean_s)
        if self._doubling:
            self._doubling = rate > self._rate * _FASTER
            grown = 2 * self.limit if self._doubling else self.limit
        elif self.limit < self._refused_at:
            grown = self.limit + max(1, (self._refused_at - self.limit) // 2)
        elif self._refused_at:
            self._doubling, self._refused_at = True, 0
            grown = 2 * self.limit
        else:
            grown = self.limit + (mean_s < self._best_s * _SLOW)
        self._rate = rate
        self.limit = min(grown, self._most)
        self._replies, self._took, self._since = 0, 0.0, now
