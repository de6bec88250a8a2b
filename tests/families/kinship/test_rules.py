import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError, UnknownNameError
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, NAMES, PREDICATES, WORDS
from storyproof.families.kinship.rules import (
    NONE,
    RuleSet,
    load_rules,
    published_rules,
    rules_of,
    sound_compositions,
    strict_rules,
)

PUBLISHED = [  # source 002, section 1.2, in its order: head, first, second
    ("grand", "child", "child"),
    ("grand", "SO", "grand"),
    ("grand", "grand", "sibling"),
    ("inv-grand", "inv-child", "inv-child"),
    ("inv-grand", "sibling", "inv-grand"),
    ("child", "child", "sibling"),
    ("child", "SO", "child"),
    ("inv-child", "sibling", "inv-child"),
    ("inv-child", "child", "inv-grand"),
    ("sibling", "child", "inv-un"),
    ("sibling", "inv-child", "child"),
    ("sibling", "sibling", "sibling"),
    ("in-law", "child", "SO"),
    ("inv-in-law", "SO", "inv-child"),
    ("un", "sibling", "child"),
    ("inv-un", "inv-child", "sibling"),
]


def write(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# --- ours


def test_the_published_rules_are_the_sixteen_of_the_paper() -> None:
    rules = published_rules()
    assert [(head, *body) for body, head in rules.heads.items()] == PUBLISHED
    assert (rules.name, rules.inverses, rules.predicates) == ("published", False, PREDICATES)


def test_published_stories_are_told_in_14_words_and_ask_for_18() -> None:
    rules = published_rules()
    assert {rules.word(name, gender) for name in rules.stated for gender in GENDERS} == set(WORDS) - {
        *("nephew", "niece", "son-in-law", "daughter-in-law", "father-in-law", "mother-in-law"),
        *("brother-in-law", "sister-in-law"),
    }
    assert len(rules.stated) * len(GENDERS) == 14
    assert set(rules.targets) == set(NAMES) - {"SO", "sibling-in-law"}
    assert len(rules.targets) * len(GENDERS) == 18


def test_the_strict_rules_are_all_that_is_sound_and_ask_for_22_words() -> None:
    rules = strict_rules()
    assert rules.heads == sound_compositions()
    assert (rules.name, rules.inverses, rules.predicates, rules.stated) == ("strict", True, PREDICATES, BASIC)
    assert rules.targets == NAMES
    assert len({rules.word(name, gender) for name in rules.targets for gender in GENDERS}) == 22


def test_rules_go_by_the_name_of_their_reading() -> None:
    assert rules_of("strict") is strict_rules()
    assert rules_of("published") is published_rules()
    with pytest.raises(UnknownNameError, match=r"unknown reading 'strikt'.*'strict'.*Known: published, strict"):
        rules_of("strikt")


@pytest.mark.parametrize("rules", [strict_rules(), published_rules()], ids=lambda rules: rules.name)
def test_table_bodies_and_words_say_what_the_rules_say(rules: RuleSet) -> None:
    names = [predicate.name for predicate in rules.predicates]
    for (i, first), (j, second) in product(enumerate(names), repeat=2):
        head = rules.heads.get((first, second))
        assert rules.table[i, j] == (NONE if head is None else names.index(head))
    listed = [(body, head) for head, bodies in rules.bodies.items() for body in bodies]
    assert len(listed) == len(dict(listed))
    assert dict(listed) == {body: head for body, head in rules.heads.items() if set(body) <= set(rules.stated)}
    for name, gender in product(names, GENDERS):
        assert rules.by_word[rules.word(name, gender)] == (name, gender)
    assert len(rules.by_word) == 2 * len(names)


# --- users' own

GRAND = "rules:\n  - grand: [child, child]\n"
OWN = """\
relations:
  milk-child: [milk-son, milk-daughter, milk-parent]
  milk-parent: [milk-father, milk-mother, milk-child]
  milk-sibling: [milk-brother, milk-sister, milk-sibling]
stories: [sibling, milk-child, milk-parent]
rules:
  - milk-sibling: [milk-parent, milk-child]
  - milk-child: [milk-child, sibling]
"""


def test_a_file_may_bring_relations_of_its_own(tmp_path: Path) -> None:
    rules = load_rules(write(tmp_path, OWN))
    assert rules.heads == {
        ("milk-parent", "milk-child"): "milk-sibling",
        ("milk-child", "sibling"): "milk-child",
    }
    assert rules.predicates[: len(PREDICATES)] == PREDICATES
    assert rules.stated == ("sibling", "milk-child", "milk-parent")
    assert rules.targets == ("milk-child", "milk-sibling")
    assert rules.inverses is False
    assert (rules.word("milk-parent", MALE), rules.word("milk-parent", FEMALE)) == ("milk-father", "milk-mother")
    assert rules.by_word["milk-sister"] == ("milk-sibling", FEMALE)


def test_stories_are_told_in_the_eight_relations_if_a_file_does_not_say(tmp_path: Path) -> None:
    assert load_rules(write(tmp_path, GRAND)).stated == BASIC


def test_rules_are_named_after_what_is_in_the_file(tmp_path: Path) -> None:
    name = load_rules(write(tmp_path, OWN)).name
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert load_rules(str(write(elsewhere, OWN))).name == name
    assert load_rules(write(tmp_path, OWN + "  - sibling: [sibling, sibling]\n")).name != name
    assert name.startswith("rules-")


def test_the_published_rules_can_be_loaded_from_a_file_of_ones_own(tmp_path: Path) -> None:
    lines = [f"  - {head}: [{first}, {second}]" for head, first, second in PUBLISHED]
    rules = load_rules(
        write(tmp_path, "\n".join([f"stories: [{', '.join(published_rules().stated)}]", "rules:", *lines]))
    )
    assert (rules.heads, rules.stated, rules.targets) == (
        published_rules().heads,
        published_rules().stated,
        published_rules().targets,
    )


def test_what_can_be_concluded_can_be_asked_for(tmp_path: Path) -> None:
    """Also what takes three facts, because the grandchild on the way to it is never told."""
    great = "  great-grand: [great-grandson, great-granddaughter, inv-great-grand]\n"
    back = "  inv-great-grand: [great-grandfather, great-grandmother, great-grand]\n"
    text = f"relations:\n{great}{back}stories: [child]\n{GRAND}  - great-grand: [grand, child]\n"
    assert load_rules(write(tmp_path, text)).targets == ("grand", "great-grand")


REFUSED = {  # what is wrong: the file, its line where there is one, and what is said
    "unknown relation": (f"{GRAND}  - cousin: [child, SO]\n", 3, "unknown relation 'cousin'; known: child, inv-child"),
    "unknown in a body": (f"{GRAND}  - child: [SO, chlid]\n", 3, "unknown relation 'chlid'; known: child"),
    "no name": (f"{GRAND}  - child: [SO, [child]]\n", 3, r"unknown relation \['child'\]; known: child"),
    "two heads": (
        f"{GRAND}# ours\n  - child: [child, child]\n",
        4,
        r"\[child, child\] has the head 'child', but 'grand' in line 2; a body can have only one head",
    ),
    "unreachable": (
        f"stories: [child, SO]\n{GRAND}  - child: [in-law, SO]\n",
        4,
        "'child' cannot be concluded by this rule, because nothing yields 'in-law': stories do not state it",
    ),
    "in a circle": (
        "stories: [child]\nrules:\n  - in-law: [child, SO]\n  - SO: [child, in-law]\n",
        3,
        "'in-law' cannot be concluded by this rule, because nothing yields 'SO'",
    ),
    "nothing told": (f"stories: []\n{GRAND}", 3, "nothing yields 'child': stories do not state it"),
    "three in a body": (f"{GRAND}  - un: [SO, child, child]\n", 3, r"the body of 'un' is .*, expected two relations"),
    "no body": (f"{GRAND}  - un: child\n", 3, "the body of 'un' is 'child', expected two relations"),
    "no rule": (f"{GRAND}  - un\n", 3, r"found 'un', expected 'head: \[first, second\]'"),
    "two rules in one": (f"{GRAND}    child: [SO, child]\n", 2, r"expected 'head: \[first, second\]'"),
    "unknown section": (f"rule: 3\n{GRAND}", None, "unknown section 'rule'; expected rules, stories and relations"),
    "no rules": ("stories: [child]\n", None, r"expected 'rules:' with a list of 'head: \[first, second\]'"),
    "an empty list": ("rules: []\n", None, "expected 'rules:' with a list of"),
    "a mapping": ("rules:\n  grand: [child, child]\n", None, "expected 'rules:' with a list of"),
    "an empty file": ("", None, "expected 'rules:' with a list of"),
    "a list": ("- grand: [child, child]\n", None, "expected 'rules:' with a list of"),
    "told unknown": (f"stories: [child, kid]\n{GRAND}", None, "'stories': unknown relation 'kid'; known: child"),
    "no YAML": ("rules:\n  - grand: [child, child\n  - un: [SO, un]\n", 3, "YAML"),
    "a tab": ("rules:\n\t- grand: [child, child]\n", 2, "YAML"),
    "told in a word": (f"stories: child\n{GRAND}", None, "'stories'"),
    "told in one letter": (
        "relations:\n  z: [zac, zoe, z]\nstories: z\nrules:\n  - z: [z, z]\n",
        None,
        "'stories'",
    ),
    "relations listed": (f"relations: [cousin]\n{GRAND}", None, r"'relations' is \['cousin'\], expected 'name: \[male"),
    "no inverse": (
        f"relations:\n  twin: [twin-brother, twin-sister]\n{GRAND}",
        None,
        r"relation 'twin' is .*, expected 'name: \[male word, female word, name of the inverse\]'",
    ),
    "unknown inverse": (
        f"relations:\n  twin: [twin-brother, twin-sister, twn]\n{GRAND}",
        None,
        "the inverse of 'twin': unknown relation 'twn'; known: .*twin",
    ),
    "known already": (
        f"relations:\n  child: [boy, girl, inv-child]\n{GRAND}",
        None,
        "relation 'child' is already defined; use another name",
    ),
    "a word twice": (
        f"relations:\n  twin: [brother, twin-sister, twin]\n{GRAND}",
        None,
        "'brother' or '.*' is the word for two relations",
    ),
    "rules twice": (f"{GRAND}rules:\n  - child: [SO, child]\n  - un: [sibling, child]\n", None, "rules"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_with_file_line_and_advice(case: str, tmp_path: Path) -> None:
    text, line, message = REFUSED[case]
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=message) as caught:
        load_rules(path)
    said = str(caught.value)
    assert str(path) in said
    assert line is None or f"line {line}" in said
    assert "\n" not in said
    assert said.endswith(".")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read the rules in .*nothing\.yaml: .*No such file"):
        load_rules(tmp_path / "nothing.yaml")
    with pytest.raises(DataError, match="cannot read the rules in"):
        load_rules(tmp_path)
    path = tmp_path / "latin.yaml"
    path.write_bytes("# naïve\nrules:\n  - grand: [child, child]\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"cannot read the rules in .*latin\.yaml"):
        load_rules(path)


def test_names_and_lines_are_exact(tmp_path: Path) -> None:
    assert re.fullmatch(r"rules-[0-9a-f]{16}", load_rules(write(tmp_path, OWN)).name)
    with pytest.raises(DataError, match="line 1: 'stories' occurs twice; keep one"):
        load_rules(write(tmp_path, f"stories: [child]\n{GRAND}stories: [child]\n"))
    assert NONE not in range(len(PREDICATES))


@pytest.mark.parametrize("count", [100, 101])
def test_a_file_may_define_a_hundred_relations(tmp_path: Path, count: int) -> None:
    own = "".join(f"  r{number}: [m{number}, f{number}, r{number}]\n" for number in range(count))
    path = write(tmp_path, f"relations:\n{own}{GRAND}")
    if count == 100:
        assert len(load_rules(path).predicates) == len(PREDICATES) + count
        return
    with pytest.raises(DataError, match="'relations' has 101 entries, expected at most 100"):
        load_rules(path)


def test_bodies_are_in_a_fixed_order_and_may_use_all_that_is_stated() -> None:
    heads = {("sibling", "child"): "child", ("child", "sibling"): "child", ("child", "child"): "grand"}
    rules = RuleSet("own", PREDICATES, heads, ("child", "sibling"), inverses=False)
    assert rules.bodies == {"grand": [("child", "child")], "child": [("child", "sibling"), ("sibling", "child")]}


bodies = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))


@given(st.dictionaries(bodies, st.sampled_from(NAMES), min_size=1, max_size=8), st.sets(st.sampled_from(NAMES)))
def test_any_rules_are_loaded_as_written_or_refused_for_what_is_unreachable(
    tmp_path_factory: pytest.TempPathFactory, heads: dict[tuple[str, str], str], told: set[str]
) -> None:
    listed = [f"  - {head}: [{first}, {second}]" for (first, second), head in heads.items()]
    text = "\n".join([f"stories: [{', '.join(sorted(told))}]", "rules:", *listed])
    known = set(told)
    for _ in NAMES:
        known |= {head for (first, second), head in heads.items() if {first, second} <= known}
    idle = [line for line, body in enumerate(heads, start=3) if not set(body) <= known]
    folder = tmp_path_factory.getbasetemp() / "rules"
    folder.mkdir(exist_ok=True)
    path = write(folder, text)
    if idle:
        with pytest.raises(DataError, match=f"line {idle[0]}: .* cannot be concluded"):
            load_rules(path)
    else:
        assert load_rules(path).heads == heads


@pytest.mark.parametrize("parts", ["abc", "[a, b]", "[a, b, '']", "[a, b, 3]", "{a: 1, b: 2, c: 3}", "7"])
def test_a_relation_of_a_file_is_two_words_and_its_inverse(tmp_path: Path, parts: str) -> None:
    with pytest.raises(DataError, match=r"relation 'own' is .*, expected 'name: \[male word, female word"):
        load_rules(write(tmp_path, f"relations:\n  own: {parts}\n{GRAND}"))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("a", "found 'a', expected 'head: "),
        ("[a]", r"found \['a'\], expected 'head: "),
        ("grand: ab", "the body of 'grand' is 'ab', expected two relations"),
        ("grand: {child: 1, SO: 2}", "the body of 'grand' is .*, expected two relations"),
        ("7: [child, child]", "unknown relation 7"),
    ],
)
def test_a_rule_is_a_head_and_two_relations(tmp_path: Path, rule: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_rules(write(tmp_path, f"rules:\n  - {rule}\n"))
