"""The page of the sentences that are understood, from the language packs, the rewordings and the readers.

What is accepted, and what is refused with which message, comes from the readers themselves, each time the page is
written; a test fails when the page is out of date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import storyproof
from storyproof.errors import StoryproofError, quoted
from storyproof.families.belief.language.pack import NARRATIVE, PLAIN
from storyproof.families.kinship.language.lexicon import _INFORMAL
from storyproof.families.kinship.relations import PREDICATES
from storyproof.io.bounded_input import parse_shipped

_ACTS = {
    "enter": "somebody enters a room",
    "return": "somebody comes back",
    "come": "somebody comes in, no room named",
    "exit": "somebody leaves a room",
    "go": "somebody leaves, no room named",
    "depart": "somebody goes out to another place",
    "is_in": "somebody is in a room",
    "place": "an object is in a container",
    "put": "somebody puts an object somewhere",
    "move": "somebody moves an object",
    "take": "somebody takes an object, and the next sentence says where they put it",
    "furnish": "containers are in a room",
    "own": "somebody has an object or a container (changes nothing)",
    "like": "a like or dislike (changes nothing)",
    "stay": "somebody stays (changes nothing)",
    "idle": "nothing happens (changes nothing)",
    "peek": "somebody watches a room in secret",
    "unpeek": "… and stops",
    "distract": "somebody is distracted",
    "attend": "… and pays attention again",
    "tell": "somebody says something to the room",
    "tell lie": "… and lies",
    "whisper": "somebody tells one person",
    "whisper lie": "… and lies",
    "announce": "somebody tells everybody in any room",
    "announce lie": "… and lies",
    "noise": "nothing happens (changes nothing)",
}
_MESSAGES = ("whisper", "announce")
_PURPOSE = " [for a walk / to play / to get a drink …]"
_ASKS = {
    "memory": "where the object was first",
    "reality": "where the object is",
    "belief": "what somebody believes",
    "says": "what somebody would say",
    "knows-where": "whether somebody knows",
    "knows-wrong": "whether somebody knows of a mistake",
    "believers": "who believes something",
    "common": "what a group believes in common",
}
_WORDS = {
    "agents": "Ann and Bob",
    "agent": "Ann",
    "hearer": "Bob",
    "said": "the key",
    "thing": "the key",
    "container": "the box",
    "from": "the bag",
    "room": "the hall",
    "place": "the garden",
    "list": "a box and a table",
    "wish": "a hat",
    "word": "the hat",
    "words": "the hat and the bag",
}
_FORMS = {  # where a template names a form
    **{"thing:is": "is", "thing:was": "was", "thing:a": "a key", "thing:it": "it", "thing:The": "The key"},
    **{"agent:herself": "herself", "agent:her": "her", "agent:she": "she", "hearer:him": "him"},
}
_EXAMPLES = {
    "de": {
        "agent": "Anna",
        "hearer": "Bernd",
        "thing:is": "ist",
        "thing:was": "war",
        "thing:nom": "der Schlüssel",
        "thing:acc": "den Schlüssel",
        "container:in": "in der Schachtel",
    },
    "es": {
        "agent": "Ana",
        "agent:and": "y Luis",
        "hearer": "Luis",
        "thing:is": "está",
        "thing:was": "estaba",
        "thing:the": "la llave",
        "container:the": "la caja",
    },
    "zh": {"agent": "王芳", "hearer": "王强", "thing": "钥匙", "container": "盒子"},
}
_SCENE = "Ann and Bob are in the hall. The key is in the box. "
_ASKED = "Where will Bob look for the key?"
_READ = (
    (
        "Sally puts a marble in her basket. Sally leaves the room. Anne moves the marble in her box.",
        "Where would Sally look for the marble?",
    ),
    (
        "Sally has a marble. She puts it in her basket and goes out for a walk. While she is away, Anne takes the "
        "marble out of the basket. She puts it in her box. Sally comes back and wants to play with her marble.",
        "Where will she look for it?",
    ),
    (f"{_SCENE}Bob leaves. While Bob is away, Ann takes the key out of the box and puts it in the jar.", _ASKED),
    (f"{_SCENE}Bob went out. Ann moved the key into the jar. Then Bob came back.", _ASKED),
    (f"{_SCENE}Bob leaves. Ann moves the key to the jar.", "After Bob comes back, where will he look for the key?"),
)  # fmt: skip
_REFUSED = (
    ("thoughts, wishes and plans", "Bob thinks about the key."),
    ("denials", "Ann did not move the key."),
    ("doubts and conditions", "Maybe Ann moved the key to the jar."),
    ("what was before, or will be", "Ann had moved the key to the jar."),
    ("the passive", "The key was moved to the jar."),
    ("reports in other words than those above", "Bob hears that Ann moved the key."),
    ("places that are no container", "Ann hides the key behind the sofa."),
    ("deeds of animals and things", "The cat pushed the key into the jar."),
    ("two objects at once", "Ann puts the key and the coin in the jar."),
    ("how something is done", "Ann quickly moved the key to the jar."),
)
_FAMILY = (
    ("Ann has two sons, Ben and Carl.", "What is Ben to Ann?"),
    ("Ben is Ann's son and Carl's brother.", "What is Carl to Ann?"),
    ("Ann baked a cake with her mom, Eve. Eve's husband Carl ate it.", "What is Carl to Ann?"),
    ("Ann asked her brother Ben if he could help. Ben doesn't like his father Carl.", "What is Carl to Ann?"),
    ("Ann enjoys talking to her brother. His name is Ben.", "Ben is the ___ of Ann"),
    ("Ada is the mother of Ben. Dan is Ben's uncle.", "What is Dan to Ada?"),
)
_NO_FAMILY = (
    ("relations outside of the 22", "Ann's cousin Ben swam."),
    ("kin words without a gender", "Ann is Ben's child."),
    ("step- and half-relatives", "Ann is Ben's half-sister."),
    ("weddings, births, deaths, ages", "Ann is married to Ben."),
    ("denials and alternatives", "Ann is not Ben's mother."),
    ("opinions and reports", "Ann thinks that Ben is her son."),
    ("relatives without a name", "Ann met her uncle."),
    ("friends and other descriptions", "Ann went shopping with her friend Ben."),
)


def compact(pattern: str) -> str:
    """Return a pattern of a rewording as people read it: alternatives between slashes, optional words in brackets."""
    shown, rest = _alternatives(pattern)
    assert not rest, pattern
    return shown


def _alternatives(text: str) -> tuple[str, str]:
    """Return how the alternatives at the start of a pattern are shown, and what follows the bracket that ends them."""
    options, part = [], ""
    while text and text[0] != ")":
        if text[0] == "|":
            options.append(part)
            part, text = "", text[1:]
            continue
        shown, text = _piece(text)
        if text.startswith("?"):
            before, after = (" " if has else "" for has in (shown.startswith(" "), shown.endswith(" ")))
            is_word = bool(before or after)
            shown = f"{before}[{shown.strip()}]{after}" if is_word else f"({shown})"
            text = text[1:]
        part += shown
    options = [*options, part]
    return (" / " if any(" " in option.strip() for option in options) else "/").join(options), text


def _piece(text: str) -> tuple[str, str]:
    """Return how one piece of a pattern is shown (a slot, a group, a set or a character), and the rest."""
    if text.startswith("{purpose}"):
        return _PURPOSE, text.removeprefix("{purpose}")
    if slot := re.match(r"\{(\w+)\}", text):
        return f"*{_WORDS[slot[1]]}*", text[slot.end() :]
    if text.startswith("(?:"):
        inner, rest = _alternatives(text[3:])
        rest = rest.removeprefix(")")
        return (f"{{{inner}}}" if "/" in inner and not rest.startswith("?") else inner), rest
    if letters := re.match(r"\[(\w)\w\]", text):
        return letters[1], text[letters.end() :]
    if text.startswith("\\d+"):
        return "5", text[3:]
    return text[0], text[1:]


def _template(text: str) -> str:
    """Return a template of a language pack with example words."""

    def fill(slot: re.Match[str]) -> str:
        return _FORMS.get(slot[1], f"*{_WORDS[slot[1].partition(':')[0]]}*")

    shown = re.sub(r"\{([\w:|]+)\}", fill, text)
    return shown[0].upper() + shown[1:] if shown[0].islower() else shown


def _read(place: str, name: str) -> dict[str, Any]:
    path = resources.files(f"storyproof.families.{place}.language") / name
    table: dict[str, Any] = parse_shipped(path.read_text(encoding="utf-8"))
    return table


def _all_forms(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _all_forms(inner)


def _joined(forms: Sequence[str]) -> str:
    return "<br>".join(re.sub(r"[|\[]", r"\\\g<0>", form) for form in dict.fromkeys(forms))


def _sentences() -> Iterator[str]:
    pack, reworded = _read("belief", "en.yaml"), _read("belief", "rewordings.yaml")["sentences"]
    yield "| what happens | as storyproof writes it | also understood |\n|---|---|---|"
    for act, meaning in _ACTS.items():
        templates = pack["sentences"].get(act, {})
        own = [_template(templates[PLAIN])] if templates else []
        narrative = _all_forms(templates.get(NARRATIVE, ())) if act not in reworded or act in _MESSAGES else ()
        others = [_template(each) for each in narrative]
        others += [compact(each) for each in reworded.get(act, ())]
        yield f"| {meaning} | {_joined(own)} | {_joined([each for each in others if each not in own])} |"


def _questions() -> Iterator[str]:
    asked = _read("belief", "en.yaml")["questions"]
    yield "| question | forms |\n|---|---|"
    for name, meaning in _ASKS.items():
        forms = asked[name]
        if name == "belief":
            shown = [_template(each) for each in forms["one"]]
            yield f"| {meaning} | {_joined(shown)} |"
            first, middle, last = (_template(forms[part][0]) for part in ("first", "middle", "last"))
            yield f"| … about what others believe | {first}{middle.replace('Ann', 'Bob')}{last.replace('Ann', 'Cy')} |"
        elif name == "believers":
            yield f"| {meaning} | {_joined([_template(forms['none']), _template(forms['one'])])} |"
        elif name == "common":
            yield f"| {meaning} | Where do *Ann* and *Bob* commonly believe *the key* to be? |"
        else:
            yield f"| {meaning} | {_joined([_template(each) for each in _all_forms(forms)])} |"


def _other_questions(language: str) -> Iterator[str]:
    """Yield rows of the questions of another language: the parts of the long ones one after the other."""
    asked = _read("belief", f"{language}.yaml")["questions"]
    yield "| question | forms |\n|---|---|"
    for name, meaning in _ASKS.items():
        forms = asked[name]
        if isinstance(forms, dict) and "first" in forms:
            parts = [forms[part] for part in ("first", "middle", "last")]
            whole = [
                _fill(each, language) for each in _all_forms([forms[part] for part in ("none", "one") if part in forms])
            ]
            parts = [each if isinstance(each, str) else " / ".join(each) for each in parts]
            shown = [*whole, " + ".join(_fill(each, language) for each in parts)]
        else:
            shown = [_fill(each, language) for each in _all_forms(forms)]
        yield f"| {meaning} | {_joined(shown)} |"


def _fill(text: str, language: str) -> str:
    """Return a form with example words."""

    def fill(slot: re.Match[str]) -> str:
        word = _EXAMPLES[language][slot[1]]
        return word if slot[1] in ("thing:is", "thing:was") else f"*{word}*"

    return re.sub(r"\{([\w:]+)\}", fill, text)


def _coverage() -> Iterator[str]:
    """Yield how much of published text is understood, as `benchmarks.understood` measured it."""
    stored = Path(__file__).with_name("figures") / "understood.json"
    values = json.loads(stored.read_text(encoding="utf-8"))["values"]
    yield "| set | rows | read | of these, their answer follows |\n|---|---:|---:|---:|"
    for name in dict.fromkeys(re.sub(r" \w+$", "", each) for each in values):
        rows, read, right = (values[f"{name} {each}"] for each in ("rows", "read", "right"))
        share = f"{right / read:.1%}" if read else "–"
        yield f"| {name} | {rows:,} | {read / rows:.1%} | {share} |"
    compared, equal, part, contradicted = (
        values[f"CLUTRR {each}"] for each in ("compared", "equal", "part", "contradicted")
    )
    yield ""
    left = compared - equal - part - contradicted
    rest = f"{left} {'row is' if left == 1 else 'rows are'} left"
    yield (
        f"CLUTRR's rows also list their facts. Of the {compared:,} rows that were read and whose facts are all known, "
        f"{equal / compared:.1%} have the facts that were read. In {contradicted / compared:.1%} no family fits both "
        "the text and the row: crowd workers wrote another relation than they were given. In "
        f"{part / compared:.1%} the text does not state all facts. {rest}; "
        "of the rows whose text agrees with them and says it all, "
        f"{equal / (compared - part - contradicted):.2%} are equal."
    )
    yield ""
    yield (
        "Measured with `python -m benchmarks.understood DIR --every 8`: of sets with more than 1,000 rows, every "
        "eighth row. An answer counts if it follows under any reading; what remains are labels that follow under none."
    )


def _answered(texts: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "| text | question | answer | read as |\n|---|---|---|---|"
    for text, question in texts:
        proved = storyproof.story(text).ask(question)
        answer = proved.answer or f"none: {proved.status}"
        others = {each: reading for reading, each in proved.by_reading.items() if each not in ("", proved.answer)}
        answer += "".join(f" (`{reading}`: {each})" for each, reading in others.items() if proved.answer)
        changed = "<br>".join(f"{written} → {read}" for written, read in proved.read_as)
        yield f"| {text} | {question} | {answer} | {changed} |"


def _refused(texts: Sequence[tuple[str, str]], question: str, before: str = "") -> Iterator[str]:
    yield "| not understood | example | message |\n|---|---|---|"
    for what, sentence in texts:
        try:
            answer = storyproof.story(f"{before}{sentence}").ask(question).answer
        except StoryproofError as error:
            message = str(error).replace(quoted(sentence), "…").partition("not understood: ")[2]
            if not message:
                raise AssertionError(f"{sentence} is refused for another reason") from error
            yield f"| {what} | {sentence} | {message.removesuffix('.')} |"
        else:
            raise AssertionError(f"{sentence} is understood, with the answer {answer}; remove it from the page")


def write_page() -> str:
    """Return the page of the sentences that are understood."""
    kin = [f"{each.male}, {each.female}" for each in PREDICATES]
    informal = ", ".join(f"{word} ({meaning})" for word, meaning in _INFORMAL.items())
    return "\n".join(
        [
            "# Which sentences are understood\n",
            "Every command that takes a text of your own (`ask`, `verify`, `audit`, the explorer, "
            "`storyproof.story`) reads these "
            "sentences, and refuses all others. It never guesses. Names, objects, containers and rooms are "
            "yours to choose. A "
            "sentence per line, running text, and numbered lines are all accepted.\n",
            "*Words in italics* are examples. `[x]` may be left out, `{x/y}` means one of them, `enter(s)` means "
            "with or without the ending.\n",
            "## Stories about beliefs\n",
            *_sentences(),
            "",
            "Sentences may begin with a connective (*Then*, *After that*, *Later*, *Meanwhile* …) or with "
            "*While Ann is away* or *After Ann leaves*, and two "
            "may be joined by *and*. *He*, *she*, *they* and *it* are understood where they can mean one person or "
            "object only. Rooms and containers "
            "may have a possessive (*her own basket*), and the parents of somebody no name (*his mother*). What people "
            "leave unsaid is read in one way:\n",
            "| said | read as |\n|---|---|",
            "| somebody leaves a room, or handles something, without having entered | they were there from the "
            "beginning |",
            '| "the room" | the room that somebody is in, or the only other room; a story that names no room has one |',
            "| somebody puts something somewhere, and nothing says where it was | it is there from then on |",
            '| "her box" | the box, unless there may be two |',
            '| "she" | the only person of the story, or of the sentence before if they can do it and their name is not '
            'a man\'s; after "while" the only one who is away |',
            '| "it" | the object of the sentence before, or the only one so far |',
            "| something is in a container, and no room is told | it is in the room that somebody entered last, or in "
            "which somebody handles it next |",
            "| the same container is used in two rooms, and no room is told | there is one in each |",
            '| "The box is in the attic", and nothing but containers is in the attic | the attic is a room |',
            "",
            *_answered(_READ),
            "",
            "German, Spanish and Chinese stories are read as `tom-k` writes them ([text of tom-k](tom-k-text.md)). "
            "Others, with any names and nouns, in the present or past tense, are put into English sentences with their "
            "own words (*Der Schlüssel ist im Topf* → *The Schlüssel is in the Topf*), if every sentence fits a "
            "pattern of `translations.yaml`. Of 126 stories with questions that were written before these patterns "
            "(`tests/other_languages.yaml`), 39 of 42 are read in German, 38 of 42 in Spanish and 40 of 42 in Chinese, "
            "all rightly.\n",
            "### Questions\n",
            *_questions(),
            "",
            "A question may say what happens last: *After Bob comes back, where will he look for the key?* Names "
            "and nouns may have several words (*Li Lei*, *the treasure chest*). A word that is nearly right is refused "
            "with what may have been meant.\n",
            *(
                line
                for language, name in (("de", "German"), ("es", "Spanish"), ("zh", "Chinese"))
                for line in (
                    f"### Questions in {name}\n",
                    "*Words in italics* are examples. Parts joined by + make questions about several people; of "
                    "parts between slashes any one is understood.\n",
                    *_other_questions(language),
                    "",
                )
            ),
            "### Not understood\n",
            f'Each sentence was added to "{_SCENE.strip()}"; the message names the sentence.\n',
            *_refused(_REFUSED, _ASKED, _SCENE),
            "",
            "If one sentence is refused, the whole story is refused.\n",
            "## Stories about families\n",
            f"There are 22 relations: {'; '.join(kin)}. Informal words are read as these: {informal}.\n",
            "A relation may be stated in any usual construction between two named people: *Omar's niece "
            "Freya*, *Freya, who is "
            "his niece,*, *Omar has a niece called Freya*, *Freya is the niece of Omar*. Whatever else people "
            "do is ignored. Pronouns are "
            "understood where they can mean one person only. How the reader works: "
            "[kinship](kinship.md#reading-text).\n",
            "A name that stands with what somebody is to somebody is read whatever else its sentence says: *Ann asked "
            "her brother Ben if he could help*. So is a relative who is named in the next sentence: *Ann likes her "
            "brother. His name is Ben.*\n",
            *_answered(_FAMILY),
            "",
            "The question is *What is Ben to Ann?*, *Who is Ben to Ann?*, *How is Ben related to Ann?* or *Ben "
            "is the ___ of Ann*. Kin words, pronouns and spouses show somebody's gender. If the answer needs a gender "
            "that the text does not show, a first name shows it if it stands in one of our lists of names (this is "
            "always said); else the question is refused. Other people's genders stay unknown, whatever their names.\n",
            "### Not understood about families\n",
            *_refused(_NO_FAMILY, "What is Ben to Ann?"),
            "",
            "## How much of published text is understood\n",
            *_coverage(),
            "",
            "*Generated by `make docs`; a test fails when it is out of date.*\n",
        ]
    )
