"""Tests of promptfoo: which variables, options and assertions make a test, and what a
run adds to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.lm_eval import Taken
from warehouse.importers.promptfoo import IMPORTER
from warehouse.records import ImportSettings
from warehouse.records.settings import settings_of

UUID = "00000000-0000-4000-8000-0000000000{:02d}"


def result(
    test: int, prompt: int, variables: dict[str, Any], **case: Any
) -> dict[str, Any]:
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "promptId": "p",
        "provider": {"id": f"acme:{prompt}"},
        "prompt": {"raw": "Answer", "label": "Answer"},
        "response": {"output": "yes"},
        "gradingResult": {"pass": True, "score": 1, "reason": "fine"},
        "latencyMs": 5,
        "success": True,
        "score": 1,
        "testCase": {
            "vars": variables,
            "assert": [{"type": "icontains", "value": "y"}],
            **case,
        },
        "vars": variables,
    }


def take(folder: Path, *results: dict[str, Any], **config: Any) -> Taken:
    path = folder / "out.json"
    document = {
        "evalId": "eval-1",
        "results": {"results": list(results)},
        "config": config,
    }
    path.write_text(json.dumps(document))
    (source,) = IMPORTER.claim(lm_eval.candidates([path]))
    taken = Taken(IMPORTER.read(source, ImportSettings({"benchmark": "bot"})))
    taken.rows = [row for batch in taken.dump.batches for row in batch.to_pylist()]  # type: ignore[union-attr]
    return taken


def identities(taken: Taken) -> list[str]:
    return [row["identity"] for row in taken.rows]


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("sessionId", {}),
        (
            "chat",
            {
                "defaultTest": {
                    "options": {"transformVars": "{ ...vars, chat: context.uuid }"}
                }
            },
        ),
        (
            "asked_at",
            {
                "defaultTest": {
                    "options": {
                        "transformVars": (
                            "({...vars, asked_at: new Date().toISOString()})"
                        )
                    }
                }
            },
        ),
        ("thread", {}),
    ],
)
def test_what_a_run_adds_to_the_variables_is_no_part_of_a_prompt(
    tmp_path: Path, name: str, config: dict[str, Any]
) -> None:
    results = [
        result(test, prompt, {"q": f"question {test}", name: f"{prompt}-{test}"})
        for test in range(3)
        for prompt in range(2)
    ]
    taken = take(tmp_path, *results, **config)
    assert len(set(identities(taken))) == 3
    assert {row["text"] for row in taken.rows} == {
        "question 0",
        "question 1",
        "question 2",
    }
    assert all(name not in row["metadata"] for row in taken.rows)
    assert any(name in note for note in taken.dump.notes)


#: What tools draw anew for each execution; {} is the number of it.
NEW_EACH_TIME = [
    UUID,
    "sess_00000000-0000-4000-8000-0000000000{:02d}",
    "V1StGXR8_Z5jdHi6B-m{:02d}",
    "01ARZ3NDEKTSV4RRFFQ69G5F{:02d}",
    "507f1f77bcf86cd7994390{:02d}",
    "2026-05-02T10:00:{:02d}.123Z",
    "2026-05-02 10:00:{:02d}+02:00",
    "17777160{:02d}",
    "17777160{:02d}123",
]


@pytest.mark.parametrize("form", NEW_EACH_TIME)
def test_repeats_with_an_id_or_time_each_are_draws(tmp_path: Path, form: str) -> None:
    results = [
        result(n, 0, {"q": f"question {n % 3}", "made": form.format(n + 10)})
        for n in range(6)
    ]
    taken = take(tmp_path, *results)
    assert sorted(row["draw"] for row in taken.rows) == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "form", [UUID, NEW_EACH_TIME[2], NEW_EACH_TIME[5], NEW_EACH_TIME[8]]
)
@pytest.mark.parametrize("name", ["conversationId", "asked_at"])
def test_two_nights_ask_the_same_questions(
    tmp_path: Path, name: str, form: str
) -> None:
    """Of one provider, each question once: by the name of the variable."""
    nights = [
        identities(
            take(
                tmp_path,
                *(
                    result(n, 0, {"q": f"question {n}", name: form.format(first + n)})
                    for n in range(3)
                ),
            )
        )
        for first in (10, 20)
    ]
    assert nights[0] == nights[1] and len(set(nights[0])) == 3


@pytest.mark.parametrize(
    "values",
    [["2026-05-02", "2026-05-03"], [1500000000, 7], ["carbon-12-monoxide-gas", "x"]],
)
def test_dates_and_numbers_of_questions_stay(tmp_path: Path, values: list[Any]) -> None:
    results = [
        result(n, 0, {"q": "one question", "of": value})
        for n, value in enumerate(values)
    ]
    assert len(set(identities(take(tmp_path, *results)))) == 2


def test_ids_that_questions_have_stay(tmp_path: Path) -> None:
    results = [
        result(n, prompt, {"q": f"question {n}", "id": UUID.format(n)})
        for n in range(4)
        for prompt in range(2)
    ]
    taken = take(tmp_path, *results)
    assert len(set(identities(taken))) == 4
    assert UUID.format(0) in taken.rows[0]["metadata"]
    assert not taken.dump.notes


def test_a_variable_that_alone_tells_tests_apart_stays(tmp_path: Path) -> None:
    results = [result(0, prompt, {"q": f"question {prompt}"}) for prompt in range(2)]
    assert len(set(identities(take(tmp_path, *results)))) == 2


@pytest.mark.parametrize(
    "case",
    [
        {"options": {"prefix": "Be brief. "}},
        {"assert": [{"type": "equals", "value": "no"}]},
        {"threshold": 0.5},
    ],
)
def test_tests_that_differ_in_what_is_sent_or_asked_are_several(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    taken = take(
        tmp_path, result(0, 0, {"q": "same"}), result(1, 0, {"q": "same"}, **case)
    )
    assert len(set(identities(taken))) == 2
    assert [row["draw"] for row in taken.rows] == [0, 0]


def test_an_option_that_all_tests_have_is_none_of_the_prompt(tmp_path: Path) -> None:
    plain = take(tmp_path, result(0, 0, {"q": "one"}), result(1, 0, {"q": "two"}))
    option = {"options": {"prefix": "Be brief. "}}
    prefixed = take(
        tmp_path,
        result(0, 0, {"q": "one"}, **option),
        result(1, 0, {"q": "two"}, **option),
    )
    assert identities(plain) == identities(prefixed)


def two_providers(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """An evaluation of one question by two providers of one id, each with a
    configuration of its own."""
    asked = [
        {"raw": "Answer", "label": "Answer", "provider": "acme:m"} for _ in range(2)
    ]
    rows = [
        {**result(0, number, {"q": "a"}), "provider": {"id": "acme:m"}}
        for number in range(2)
    ]
    entries = [{"id": "acme:m", "config": config} for config in (first, second)]
    return {
        "evalId": "eval-1",
        "results": {"results": rows, "prompts": asked},
        "config": {"providers": entries, "outputPath": "out.json"},
    }


@pytest.mark.parametrize(
    ("first", "second", "n_conditions"),
    [
        (
            {"thinking": {"budget_tokens": 1024}},
            {"thinking": {"budget_tokens": 12000}},
            2,
        ),
        ({"some_option": "on"}, {"some_option": "off"}, 2),
        ({"max_tokens": 10}, {"max_tokens": "10"}, 1),
        ({"k": 5}, {"k": 5.0}, 1),
    ],
)
def test_two_providers_of_one_id_are_told_apart_by_their_entries(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], n_conditions: int
) -> None:
    path = tmp_path / "out.json"
    path.write_text(json.dumps(two_providers(first, second)))
    (source,) = IMPORTER.claim(lm_eval.candidates([path]))
    runs = IMPORTER.read(source, ImportSettings({"benchmark": "bot"})).runs
    assert len({settings_of(run).condition_key for run in runs}) == n_conditions


@pytest.mark.parametrize(
    ("config", "is_setting"),
    [
        ({"outputPath": "other.json"}, False),
        ({"evaluateOptions": {"maxConcurrency": 9}}, False),
        ({"nunjucks": "x"}, True),
    ],
)
def test_what_holds_for_all_tests_is_a_setting_unless_it_is_a_place_or_speed(
    tmp_path: Path, config: dict[str, Any], is_setting: bool
) -> None:
    rows = [result(0, 0, {"q": "a"})]
    keys = [
        settings_of(take(tmp_path, *rows, **given).dump.runs[0]).condition_key
        for given in ({}, config)
    ]
    assert (keys[0] != keys[1]) == is_setting
