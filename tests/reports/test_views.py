from dataclasses import replace
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from storyproof.evaluation.evaluate import Evaluation
from storyproof.families.belief.timeline import lay_out, timeline_view
from storyproof.reports.runs import scores_view
from tests.samples import REALITY, STORY, example
from tests.scoring import score


def rendered(view: RenderableType, width: int = 200) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(view)
    return out.getvalue().split("\n")


def line_with(lines: list[str], text: str) -> str:
    (line,) = [line for line in lines if text in line]
    return " ".join(line.split())


def evaluation(model: str, answers: list[str]) -> Evaluation:
    asked: list[Any] = [
        example(question_type="memory", order=0, false_belief=False),
        example(question_type="first_order_0_no_tom", order=1, false_belief=False),
        example(question_type="first_order_1_tom", order=1),
        example(question_type="second_order_0_tom", order=2),
    ]
    return Evaluation(model, "data", "test", "given", 0, score(asked, answers), [])


def test_timeline() -> None:
    lines = rendered(timeline_view(lay_out([example()])))
    assert lines[0].split() == ["story", "s", "type", "false", "belief"]
    assert line_with(lines, "moved the key") == "5 Ada moved the key to the jar. attic: Ada jar jar box"
    assert line_with(lines, "Where will") == (
        "Where will Ben look for the key? box 2, 3, 4 first order, false belief (agent 1) open, closed, infer-mover"
    )


def test_on_a_narrow_screen_beliefs_stand_below() -> None:
    lines = rendered(timeline_view(lay_out([example()]), width=80))
    assert line_with(lines, "moved the key") == "5 Ada moved the key to the jar. attic: Ada"
    assert "5 jar jar box" in [" ".join(line.split()) for line in lines]


def test_a_right_belief_about_a_wrong_one_is_not_red() -> None:
    def count_boxes(one: str, other: str) -> tuple[int, int]:
        """Return how many of the beliefs in the box are red, and how many there are."""
        asked = example(question=f"Where does {one} think that {other} searches for the key?", chain=[one, other])
        out = StringIO()
        view = timeline_view(lay_out([asked]))
        Console(file=out, width=200, force_terminal=True, color_system="standard").print(view)
        row = next(line for line in out.getvalue().split("\n") if "moved the key" in line)
        return row.count("\x1b[1;31mbox"), row.count("box")

    assert count_boxes("Ada", "Ben") == (1, 2)  # Ben is wrong about the key, and Ada is right about Ben
    assert count_boxes("Ben", "Ada") == (2, 2)  # Ben is also wrong about Ada


def test_false_beliefs_stand_out() -> None:
    out = StringIO()
    Console(file=out, width=200, force_terminal=True, color_system="standard").print(
        timeline_view(lay_out([example()]))
    )
    red = "\x1b[1;31m"
    assert f"{red}box" in out.getvalue()
    assert f"{red}jar" not in out.getvalue()


def test_data_are_no_markup() -> None:
    def odd(text: str) -> str:
        return text.replace("Ben", "[red]Ben").replace("key", "[/x]:key:").replace("attic", "[b]attic[/b]")

    story = odd(STORY)
    asked = example(
        story=story,
        question=odd("Where will Ben look for the key?"),
        chain=["[red]Ben"],
        question_type="[bold]type",
        readings=["[/open]"],
        story_id="[i]s",
        story_type="[u]t",
    )
    text = "\n".join(rendered(timeline_view(lay_out([asked]))))
    for part in (*story.split("\n"), asked.question, "[bold]type", "[/open]", "[i]s", "[u]t", "the [/x]:key: is in"):
        assert part in text


def test_story_of_no_known_type() -> None:
    lines = rendered(timeline_view(lay_out([example(story_type=None)])))
    assert lines[0].split() == ["story", "s", "type", "unknown"]


def test_story_without_a_chain() -> None:
    asked = example(story="Ada entered the attic.\nThe key is in the box.", question=REALITY, chain=[])
    lines = rendered(timeline_view(lay_out([asked])))
    assert line_with(lines, "The key is") == "2 The key is in the box. attic: Ada box box"


def test_scores() -> None:
    views = [evaluation("good", ["box"] * 4), evaluation("poor", ["box", "box", "jar", "jar"])]
    lines = rendered(scores_view(views))
    above = next(place for place, line in enumerate(lines) if "solver" in line)
    assert [" ".join(line.split()) for line in lines[above - 1 : above + 1]] == [
        "first order, first order, second order, second order,",
        "solver average joint memory true belief false belief true belief false belief",
    ]
    assert line_with(lines, "good") == "good 100.0 100.0 100.0 100.0 100.0 100.0"
    assert line_with(lines, "poor") == "poor 50.0 0.0 100.0 100.0 0.0 0.0"
    assert "4 questions of 1 story, given labels" in lines[-2]


def test_scores_on_a_narrow_screen() -> None:
    views = [evaluation(name, ["box"] * 4) for name in ("majority", "a/solver/with/quite/a/long/name/of/its/own")]
    whole = "\n".join(rendered(scores_view(views[:1]), 80))
    assert "no room" not in whole
    for width in (60, 80, 100):
        lines = rendered(scores_view(views), width)
        assert max(map(len, lines)) <= width
        assert "…" not in "".join(lines)
        words = " ".join(lines).split()
        assert {"solver", "average", "joint", "majority", "100.0"} <= set(words)
    narrow = rendered(scores_view(views), 60)
    assert any(line.startswith("no room for: first order, true belief, first order, false") for line in narrow)


def test_models_are_no_markup() -> None:
    assert line_with(rendered(scores_view([evaluation("[red]me[/x]", ["box"] * 4)])), "[red]me[/x]")


def test_answers_that_a_solver_was_never_taught() -> None:
    plain = evaluation("rules", ["trunk"] * 4)
    limited = replace(evaluation("entnet", ["trunk"] * 4), details={"unknown_answers": 1})
    assert "never taught" not in "\n".join(rendered(scores_view([plain])))
    *_, last, _ = rendered(scores_view([plain, limited]))
    assert last == "entnet was never trained on the answers to 1 of them, and cannot give these"
