from dataclasses import replace

from storyproof.solvers.llm.messages import Message, Request, key_of

REQUEST = Request((Message("system", "Be brief."), Message("user", "Where?")), 10)


def test_text_is_what_is_said_in_turn() -> None:
    assert REQUEST.text == "Be brief.\n\nWhere?"


def test_key_knows_model_and_everything_asked() -> None:
    others = [
        replace(REQUEST, max_tokens=11),
        replace(REQUEST, stop=("\n",)),
        replace(REQUEST, choices=("\n",)),
        replace(REQUEST, messages=(Message("system", "Be brief.Where?"),)),
        replace(REQUEST, messages=(Message("user", "Be brief."), Message("user", "Where?"))),
    ]
    keys = {key_of("model", each) for each in [REQUEST, *others]} | {key_of("other model", REQUEST)}
    assert len(keys) == len(others) + 2
    assert key_of("model", REQUEST) == key_of("model", replace(REQUEST))
