"""What is denied in one clause and stated in the next: a table for each family of questions."""

import pytest

from storyproof.evaluation.matching.careful import ENGLISH
from storyproof.evaluation.matching.denials import CONTRACTED, weigh
from storyproof.evaluation.matching.matchers import careful
from storyproof.evaluation.matching.mentions import name_finder
from storyproof.language.answer_language import PLAIN_TALK

PLACES = ("bag", "box", "jar")
WHERE = "Where will Anne look for the ball?"
KIN = ("aunt", "brother", "cousin", "father", "mother", "uncle")
WHO = "What is Bob to Ann?"

JAR_IS_STATED = [
    # "and" with a subject of its own
    "It is not in the bag and she will look in the jar.",
    "It is not in the bag and she will look in the jar",
    "It is not in the kitchen and she will look in the jar.",
    "It is not in the bag and Anne will look in the jar.",
    "It isn't in the bag and Anne would look in the jar.",
    "The ball is no longer in the bag and she'll look in the jar.",
    "The ball is not in the bag and it is in the jar.",
    "The ball is not in the kitchen and it is in the jar.",
    "The ball is not in the bag and the ball is in the jar.",
    "It's not the bag and it's the jar.",
    "It's not here and it's in the jar.",
    "It is not here and she's sure of the jar.",
    "Not in the bag and Anne thinks it is in the jar.",
    "Anne won't check the bag and she will check the jar.",
    "Ben did not take the ball and it is still in the jar.",
    "Ben did not put it in the bag and he left it in the jar.",
    "Ben did not want it and he left it in the jar.",
    "Nobody told Anne and she will look in the jar.",
    "She never went there and the ball remained in the jar.",
    # "and" without one
    "The ball is not in the bag and is in the jar.",
    "The ball is not in the kitchen and is in the jar.",
    "The ball was not moved and remains in the jar.",
    "The ball was not moved to the bag and stayed in the jar.",
    "The ball was never moved and must be in the jar.",
    "Anne will not look in the bag and will look in the jar.",
    "Anne did not leave and looks in the jar.",
    "Anne never left and so will look in the jar.",
    "Anne never left and therefore still looks in the jar.",
    "Anne has no reason to look in the bag and will look in the jar.",
    "Anne cannot open the bag and will go to the jar.",
    # one word is enough
    "It was never in the bag and always in the jar.",
    "It is not in the bag anymore and now in the jar.",
    "It is not in the bag and therefore in the jar.",
    "It is not in the bag and thus in the jar.",
    "It is not in the bag and rather in the jar.",
    "It is not in the bag, rather in the jar.",
    "It is not in the bag or rather it is in the jar.",
    "She will look not in the bag but in the jar.",
    "It is not in the bag yet she will look in the jar.",
    "No it is in the jar.",
    "No she will look in the jar.",
    # what somebody does not think, or does not know
    "Anne does not think it is in the bag and thinks it is in the jar.",
    "Anne does not think that it was moved and believes it is in the jar.",
    "Anne does not think so and she will look in the jar.",
    "Anne does not know that it was moved and thinks it is in the jar.",
    "Anne does not know that the ball is in the bag and she will look in the jar.",
    "Anne does not know that the ball is in the bag and looks in the jar.",
    "Anne did not see Ben move it to the bag and therefore she will look in the jar.",
    "Anne did not see Ben move it and therefore believes it is in the jar.",
    "Anne has no idea that it is in the bag and goes to the jar.",
    "Anne is not aware of the bag and will look in the jar.",
    "Anne is unaware of the bag and will look in the jar.",
    "Unaware of the move to the bag Anne will look in the jar.",
    "Without having seen the move to the bag Anne will look in the jar.",
    "Not told of the bag Anne will look in the jar.",
    "Anne did not see it and she went straight to the jar.",
]
JAR_IS_NOT = [
    "It is not in the bag and not in the jar.",
    "It is not in the bag and it is not in the jar.",
    "It is not in the bag and the jar.",
    "It is not in the bag and she will not look in the jar.",
    "It is not in the bag and never will she look in the jar.",
    "It is not in the bag and nobody will look in the jar.",
    "It is never in the bag and never in the jar.",
    "It isn't in the bag and isn't in the jar.",
    "She will not look in the bag and the jar.",
    "She will not go and look in the jar.",
    "She would not take it and put it in the jar.",
    "Neither the bag nor the jar.",
    "It is in neither the bag nor the jar and she will look in the box.",
    "It is not in the jar and she will look in the bag.",
    "It is not in the jar and is in the bag.",
    "Anne will not look in the jar and will look in the bag.",
    "No jar.",
    "There is no jar.",
    "Without the jar",
    # several things that somebody does not think, or does not know
    "I do not think she will look in the jar.",
    "I don't think that it was moved and is in the jar.",
    "I don't think that Ben moved it and he put it in the jar.",
    "I do not think that Ben and Anne will look in the jar.",
    "I don't believe Ben and Anne will look in the jar.",
    "It is not true that it was moved and is in the jar.",
    "There is no evidence that it was moved and is in the jar.",
    "I doubt that it was moved and is in the jar.",
    "I doubt Ben and Anne will look in the jar.",
    "It is not likely that it was moved and is now in the jar.",
    "Anne does not know that it was moved and is in the jar.",
    "Anne did not see that Ben took it and it is in the jar.",
    "Anne did not see Ben take it and put it in the jar.",
]
FATHER_IS_STATED = [
    "He is not her uncle but her father.",
    "He is not her uncle and he is her father.",
    "He is not her uncle and is her father.",
    "He is not her uncle he is her father.",
    "He's not her uncle, he's her father.",
    "He isn't her uncle; rather, he is her father.",
    "He is not her uncle, rather her father.",
    "He is not her uncle or brother but her father.",
    "He is neither her uncle nor her brother and is her father.",
    "Not her uncle and Bob is her father.",
    "Bob is not Ann's uncle and is Ann's father.",
    "Bob is not Ann's cousin and is Ann's father.",
    "Bob is not the uncle of Ann and is the father of Ann.",
    "Bob is not related to Cid and is the father of Ann.",
    "Bob is no uncle of Ann and is her father.",
    "Bob is not Ann's uncle and therefore Ann's father.",
    "Rather than her uncle he is her father.",
    "He is her father and not her uncle.",
    "He is her father (not her uncle).",
]
FATHER_IS_NOT = [
    "He is not her uncle and not her father.",
    "He is not her uncle and father.",
    "He is not Cid's uncle and Ann's father.",
    "He is neither her uncle nor her father.",
    "He is not her father but her uncle.",
    "He is not her father and is her uncle.",
    "Bob is Ann's uncle and not her father.",
    "I do not believe that he was adopted and is her father.",
]


@pytest.mark.parametrize("question", [WHERE, ""])
@pytest.mark.parametrize("reply", JAR_IS_STATED)
def test_a_statement_ends_the_denial_before_it(reply: str, question: str) -> None:
    assert careful(reply, "jar", PLACES, question).right
    assert not careful(reply, "bag", PLACES, question).right


@pytest.mark.parametrize("question", [WHERE, ""])
@pytest.mark.parametrize("reply", JAR_IS_NOT)
def test_a_denial_of_several_things_goes_on(reply: str, question: str) -> None:
    assert not careful(reply, "jar", PLACES, question).right


@pytest.mark.parametrize("question", [WHO, ""])
@pytest.mark.parametrize("reply", FATHER_IS_STATED)
def test_kin_that_is_stated_after_a_denial(reply: str, question: str) -> None:
    for word in KIN:
        assert careful(reply, word, KIN, question).right == (word == "father"), word


@pytest.mark.parametrize("question", [WHO, ""])
@pytest.mark.parametrize("reply", FATHER_IS_NOT)
def test_kin_that_is_denied(reply: str, question: str) -> None:
    assert not careful(reply, "father", KIN, question).right


def test_what_somebody_else_is() -> None:
    assert not careful("Bob is not Ann's uncle and Cid is Ann's father.", "father", KIN, WHO).right


def weighed(text: str) -> tuple[list[str], list[str], bool]:
    stated, reasons, denied = weigh(text, name_finder(PLACES, PLAIN_TALK, ENGLISH).find(text), ENGLISH)
    return [mention.name for mention in stated], [mention.name for mention in reasons], denied


WORDS = {
    "deny": (
        *("not", "cannot", "never", "neither", "nor", "no", "nobody took", "without", "unlike", "except", "unaware of"),
        *("doubt", "doubts", "doubted", "doubtful about", "fail to open", "fails to open", "failed to open"),
        *("anywhere but", "everywhere but", "anything but", "everything but", "instead of", "rather than"),
        *("other than", "not the lid of", "not as a", "not as well as"),
        *(f"{verb}n't" for verb in CONTRACTED),
        *(f"{verb}nt" for verb in CONTRACTED),
    ),
    "deny nothing": (
        *("not only", "not just", "not merely", "not simply", "no doubt", "no question", "no matter", "no wonder"),
        *("no it is", "no he took", "no she took", "no they took", "nothing", "notable", "another", "know", "annoy"),
    ),
    "give a reason": ("because of", "since", "although", "though", "whereas", "as she saw"),
    "give none": ("as a", "as the lid of", "as well", "as it is", "as he thinks", "asset", "whereabouts"),
    "end a denial": (
        *("not here but", "not here however", "not here instead", "not here rather", "not here while", "not here when"),
        *("not here after", "not here so", "not here since", "not here --", "not here –", "not here —", "not here:"),
    ),
    "end a denial of knowing": (
        *(f"did not {verb} of it and she will look in" for verb in ("know", "see", "notice", "realize", "realise")),
        *(f"did not {verb} it she will look in" for verb in ("know", "see", "notice", "realize", "realise", "witness")),
        *(
            "never saw it will look in",
            "not seen it will look in",
            "not aware of it will look in",
            "unaware will look in",
        ),
        *("no idea of it will look in", "not told of it will look in", "not having seen it will look in"),
        *("not been told will look in", "not actually seen will look in", "not really really seen will look in"),
        *(f"not seen {verb} look in" for verb in ("will", "would", "will still", "would  still")),
        *(f"not seen will {verb}" for verb in ("look in", "search", "go to", "check", "think of")),
        *("not seen still thinks of", "not seen still believes in", "not seen and thus he went to"),
        *(f"not seen and {who} went to" for who in ("he", "she", "they")),
    ),
    "end a denial that is complete": (
        *(f"not the bag {who}" for who in ("it", "he", "she", "they", "its", "it's")),
        *(
            f"not the bag and {word}"
            for word in ("in", "is in", "was in", "will open", "he took", "it took", "anne is at")
        ),
        *("not seen the bag and is in", "i don't think the bag and is in", "i don't think the bag and they took"),
    ),
    "are denied with it": (
        *(
            f"not {word} that it was moved and is in"
            for word in (
                "think",
                "believe",
                "expect",
                "assume",
                "say",
                "mean",
                "true",
                "sure",
                "certain",
                "clear",
                "likely",
            )
        ),
        *(
            "no evidence that it moved and is in",
            "no reason that it moved and is in",
            "no sign that it moved and is in",
        ),
        *("not the case that it moved and is in", "not really think that it moved and is in"),
        *("doubts it was moved and is in", "doubted it was moved and is in", "doubtful it was moved and is in"),
        *(
            "not think ben and anne will look in",
            "not think that ben and anne will look in",
            "doubt ben and anne will open",
        ),
        *("not seen the bag and the", "not seen it and it is in", "not seen that it is in", "not the bag will look in"),
        *("not here and the", "not here and put it in", "not here and opens", "not and", "not the sandwich or"),
    ),
    "state what someone does": (
        *(
            f"not here and anne {verb}"
            for verb in (
                "will open",
                "would open",
                "looks in",
                "searches",
                "checks",
                "goes to",
                "thinks of",
                "believes in",
            )
        ),
        *(
            "not here and anne expects",
            "not here and anne assumes",
            "not here and anne'll open",
            "not here and will open",
        ),
        *(f"not here and {word} anne will open" for word in ("thus", "then", "therefore", "hence", "still", "now")),
        *(
            "not here and then thus anne will open",
            "not here and the girl will open",
            "not here and mary-ann will open",
        ),
        *("not here and anne still looks in", "not here yet anne will open", "not here and so anne will open"),
        *(f"not think {word} and anne will open" for word in ("that", "this", "it", "so")),
    ),
    "state how things are": (
        *(
            f"not here and {verb} in"
            for verb in ("is", "was", "are", "were", "must be", "should be", "remains", "remained", "stays", "stayed")
        ),
        *(f"not here and {who}'s in" for who in ("it", "he", "she", "there")),
        *(f"not here and {word} in" for word in ("it lay", "therefore", "thus", "hence", "now", "still", "always")),
        *("not here and the ball is in", "not here and still is in", "not here and then it still is in"),
        *(f"not here and {who} took" for who in ("he", "she", "they")),
    ),
}


@pytest.mark.parametrize(("effect", "words"), [(effect, words) for effect, each in WORDS.items() for words in each])
def test_words(effect: str, words: str) -> None:
    stated, reasons, denied = weighed(f"{words} the jar")
    if effect == "give a reason":
        assert ("jar" in reasons, denied) == (True, False)
    elif effect in ("deny", "are denied with it"):
        assert (stated, reasons, denied) == ([], [], True)
    else:
        assert "jar" in (reasons if words == "not here since" else stated)


@pytest.mark.parametrize(
    ("after", "denied"),
    [
        *((f" {verb} not it", True) for verb in ("is", "was", "are", "were", "does", "did", "has", "had", "can")),
        *((f" {verb}n't it", True) for verb in ("is", "was", "are", "could", "would", "should")),
        *((f" will {word} be it", True) for word in ("not", "never", "no  longer")),
        *((f" is {word}", True) for word in ("empty", "wrong", "incorrect", "false", "now empty")),
        *((f" was  {word}", True) for word in ("empty", "wrong")),
        *(("'s lid is not it", True), ("'s  side was empty", True)),
        *((" is not only it", False), (" is not just it", False), (" is emptying", False), (" is it", False)),
        *((" isn't", True), (" notes", False), (" and is empty", False)),
    ],
)
def test_what_is_denied_after_it_is_named(after: str, denied: bool) -> None:
    assert weighed(f"the jar{after}")[2] == denied


@pytest.mark.parametrize(
    ("text", "stated", "reasons", "denied"),
    [
        ("the bag", ["bag"], [], False),
        ("not the bag", [], [], True),
        ("not the bag. the jar", ["jar"], [], True),
        ("not the bag\nthe jar; the box! the bag? the jar", ["jar", "box", "bag", "jar"], [], True),
        ("not? no! not; not\nnot. the jar", ["jar"], [], False),
        ("not\nseen the jar", ["jar"], [], False),
        ("the bag, not\nseen the jar", ["bag", "jar"], [], False),
        ("not: the jar", ["jar"], [], False),
        ("not -- the jar", ["jar"], [], False),
        ("not, the jar", ["jar"], [], False),
        ("not the bag, or the jar", [], [], True),
        ("not the bag, nor the jar", [], [], True),
        ("the bag because the jar", ["bag"], ["jar"], False),
        ("because the jar. the bag", ["bag"], ["jar"], False),
        ("because the jar but the bag", ["bag"], ["jar"], False),
        ("because the jar, the bag", ["bag"], ["jar"], False),
        ("not because the jar", [], ["jar"], False),
        ("because not the jar", [], [], True),
        ("as the jar", ["jar"], [], False),
        ("as well the jar", ["jar"], [], False),
        ("as she left the jar", [], ["jar"], False),
        ("the bag is empty and the jar", ["jar"], [], True),
        ("the bag isn't it but the jar", ["jar"], [], True),
        ("the bag's lid is not the jar", [], [], True),
        ("the bag is not only the jar", ["bag", "jar"], [], False),
        ("if ann had seen it the bag. the jar", ["jar"], [], True),
        ("the jar if ann had seen the bag, the box", ["jar"], [], True),
        ("if ann had. the jar", ["jar"], [], False),
        ("not seen the bag and still the jar", ["jar"], [], True),
        ("not seen the bag will look in the jar", ["jar"], [], True),
        ("not the bag will look in the jar", [], [], True),
        ("not the bag he went to the jar", ["jar"], [], True),
        ("so. not the bag he went to the jar", ["jar"], [], True),  # in a later sentence, too
        ("not that he went to the jar", [], [], True),
    ],
)
def test_weigh(text: str, stated: list[str], reasons: list[str], denied: bool) -> None:
    assert weighed(text) == (stated, reasons, denied)
