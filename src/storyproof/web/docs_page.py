"""The page that says how things are done: what needs no other page, from what the families and benchmarks say."""

from __future__ import annotations

from storyproof.families.family import families
from storyproof.pictures.svg import element, safe
from storyproof.reports.page import build_table
from storyproof.web.dials import describe_benchmarks

# What is done most, with the command that does it.
_COMMANDS = (
    ("Make a dataset", "storyproof generate tomi --test 1000 --seed 7 --out tomi"),
    ("Audit any file of stories, questions and answers", "storyproof audit FILE"),
    ("Evaluate a model", "storyproof evaluate --model openai/NAME --data tomi --output-dir runs"),
    ("Compare runs on one page", "storyproof report runs --out report.html"),
    ("Draw a story", "storyproof show tomi --index 4 -o story.svg"),
    ("Start a study with people", "storyproof study new NAME --kind solve --data tomi"),
    ("See all commands", "storyproof --help"),
)
_PYTHON = """import storyproof

story = storyproof.story("Ada entered the kitchen. Ben entered the kitchen. The key is in the box. "
                         "Ben exited the kitchen. Ada moved the key to the jar.")
found = story.ask("Where will Ben look for the key?")
print(found.answer, found.proof)"""


def docs_body() -> str:
    """Return the body of the page."""
    commands = build_table(
        ("to do this", "run this"),
        [(safe(what), element("code", safe(command))) for what, command in _COMMANDS],
        label="Commands",
    )
    benchmarks = build_table(
        ("benchmark", "kind", "what it is"),
        [
            (element("strong", safe(each["name"])), safe(each["title"]), safe(each["summary"]))
            for each in describe_benchmarks()
        ],
        label="Benchmarks",
    )
    legends = "".join(element("p", safe(family.legend)) for family in families() if family.legend)
    readings = "".join(
        element("h3", safe(family.title[0].upper() + family.title[1:]))
        + "<dl>"
        + "".join(element("dt", safe(name)) + element("dd", safe(meaning)) for name, meaning in family.readings.items())
        + "</dl>"
        for family in families()
        if family.readings
    )
    parts = [
        ("start", "Commands", commands),
        ("python", "In Python", element("pre", element("code", safe(_PYTHON)), tabindex="0")),
        ("pictures", "How to read the pictures", legends),
        (
            "readings",
            "Readings",
            element("p", "A reading is a named rule of interpretation, on which an answer can depend.") + readings,
        ),
        ("benchmarks", "Benchmarks", benchmarks),
    ]
    contents = "".join(element("li", element("a", title, href=f"#{name}")) for name, title, _ in parts)
    sections = "".join(element("section", element("h2", title, id=name) + body) for name, title, body in parts)
    lead = element("p", "Everything else is in the documentation that comes with the source, in docs.", class_="note")
    menu = element("nav", element("ul", contents, class_="contents"), aria_label="On this page")
    return element("main", element("h1", "Docs") + lead + menu + sections, class_="docs")
