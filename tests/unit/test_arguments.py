"""Arguments as models write them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.llm.arguments import BadArguments, parse_arguments, replayable


@pytest.mark.parametrize("raw", ["", "  \n", "null", '"null"', '""', "{}", " {} "])
def test_nothing_means_no_arguments(raw: str) -> None:
    assert parse_arguments(raw) == {}
    assert replayable(raw) == "{}"


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        (r'{"pattern":"\d+ports"}', {"pattern": r"\d+ports"}),
        (r'{"path":"C:\guides\setup.md"}', {"path": r"C:\guides\setup.md"}),
        (r'{"path":"C:\users"}', {"path": r"C:\users"}),
        (r'{"pattern":"a\\b\." }', {"pattern": r"a\b\."}),
        ('{"pattern":"line1\nline2\t"}', {"pattern": "line1\nline2\t"}),
        (r'"{\"pattern\":\"x\"}"', {"pattern": "x"}),
        ('{}{"pattern":"x"}', {"pattern": "x"}),
        (
            r'{"a":"\u0000b\ud800","n":[{"\ud83d\ude00":1}]}',
            {"a": "\ufffdb\ufffd", "n": [{"😀": 1}]},
        ),
    ],
)
def test_what_is_unambiguous_is_understood(raw: str, arguments: dict[str, object]) -> None:
    assert parse_arguments(raw) == arguments
    assert json.loads(replayable(raw)) == arguments


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("[]", "one JSON object"),
        ("7", "one JSON object"),
        ('{"pattern":"x",}', "at character 1[56]"),
        ("{\"pattern\":'x'}", "at character 12"),
        ('{"pattern":"x"', "at character 15"),
        (r'{"path":"C:\guides\new"}', "at character"),
        ('{"a":1}{"a":2}', "2 JSON values in a row"),
        ('{"a":1} and so on', "not valid JSON"),
        ('{"a":NaN}', "NaN"),
        ('{"a":1e999}', "1e999"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a":' + "9" * 5_000 + "}", "not valid JSON"),
    ],
)
def test_what_is_not_is_refused_with_a_sentence(raw: str, sentence: str) -> None:
    with pytest.raises(BadArguments, match=sentence):
        parse_arguments(raw)
    assert set(json.loads(replayable(raw))) == {"invalid"}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]",:\\ \n\0\ud800abnu0', max_size=30))
def test_history_arguments_are_always_a_json_object_and_stay_as_they_are(raw: str) -> None:
    once = replayable(raw)
    assert isinstance(json.loads(once), dict)
    assert replayable(once) == once
    once.encode()
