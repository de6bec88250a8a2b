from __future__ import annotations

import re
from importlib.resources import files

import pytest

from storyproof.families.kinship.language.names import genders_of_names, our_names
from storyproof.families.kinship.language.reader import read
from storyproof.families.kinship.language.tokens import LATIN, alphabet_of, fold
from storyproof.families.kinship.placeholders.checks import encode
from storyproof.families.kinship.relations import GENDERS

# First names that are also English words: nobody should have to ask whether "Will" is a person.
WORDS = """
    amber angel art ash aurora autumn basil belle bill bishop blanche blossom bob brook bud buddy can candy carol chance
    charity chase cherry chip christian clay clement cliff colt constance crystal daisy dale dawn dean destiny dick
    dolly don drew duke earl ebony eve faith felicity fern flora frank gale garnet gay gene german ginger glen gloria
    grace grant guy harmony harper harry hazel heath heather hector herb holly honey honor hope hunter iris ivy jack
    jade jasmine jasper jay jean jewel jimmy josh joy june ken kitty lance lane laurel lily major margarita marina mark
    marshall martin mason mat max maxim may melody mercy merry miles mine molly myrtle nada nana nick norm norman octave
    olive opal page pansy pat patience pearl peg penny per pepper peter petal piper poppy precious primo prince prudence
    raj ran ray reed rehab rich rick river rob robin rocky rod roger roman romance rose rosemary ruby rune rusty sage
    sally sandy scarlet serge skip sky sonny stone storm sue sultan summer sun sung sunny tad taffy taiga taro terry
    tiger till tilde timber tone tore trinity tuba urban valentine verity victor violet wade warren will willow winter
    wolf woody
"""


def test_there_are_many_traditions_with_many_names() -> None:
    assert len(our_names()) >= 12
    for tradition, pool in our_names().items():
        assert tradition == tradition.lower()
        assert set(pool) == set(GENDERS)
        assert all(len(names) >= 80 for names in pool.values()), tradition


def test_a_name_shows_one_tradition_and_one_gender() -> None:
    every = [name for pool in our_names().values() for names in pool.values() for name in names]
    assert len(set(every)) == len(every) == len({fold(name) for name in every})  # no two look alike
    assert all(name.isalpha() and name.istitle() and len(name) > 2 for name in every)
    assert all(alphabet_of(letter) == LATIN for name in every for letter in name)


@pytest.mark.parametrize("name", ["Bogusław", "Øystein", "Börje", "Pádraig", "Nóirín", "Concepción", "Hélène", "İlhan"])
def test_names_have_the_marks_of_their_language(name: str) -> None:
    assert name in genders_of_names()
    assert {fact.second for fact in read(f"{name} laughed. Her uncle Omar did too.", [name, "Omar"]).facts} == {"Omar"}


def test_no_name_is_a_word() -> None:
    package = files("storyproof.families.kinship")
    texts = [
        each.read_text(encoding="utf-8")
        for folder in (package / "language" / "scenes", package / "placeholders")
        for each in folder.iterdir()
        if each.name.endswith(".yaml")
    ]
    texts += [(package / "language" / "frames.yaml").read_text(encoding="utf-8")]
    said = {word.lower() for text in texts for word in re.findall(r"[^\W\d_]+", text)}
    assert len(said) > 1500
    names = {name.lower() for pool in our_names().values() for each in pool.values() for name in each}
    assert sorted(names & said) == []
    assert sorted(name for name in names if encode(name, 0)[1]) == []  # kin words, also informal ones
    assert sorted(names & set(WORDS.split())) == []


def test_our_names_are_read_once() -> None:
    assert our_names() is our_names()
