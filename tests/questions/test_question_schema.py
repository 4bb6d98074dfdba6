"""Questions as JSON Schema: defaults are valid, and what a question refuses by its
fields the schema does, too."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from warehouse.analysis.compare.question import Compare
from warehouse.errors import MisuseError
from warehouse.questions.question import Question, options
from warehouse.questions.registry import ENTRIES, question_of

for name in ENTRIES:
    if ENTRIES[name].question:
        question_of(name)


def kinds(base: type[Question] = Question) -> Iterator[type[Question]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("warehouse."):
            yield kind
        yield from kinds(kind)


def examples(question: type[Question]) -> dict[str, Any]:
    """A value for each option that is required, and the defaults of the others."""
    values: dict[str, Any] = {}
    for name, shape in question.json_schema()["properties"].items():
        types = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
        made_up = {
            "string": "x",
            "number": 0.01,
            "integer": 1,
            "array": ["x"],
            "object": {},
        }
        needed = shape.get("enum") or [made_up.get(types[0])]
        values[name] = shape.get("default", needed[0])
    return values


@pytest.mark.parametrize(
    "question", sorted(set(kinds()), key=lambda kind: kind.__name__)
)
def test_the_defaults_of_every_question_are_valid(question: type[Question]) -> None:
    schema = question.json_schema()
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(examples(question))) == []
    known = options(question)
    assert schema["required"] == [
        name for name, option in known.items() if option.default is Parameter.empty
    ]
    assert all(shape["description"] for shape in schema["properties"].values())


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": 1},
        {"level": "high"},
        {"seed": -1},
        {"seed": 0.5},
        {"method": "z"},
        {"equivalence": 0},
        {"force": 1},
        {"where": {"a": 1}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_question_refuses(wrong: dict[str, Any]) -> None:
    validator = Draft202012Validator(Compare.json_schema())
    assert list(validator.iter_errors({"a": "x", "b": "y"})) == []
    assert [
        error.path[0] for error in validator.iter_errors({"a": "x", "b": "y"} | wrong)
    ] == list(wrong)
    with pytest.raises(MisuseError):
        Compare("x", "y", **wrong)


def test_what_no_question_has_is_refused() -> None:
    assert not Draft202012Validator(Compare.json_schema()).is_valid(
        {"a": "x", "b": "y", "levle": 0.9}
    )
    assert not Draft202012Validator(Compare.json_schema()).is_valid({"a": "x"})
