"""Turns of phrase after which a kin word does not mean what it says.

The grammar looks at one class per word, so it cannot tell "passed away" from "passed the salt". These phrases are found
in the text itself. They make a relation unreal, past, somebody's opinion, or speak about the text; none of them tells
anything about kinship that a story needs, so a text that has one is refused.

The patterns are plain enough for both regular expression engines that are used: Python's for one text, RE2 for many.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BE = "(?:is|are|was|were|be|been|being)"
_ENDS = "(?:[.,;!]|$)"

# On the text in small letters.
_PHRASES = (
    # It is not so in truth.
    "every other", "once upon", "by courtesy", "so to (?:speak|say)", "in a manner of speaking", "as it were", "wink",
    "quote,? unquote", "in (?:theory|name only|spirit|fiction|dreams|fantasy)", "on paper", "another life",
    "(?:once|times) removed", r"in \S+ (?:head|mind|imagination|version|dreams?|eyes|opinion|view|book)\b",
    "(?:other|another|parallel|imagined|different|imaginary) (?:world|universe|timeline|life)",
    "on (?:the )?(?:stage|screen|television|tv)", "in (?:chapter|episode|act|the sequel|the script|the prologue|the final act)",
    "stand(?:s|ing)? in for", "stood in for", "(?:passe[sd]|passed|(?:could|can|would|might) pass) for", f"{_BE} made (?:up|of)", "made up by",
    "turn(?:s|ed) out to be", "prove[sd]? to be", "(?:said|known|believed|thought|rumoured|reputed|claims?|claimed) to be",
    f"{_BE} nothing (?:but|more)", "goes by", "went by the name", "calls? (?:himself|herself)",
    "called (?:himself|herself)", "pos(?:es|ed|ing) as", "dress(?:es|ed|ing) (?:up )?as", "a sort of", "so-and-so",
    "in all but", f"{_BE} (?:really|actually|truly|secretly|in fact|in truth|in reality|none other)",
    "(?:in|wore a|under a) disguise", "no such", "what if", "wrong again", "for good[.,;]", "nobody there", "no one there", "as if", "fake", "page (?:one|two|three|four|five|six|seven|eight|nine|ten|\\d+)",
    "test tube", "swap(?:s|ped) names", "believe it or not", "yeah,? right", "pictured it", r"(?:only|just|merely|purely) in\b", "for (?:tax|legal) (?:reasons|purposes)", "of convenience",
    # It is over.
    "used to", "(?:lives?|lived|living|grew|grown|drifted) apart",
    "pass(?:es|ed|ing)? away", "split up", "break(?:s|ing)? up with", "bro(?:ke|ken) up", "walk(?:s|ed) out on",
    f"moved out(?: last| yesterday|{_ENDS})", "r[au]n off with", f"{_BE} separated", "separated from (?:his|her)",
    f"{_BE} buried (?:on|at|beside|with|last|yesterday|next|in may|in june)", f"{_BE} buried{_ENDS}",
    f"drowned(?: in| at| off| last| when| on|{_ENDS})", "ashes of (?:his|her)", "rest in peace", f"left (?:him|her)(?: for| in| last|{_ENDS})", "another (?:man|woman)", "surviv(?:es?|ed) the",
    "in heaven", "(?:the|in) memory of", "body of (?:his|her)", "fell in the war", "under the (?:earth|ground|sod)", "stone of (?:his|her)",
    "(?:his|her) (?:wedding )?ring", "no longer with",
    "has been gone", "had been gone", "laid to rest", "(?:lost|losing) (?:his|her) life", "last will",
    "hospice", "start(?:s|ed) a new (?:life|family)", "cut (?:all )?ties", "want(?:s|ed) nothing to do",
    # Ages, jobs and what somebody grows into.
    "(?:younger|older) than", "(?:younger|older) by", "same age", "(?:his|her|their) age", r"\bage of", r"\w(?:st|nd|rd|th) birthday",
    "next birthday", "(?:works?|worked|working) as", "years? (?:his|her) (?:junior|senior)", "learn(?:s|ed|t) to (?:walk|talk)",
    "(?:in|at|to|from) (?:primary |secondary |high |nursery |elementary )?school(?:[.,;]|$)", "day of school", "pension", "milk tooth", "milk teeth", "pocket money", "old-age",
    # The text speaks about itself or takes itself back.
    "the following (?:is|are|was|never|has|did|does)", "(?:the|quite the) (?:opposite|contrary|reverse) (?:is|was|holds|applies)",
    f"the (?:opposite|contrary|reverse){_ENDS}", "on the contrary", "opposite day",
    "(?:the|this|that|last|next|first|previous|preceding|following|above|every) sentence", r"for \w+,? read\b",
    "words? (?:above|below|here)", "(?:real|true|another|other|different|own|maiden) name",
    "names? (?:has|have|was|were|had)(?: been)? (?:changed|swapped|invented|made)", "april fools?", "begs? to differ",
    "strangers", "ignore (?:the|this|that|all)", "strike (?:the|that|out the) (?:last|first|next|previous|line)",
    "scratch that", "correction", f"(?:or did|or was|or is|or does) (?:he|she|it){_ENDS}", "all of (?:this|that|the above)",
    "none of (?:this|that|it|the above)", "nothing (?:of|above)", "not a word", "take (?:that|this|it) back",
    "took (?:that|this|it|her words|his words) back", "with a grain of salt", "tall (?:tale|story)", "in jest", "in irony",
    "on the wrong", "got (?:it|this|that|everything) wrong", "misremember", "remembers? it wrong", "typing error",
    "slip of the", "so (?:he|she|they|it) (?:says?|said|claims?|claimed|hopes?|hoped|thinks?|thought|seems?|seemed)",
    "could be wrong", "may be wrong", "might be wrong", "who knows", "hard to say", "nobody can (?:say|tell)",
    "is anyone's guess", "remains to be seen", "has yet to be", "open question",
)  # fmt: skip
# On the text as it is.
_PHRASES_WITH_NAMES = (
    "(?:[Aa]nother|[Oo]ther|[Dd]ifferent|[Bb]oth|[Tt]wo|[Tt]hree|[Ff]irst|[Ss]econd) @?[A-Z][a-z]+ (?:is|was|has|had|slept|sat|stood|came|went)",
    "(?:[Aa]nother|[Oo]ther|[Dd]ifferent) [A-Z]", "ashes of [A-Z]", "[Rr]eplace [A-Z]", "(?:[Ff]an|[Ii]dea|[Ss]hade)s? of [A-Z]",
    "(?:Senior|Junior|Sr|Jr|II|III|IV)(?: |[.,;])", "(?:[Ii]nstead of|[Nn]ot) [A-Z][a-z]+ but",
)  # fmt: skip
_SMALL = rf"\b(?:{'|'.join(_PHRASES)})"
_AS_IS = rf"\b(?:{'|'.join(_PHRASES_WITH_NAMES)})"
_SMALL_PATTERN, _AS_IS_PATTERN = re.compile(_SMALL), re.compile(_AS_IS)


def find_phrase(text: str) -> tuple[int, str] | None:
    """Return the first of the phrases in a text and where it begins."""
    match = _SMALL_PATTERN.search(text.lower()) or _AS_IS_PATTERN.search(text)
    return (match.start(), match[0]) if match else None


def have_phrases(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which of many texts have one of the phrases."""
    found = pc.match_substring_regex(texts, pattern=f"(?i:{_SMALL})|{_AS_IS}")
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
