from storyproof.solvers.llm.client import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def replies(pace: Pace, clock: Clock, count: int, rate: float, seconds: float) -> None:
    for _ in range(count):
        clock.now += 1 / rate
        pace.replied(seconds)


def test_doubles_while_that_makes_it_faster() -> None:
    clock = Clock()
    pace = Pace(256, clock)
    limits = []
    for rate in (100, 200, 400, 410, 410):
        replies(pace, clock, pace.limit, rate, 0.1)
        limits.append(pace.limit)
    assert limits == [64, 128, 256, 256, 256]


def test_stops_where_nothing_is_gained_and_then_goes_step_by_step() -> None:
    clock = Clock()
    pace = Pace(256, clock)
    limits = []
    for rate, seconds in ((100, 0.1), (101, 0.1), (101, 0.1), (101, 0.15), (101, 0.3)):
        replies(pace, clock, pace.limit, rate, seconds)
        limits.append(pace.limit)
    assert limits == [64, 64, 65, 66, 66]  # in the end replies only wait in a queue


def test_refusal_halves_once_for_all_that_were_on_their_way() -> None:
    clock = Clock()
    pace = Pace(256, clock)
    clock.now = 1.0
    for _ in range(20):
        pace.refused(started=0.5)
    assert pace.limit == 16
    pace.refused(started=1.5)
    assert pace.limit == 8
    for started in (3, 4, 5, 6, 7):
        clock.now = started
        pace.refused(started=started)
    assert pace.limit == 1


def test_goes_back_quickly_to_what_was_refused_and_beyond_if_it_is_borne() -> None:
    clock = Clock()
    pace = Pace(256, clock)
    for started in (1, 2, 3, 4, 5, 6):
        clock.now = started
        pace.refused(started=started)
    assert pace.limit == 1
    limits = []
    for rate in (10, 20, 40, 80, 160, 320, 640):
        replies(pace, clock, pace.limit, rate, 0.1)
        limits.append(pace.limit)
    assert limits == [2, 4, 8, 16, 32, 64, 128]
    pace.refused(started=clock.now)
    limits = []
    for _ in range(4):
        replies(pace, clock, pace.limit, 640, 0.1)
        limits.append(pace.limit)
    assert limits == [96, 112, 120, 124]


def test_pause() -> None:
    clock = Clock()
    pace = Pace(4, clock)
    assert pace.open
    pace.refused(started=0.0, wait_s=3.0)
    assert not pace.open
    clock.now = 3.0
    assert pace.open
    pace.in_flight = pace.limit
    assert not pace.open


def test_never_above_what_is_allowed() -> None:
    assert Pace(5).limit == 5
    assert Pace(1000).limit < 100
