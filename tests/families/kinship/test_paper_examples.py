"""The puzzles that the CLUTRR paper prints (source 002, tables 5 to 9), entered by hand.

"X is the ___ of Y" asks for (Y, ?, X). A chain goes from Y to X along the people of the table's column of genders, and
each person after the first comes with what they are to the one before, as the story has it. Table 8's second story goes
from Brad to his father and back.
"""

from collections import Counter
from dataclasses import dataclass

import pytest

from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, ENTAILED, status
from storyproof.families.kinship.oracle import derive, replay
from storyproof.families.kinship.relations import FEMALE, MALE, Fact, gender_of, predicate_of
from storyproof.families.kinship.rules import PUBLISHED, STRICT, rules_of

MEN = {
    *("Charles", "Christopher", "Randolph", "Arthur", "Boyd", "Frank", "Brett", "Sam", "Roger", "Leon", "Pedro"),
    *("Samuel", "Ronald", "Thomas", "Kenneth", "Brad", "Elmer", "Steven", "Bradford", "Damion", "Dennis", "Ira"),
    *("Mario", "Roy", "Robert", "William", "Brian"),
}


@dataclass(frozen=True)
class Printed:
    """A row of a table.

    Attributes:
        table: Its number.
        k: As its caption says.
        chain: The first person, then what each next one is and is called.
        answer: As printed.
        verdict: What the checker makes of that.
    """

    table: int
    k: int
    chain: str
    answer: str
    verdict: str

    @property
    def people(self) -> list[str]:
        """Who is in the story, each once."""
        return list(dict.fromkeys(self.chain.split()[::2]))

    @property
    def genders(self) -> list[str]:
        return [MALE if name in MEN else FEMALE for name in self.people]

    @property
    def facts(self) -> list[Fact]:
        parts = self.chain.split()
        number = {name: place for place, name in enumerate(self.people)}
        told = zip(parts[:-2:2], parts[1::2], parts[2::2], strict=True)
        return [Fact(number[one], predicate_of(word), number[other]) for one, word, other in told]

    def asked(self, answer: str) -> Fact:
        first, last = self.chain.split()[0], self.chain.split()[-1]
        return Fact(self.people.index(first), predicate_of(answer), self.people.index(last))


PUZZLES = [
    Printed(5, 2, "Charles son Christopher uncle Randolph", "brother", AMBIGUOUS),
    Printed(5, 2, "Arthur son Randolph sister Sharon", "daughter", ENTAILED),
    Printed(5, 2, "Boyd brother Frank father Brett", "father", ENTAILED),
    Printed(6, 3, "Robin brother Sam father Roger son Leon", "brother", ENTAILED),
    Printed(6, 3, "Allison brother Pedro mother Nancy mother Elvira", "grandmother", ENTAILED),
    Printed(6, 3, "Roger sister Nancy daughter Cynthia brother Pedro", "nephew", ENTAILED),
    Printed(7, 4, "Samuel son Ronald aunt Bethany daughter Fran sister Celina", "niece", AMBIGUOUS),
    Printed(7, 4, "Thomas daughter Fran sister Jackie mother Bethany mother Celina", "daughter", CONTRADICTED),
    Printed(7, 4, "Kenneth mother Theresa son Ronald sister Raquel father Samuel", "father", ENTAILED),
    Printed(8, 5, "Kristin son Brad sister Diane father Elmer brother Steven son Bradford", "nephew", AMBIGUOUS),
    Printed(8, 5, "Diane sister Lena brother Brad father Elmer son Brad aunt Lizzie", "aunt", ENTAILED),
    Printed(8, 5, "Claudine son Ronald father Damion son Dennis sister April uncle Ira", "brother", AMBIGUOUS),
    Printed(
        9,
        6,
        "Agnes daughter Teri father Mario sister Marianne daughter Jean sister Darlene brother Roy",
        "nephew",
        AMBIGUOUS,
    ),
    Printed(
        9,
        6,
        "Agnes son Robert aunt Marianne son William father Brian daughter Jean sister Darlene",
        "niece",
        AMBIGUOUS,
    ),
    Printed(
        9,
        6,
        "Sharon brother Mario daughter Teri sister Annie mother Agnes son Robert sister Nicole",
        "niece",
        ENTAILED,
    ),
]
MISPRINT = PUZZLES[7]  # Thomas's daughters' mother's mother is not his daughter

each_puzzle = pytest.mark.parametrize("printed", PUZZLES, ids=lambda each: f"table{each.table}-{each.chain.split()[0]}")


def relations(printed: Printed, reading: str) -> list[str]:
    """Give what the rules of a reading derive of the asked people."""
    asked = printed.asked(printed.answer)
    derived = derive(rules_of(reading), [printed.facts], len(printed.people))
    return derived.relations(0, asked.first, asked.second)


@each_puzzle
def test_the_entry_is_as_long_as_the_table_says_and_its_words_fit_the_genders(printed: Printed) -> None:
    assert len(printed.facts) == printed.k
    told = zip(printed.chain.split()[2::2], printed.chain.split()[1::2], strict=True)
    assert all(gender_of(word) == (MALE if name in MEN else FEMALE) for name, word in told)
    assert gender_of(printed.answer) == (MALE if printed.chain.split()[-1] in MEN else FEMALE)


def test_there_are_fifteen_of_two_to_six_facts() -> None:
    assert Counter(printed.k for printed in PUZZLES) == {2: 3, 3: 3, 4: 3, 5: 3, 6: 3}


@each_puzzle
def test_the_published_rules_give_the_printed_answer_but_for_one(printed: Printed) -> None:
    expected = "mother" if printed is MISPRINT else printed.answer
    assert relations(printed, PUBLISHED) == [predicate_of(expected)]
    derived = derive(rules_of(PUBLISHED), [printed.facts], len(printed.people))
    steps = derived.proof(0, printed.asked(expected))
    assert replay(rules_of(PUBLISHED), printed.facts, printed.asked(expected), steps) is None


@each_puzzle
def test_the_checker_on_the_printed_answer(printed: Printed) -> None:
    assert status(printed.genders, printed.facts, printed.asked(printed.answer)) == printed.verdict


@each_puzzle
def test_the_strict_rules_give_what_is_entailed(printed: Printed) -> None:
    expected = {ENTAILED: [predicate_of(printed.answer)], AMBIGUOUS: [], CONTRADICTED: ["inv-in-law"]}
    assert relations(printed, STRICT) == expected[printed.verdict]


def test_the_misprint_is_a_mother_in_law() -> None:
    judged = {
        answer: status(MISPRINT.genders, MISPRINT.facts, MISPRINT.asked(answer))
        for answer in ("daughter", "mother", "mother-in-law")
    }
    assert judged == {"daughter": CONTRADICTED, "mother": CONTRADICTED, "mother-in-law": ENTAILED}
    assert relations(MISPRINT, PUBLISHED) == ["inv-child"]
    assert relations(MISPRINT, STRICT) == ["inv-in-law"]


@pytest.mark.parametrize("misprint", ["daughter", "mother"])
def test_eight_are_entailed_six_ambiguous_and_one_contradicted(misprint: str) -> None:
    """Both with the answers as printed and with what the published rules make of the misprint: neither can be."""
    answers = [misprint if printed is MISPRINT else printed.answer for printed in PUZZLES]
    verdicts = Counter(
        status(printed.genders, printed.facts, printed.asked(answer))
        for printed, answer in zip(PUZZLES, answers, strict=True)
    )
    assert verdicts == {ENTAILED: 8, AMBIGUOUS: 6, CONTRADICTED: 1}
