"""What happened on the way to a response: stored, counted, taken away and brought along
with its run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warehouse.store.curate.upkeep import vacuum
from warehouse.store.load.source_ledger import forget
from warehouse.store.schema import migrate

MESSAGES = json.dumps(
    [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
)
CALLED = [
    {"tool": "search", "n_calls": 3, "n_errors": 1},
    {"tool": "run", "n_calls": 1, "n_errors": None},
]
WAY = {
    "uuid": "u1",
    "n_messages": 9,
    "n_turns": 4,
    "limit_hit": "time",
    "tools": CALLED,
    "messages": MESSAGES,
}


def _rows(kit: Any) -> list[dict[str, Any]]:
    return [
        kit.row("a", 1.0, response="x", transcript=WAY),
        kit.row(
            "a",
            0.0,
            draw=1,
            response="y",
            transcript={"uuid": "u2", "n_turns": 1, "tools": []},
        ),
        kit.row("b", 1.0, response="z"),
    ]


def test_turns_tools_limits_and_messages_are_stored(kit: Any, whole: Any) -> None:
    kit.load(kit.header(), _rows(kit))
    columns = "draw, uuid, n_messages, n_turns, n_tool_calls, n_tool_errors, limit_hit"
    assert kit.all(f"select {columns} from transcript order by draw") == [
        (0, "u1", 9, 4, 4, 1, "time"),
        (1, "u2", None, 1, 0, 0, None),  # no tool was called: none failed
    ]
    assert kit.all("select tool, n_calls, n_errors from tool_call order by tool") == [
        ("run", 1, None),
        ("search", 3, 1),
    ]
    said = "select text from content join transcript on messages_hash = sha256"
    assert kit.all(said) == [(MESSAGES,)]
    means = (
        "n_generations, n_transcripts, mean_turns, mean_tool_calls, n_limited, "
        "mean_messages"
    )
    assert kit.all(f"select {means} from transcript_summary") == [
        (3, 2, 2.5, 2.0, 1, 9.0)
    ]
    assert kit.all(
        "select tool, calls_per_generation, error_share from tool_use order by tool"
    ) == [
        ("run", 1.0, None),
        ("search", 3.0, pytest.approx(1 / 3)),
    ]


def test_messages_are_texts_and_kept_as_the_user_wants(kit: Any) -> None:
    kit.load(kit.header(), _rows(kit), text="responses")
    assert kit.counts("transcript", "tool_call", "content") == (2, 2, 3)
    assert (
        kit.one("select count(*) from content where text = :text", text=MESSAGES) == 0
    )


def test_a_row_for_each_metric_repeats_no_transcript(kit: Any, whole: Any) -> None:
    one, other = (
        kit.row("a", 1.0, metric=name, response="x", transcript=WAY)
        for name in ("acc", "f1")
    )
    kit.load(kit.header(), [one, other])
    assert kit.counts("transcript", "tool_call") == (1, 2)


def test_a_run_of_before_is_completed_when_it_is_read_again(
    kit: Any, whole: Any
) -> None:
    bare = [
        {name: value for name, value in row.items() if name != "transcript"}
        for row in _rows(kit)
    ]
    kit.load(kit.header(), bare)
    assert kit.counts("transcript", "tool_call") == (0, 0)
    for _ in range(2):
        assert kit.load(kit.header(), _rows(kit)).n_seen_again == 1
        assert kit.counts("run", "transcript", "tool_call") == (1, 2, 2)
    assert (
        kit.one("select count(*) from content where text = :text", text=MESSAGES) == 1
    )


def test_they_go_with_their_run(kit: Any, whole: Any) -> None:
    kit.load(kit.header(), _rows(kit))
    forget(kit.store, "1")
    assert kit.counts("transcript", "tool_call", "content", "prompt") == (0, 0, 0, 0)


def test_messages_outlive_a_vacuum(kit: Any, whole: Any) -> None:
    kit.load(kit.header(), _rows(kit))
    vacuum(kit.store)
    assert (
        kit.one("select count(*) from content where text = :text", text=MESSAGES) == 1
    )


def test_0007_takes_transcripts_away_and_leaves_the_rest(kit: Any) -> None:
    kit.load(kit.header(), _rows(kit))
    migrate.downgrade(kit.store, "0006")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.counts("generation", "score", "transcript", "tool_call") == (3, 3, 0, 0)


def test_what_a_forgotten_source_had_told_of_the_way_is_gone(
    kit: Any, whole: Any
) -> None:
    bare = [
        {name: value for name, value in row.items() if name != "transcript"}
        for row in _rows(kit)
    ]
    kit.load(kit.header(), bare, path="bare")
    kit.load(kit.header(), _rows(kit), path="full")
    assert kit.counts("transcript", "tool_call") == (2, 2)
    assert forget(kit.store, "full") == (0, 1)
    assert kit.counts("transcript", "tool_call") == (0, 0)
    assert kit.all("select about from statement where about = 'transcripts'") == []
