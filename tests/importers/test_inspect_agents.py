"""Agents in Inspect logs: tools, limits, turns and tokens, held against what Inspect's
own tables count.

The logs and the counts are those of ``tests/writers/inspect_agents.py``: the same run
whole, in chunks, and rid of its events. ``messages_df`` counts two messages and one
turn more where a judge was asked, whose question and verdict it gathers; ``turn_count``
of ``samples_df`` does not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.inspect_logs import (
    FIXTURES,
    Row,
    by_draw,
    edited,
    entries_of,
    scores_by,
    take,
    write_deflated,
)

LOGS = ("agents.eval", "agents_chunked.eval", "agents.json")
#: Sample: messages and turns of ``messages_df``, those of the judge, calls and errors
#: by tool, events.
COUNTED: dict[str, tuple[int, int, bool, dict[str, tuple[int, int]], int]] = {
    "plain": (4, 2, True, {}, 23),
    "two": (9, 4, True, {"add": (2, 0), "look": (1, 0)}, 37),
    "errors": (10, 5, True, {"look": (1, 1), "nosuch": (1, 1), "add": (1, 1)}, 37),
    # the result of the last call was never sent to the model, and so is in no event of
    # one
    "loop": (10, 5, True, {"add": (4, 0)}, 40),
    "crash": (4, 2, False, {"look": (1, 0)}, 21),
    "other": (6, 3, True, {"look": (1, 0)}, 28),
}
TURNS = {"plain": 1, "two": 3, "errors": 4, "loop": 4, "crash": 2, "other": 2}


@pytest.fixture(params=LOGS)
def agents(request: pytest.FixtureRequest) -> Any:
    return take(FIXTURES / request.param)


def rows_of(taken: Any) -> dict[str, Row]:
    return {name: row for (name, _), row in by_draw(taken).items()}


def test_messages_turns_and_tools_are_those_of_inspects_tables(agents: Any) -> None:
    rows = rows_of(agents)
    assert set(rows) == set(COUNTED)
    for name, (messages, turns, judged, tools, _) in COUNTED.items():
        way = rows[name]["transcript"]
        assert (
            way["n_messages"] + 2 * judged - (name == "loop"),
            way["n_turns"] + judged,
        ) == (messages, turns), name
        assert way["n_turns"] == TURNS[name]
        assert {
            tool["tool"]: (tool["n_calls"], tool["n_errors"]) for tool in way["tools"]
        } == tools


def test_a_limit_and_an_error_end_a_sample(agents: Any) -> None:
    rows = rows_of(agents)
    assert {
        name: row["transcript"]["limit_hit"]
        for name, row in rows.items()
        if row["transcript"]["limit_hit"]
    } == {"loop": "message"}
    assert rows["loop"]["finish_reason"] == "message_limit"
    assert scores_by(rows["loop"])["includes", ""] == {
        **scores_by(rows["loop"])["includes", ""],
        "value": 0.0,
        "status": "limit",
    }
    # tried twice: the second try counts, with its own two turns
    assert rows["crash"]["error"] == "ValueError('broke after two turns')"
    assert scores_by(rows["crash"])["includes", ""]["status"] == "error"


@pytest.mark.parametrize("name", TURNS)
def test_tokens_of_a_judge_that_is_the_same_model_are_not_the_agents(
    agents: Any, name: str
) -> None:
    """A turn reads 10 tokens and 2 cached ones, and writes 3, one of them thought; a
    verdict uses 1000 more of each."""
    row, turns = rows_of(agents)[name], TURNS[name]
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (
        10 * turns,
        3 * turns,
        0.5 * turns,
    )
    assert (
        row["transcript"]["cached_tokens"],
        row["transcript"]["reasoning_tokens"],
    ) == (2 * turns, turns)


def test_events_are_those_of_inspects_table() -> None:
    for log in LOGS[:2]:
        rows = rows_of(take(FIXTURES / log))
        assert {name: row["transcript"]["n_events"] for name, row in rows.items()} == {
            name: counts[-1] for name, counts in COUNTED.items()
        }
    assert {
        row["transcript"]["n_events"] for row in take(FIXTURES / "agents.json").rows
    } == {None}


def test_what_is_limited_and_who_allows_calls_are_conditions(agents: Any) -> None:
    (run,) = agents.dump.runs
    policies = run.sampling.pop("policies")
    assert run.sampling == {
        "message_limit": 9,
        "token_limit": 5000,
        "token_limit_type": "output",
    }
    assert len(policies) == 64


def test_a_model_that_stood_in_and_changed_settings_are_noted() -> None:
    stood_in = (
        "1 samples have responses of another model than was asked: mockllm/stand-in"
    )
    assert take(FIXTURES / "agents.eval").dump.notes == [stood_in]
    changed = take(FIXTURES / "agents.json").dump
    assert changed.notes == [
        stood_in,
        "settings were changed during the run: message_limit",
    ]
    assert changed.runs[0].configuration["settings_changed"] == {"message_limit": 12}


def test_a_log_that_begins_with_changed_settings_is_one(tmp_path: Path) -> None:
    """Written again with sorted keys, as other programs do."""
    path = tmp_path / "sorted.json"
    path.write_text(
        json.dumps(json.loads((FIXTURES / "agents.json").read_text()), sort_keys=True)
    )
    assert len(take(path).rows) == 6


def _changed(tmp_path: Path, **changes: Any) -> Row:
    entries = edited(
        entries_of(FIXTURES / "agents.eval"), "samples/two_epoch_1.json", **changes
    )
    return rows_of(take(write_deflated(tmp_path / "changed.eval", entries)))["two"]


def test_a_judge_that_used_more_than_there_is_takes_nothing_away(
    tmp_path: Path,
) -> None:
    used = {"input_tokens": 50, "output_tokens": 2000, "total_tokens": 2050}
    row = _changed(tmp_path, model_usage={"mockllm/agent": used})
    assert (row["input_tokens"], row["output_tokens"]) == (50, 2000)


def test_where_only_the_judges_tokens_are_known_the_models_are_not(
    tmp_path: Path,
) -> None:
    used = {"input_tokens": 1010, "output_tokens": 1003, "total_tokens": 2013}
    row = _changed(
        tmp_path,
        model_usage={"mockllm/agent": used},
        output={"choices": [], "model": "m"},
    )
    assert (row["input_tokens"], row["output_tokens"]) == (None, None)


def test_a_judge_whose_cost_is_no_amount_takes_nothing_away(tmp_path: Path) -> None:
    asked = {
        "event": "model",
        "model": "mockllm/agent",
        "span_id": "s",
        "output": {"usage": {"total_cost": 10**400}},
    }
    row = _changed(
        tmp_path,
        model_usage={"mockllm/agent": {"input_tokens": 50, "total_cost": 0.5}},
        events=[{"event": "span_begin", "type": "scorer", "id": "s"}, asked],
    )
    assert (row["input_tokens"], row["cost"]) == (50, 0.5)


@pytest.mark.parametrize(("total", "written"), [(471, 412), (60, 1), (None, 1)])
def test_reasoning_that_the_total_counts_beside_the_output_was_written_too(
    tmp_path: Path, total: int | None, written: int
) -> None:
    used = {
        "input_tokens": 59,
        "output_tokens": 1,
        "reasoning_tokens": 411,
        "total_tokens": total,
    }
    row = _changed(tmp_path, model_usage={"mockllm/agent": used}, events=[])
    assert (row["input_tokens"], row["output_tokens"]) == (59, written)


@pytest.mark.parametrize("span", [["x"], {"id": 1}, 7])
def test_events_of_another_form_are_no_error(tmp_path: Path, span: Any) -> None:
    events = [
        {"event": "span_begin", "type": "scorers", "id": span, "parent_id": span},
        {"event": "model", "span_id": span, "model": span, "output": span},
        {"event": "step", "type": span, "action": span},
        span,
    ]
    row = _changed(tmp_path, events=events)
    assert row["input_tokens"] == 1040


def test_requests_of_old_scorers_stand_in_steps(tmp_path: Path) -> None:
    verdict = {
        "input_tokens": 1010,
        "output_tokens": 1003,
        "total_tokens": 2013,
        "input_tokens_cache_read": 1002,
    }
    asked = {"event": "model", "model": "mockllm/agent", "output": {"usage": verdict}}
    step = {"event": "step", "type": "scorer", "name": "model_graded_qa"}
    events = [
        asked,
        {**step, "action": "begin"},
        asked,
        {**asked, "cache": "read"},
        {**step, "action": "end"},
        asked,
    ]
    row = _changed(tmp_path, events=events)
    assert (row["input_tokens"], row["output_tokens"]) == (30, 9)
