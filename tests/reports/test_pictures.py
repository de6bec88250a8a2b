import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product
from xml.etree import ElementTree

import pytest
from hypothesis import example as such_as
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.belief.picture import belief_timeline
from storyproof.families.belief.timeline import Moment, Timeline, lay_out
from storyproof.families.family import Picture, family_of
from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.pictures.picture import family_picture, proof_path, read_scene
from storyproof.families.kinship.relations import MALE
from storyproof.pictures.svg import safe, shorten, standalone, text_width, wrap
from tests.families.kinship.pictures.test_tree import (
    AUNT,
    COUSINS,
    DAUGHTER_IN_LAW,
    GRANDMOTHER,
    TWO_FATHERS,
    lawful_families,
    made,
    told,
)
from tests.groups import try_examples
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, changed, example, examples

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {f"{SVG}{name}" for name in ("svg", "title", "desc", "g", "rect", "path", "text")}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><b>&amp;",
    "]]>",
    "\x00\x1f\ud800\ufffe",
    "名前の長い人" * 9,
    "a\u0301\u202e",
    "",
]
Box = tuple[float, float, float, float]  # left, top, right, bottom
Point = tuple[float, float]


def parsed(picture: str) -> ElementTree.Element:
    """Read a picture, which must be well-formed and hold nothing but shapes and text that cannot do anything."""
    root = ElementTree.fromstring(picture.encode())
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    for each in root.iter():
        assert each.tag in SHAPES
        assert not any(name.startswith("on") or "href" in name or name == "style" for name in each.attrib)
    return root


def shapes(root: ElementTree.Element, tag: str, *styles: str) -> list[ElementTree.Element]:
    """Find elements, by default with any class."""
    return [each for each in root.iter(f"{SVG}{tag}") if not styles or each.get("class") in styles]


def words(element: ElementTree.Element) -> str:
    """Give what a text shows; what is cut off it stands in a title before it."""
    title = element.find(f"{SVG}title")
    return (element.text if title is None else title.tail) or ""


def texts(root: ElementTree.Element, *styles: str) -> list[str]:
    return [words(each) for each in shapes(root, "text", *styles)]


def box(element: ElementTree.Element) -> Box:
    x, y, width, height = (float(element.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def touching(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# --- text


@given(st.text())
@such_as("".join(HOSTILE))
def test_any_text_is_safe(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{safe(text)}">{safe(text)}</a>'.encode())
    if "\r" not in text:  # which XML reads as the end of a line
        assert len(root.text or "") == len(text)
    assert not set("<>\"'") & set(safe(text))


@given(st.text(), st.floats(30, 300))
def test_text_fits(text: str, width: float) -> None:
    assert text_width(shorten(text, width)) <= width
    assert all(text_width(line) <= width for line in wrap(text, width))


def test_short_text_stays() -> None:
    assert shorten("Ada", 100) == "Ada"
    assert shorten("Adalbert von Wolkenstein", 100) == "Adalbert vo…"
    assert wrap("Ada moved the key to the jar.", 120) == ["Ada moved the", "key to the jar."]


# --- families


def people(root: ElementTree.Element) -> dict[int, ElementTree.Element]:
    found = [(int(each.get("data-person", "")), each) for each in shapes(root, "g") if each.get("data-person")]
    assert len(dict(found)) == len(found)  # everybody once
    return dict(found)


def boxes(root: ElementTree.Element) -> dict[int, Box]:
    return {person: box(each[0]) for person, each in people(root).items()}


def line(element: ElementTree.Element) -> list[Point]:
    numbers = [float(each) for each in re.findall(r"[\d.]+", element.get("d", ""))]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def lines(root: ElementTree.Element, what: str) -> dict[int, list[Point]]:
    return {int(each.get(what, "")): line(each) for each in root.iter(f"{SVG}path") if each.get(what) is not None}


def middle(one: Box, other: Box) -> Point:
    left, right = sorted((one, other))
    return (left[2] + right[0]) / 2, (left[1] + left[3]) / 2


def along(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Say whether two pieces of lines, down or across, lie on each other for more than a point."""
    for axis in (0, 1):
        if one[0][axis] == one[1][axis] and other[0][axis] == other[1][axis]:
            spans = [sorted(point[1 - axis] for point in piece) for piece in (one, other)]
            shared = min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0])
            return abs(one[0][axis] - other[0][axis]) < 2 and shared > 0.2
    return False


def check_family(family: Genealogy, root: ElementTree.Element) -> None:
    found = boxes(root)
    assert sorted(found) == list(range(len(family.people)))
    for one, other in combinations(found.values(), 2):
        assert not touching(one, other)
    marriages, births = lines(root, "data-couple"), lines(root, "data-child")
    assert sorted(marriages) == list(range(len(family.couples)))
    assert sorted(births) == [number for number, each in enumerate(family.people) if each.parents is not None]
    for couple, pair in enumerate(family.couples):
        left, right = sorted(found[person] for person in pair)
        assert left[1] == right[1]  # in one row
        assert [x for x, _ in marriages[couple]] == pytest.approx([left[2], right[0]], abs=0.11)
    for child, way in births.items():
        father, mother = family.couples[family.people[child].parents or 0]
        left, top, right, _ = found[child]
        assert top > found[father][1]
        assert way[0] == pytest.approx(middle(found[father], found[mother]), abs=0.11)
        assert left < way[-1][0] < right
        assert way[-1][1] == pytest.approx(top, abs=0.11)
        for (x, y), (to_x, to_y) in pairwise(way):
            assert x == to_x or y == to_y
            piece = min(x, to_x) + 0.2, min(y, to_y) + 0.2, max(x, to_x) - 0.2, max(y, to_y) - 0.2
            assert not any(touching(piece, other) for other in found.values())
    for one, other in combinations(births, 2):
        if family.people[one].parents != family.people[other].parents:
            assert not any(along(*pair) for pair in product(pairwise(births[one]), pairwise(births[other])))


@try_examples(150)
@given(lawful_families(), st.data())
def test_a_picture_shows_the_whole_family(family: Genealogy, data: st.DataObject) -> None:
    numbers = st.integers(0, len(family.people) - 1)
    asked, path = data.draw(st.tuples(numbers, numbers)), data.draw(st.lists(numbers, max_size=6))
    picture = family_picture(family, asked, path)
    root = parsed(picture)
    check_family(family, root)
    assert picture == family_picture(family, asked, path)
    styles = {person: each.get("class", "").split() for person, each in people(root).items()}
    assert {person for person, names in styles.items() if "asked" in names} == set(asked)
    assert {person for person, names in styles.items() if "on" in names} == set(path)


@try_examples(50)
@given(lawful_families(), st.data())
def test_any_names_are_safe(family: Genealogy, data: st.DataObject) -> None:
    names = st.one_of(st.none(), st.sampled_from(HOSTILE), st.text())
    named = Genealogy(tuple(replace(each, name=data.draw(names)) for each in family.people), family.couples)
    check_family(named, parsed(family_picture(named, (0, len(named.people) - 1), [])))


def test_shapes_tell_genders_and_the_unnamed() -> None:
    root = parsed(family_picture(made("Herman/m Rosalee/f James/m/0 -/f", "0-3 2-1"), (0, 1), [0, 2, 1]))
    rounded = {words(group[1]): float(group[0].get("rx", "")) for group in people(root).values()}
    assert rounded["Herman"] < rounded["Rosalee"]
    assert [words(group[1]) for group in shapes(root, "g", "person unnamed")] == ["a woman"]
    assert [words(group[1]) for group in shapes(root, "g", "step")] == ["1", "3", "2"]
    assert root[0].text == "A family with Herman and Rosalee"
    assert root[1].text == "Rosalee is Herman's daughter-in-law; the proof goes through Herman, James, Rosalee."


def rows(family: Genealogy) -> list[int]:
    found = boxes(parsed(family_picture(family, (0, 0), [])))
    tops = sorted({top for _, top, _, _ in found.values()})
    return [tops.index(found[person][1]) for person in range(len(found))]


def test_generations() -> None:
    grandparents = made("Ann/f Bob/m/0 Cem/m/1 Dee/f -/m Eve/f/2 -/f Flo/f/0", "4-0 1-3 2-6")
    assert rows(grandparents) == [0, 1, 2, 1, 0, 3, 2, 1]
    other_side = made("Herman/m Rosalee/f/1 James/m/0 Lee/m/2 Ada/f -/f -/m", "0-5 6-4 2-1")
    assert rows(other_side) == [0, 1, 1, 2, 0, 0, 0]


def test_somebody_marries_into_another_generation() -> None:
    # Pia's brother Qi marries the niece of Pia's husband Al: no rows put all children just below their parents.
    family = made("Al/m/0 Bo/f/0 Cy/f/2 Pia/f/1 Qi/m/1 -/m -/f -/m -/f -/m", "5-6 7-8 9-1 0-3 4-2")
    assert rows(family) == [1, 1, 2, 1, 2, 0, 0, 0, 0, 1]
    check_family(family, parsed(family_picture(family, (0, 4), [0, 2, 4])))


def test_those_who_are_not_related_stand_apart() -> None:
    crowd = Genealogy(tuple(Person(f"Person {number}", MALE) for number in range(20)), ())
    root = parsed(family_picture(crowd, (0, 1), []))
    check_family(crowd, root)
    assert float(root.get("width", "")) <= 1000
    assert len(set(rows(crowd))) > 1


def test_the_way_of_the_proof_is_bright() -> None:
    family = made("Al/m/0 Bo/f/0 Cy/f/1 -/m -/f Dan/m", "3-4 5-1")
    bright = shapes(parsed(family_picture(family, (0, 2), [0, 1, 2])), "path", "line on")
    assert len(bright) == 4  # to Al, to Bo, from Bo to the middle between her and Dan, and from there to Cy
    far = shapes(parsed(family_picture(family, (0, 2), [0, 2])), "path", "line on")
    assert [line(each) for each in far] == [line(each) for each in bright]


# --- beliefs


def test_a_timeline() -> None:
    root = parsed(belief_timeline(lay_out([example(), example(question=BELIEF, chain=["Ada", "Ben"])]), [2, 4]))
    assert [each for each in texts(root) if each in STORY.split("\n")] == STORY.split("\n")
    assert texts(root, "strong") == ["Ben entered the attic.", "Ben exited the attic."]
    assert texts(root, "head") == ["really", "Ben thinks", "Ben thinks", "Ada thinks that", "Ada", "Ben"]
    bars = [len(shapes(root, "rect", style)) for style in ("room-0", "real", "held", "false")]
    assert bars == [2, 2, 2, 1]
    assert [each for each in texts(root) if each in ("box", "jar", "box (false)")] == [
        "box",
        "jar",
        "box",
        "box (false)",
        "box",
    ]
    first, second = map(box, shapes(root, "rect", "room-0"))
    assert first[3] > second[3]  # Ben leaves before the story ends
    assert "Ben thinks it is in: box (wrong)." in (root[1].text or "")
    assert "Deciding sentences: 2, 4." in (root[1].text or "")


def test_label_and_truth_stand_below_what_is_asked() -> None:
    timeline = lay_out([example()])
    root = parsed(belief_timeline(timeline, asked=["Ben"], answers=("jar", "box")))
    assert texts(root, "wrong") == ["label: jar"]
    assert texts(root, "right") == ["right: box"]
    (asked,) = map(box, shapes(root, "rect", "asked-column"))
    bars = [box(each) for each in shapes(root, "rect", "real", "held", "false", "room-0")]
    assert all(each[0] > asked[0] for each in bars)  # what is asked for stands next to the sentences
    heading = next(each for each in shapes(root, "text") if words(each) == "Ben thinks")
    assert asked[0] < float(heading.get("x", "")) < asked[2]
    assert asked[3] <= float(root.get("height", ""))
    assert texts(parsed(belief_timeline(timeline, answers=("jar", "box"))), "wrong") == []


@pytest.mark.parametrize("question", [MEMORY, REALITY])
def test_without_a_chain_everybody_is_shown(question: str) -> None:
    root = parsed(belief_timeline(lay_out([example(question=question, chain=[])])))
    assert texts(root, "head") == ["really", "Ada thinks", "Ben thinks", "Ada", "Ben"]


@pytest.mark.parametrize(
    ("chain", "heads", "left_out"),
    [
        ([], ["really"], "Not asked about, and not shown: Ada and Ben."),
        (["Ben"], ["Ben thinks", "really", "Ben"], "Not asked about, and not shown: Ada."),
        (["Ada", "Ben"], ["Ben thinks", "Ada thinks that", "Ben thinks", "really", "Ada", "Ben"], ""),
    ],
)
def test_what_does_not_matter_for_the_question_is_left_out(chain: list[str], heads: list[str], left_out: str) -> None:
    asked = example(question={0: REALITY, 1: SEARCH, 2: BELIEF}[len(chain)], chain=chain)
    root = parsed(belief_timeline(lay_out([example(), asked]), asked=chain))
    assert texts(root, "head") == heads
    assert ([each for each in texts(root, "quiet") if each.startswith("Not")] or [""]) == [left_out]
    assert texts(root, "right") == ["answer: box"]


def test_a_belief_of_any_order_is_shown_with_all_that_it_is_about() -> None:
    chain = ["Ben", "Ada", "Ben"]
    question = "Where does Ben think that Ada thinks that Ben searches for the key?"
    root = parsed(belief_timeline(lay_out([example(question=question, chain=chain)]), asked=chain))
    assert texts(root, "head")[:7] == [
        *("Ben thinks", "Ada thinks that", "Ben thinks that"),
        *("Ben thinks", "Ada thinks that"),
        "Ben thinks",
        "really",
    ]


def test_the_narrow_form_has_the_point_first_and_fits_a_phone() -> None:
    root = parsed(belief_timeline(lay_out([example()]), [2, 4], asked=["Ben"], answers=("jar", "box"), narrow=True))
    assert float(root.get("width", "")) <= 350
    assert texts(root)[:4] == ["Ben thinks", "in the end: box (false)", "label: jar", "right: box"]
    assert texts(root, "strong") == ["Ben entered the attic.", "Ben exited the attic."]
    shown = texts(root)
    for sentence, changes in [
        ("The key is in the box.", ["Ben thinks: box", "really: box"]),
        ("Ada moved the key to the jar.", ["Ben thinks: box (false)", "really: jar"]),
    ]:
        place = shown.index(sentence)
        assert shown[place + 1 : place + 3] == changes
    assert [each for each in shown if each in STORY.split("\n")] == STORY.split("\n")
    (frame,) = map(box, shapes(root, "rect", "asked-column"))
    assert all(box(each)[1] >= frame[3] for each in shapes(root, "rect", "band", "held", "false", "real"))


def overlaps(root: ElementTree.Element) -> Iterator[tuple[Box, Box]]:
    bars = map(box, shapes(root, "rect", "real", "held", "false", *(f"room-{number}" for number in range(6))))
    return (pair for pair in combinations(bars, 2) if touching(*pair))


@pytest.mark.parametrize("benchmark", ["tomi", "tom-babi"])
def test_generated_stories(benchmark: str) -> None:
    for row in examples(benchmark, "test", 96)[::16]:
        picture = belief_timeline(lay_out([row]), row.proof, asked=row.chain, answers=("x", row.answer))
        root = parsed(picture)
        assert not list(overlaps(root))
        width = float(root.get("width", ""))
        assert all(box(each)[2] <= width + 0.6 for each in shapes(root, "rect"))
        assert picture == belief_timeline(lay_out([row]), row.proof, asked=row.chain, answers=("x", row.answer))
        assert width <= 1150  # the width of a page on a screen of 1280 pixels
        narrow = parsed(belief_timeline(lay_out([row]), row.proof, asked=row.chain, narrow=True))
        assert not list(overlaps(narrow))


@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text()), min_size=6, max_size=6, unique=True))
def test_any_story_is_safe(names: list[str]) -> None:
    sentence, room, first, second, container, thing = names
    steps = [
        Moment(sentence, {room: [first, second]}, container, {(first,): container, (first, second): None}),
        Moment(sentence * 5, {room: [second]}, container, {(first,): thing, (first, second): container}),
    ]
    for narrow in (False, True):
        timeline = Timeline("s", "", thing, steps, [])
        root = parsed(belief_timeline(timeline, [1], asked=[first], answers=(thing, ""), narrow=narrow))
        assert not list(overlaps(root))


def test_a_file_of_its_own_has_its_style() -> None:
    root = ElementTree.fromstring(standalone(belief_timeline(lay_out([example()]))))
    assert "prefers-color-scheme: dark" in (root[0].text or "")


# --- the pictures of a row


def test_a_story_about_beliefs_has_a_timeline() -> None:
    (picture,) = family_of(example()).pictures([example()], [2, 3], ("jar", "box"))
    assert texts(parsed(picture.svg), "wrong") == ["label: jar"]


@pytest.mark.parametrize(
    ("row", "captions"),
    [
        (DAUGHTER_IN_LAW, ["the label holds: Rosalee is Herman's daughter-in-law."]),
        (
            GRANDMOTHER,
            [
                "the label holds: Haruka is Oliver's mother.",
                "does not hold: Haruka is not Oliver's mother and has no other",
            ],
        ),
        (AUNT, ["the label does not hold: Miriam is Brian's sister-in-law, not sister."]),
    ],
)
def test_families_in_which_the_label_holds_and_does_not(row: Example, captions: list[str]) -> None:
    found = family_of(row).pictures([row])
    assert len(found) == len(captions)
    for picture, caption in zip(found, captions, strict=True):
        assert isinstance(picture, Picture)
        assert caption in picture.caption
        parsed(picture.svg)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (TWO_FATHERS, "no family fits the story"),
        (COUSINS, "strict kinship does not define"),
        (example(story="Ada flew."), "not a sentence of a story"),
        (example(question="Where will Ben look for the vase?"), "the vase is nowhere in the story"),
        (example(question="Where will Zoe look for the key?"), "'Zoe', who is asked about, is nowhere in the story"),
        (changed(DAUGHTER_IN_LAW, query=["Herman", "Nobody"]), "expected two of"),
        (changed(DAUGHTER_IN_LAW, genders=None), "lacks its facts"),
    ],
)
def test_nothing_to_draw(row: Example, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        family_of(row).pictures([row])


def test_noise_of_which_nothing_is_told_is_left_out() -> None:
    genders = [*(DAUGHTER_IN_LAW.get("genders") or ()), "X:male", "Y:male"]
    row = changed(DAUGHTER_IN_LAW, edges=[[0, 1], [1, 2], [3, 4]], genders=genders)
    (picture,) = family_of(row).pictures([row])
    assert len(boxes(parsed(picture.svg))) == 6


def path(row: Example) -> list[int]:
    scene = read_scene(row)
    return [] if scene is None else proof_path(scene)


def test_the_path_of_a_proof() -> None:
    assert path(GRANDMOTHER) == [0, 1, 2, 3]
    assert path(changed(GRANDMOTHER, proof_steps=[[0, 2, 3], [0, 1, 2]])) == [0, 1, 2, 3]
    assert path(changed(GRANDMOTHER, proof_steps=[[0, 0, 3], [0, 3, 0]])) == [0, 3, 0, 3]
    assert path(told("Ann/f Ben/m Cem/m", "Ann son Ben, Ben son Cem", "Ann Cem", "grandson")) == [0, 1, 2]
    assert path(example()) == []
