"""Items are given out evenly, every form counts once, and nothing is given out too often."""

import hmac
from base64 import urlsafe_b64encode
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from storyproof.study import schema
from storyproof.study.design import ExclusionRules
from storyproof.study.folder import Study, open_study
from storyproof.study.items import ATTENTION, MAIN, PRACTICE
from storyproof.study.participant_flow import ANSWER, FINISHED, GRACE_S, RATE, REVIEW, WRITE, StudyStep, find_step
from storyproof.study.participants import Arrival, Participant, StudyFullError, delete_participant, enter, find
from storyproof.study.recruitment import replace_excluded
from storyproof.study.results import find_exclusions, read_rows
from storyproof.study.submissions import (
    LATE,
    REPEATED,
    STORED,
    judge_timing,
    submit_answer,
    submit_rating,
    submit_review,
    submit_text,
    time_out,
)
from tests.groups import try_examples
from tests.study.samples import LIMITED, UNLIMITED, Clock, join, make_study, solve_design


def rows(study: Study, table: Any) -> list[Any]:
    with study.database.reading() as connection:
        return list(connection.execute(select(table)).all())


def count(study: Study, table: Any) -> int:
    with study.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def take(study: Study, me: Participant, step: StudyStep, right: bool = True) -> None:
    """Do a step."""
    item = study.items[step.item]
    if step.kind == ANSWER:
        answer = item.answer if right else next(each for each in item.choices if each != item.answer)
        assert submit_answer(study, me, step.slot, answer, 0).status == STORED
    elif step.kind == RATE:
        assert submit_rating(study, me, step.slot, 3).status == STORED
    elif step.kind == WRITE:
        text = "The day was long. " + " ".join(item.writing_task().facts)
        assert submit_text(study, me, step.slot, text, text, [], 0).status == STORED
    elif step.kind == REVIEW:
        good = item.is_good if step.role == ATTENTION else True
        assert submit_review(study, me, step.slot, good, (), 0).status == STORED


def play(study: Study, me: Participant, right: bool = True) -> list[StudyStep]:
    """Do all steps; return them."""
    found = []
    while (step := find_step(study, me)).kind != FINISHED:
        take(study, me, step, right)
        found.append(step)
    return found


def test_a_copy_of_the_database_opens_no_link(study: Study) -> None:
    arrival = Arrival("a" * 32)
    first, second = (enter(study, arrival, "0" * 64) for _ in range(2))
    assert first != second
    one, other = find(study, first), find(study, second)
    assert one is not None
    assert one == other
    assert count(study, schema.participant) == 1
    with study.database.reading() as connection:
        held = [dict(row._mapping) for table in schema.KEPT for row in connection.execute(select(table))]
    assert not any(token in str(held) for token in (first, second))
    [row] = [each for each in held if "entry_key" in each]
    for purpose in ("link", "token"):  # nothing that is stored leads to a link
        derived = hmac.digest(study.secret.encode(), f"{purpose}\0{row['entry_key']}".encode(), "sha256")
        assert find(study, urlsafe_b64encode(derived).decode().rstrip("=")) is None
    for _ in range(60):
        enter(study, arrival, "0" * 64)
    assert find(study, first) == one
    assert count(study, schema.link) == 50
    delete_participant(study, one.code)
    assert count(study, schema.link) == 0
    assert find(study, first) is None


def test_a_whole_study(study: Study) -> None:
    me = join(study, "a")
    steps = play(study, me)
    assert [each.role for each in steps].count(PRACTICE) == 1
    assert steps[0].role == PRACTICE
    assert [each.role for each in steps].count(ATTENTION) == 1
    main = [each for each in steps if each.role == MAIN]
    assert [each.kind for each in main] == [ANSWER, RATE] * 3
    assert len({each.item for each in main}) == 3
    assert find_step(study, me).kind == FINISHED
    assert {row.is_right for row in rows(study, schema.answer)} == {True}
    assert {row.difficulty for row in rows(study, schema.answer) if row.role == MAIN} == {3}


def test_every_item_gets_its_answers_and_no_more(study: Study) -> None:
    """Six items, two conditions, two answers each, three per participant: eight participants, and no ninth."""
    people = [join(study, str(number)) for number in range(8)]
    for me in people:
        play(study, me)
    main = [row for row in rows(study, schema.answer) if row.role == MAIN]
    assert Counter((row.item, row.condition) for row in main) == {
        (item, condition.name): 2 for item in range(6) for condition in (LIMITED, UNLIMITED)
    }
    assert Counter(me.condition for me in people) == {"limited": 4, "unlimited": 4}
    with pytest.raises(StudyFullError):
        join(study, "ninth")
    assert join(study, "3").code == people[3].code  # who was there before finds back


def test_no_more_participants_than_there_is_work(study: Study) -> None:
    """Who has entered gets all tasks, even if everybody enters before anybody answers."""
    people = [join(study, str(number)) for number in range(8)]
    with pytest.raises(StudyFullError):
        join(study, "ninth")
    for me in people:
        assert sum(step.kind == RATE for step in play(study, me)) == 3


def test_strata_are_balanced(tmp_path: Path, data: Path, clock: Clock) -> None:
    study = make_study(tmp_path, solve_design(items=20, tasks_per_participant=4, answers_per_item=1), data=data)
    orders = set()
    for number in range(6):
        steps = [step for step in play(study, join(study, str(number))) if step.kind == RATE]
        assert Counter(study.items[step.item].stratum for step in steps) == {"k=2": 2, "k=3": 2}
        orders.add(tuple(study.items[step.item].stratum for step in steps))
    assert len(orders) > 1  # in a random order
    study.close()


def test_a_form_counts_once(study: Study) -> None:
    me = join(study, "a")
    step = find_step(study, me)
    answer = study.items[step.item].answer
    assert submit_answer(study, me, step.slot, answer, 0).status == STORED
    assert submit_answer(study, me, step.slot, answer, 0).status == REPEATED
    other = next(each for each in study.items[step.item].choices if each != answer)
    assert submit_answer(study, me, step.slot, other, 0).status == REPEATED  # the first one counts
    assert [row.answer for row in rows(study, schema.answer)] == [answer]
    assert count(study, schema.submission) == 2  # with the consent


def test_tabs_show_the_same_step(study: Study) -> None:
    me = join(study, "a")
    assert find_step(study, me) == find_step(study, me)
    take(study, me, find_step(study, me))
    assert find_step(study, me) == find_step(study, me)


def test_a_rating_counts_once(study: Study) -> None:
    me = join(study, "a")
    while (step := find_step(study, me)).kind != RATE:
        take(study, me, step)
    assert submit_rating(study, me, step.slot, 4).status == STORED
    assert submit_rating(study, me, step.slot, 1).status == REPEATED
    assert [row.difficulty for row in rows(study, schema.answer) if row.role == MAIN] == [4]
    assert submit_rating(study, join(study, "b"), step.slot, 1).status == LATE


def test_nobody_answers_for_another(study: Study) -> None:
    me, other = join(study, "a"), join(study, "b")
    step = find_step(study, me)
    assert submit_answer(study, other, step.slot, study.items[step.item].answer, 0).status == LATE
    assert submit_answer(study, me, 10**6, "son", 0).status == LATE
    assert submit_text(study, me, step.slot, "A text.", "a text", [], 0).status == LATE  # another kind of slot
    assert count(study, schema.answer) == 0


def test_an_abandoned_item_returns_to_the_pool(tmp_path: Path, data: Path, clock: Clock) -> None:
    design = solve_design(
        items=1, answers_per_item=1, tasks_per_participant=1, practice=0, attention_checks=0, conditions=(UNLIMITED,)
    )
    study = make_study(tmp_path, design, data=data, now=clock)
    first = join(study, "a")
    step = find_step(study, first)
    with pytest.raises(StudyFullError):
        join(study, "b")
    clock.turn(design.lease_s + 1)
    second = join(study, "b")
    taken = find_step(study, second)
    assert taken.slot == step.slot
    assert submit_answer(study, first, step.slot, study.items[0].answer, 0).status == LATE
    take(study, second, taken)
    assert find_step(study, first).kind == FINISHED  # nothing is left
    assert count(study, schema.answer) == 1
    study.close()


def test_who_comes_back_in_time_goes_on(study: Study, clock: Clock) -> None:
    """Even after the lease, as long as nobody else has taken the item."""
    me = join(study, "a")
    step = find_step(study, me)
    clock.turn(study.design.lease_s + 1)
    assert find_step(study, me).slot == step.slot
    take(study, me, step)


def test_time_limits(study: Study, clock: Clock) -> None:
    me = next(each for each in (join(study, "a"), join(study, "b")) if each.condition == "limited")
    while (step := find_step(study, me)).role != MAIN or step.kind != ANSWER:
        assert step.deadline is None or step.kind == ANSWER
        take(study, me, step)
    assert step.deadline == step.shown_at + 30
    clock.turn(30 + GRACE_S)
    assert not time_out(study, me, step)
    clock.turn(1)
    assert time_out(study, me, step)
    row = next(row for row in rows(study, schema.answer) if row.role == MAIN)
    assert (row.is_timed_out, row.is_right, row.answer) == (True, False, "")
    assert submit_answer(study, me, step.slot, study.items[step.item].answer, 0).status == REPEATED


def test_a_late_answer_is_stored_as_timed_out(study: Study, clock: Clock) -> None:
    me = next(each for each in (join(study, "a"), join(study, "b")) if each.condition == "limited")
    while (step := find_step(study, me)).role != MAIN:
        take(study, me, step)
    clock.turn(60)
    assert submit_answer(study, me, step.slot, study.items[step.item].answer, 100).status == STORED
    row = next(row for row in rows(study, schema.answer) if row.role == MAIN)
    assert (row.is_timed_out, row.is_right, row.server_ms, row.timing) == (True, False, 60_000, "ok")


@pytest.mark.parametrize(
    ("browser_ms", "server_ms", "timing"),
    [
        (None, 10, "no-browser-time"),
        (5_000, 5_100, "ok"),
        (6_900, 5_000, "ok"),
        (7_100, 5_000, "browser-exceeds-server"),
        (1_000, 90_000, "gap"),
    ],
)
def test_timing(browser_ms: int | None, server_ms: int, timing: str) -> None:
    assert judge_timing(browser_ms, server_ms) == timing


def test_two_threads_at_the_same_moment(study: Study) -> None:
    me = join(study, "a")
    step = find_step(study, me)
    barrier, found = Barrier(8), list[str]()

    def send() -> None:
        barrier.wait()
        found.append(submit_answer(study, me, step.slot, study.items[step.item].answer, 0).status)

    threads = [Thread(target=send) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert Counter(found) == {STORED: 1, REPEATED: 7}


@pytest.mark.study
def test_many_participants_at_the_same_moment(study: Study) -> None:
    """Sixteen want to enter, for eight there is work; all play at once."""
    barrier, failures = Barrier(16), list[BaseException]()

    def take_part(number: int) -> None:
        barrier.wait()
        try:
            play(study, join(study, str(number)))
        except StudyFullError:
            pass
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=take_part, args=[number]) for number in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    # Nobody answers an item twice, so the last free slots can be ones that those who are in must not take.
    late = 0
    with suppress(StudyFullError):
        for late in range(5):
            play(study, join(study, f"late {late}"))
    main = [row for row in rows(study, schema.answer) if row.role == MAIN]
    assert set(Counter((row.item, row.condition) for row in main).values()) == {2}
    assert count(study, schema.participant) == 8 + late


def test_writing_and_reviewing(writing: Study) -> None:
    first = join(writing, "a")
    steps = play(writing, first)
    assert [step.kind for step in steps] == [WRITE, REVIEW]  # nobody has written anything else yet
    assert steps[1].role == ATTENTION
    for number in range(3):
        play(writing, join(writing, str(number)))
    texts = {row.id: row.participant_id for row in rows(writing, schema.text)}
    reviews = [row for row in rows(writing, schema.review) if row.role == MAIN]
    assert reviews
    assert all(texts[row.target] != row.participant_id for row in reviews)  # nobody reviews their own
    assert max(Counter(row.target for row in reviews).values()) <= 2
    assert all(row.is_right for row in rows(writing, schema.review) if row.role == ATTENTION)


@pytest.mark.study
def test_reviewers_come_after_all_is_written(writing: Study) -> None:
    people = [join(writing, str(number)) for number in range(6)]
    for me in people:
        play(writing, me)
    while True:
        try:
            me = join(writing, f"reviewer-{count(writing, schema.participant)}")
        except StudyFullError:
            break
        assert {step.kind for step in play(writing, me)} == {REVIEW}
    reviews = Counter(row.target for row in rows(writing, schema.review) if row.role == MAIN)
    assert set(reviews.values()) == {2}
    assert len(reviews) == 6


def test_deleting_a_participant(study: Study) -> None:
    people = [join(study, str(number)) for number in range(8)]
    for me in people:
        play(study, me)
    found = delete_participant(study, people[2].code)
    assert found["answer"] == 5
    for table in (schema.answer, schema.lease, schema.submission, schema.event):
        assert all(row.participant_id != people[2].id for row in rows(study, table))
    assert len(rows(study, schema.participant)) == 7
    replacement = join(study, "replacement")  # the items are free again
    assert replacement.condition == people[2].condition
    play(study, replacement)
    main = [row for row in rows(study, schema.answer) if row.role == MAIN]
    assert set(Counter((row.item, row.condition) for row in main).values()) == {2}


def test_deleting_a_writer_removes_reviews_of_the_story(writing: Study) -> None:
    people = [join(writing, str(number)) for number in range(3)]
    for me in people:
        play(writing, me)
    mine = next(row.id for row in rows(writing, schema.text) if row.participant_id == people[0].id)
    assert any(row.target == mine for row in rows(writing, schema.review) if row.role == MAIN)
    delete_participant(writing, people[0].code)
    assert not any(row.target == mine for row in rows(writing, schema.review) if row.role == MAIN)
    assert {row.participant_id for row in rows(writing, schema.text)} == {people[1].id, people[2].id}


def test_a_study_goes_on_after_a_restart(study: Study) -> None:
    me = join(study, "a")
    take(study, me, find_step(study, me))
    step = find_step(study, me)
    study.close()
    again = open_study(study.folder, now=study.now)
    assert find_step(again, me) == step
    assert join(again, "a") == me  # the same link
    again.close()


def test_links_find_nobody_else(study: Study) -> None:
    join(study, "a")
    assert find(study, "") is None
    assert find(study, "x" * 43) is None
    assert find(study, "\ud800") is None


@pytest.mark.study
@try_examples(15)
@given(moves=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["go", "twice", "leave"])), max_size=60))
def test_whatever_happens_no_item_is_answered_too_often(
    tmp_path_factory: pytest.TempPathFactory, data: Path, moves: list[tuple[int, str]]
) -> None:
    """Participants act in any order, send forms twice, or leave for longer than the lease."""
    clock = Clock()
    design = solve_design(items=3, answers_per_item=1, tasks_per_participant=2, practice=0, attention_checks=0)
    study = make_study(tmp_path_factory.mktemp("moves"), design, data=data, now=clock)
    people: dict[int, Participant] = {}
    for number, move in moves:
        if number not in people:
            try:
                people[number] = join(study, str(number))
            except StudyFullError:
                continue
        me = people[number]
        step = find_step(study, me)
        if move == "leave":
            clock.turn(design.lease_s + 1)
        elif step.kind == ANSWER:
            answers = [submit_answer(study, me, step.slot, "son", 0).status for _ in range(1 + (move == "twice"))]
            assert answers in ([STORED], [STORED, REPEATED])
        elif step.kind == RATE:
            submit_rating(study, me, step.slot, 2)
    main = rows(study, schema.answer)
    assert len(main) == len({(row.item, row.condition) for row in main})
    assert len(main) == len({(row.item, row.participant_id) for row in main})
    done = {row.id for row in rows(study, schema.slot) if row.is_done}
    assert done == {row.slot_id for row in main}
    study.close()


def test_an_answer_within_the_grace_counts(study: Study, clock: Clock) -> None:
    """An answer that was sent in time may arrive some seconds later."""
    me = next(each for each in (join(study, "a"), join(study, "b")) if each.condition == "limited")
    while (step := find_step(study, me)).role != MAIN:
        take(study, me, step)
    clock.turn(30 + GRACE_S - 1)
    assert submit_answer(study, me, step.slot, study.items[step.item].answer, 30_000).status == STORED
    row = next(row for row in rows(study, schema.answer) if row.role == MAIN)
    assert (row.is_timed_out, row.is_right) == (False, True)


def test_exclusions_that_may_still_change_are_not_replaced(tmp_path: Path, data: Path) -> None:
    rules = ExclusionRules(failed_checks=0, needs_completion=True)
    study = make_study(tmp_path / "unfinished", solve_design(exclusions=rules), data=data)
    me = join(study, "a")
    while not any(row.role == MAIN for row in rows(study, schema.answer)):
        take(study, me, find_step(study, me))
    assert find_exclusions(study.design, read_rows(study))  # for now: they may still finish
    assert replace_excluded(study) == {}
    study.close()
