"""The OpenAPI document says what forms demand."""

import re

from storyproof.study.forms import seal_arrival, sign
from storyproof.study.participants import Arrival
from tests.study.openapi import describe_api


def test_forms_say_what_they_demand() -> None:
    paths = describe_api()["paths"]
    forms = {
        path: next(iter(each["post"]["requestBody"]["content"].values()))["schema"]
        for path, each in paths.items()
        if "post" in each
    }
    assert forms["/consent"]["required"] == ["agree", "arrival"]
    assert forms["/s/{token}/answer"]["required"] == ["signature", "slot"]
    assert forms["/s/{token}/review"]["required"] == ["signature", "slot", "verdict"]
    signature = forms["/admin/login"]["properties"]["signature"]["pattern"]
    assert re.search(signature, sign("secret", "login"))
    assert not re.search(signature, "x")
    arrival = forms["/consent"]["properties"]["arrival"]["pattern"]
    for visit in ({}, {"a": "b"}, {"a": "bc"}, {"a": "bcd"}):
        assert re.search(arrival, seal_arrival("secret", Arrival("n", visit=visit)))
    for each in paths.values():
        for operation in each.values():
            assert {"200", "303", "400", "404", "422"} <= set(operation["responses"])
