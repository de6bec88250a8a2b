"""Turns of phrase after which a kin word does not mean what it says.

The grammar looks at one class per word, so it cannot tell "passed away" from "passed the salt". These phrases are found
in the text itself. They make a relation unreal, past, somebody's opinion, or speak about the text; none of them tells
anything about kinship that a story needs, so a text that has one is refused.

The patterns are plain enough for both regular expression engines that are used: Python's for one text, RE2 for many.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# What is looked for in small letters, one pattern per line.
_UNREAL = r"""
    every other
    once upon
    by courtesy
    so to (?:speak|say)
    in a manner of speaking
    as it were
    wink(?: wink|END)
    quote,? unquote
    in (?:theory|name only|spirit|fiction|dreams|fantasy)
    on paper
    (?:once|times) removed
    in (?:his|her|their|\S+'s) (?:head|mind|imagination|version|dreams?|eyes|opinion|view|book)\b
    (?:other|another|parallel|imagined|different|imaginary) (?:world|universe|timeline|life)
    on (?:the )?(?:stage|screen|television|tv)
    in (?:chapter|episode|act|the sequel|the script|the prologue|the final act)\b
    (?:stands?|standing|stood) in for
    (?:passe[sd]|passed|(?:could|can|would|might) pass) for
    BE made (?:up|of)
    made up by
    (?:turn(?:s|ed) out|prove[sd]?) to be (?:a|an|no|not|nobody|the|his|her|somebody|someone)\b
    (?:said|known|believed|thought|rumoured|reputed|claims?|claimed) to be\b
    BE nothing (?:but|more)
    goes by
    went by the name
    call(?:s|ed)? (?:himself|herself)
    pos(?:es|ed|ing) as
    dress(?:es|ed|ing) (?:up )?as
    a sort of
    so-and-so
    in all but
    BE (?:really|actually|truly|secretly|in fact|in truth|in reality|none other)
    (?:in|wore a|under a) disguise
    no such
    what if
    wrong again
    for good[.,;]
    (?:nobody|no one) there
    as ifEND
    (?:fake news|a fake|fakesEND|fakeEND)
    page (?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)
    test tube
    swap(?:s|ped) names
    believe it or not
    yeah,? right
    pictured it
    (?:only|just|merely|purely) in\b
    for (?:tax|legal) (?:reasons|purposes)
    of convenience
"""
_OVER = r"""
    used to
    (?:lives?|lived|living|grew|grown|drifted) apart
    pass(?:es|ed|ing)? away
    split up(?: with| last| in| after|END)
    (?:breaks?|breaking|broke|broken) up(?: with| last| in| after|END)
    walk(?:s|ed) out on
    moved out(?: last| yesterday|END)
    r[au]n off with
    BE separated
    separated from (?:his|her)
    BE buried (?:on|at|beside|with|last|yesterday|next|in may|in june)
    BE buriedEND
    drowned(?: in| at| off| last| when| on|END)
    ashes of (?:his|her)
    rest in peace
    left (?:him|her)(?: for| in| last|END)
    another (?:man|woman)
    surviv(?:es?|ed) the
    in heaven
    (?:the|in) memory of
    body of (?:his|her)
    fell in the war
    under the (?:earth|ground|sod)
    stone of (?:his|her)
    (?:his|her) (?:wedding )?ring\b
    no longer with
    ha[sd] been gone
    laid to rest
    (?:lost|losing) (?:his|her) life
    last will
    hospice
    start(?:s|ed) a new (?:life|family)
    cut (?:all )?ties
    want(?:s|ed) nothing to do
"""
_AGES_AND_JOBS = r"""
    (?:younger|older) than
    (?:younger|older) by
    same age
    (?:his|her|their) age
    age of
    \w*(?:st|nd|rd|th) birthday
    next birthday
    (?:works?|worked|working) as
    years? (?:his|her) (?:junior|senior)
    learn(?:s|ed|t) to (?:walk|talk)
    still (?:in|at) school
    first day (?:of|at) school
    pension
    milk (?:tooth|teeth)
    old-age
"""
_ABOUT_THE_TEXT = r"""
    the following (?:is|are|was|never|has|did|does)
    (?:the|quite the) (?:opposite|contrary|reverse) (?:is|was|holds|applies)
    the (?:opposite|contrary|reverse)END
    on the contrary
    opposite day
    (?:the|this|that|last|next|first|previous|preceding|following|above|every) sentence
    for \w+,? read\b
    words? (?:above|below|here)
    (?:real|true|another|other|different|own|maiden) name
    names? (?:has|have|was|were|had)(?: been)? (?:changed|swapped|invented|made)
    april fools?
    begs? to differ
    BE (?:\w+ )?strangers
    ignore (?:the|this|that|all)(?: last| next| first| previous| above| rest| following|END)
    strike (?:the|that|out the) (?:last|first|next|previous|line)
    scratch that
    correction(?:s|:|END)
    (?:or did|or was|or is|or does) (?:he|she|it)END
    all of (?:this|that|the above)
    none of (?:this|that|it|the above)
    nothing (?:of (?:this|that|it|the)|above)
    not a word (?:of|is|was)
    take (?:that|this|it) back
    took (?:that|this|it|her words|his words) back
    with a grain of salt
    tall (?:tale|story)
    in jest
    in irony
    got (?:it|this|that|everything) wrong
    misremember
    remembers? it wrong
    typing error
    slip of the
    so (?:he|she|they|it) (?:says?|said|claims?|claimed|hopes?|hoped|thinks?|thought|seems?|seemed)
    (?:could|may|might) be wrong
    (?:he|she|they) (?:had |has |was |is )?(?:heard|told|gathered|reckoned|guessed|figured|concluded|assumed)END
    who knows
    hard to say
    nobody can (?:say|tell)
    is anyone's guess
    remains to be seen
    has yet to be
    open question
"""
# What is looked for in the text as it is.
_WITH_NAMES = r"""
    (?:[Bb]oth|[Tt]wo|[Tt]hree) [A-Z][a-z]+s\b
    (?:[Aa]nother|[Oo]ther|[Dd]ifferent) [A-Z]
    ashes of [A-Z]
    [Rr]eplace [A-Z]
    (?:Senior|Junior|Sr|Jr|II|III|IV)(?: |[.,;])
    (?:[Ii]nstead of|[Nn]ot) [A-Z][a-z]+ but
"""


def _pattern(*lists: str) -> str:
    """Return one pattern for all phrases of some lists."""
    phrases = [line.strip() for each in lists for line in each.strip().splitlines()]
    joined = "|".join(phrases).replace("BE", r"(?:is|are|was|were|be|been|being)").replace("END", "(?:[.,;!]|$)")
    return rf"\b(?:{joined})"


_SMALL = _pattern(_UNREAL, _OVER, _AGES_AND_JOBS, _ABOUT_THE_TEXT)
_AS_IS = _pattern(_WITH_NAMES)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns for one text; compiling them takes a while."""
    return re.compile(_SMALL, re.ASCII), re.compile(_AS_IS, re.ASCII)


def find_phrase(text: str) -> tuple[int, str] | None:
    """Return the first of the phrases in a text and where it begins."""
    small, as_is = _patterns()
    match = small.search(text.lower()) or as_is.search(text)
    return (match.start(), match[0]) if match else None


def have_phrases(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which of many texts have one of the phrases."""
    matches = pc.match_substring_regex(texts, pattern=f"(?i:{_SMALL})|{_AS_IS}")
    return np.asarray(matches.to_numpy(zero_copy_only=False), np.bool_)
