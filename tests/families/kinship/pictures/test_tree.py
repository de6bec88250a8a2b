from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import storyproof
from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.pictures.tree import draw, family_view, lay_out
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE
from tests.samples import changed, example

LETTERS = {"m": MALE, "f": FEMALE}
LEGEND = "«…» asked about   ·… in the proof   ⚭ married   → drawn below their own parents"


def made(people: str, couples: str = "") -> Genealogy:
    """Make a family of people such as `Ann/f` or, born to couple 0, `Bob/m/0`, and couples such as `0-1`."""
    pairs = [(int(man), int(woman)) for man, _, woman in (each.partition("-") for each in couples.split())]
    marriage = {person: couple for couple, pair in enumerate(pairs) for person in pair}
    found = []
    for number, each in enumerate(people.split()):
        name, letter, *parents = each.split("/")
        born = int(parents[0]) if parents else None
        found.append(Person(None if name == "-" else name, LETTERS[letter], born, marriage.get(number)))
    family = Genealogy(tuple(found), tuple(pairs))
    assert family.problems() == []
    return family


def drawn(family: Genealogy, **marks: Any) -> list[str]:
    return [line.plain for line in draw(family, **marks)]


def told(people: str, facts: str, query: str, answer: str, **changes: Any) -> Example:
    """Make a row from people such as `Ann/f`, facts such as `Ann son Bob` (he is her son), and who is asked about."""
    genders = [each.replace("/m", ":male").replace("/f", ":female") for each in people.split()]
    names = [each.partition(":")[0] for each in genders]
    parts = [each.split() for each in facts.split(", ")]
    fields: dict[str, Any] = {
        "benchmark": "clutrr",
        "story": "\n".join(f"{second} is the {what} of {first}." for first, what, second in parts),
        "question": "What is {1} to {0}?".format(*query.split()),
        "answer": answer,
        "proof": list(range(1, len(parts) + 1)),
        "k": len(parts),
        "task": "clean",
        "query": query.split(),
        "genders": genders,
        "edges": [[names.index(first), names.index(second)] for first, _, second in parts],
        "edge_types": [what for _, what, _ in parts],
        "noise_types": [],
    }
    return example(**{**fields, **changes})


def shown(row: Example, width: int = 200) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(family_view(lay_out(row), width))
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


DAUGHTER_IN_LAW = told(
    "Herman/m James/m Rosalee/f",
    "Herman son James, James wife Rosalee",
    "Herman Rosalee",
    "daughter-in-law",
    status=ENTAILED,
    proof_steps=[[0, 1, 2]],
    proof_relations=["daughter-in-law"],
)
GRANDMOTHER = told(
    "Oliver/m Beatrice/f Dominic/m Haruka/f",
    "Oliver sister Beatrice, Beatrice son Dominic, Dominic grandmother Haruka",
    "Oliver Haruka",
    "mother",
    status=AMBIGUOUS,
    proof_steps=[[0, 1, 3], [1, 2, 3]],
    proof_relations=["mother", "mother"],
)
AUNT = told(
    "Brian/m Catriona/f Deborah/f Miriam/f",
    "Brian daughter Catriona, Catriona mother Deborah, Deborah sister Miriam",
    "Brian Miriam",
    "sister",
    status=CONTRADICTED,
    proof_steps=[[0, 1, 3], [1, 2, 3]],
    proof_relations=["sister", "aunt"],
)
TWO_FATHERS = told("Ann/f Ben/m Carl/m", "Ann father Ben, Ann father Carl", "Ben Carl", "brother", status=IMPOSSIBLE)
COUSINS = told(
    "Ann/f Bob/m Cem/m",
    "Ann son Bob, Bob cousin Cem",
    "Ann Cem",
    "nephew",
    proof_steps=[[0, 1, 2]],
    proof_relations=["nephew"],
)


# --- the tree


@pytest.mark.parametrize(
    ("family", "lines"),
    [
        (made("Ann/f"), ["Ann"]),
        (made("Ann/f Ben/m"), ["Ann", "Ben"]),
        (made("Herman/m -/f", "0-1"), ["Herman ⚭ (a woman)"]),
        (made("Ann/f/0 -/m -/f", "1-2"), ["(a man) ⚭ (a woman)", "└─ Ann"]),
        (
            made("Herman/m Rosalee/f James/m/0 Kim/f/0 Lee/m/1 -/f", "0-5 2-1"),
            ["Herman ⚭ (a woman)", "├─ James ⚭ Rosalee", "│  └─ Lee", "└─ Kim"],
        ),
        (  # the wife's parents are in the family, too
            made("Herman/m Rosalee/f/1 James/m/0 Lee/m/2 Ada/f -/f -/m", "0-5 6-4 2-1"),
            [
                "Herman ⚭ (a woman)",
                "└─ James ⚭ → Rosalee",
                "   └─ Lee",
                "Ada ⚭ (a man)",
                "└─ Rosalee ⚭ → James",
            ],
        ),
        (  # those to whom the arrows point have no names
            made("Ann/f/2 Ben/m Cem/m -/f -/f -/m/0 -/f/1", "1-3 2-4 5-6"),
            [
                "Ben ⚭ (a woman)",
                "└─ (a man)¹ ⚭ → (a woman)²",
                "   └─ Ann",
                "Cem ⚭ (a woman)",
                "└─ (a woman)² ⚭ → (a man)¹",
            ],
        ),
        (  # brother and sister marry sister and brother
            made("Al/m/0 Bo/f/0 Cy/m/1 Di/f/1 Ed/m Flo/f Gus/m Hal/f Ian/m/2 Joy/f/3", "4-5 6-7 0-3 2-1"),
            [
                "Ed ⚭ Flo",
                "├─ Al ⚭ → Di",
                "│  └─ Ian",
                "└─ Bo ⚭ → Cy",
                "   └─ Joy",
                "Gus ⚭ Hal",
                "├─ Cy ⚭ → Bo",
                "└─ Di ⚭ → Al",
            ],
        ),
    ],
)
def test_known_families(family: Genealogy, lines: list[str]) -> None:
    assert drawn(family) == lines


@st.composite
def lawful_families(draw: st.DrawFn) -> Genealogy:
    """Grow a family by couples of anybody not related and their children; everybody has a name."""
    people = [Person(f"P{number}", GENDERS[number % 2]) for number in range(draw(st.integers(2, 10)))]
    couples: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 8))):
        single = [
            [number for number, person in enumerate(people) if person.gender == gender and person.marriage is None]
            for gender in GENDERS
        ]
        if not all(single):
            break
        man, woman = (draw(st.sampled_from(each)) for each in single)
        wed = list(people)
        for spouse in (man, woman):
            wed[spouse] = Person(people[spouse].name, people[spouse].gender, people[spouse].parents, len(couples))
        if not Genealogy(tuple(wed), (*couples, (man, woman))).problems():
            people, couples = wed, [*couples, (man, woman)]
            for gender in draw(st.lists(st.sampled_from(GENDERS), max_size=3)):
                people.append(Person(f"P{len(people)}", gender, len(couples) - 1))
    return Genealogy(tuple(people), tuple(couples))


def parsed(lines: list[str]) -> Iterator[tuple[str, str | None, bool, str | None]]:
    """Read a drawing: on each line who it is for, their spouse, whether that one is elsewhere, and whom it is below."""
    above: list[str] = []
    for line in lines:
        text = line.lstrip("│├└─ ")
        depth = (len(line) - len(text)) // 3
        person, _, spouse = text.partition(" ⚭ ")
        above[depth:] = [person]
        yield person, spouse.removeprefix("→ ") or None, spouse.startswith("→ "), above[depth - 1] if depth else None


@given(lawful_families())
def test_a_drawing_shows_the_whole_family(family: Genealogy) -> None:
    number = {str(person.name): place for place, person in enumerate(family.people)}
    nodes: list[str] = []
    below: dict[int, list[int]] = {}
    for name, spouse, elsewhere, parent in parsed(drawn(family)):
        nodes += [name] if spouse is None or elsewhere else [name, spouse]
        person = number[name]
        assert family.spouse(person) == ({number[spouse]} if spouse else set())
        if parent is None:
            assert not family.parents(person)
        else:
            couple = family.people[number[parent]].marriage
            assert couple is not None
            assert family.people[person].parents == couple
            below.setdefault(couple, []).append(person)
        if spouse and not elsewhere:
            assert not family.parents(number[spouse])
    assert sorted(nodes) == sorted(number)  # everybody once
    for couple, (husband, _) in enumerate(family.couples):
        assert sorted(below.get(couple, [])) == sorted(family.children(husband))


def test_marks_are_there_without_colour_and_with_it() -> None:
    family = made("Herman/m Rosalee/f James/m/0 Kim/f/0 -/f", "0-4 2-1")
    assert drawn(family, marked=[0, 1, 2], asked=[0, 1]) == [
        "«Herman» ⚭ (a woman)",
        "├─ ·James ⚭ «Rosalee»",
        "└─ Kim",
    ]
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard")
    console.print(*draw(family, marked=[0, 1, 2], asked=[0, 1]), sep="\n")
    for marked in ("\x1b[1m«Herman»", "\x1b[36m·James", "\x1b[1m«Rosalee»", "\x1b[2mKim", "\x1b[2m(a woman)"):
        assert marked in out.getvalue()


def test_without_marks_nobody_is_dim() -> None:
    family = made("Ann/f Ben/m")
    assert [str(span.style) for line in draw(family) for span in line.spans] == []
    assert [str(span.style) for line in draw(family, asked=[0]) for span in line.spans] == ["bold", "dim"]


# --- the whole view


def test_entailed() -> None:
    assert shown(DAUGHTER_IN_LAW) == [
        "story s  task clean  k 2  status entailed",
        "",
        "1 James is the son of Herman.",
        "2 Rosalee is the wife of James.",
        "",
        "What is Rosalee to Herman? → daughter-in-law",
        "",
        "Rosalee is Herman's daughter-in-law, because",
        "  James is Herman's son (stated)",
        "  Rosalee is James's wife (stated)",
        "",
        "The answer holds in every family that fits the story, as in this one:",
        "«Herman» ⚭ (a woman)",
        "└─ ·James ⚭ «Rosalee»",
        "",
        LEGEND,
    ]


def test_ambiguous_shows_both_families() -> None:
    lines = shown(GRANDMOTHER, width=80)
    assert lines[lines.index("Haruka is Oliver's mother, because") :] == [
        "Haruka is Oliver's mother, because",
        "  Beatrice is Oliver's sister (stated)",
        "  Haruka is Beatrice's mother, because",
        "    Dominic is Beatrice's son (stated)",
        "    Haruka is Dominic's grandmother (stated)",
        "",
        "The answer holds in some families that fit the story, but not in all.",
        "",
        "Here it holds: Haruka is Oliver's mother",
        "«Haruka» ⚭ (a man)",
        "├─ «Oliver»",
        "└─ ·Beatrice ⚭ (a man)",
        "   └─ ·Dominic",
        "",
        "Here it does not: Haruka has no named relation to Oliver",
        "(a man) ⚭ (a woman)",
        "├─ «Oliver»",
        "└─ ·Beatrice ⚭ → (a man)¹",
        "   └─ ·Dominic",
        "«Haruka» ⚭ (a man)",
        "└─ (a man)¹ ⚭ → ·Beatrice",
        "",
        LEGEND,
    ]


def test_on_a_wide_screen_two_families_stand_side_by_side() -> None:
    lines = shown(GRANDMOTHER)
    heading = "Here it holds: Haruka is Oliver's mother    Here it does not: Haruka has no named relation to Oliver"
    start = lines.index(heading)
    assert lines[start + 1].split("  ")[0] == "«Haruka» ⚭ (a man)"
    assert lines[start + 1].split("  ")[-1].strip() == "(a man) ⚭ (a woman)"
    assert heading in shown(GRANDMOTHER, width=len(heading))
    assert heading.split("    ")[1] in shown(GRANDMOTHER, width=len(heading) - 1)


def test_contradicted_says_what_is_so_instead() -> None:
    lines = shown(AUNT)
    said = "The answer holds in no family that fits the story; in this one Miriam is Brian's sister-in-law:"
    assert lines[lines.index(said) + 1 :] == [
        "(a man) ⚭ (a woman)",
        "├─ ·Deborah ⚭ «Brian»",
        "│  └─ ·Catriona",
        "└─ «Miriam»",
        "",
        LEGEND,
    ]


def test_impossible() -> None:
    lines = shown(TWO_FATHERS)
    assert lines[0].endswith("status impossible")
    assert lines[-2:] == ["", "No family fits the story."]
    assert "⚭" not in "".join(lines)


def test_words_of_other_kinship_systems() -> None:
    assert lay_out(COUSINS).witnesses is None
    assert shown(COUSINS)[-5:] == [
        "Cem is Ann's nephew, because",
        "  Bob is Ann's son (stated)",
        "  Cem is Bob's cousin (stated)",
        "",
        "No family is drawn: strict kinship does not define 'cousin'.",
    ]
    assert shown(COUSINS)[0].endswith("status unknown")


def test_a_leaf_says_what_is_stated_though_in_the_other_direction() -> None:
    row = told(
        "Herman/m James/m Rosalee/f",
        "James father Herman, Rosalee husband James",
        "Herman Rosalee",
        "daughter-in-law",
        proof_steps=[[0, 1, 2]],
        proof_relations=["daughter-in-law"],
    )
    assert {"  Herman is James's father (stated)", "  James is Rosalee's husband (stated)"} <= set(shown(row))


@pytest.mark.parametrize("steps", [[[0, 2, 4], [0, 1, 2], [2, 3, 4]], [[0, 2, 4], [2, 3, 4], [0, 1, 2]]])
def test_steps_may_go_depth_or_breadth_first(steps: list[list[int]]) -> None:
    row = told(
        "A/f B/m C/f D/f E/m",
        "A brother B, B mother C, C daughter D, D father E",
        "A E",
        "father",
        proof_steps=steps,
        proof_relations=["father", *("mother" if first == 0 else "husband" for first, _, _ in steps[1:])],
    )
    lines = shown(row)
    assert lines[lines.index("E is A's father, because") :][:7] == [
        "E is A's father, because",
        "  C is A's mother, because",
        "    B is A's brother (stated)",
        "    C is B's mother (stated)",
        "  E is C's husband, because",
        "    D is C's daughter (stated)",
        "    E is D's father (stated)",
    ]


def test_what_is_asked_may_be_stated() -> None:
    row = told("Ann/f Bob/m Cem/m", "Ann son Bob, Bob son Cem", "Ann Bob", "son", proof_steps=[], proof_relations=[])
    lines = shown(row)
    assert "Bob is Ann's son (stated)" in lines
    assert "   └─ Cem" in lines  # of whom the proof does not speak
    assert "└─ «Bob» ⚭ (a woman)" in lines


def test_a_proof_that_lacks_something_or_goes_in_circles() -> None:
    steps, relations = [[0, 1, 2], [0, 2, 1]], ["nephew", "son"]
    row = told("A/f B/m C/m", "A son B", "A C", "nephew", proof_steps=steps, proof_relations=relations)
    assert "    what B is to C is not stated" in shown(row)


def test_without_a_proof_the_chain_is_marked() -> None:
    lines = shown(
        told("Ann/f Bob/m Cem/m Dee/f", "Ann son Bob, Bob brother Cem, Cem sister Dee", "Ann Cem", "son", k=2)
    )
    assert not any("because" in line for line in lines)
    assert lines[-6:-2] == ["«Ann» ⚭ (a man)", "├─ ·Bob", "├─ «Cem»", "└─ Dee"]


def test_without_facts_only_the_story_is_shown() -> None:
    row = example(k=None)
    assert lay_out(row).witnesses is None
    assert shown(row)[-1] == "Where will Ben look for the key? → box"


def test_lines_beside_the_proof_are_dim() -> None:
    row = told("A/f B/m C/m D/m", "A son B, A son C, C brother D", "A B", "son", proof=[1])
    out = StringIO()
    Console(file=out, width=99, force_terminal=True, color_system="standard").print(family_view(lay_out(row)))
    assert "\x1b[2mC is the son of A." in out.getvalue()
    assert "\x1b[2mB is the son of A." not in out.getvalue()


def test_a_status_that_the_checker_does_not_share() -> None:
    row = told("A/f B/m C/m", "A son B, B brother C", "A C", "grandson", status=ENTAILED)
    assert shown(row)[0] == "story s  task clean  k 2  status entailed, but the checker finds it contradicted"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": ["Herman", "Zoe"]}, "asks about ['Herman', 'Zoe']; expected two of Herman, James, Rosalee"),
        ({"edges": [[0, 1], [1, 3]]}, "edge 1 is [1, 3]; expected two of 3 people, counted from 0"),
        (
            {"proof_steps": [[0, 7, 2]], "proof_relations": ["son"]},
            "step 0 of the proof is [0, 7, 2]; expected three people",
        ),
    ],
)
def test_rows_that_speak_of_nobody(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as raised:
        lay_out(changed(DAUGHTER_IN_LAW, **changes))
    assert message in str(raised.value)


@pytest.mark.parametrize("settings", [{"task": "all"}, {"task": "memory"}, {"reading": "published"}, {"cloze": True}])
def test_generated_rows(settings: dict[str, Any]) -> None:
    for row in storyproof.generate("clutrr", test=8, seed=7, test_k=(3,), **settings).to_pylist():
        made_row = Example.from_row(row)
        verdict = lay_out(made_row).witnesses
        assert verdict is not None
        assert verdict.status == made_row.get("status")
        lines = shown(made_row, width=80)
        assert "is not stated" not in "".join(lines)
        assert sum(line.endswith("(stated)") for line in lines) == (1 if row["task"] == "memory" else row["k"])
        count = "\n".join(lines).count
        families = sum(family is not None for family in (verdict.fits, verdict.against))
        for name in row["query"]:
            assert count(f"«{name}»") - count(f"→ «{name}»") == families
