"""Stand-in."""
from __future__ import annotations
from storyproof.errors import ParseError
from storyproof.families.belief.nested.text import ask_nested, narrate_plot, parse_nested_question, parse_plot
from storyproof.families.belief.vocabulary import default_vocabulary
class PlainEnglish:
    language, style = "en", "plain"
    def __init__(self): self.vocabulary = default_vocabulary()
    def narrate(self, events, draws=None): return narrate_plot(events).split("\n")
    def read(self, story): return parse_plot(story)
    def ask(self, question): return ask_nested(question)
    def read_question(self, text): return parse_nested_question(text)
    def answer(self, reply):
        if reply is None: return "unknown"
        return reply if isinstance(reply, str) else ", ".join(reply) or "nobody"
    def read_answer(self, text, question): raise ParseError("x")
