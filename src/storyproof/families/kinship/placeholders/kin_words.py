"""Kin words of plain English, and an encoding of texts that marks them and the people."""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, PREDICATES, word

_MOST_DIGITS = 9  # of the number of a slot that is looked at
OTHER = "other"  # kin for which there is no predicate
_INFORMAL = {
    "mother": "mom mum mommy mummy mama momma", "father": "dad daddy papa", "grandmother": "grandma granny gran nana",
    "grandfather": "grandpa granddad grandad gramps grampa", "husband": "hubby groom fiancé", "wife": "bride fiancée",
    "brother": "bro", "sister": "sis", "aunt": "auntie aunty", "niece": "neice",
    "granddaughter": "grandaughter",
}  # fmt: skip
_NEUTRAL = {
    "child": "child children kid kids baby newborn", "inv-child": "parent parents", "SO": "spouse spouses",
    "sibling": "sibling siblings twin twins triplets", "grand": "grandchild grandchildren grandkid grandkids",
    "inv-grand": "grandparent grandparents", "inv-in-law": "in-laws parents-in-law",
    OTHER: "cousin cousins relative relatives ancestor ancestors descendant stepfamily",
}  # fmt: skip
GENERIC = {"child", "children", "kid", "kids", "baby", "newborn"}  # without an owner they are nobody's kin
PRONOUNS = {
    "he": MALE, "him": MALE, "his": MALE, "himself": MALE,
    "she": FEMALE, "her": FEMALE, "hers": FEMALE, "herself": FEMALE,
}  # fmt: skip
NEAR = {"child", "inv-child", "SO", "sibling"}
TELLING = {
    "SO": r"marr[iy]|\bwed(?:ding|s)?\b|anniversary|honeymoon|divorc|newlywed|\bcouple",
    "child": r"birth to|\bborn\b|\braised\b|baby",
}  # words that imply a fact without being kin words


class Kin(NamedTuple):
    """A kin word, and its place in the encoded text."""

    word: str
    predicate: str
    gender: str | None
    plural: bool
    start: int = 0
    end: int = 0


@cache
def _kin_words() -> dict[str, Kin]:
    table: dict[str, Kin] = {}
    for predicate in PREDICATES:
        for gender in GENDERS:
            name = word(predicate.name, gender)
            head, law, _ = name.partition("-in-law")
            for form in (head, *_INFORMAL.get(name, "").split()):
                plural = ("wives" if form == "wife" else form + "s") + law
                table[form + law] = Kin(form + law, predicate.name, gender, False)
                table[plural] = Kin(plural, predicate.name, gender, True)
    for name, forms in _NEUTRAL.items():
        for form in forms.split():
            table[form] = Kin(form, name, None, form.endswith(("s", "children")))
    return table


_TOKEN = re.compile(
    r"ENT_(?P<slot>\d+)_\w+|(?P<law>(?:mother|father|son|daughter|brother|sister)s?[- ]in[- ]laws?\b)"
    r"|grand[ -](?:son|daughter|father|mother|child|parent)\w*|n't|[a-zé]+(?:-[a-zé]+)*|'s\b|\d+|\.\.+|[^\s\w]",
    re.IGNORECASE,
)
_FESTIVE = re.compile(r"'?s'? day", re.IGNORECASE)  # Mother's Day
_PREFIXED = re.compile(r"(?:(?:step|half|god|foster|great|ex)-?)+(?P<kin>[a-z]+)")


def _kin(token: str) -> Kin | None:
    form = re.sub(r"^grand[ -]", "grand", token.lower()).replace(" ", "-")
    form = re.sub(r"^(\w+)-in-laws$", r"\1s-in-law", form)
    table = _kin_words()
    prefixed = _PREFIXED.fullmatch(form)
    if form not in table and prefixed and prefixed["kin"] in table:
        return table[prefixed["kin"]]._replace(predicate=OTHER)
    return table.get(form)


def encode(text: str, people: int) -> tuple[str, list[Kin]]:
    """Encode people as `@number`, kin words as `#number`, other names as `~name`, and the rest in lower case."""
    text = text.replace("’", "'").replace("´", "'")
    tokens = list(_TOKEN.finditer(text))
    code, initial = " ", True
    kins: list[Kin] = []
    for found, after in zip_longest(tokens, tokens[1:]):
        token, piece = found[0], found[0].lower()
        kin = _kin(token)
        next_kin = _kin(after[0]) if after else None
        festive = _FESTIVE.match(text, found.end())
        if found["slot"]:
            known = len(found["slot"]) < _MOST_DIGITS and int(found["slot"]) < people
            piece = f"@{found['slot']}" if known else "~somebody"
        elif kin and not festive and (kin.gender or not next_kin):  # "her twin sister": the word is sister
            piece = f"#{len(kins)}"
            kins.append(kin._replace(word=token.lower(), start=len(code), end=len(code) + len(piece)))
        elif token == "'" and (
            (next_kin and code[-3:-2] == "@") or (kins and kins[-1].plural and kins[-1].end == len(code) - 1)
        ):
            piece = "'s"  # "ENT_0 'son", as published, and "her parents' house"
        elif token[0].isupper() and not initial and token != "I":
            piece = f"~{piece}"
        code += piece + " "
        initial = token[0] in '.!?"“`'
    return code, kins
