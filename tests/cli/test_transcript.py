"""``show`` prints a transcript that people can read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.tables.transcript import FOLDED, ends_with, transcript_lines

CALL = {"function": {"name": "search", "arguments": '{"query": "rain", "pages": 2}'}}
MESSAGES = [
    {"role": "user", "content": "Will it rain?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {
        "role": "tool",
        "function": "search",
        "content": "\n".join(f"line {n}" for n in range(40)),
    },
    {
        "role": "tool",
        "function": "open",
        "content": "",
        "error": {"type": "timeout", "message": "took too long"},
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "reasoning": "clouds"},
            {"type": "text", "text": "Yes."},
        ],
    },
]


def test_roles_calls_results_and_errors_are_told_apart() -> None:
    lines = list(transcript_lines(json.dumps(MESSAGES), whole=False, width=80))
    assert lines[:4] == [
        "[user]",
        "  Will it rain?",
        "[assistant]",
        '  -> search(query="rain", pages=2)',
    ]
    assert f"  ... {40 - FOLDED} more lines (--full)" in lines
    assert lines[lines.index("[tool open: error]") + 1] == "  took too long"
    assert lines[-2:] == ["  (reasoning) clouds", "  Yes."]


def test_in_full_nothing_is_folded() -> None:
    lines = list(transcript_lines(json.dumps(MESSAGES), whole=True, width=80))
    assert "  line 39" in lines and not any("more lines" in line for line in lines)


@pytest.mark.parametrize(
    "call",
    [
        '{"name": "run", "arguments": {"code": "1"}}',
        {"function": "run", "arguments": {"code": "1"}},
    ],
)
def test_calls_are_read_as_each_tool_writes_them(call: object) -> None:
    text = json.dumps(
        [{"role": "assistant", "content": None, "tool_calls": [call, "no json", 7]}]
    )
    lines = list(transcript_lines(text, whole=True, width=80))
    assert lines[1] == '  -> run(code="1")' and lines[2] == "  -> no json"


def test_long_lines_fit_the_terminal() -> None:
    text = json.dumps([{"role": "tool", "content": "    " + "word " * 50 + "x" * 200}])
    lines = list(transcript_lines(text, whole=True, width=60))
    assert max(map(len, lines)) <= 60 and lines[1].startswith("      word")


def test_a_result_is_named_by_its_call_and_where_nothing_is_said_that_is_told() -> None:
    calls = [
        {"id": "a", "function": "look", "arguments": {}},
        {"id": "b", "function": "read", "arguments": {}},
    ]
    unnamed = [{"function": {"name": "count"}}, {"function": {"name": "sum"}}]
    said = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "assistant", "tool_calls": unnamed},
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "2"},
        {"content": None},
    ]
    lines = list(transcript_lines(json.dumps(said), whole=False, width=80))
    assert [line for line in lines if line.startswith("[")] == [
        *(
            "[assistant]",
            "[tool read]",
            "[tool look]",
            "[assistant]",
            "[tool count]",
            "[tool sum]",
            "[no role]",
        )
    ]
    assert lines[lines.index("[tool read]") + 1] == lines[-1] == "  (nothing)"


def test_what_is_no_text_is_named_and_long_json_stands_by_its_parts() -> None:
    found = [
        {"title": "Delhi", "id": 1},
        {"title": "a rather long title of a page", "id": 2},
    ]
    parts = [
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64," + "A" * 500},
        },
        {"type": "audio"},
        "end",
    ]
    said = [
        {"role": "tool", "content": json.dumps(found)},
        {"role": "tool", "content": {"total": 2, "pages": [1, 2, 3], "next": None}},
        {"role": "user", "content": parts},
        {
            "role": "assistant",
            "content": "{not JSON " + "x" * 60,
            "reasoning_content": "why",
        },
        {
            "role": "assistant",
            "tool_calls": [{"name": "write", "arguments": {"text": "a\nb\n", "n": 1}}],
        },
    ]
    lines = list(transcript_lines(json.dumps(said), whole=True, width=40))
    assert lines[1:4] == [
        "  [",
        '    {"title": "Delhi", "id": 1},',
        '    {"title": "a rather long title of a',
    ]
    assert '    "pages": [1, 2, 3],' in lines
    place = lines.index("[user]")
    assert lines[place + 1 : place + 5] == [
        "  (image)",
        "  (audio)",
        "  end",
        "[assistant]",
    ]
    assert lines[place + 5] == "  (reasoning) why"
    assert lines[-4:] == ["  -> write(text=", "       a", "       b", "     , n=1)"]


def test_a_response_that_the_transcript_ends_with_is_not_printed_again() -> None:
    text = json.dumps([*MESSAGES[:-1], {"role": "assistant", "content": "Yes.\n"}])
    assert (
        ends_with(text, "Yes.")
        and not ends_with(text, "No.")
        and not ends_with("[]", "Yes.")
    )
    assert ends_with(json.dumps(MESSAGES), "Yes.") and not ends_with(
        json.dumps(MESSAGES[:3]), "line 39"
    )


def test_a_real_agent_is_read_with_the_counts_of_its_log(
    run: Caller, data_dir: Path, tmp_path: Path
) -> None:
    db = str(tmp_path / "agents.duckdb")
    assert run("ingest", str(data_dir / "inspect_agents"), db=db).code == 0
    columns = (
        "model, mean_messages, mean_turns, n_tool_calls, n_tool_errors, n_limited, "
        "n_transcripts * mean_events as n"
    )
    rows = run(
        "query",
        "--json",
        "--sql",
        f"select {columns} from transcript_summary order by n",
        db=db,
    ).rows
    assert [tuple(row.values()) for row in rows] == [
        ("openai/gpt-5-mini", 2.0, 1.0, 0, 0, 0, 15.0),
        ("openai/gpt-4o-mini", 10.0, 5.0, 4, 0, 0, 43.0),
        ("openai/gpt-5", 2.0, 1.0, 0, 0, 0, 56.0),
    ]
    shown = run("show", "run:1", db=db).out
    assert (
        "10.0 messages, 5.0 turns, 4.0 tool calls" in shown
        and "web_browser_click" in shown
    )
    folded, full = (
        run("show", "run:1", "1", *more, db=db).out for more in ((), ("--full",))
    )
    assert '-> web_browser_go(url="https://www.aisi.gov.uk/")' in folded
    assert (
        "more lines (--full)" in folded
        and "more lines" not in full
        and len(full) > len(folded)
    )
    (response,) = run("show", "run:1", "1", "--json", db=db).rows[0]["responses"]
    assert (response["n_turns"], len(json.loads(response["messages"]))) == (5, 10)
