"""Texts that match a pattern: where they stand, who said them, counted by model; on both
engines, against a slow search in Python."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests.support.builders import StoreRows
from warehouse.analysis.grep.answer import grep
from warehouse.analysis.grep.patterns import pattern_of
from warehouse.analysis.grep.pieces import sent_pieces, transcript_pieces
from warehouse.analysis.grep.question import Grep
from warehouse.analysis.grep.view import GrepReport, in_the_middle
from warehouse.errors import MisuseError
from warehouse.stats import interval_wilson
from warehouse.store.connection import Store
from warehouse.store.open import open_store

CALLS: list[dict[str, Any]] = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "List\nthe files of Paris"},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "maybe ls"}],
        "tool_calls": [
            {"id": "c1", "function": "bash", "arguments": {"cmd": 'ls "/x"', "n": 2}}
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "ls: /x: No such file",
        "error": {"type": "failed", "message": "exit code 2"},
    },
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c2", "function": "python", "arguments": "print(1)"}],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "1"},
    {"role": "assistant", "content": "There is none."},
]
CHAT = json.dumps(
    [
        {"role": "system", "content": "Be kind to Rome."},
        {"role": "user", "content": 'Say "Oslo"\nplease'},
    ]
)
#: model -> responses by prompt.
SAID = {
    "org/a": {
        "q0": "Sorry, I cannot help.",
        "q1": "Caf\u00e9 100%_done",
        "q2": "fine\x1b[31m\nI CANNOT",
    },
    "org/b": {"q0": "cannot\u200b", "q1": "caf\u00e9s", "q2": "yes"},
}


def build() -> StoreRows:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for place in range(3):
        rows.prompt("quiz", f"q{place}", text=f"question {place} of Paris")
    for model, said in SAID.items():
        run = rows.run(model, "quiz")
        rows.scores(run, dict.fromkeys(said, 1.0))
        for key, text in said.items():
            rows.generation(run, key, 0, text, prompt_hash=rows.content(CHAT))
    rows.describe("draws", rows.metric())
    run = rows.run("org/a", "draws")
    rows.scores(run, {"p0": [1.0, 1.0], "p1": [1.0, 0.0], "p2": 0.0})
    for key, draw, text in (
        *(("p0", 0, "blue"), ("p0", 1, "blue")),
        *(("p1", 0, "blue"), ("p1", 1, "red"), ("p2", 0, "red")),
    ):
        rows.generation(run, key, draw, text)
    rows.describe("agents", rows.metric())
    run = rows.run("org/c", "agents")
    rows.scores(run, {"t0": 0.0, "t1": 0.0})
    rows.generation(run, "t0", 0, "There is none.")
    rows.generation(run, "t1", 0, "gone", response_hash=None, error="agent_timeout")
    messages = rows.content(json.dumps(CALLS))
    for row in rows.rows["generation"]:
        row.setdefault("error", None)
    rows.transcript(run, "t0", 0, {"bash": (1, 1)}, messages_hash=messages)
    return rows


def found(store: Store, pattern: str, **options: Any) -> GrepReport:
    return grep(store, pattern, **options)


def counts(report: GrepReport) -> dict[tuple[str, str], tuple[int, int]]:
    """Matches and samples by model and benchmark."""
    return {
        (row.model, row.benchmark): (row.n_matches, row.n_samples)
        for row in report.rows
    }


def places(report: GrepReport) -> list[tuple[str, str, str]]:
    return [(hit.place, hit.role, hit.tool) for hit in report.samples]


@pytest.mark.parametrize(
    ("pattern", "options", "expression", "flags"),
    [
        ("cannot", {}, r"cannot", 0),
        ("cannot", {"ignore_case": True}, r"cannot", re.IGNORECASE),
        ("^i c", {"ignore_case": True}, r"^i c", re.IGNORECASE),
        ("[0-9]+%", {}, r"[0-9]+%", 0),
        ("%_", {"fixed_strings": True}, r"%_", 0),
        ("_", {"fixed_strings": True}, r"_", 0),
        ("%", {"fixed_strings": True}, r"%", 0),
        (".", {"fixed_strings": True}, r"\.", 0),
        ("\\", {"fixed_strings": True}, r"\\", 0),
        (
            "caf\u00e9",
            {"word_regexp": True, "ignore_case": True},
            r"\bcaf\u00e9\b",
            re.I,
        ),
        ("$", {}, r"$", 0),
    ],
)
def test_it_finds_what_a_slow_search_finds(
    world: Store, pattern: str, options: dict[str, Any], expression: str, flags: int
) -> None:
    compiled = re.compile(expression, flags | re.MULTILINE)
    expected = {
        (model, "quiz"): (sum(bool(compiled.search(text)) for text in said.values()), 3)
        for model, said in SAID.items()
    }
    assert counts(found(world, pattern, benchmark="quiz", **options)) == expected


def test_a_share_has_wilsons_interval_where_each_prompt_has_one_sample(
    world: Store,
) -> None:
    row = found(world, "cannot", benchmark="quiz", ignore_case=True).rows[0]
    wilson = interval_wilson(2, 3)
    assert (row.model, row.share, row.method) == ("org/a", 2 / 3, "wilson")
    assert (row.ci_low, row.ci_high) == pytest.approx((wilson.low, wilson.high))


def test_samples_of_one_prompt_count_as_one_prompt(world: Store) -> None:
    (row,) = found(world, "blue", benchmark="draws").rows
    assert (row.n_matches, row.n_samples) == (3, 5)
    assert (row.n_prompts, row.n_prompts_matching) == (3, 2)
    assert row.share == pytest.approx((1 + 0.5 + 0) / 3) and row.method != "wilson"


@pytest.mark.parametrize(
    ("pattern", "options", "expected"),
    [
        ("No such file", {"tool": "bash"}, ("tool_result", "tool", "bash")),
        ("No such file", {"places": "error"}, ("error", "tool", "bash")),
        ("exit code", {"places": "error", "tool": "b*"}, ("error", "tool", "bash")),
        ('ls "/x"', {"places": "tool_call"}, ("tool_call", "assistant", "bash")),
        ("^n=2$", {"tool": "bash"}, ("tool_call", "assistant", "bash")),
        ("print", {"tool": "python"}, ("tool_call", "assistant", "python")),
        ("files of Paris", {"role": "user"}, ("message", "user", "")),
        ("^the files", {"places": "message"}, ("message", "user", "")),
        ("careful", {"role": "system"}, ("message", "system", "")),
        ("maybe ls", {}, ("message", "assistant", "")),
        ("none", {}, ("response", "assistant", "")),
        ("timeout", {"places": "error"}, ("error", "", "")),
    ],
)
def test_texts_are_known_by_their_place_role_and_tool(
    world: Store, pattern: str, options: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    report = found(world, pattern, benchmark="agents", **options)
    assert places(report) == [expected]


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("No such file", {}),
        ("careful", {}),
        ("print", {"tool": "bash"}),
        ("Paris", {"role": "assistant"}),
        ("1", {"places": "error"}),
        ("timeout", {"places": "error", "tool": "bash"}),
    ],
)
def test_other_texts_are_not_looked_at(
    world: Store, pattern: str, options: dict[str, Any]
) -> None:
    report = found(world, pattern, benchmark="agents", **options)
    assert report.n_matches == 0 and report.samples == ()


def test_a_prompt_is_what_it_asks_and_what_was_sent(world: Store) -> None:
    asked = found(world, "question 1", places="prompt", benchmark="quiz")
    assert counts(asked) == {("org/a", "quiz"): (1, 3), ("org/b", "quiz"): (1, 3)}
    sent = found(world, '^Say "Oslo"$', places="prompt", benchmark="quiz")
    assert counts(sent) == {("org/a", "quiz"): (3, 3), ("org/b", "quiz"): (3, 3)}
    assert places(sent)[0] == ("prompt", "user", "")
    system = found(world, "Rome", role="system", benchmark="quiz")
    assert system.n_matches == 6
    assert found(world, "Rome", role="user", benchmark="quiz").n_matches == 0


def test_only_samples_whose_texts_are_stored_are_counted(world: Store) -> None:
    assert counts(found(world, "none")) == {
        ("org/c", "agents"): (1, 1),  # the other has an error in place of a response
        ("org/a", "draws"): (0, 5),
        ("org/a", "quiz"): (0, 3),
        ("org/b", "quiz"): (0, 3),
    }
    assert counts(found(world, "timeout", places="error", benchmark="agents")) == {
        ("org/c", "agents"): (1, 2)
    }
    with pytest.raises(MisuseError, match=r"none of 2 runs .*tool-call.*--text all"):
        found(world, "x", places="tool_call", benchmark="quiz")


def test_runs_are_chosen_by_benchmark_and_setting(world: Store) -> None:
    assert counts(found(world, "blue", where="model=org/a")).keys() == {
        ("org/a", "draws"),
        ("org/a", "quiz"),
    }
    with pytest.raises(MisuseError, match="no benchmark is called 'quis'"):
        found(world, "x", benchmark="quis")
    with pytest.raises(MisuseError, match="no current run with model=org/z"):
        found(world, "x", where=["model=org/z"])


def test_so_many_samples_are_shown_of_each_model(world: Store) -> None:
    few = found(world, ".", max_count=2)
    assert [hit.model for hit in few.samples] == [
        *("org/a", "org/a", "org/b", "org/b", "org/c"),
    ]
    assert [hit.run_id for hit in few.samples if hit.model == "org/a"] == [1, 1]
    assert found(world, ".", count=True).samples == ()


def test_an_excerpt_is_the_line_of_the_match_with_nothing_that_steers(
    world: Store,
) -> None:
    (hit,) = found(world, "ine.*", benchmark="quiz", max_count=1).samples
    assert (hit.before, hit.match, hit.line) == ("f", r"ine\x1b[31m", 1)
    (hit,) = found(world, "CANNOT", benchmark="quiz").samples
    assert (hit.before, hit.match, hit.after, hit.line) == ("I ", "CANNOT", "", 2)


@pytest.mark.parametrize("width", [20, 40, 76])
def test_a_match_stands_in_the_middle_of_what_is_shown(
    world: Store, width: int
) -> None:
    for hit in found(world, "cannot|none|blue", max_count=9).samples:
        line = in_the_middle(hit, width)
        assert len(line) <= width and hit.match in line


@pytest.mark.parametrize(
    "pattern", ["(a", "[z-a]", "a**", "(?=x)", "a)(b", "a{2000}", "(?<x", "\\"]
)
def test_what_is_no_regular_expression_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(MisuseError, match=r"no regular expression: .*--fixed-strings"):
        pattern_of(Grep(pattern))
    assert pattern_of(Grep(pattern, fixed_strings=True)).span(f"x{pattern}") == (
        1,
        1 + len(pattern),
    )


def test_an_empty_and_a_huge_pattern_are_refused() -> None:
    with pytest.raises(MisuseError, match="the pattern is empty"):
        Grep("")
    with pytest.raises(MisuseError, match="10001 characters; expected at most 10000"):
        Grep("a" * 10_001)
    with pytest.raises(MisuseError, match="too large"):
        pattern_of(Grep(r"\pL{1000}" * 9))


def test_what_no_text_can_hold_matches_nothing_or_is_refused(world: Store) -> None:
    assert found(world, "a\x00b").n_matches == 0
    assert found(world, "\x00", fixed_strings=True).n_matches == 0
    with pytest.raises(MisuseError, match="character 2 of the pattern"):
        found(world, "a\udc80", fixed_strings=True)


@pytest.mark.parametrize("pattern", ["(a+)+$x", "(a|aa)+b", "(.*)*(.*)*c"])
def test_no_pattern_takes_longer_than_in_proportion_to_the_text(pattern: str) -> None:
    compiled = pattern_of(Grep(pattern))
    before = time.process_time()
    assert compiled.span("a" * 100_000) is None
    assert time.process_time() - before < 2


def test_a_tool_is_of_calls_and_results() -> None:
    with pytest.raises(
        MisuseError, match="tool is of tool-call, tool-result and error"
    ):
        Grep("x", places="response", tool="bash")
    with pytest.raises(MisuseError, match="max_count shows samples"):
        Grep("x", count=True, max_count=5)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "{}", "[1, null]"),
        '[{"role": 3, "content": {"a": 1}, "tool_calls": 7}]',
        '[{"content": {"a": ' + "[" * 900 + "]" * 900 + "}}]",
        '[{"content": ' + "[" * 99_999,
    ],
)
def test_a_transcript_of_another_form_says_what_it_can(text: str) -> None:
    assert all(isinstance(piece.text, str) for piece in transcript_pieces(text))
    assert all(isinstance(piece.text, str) for piece in sent_pieces(text))


def test_a_prompt_that_is_json_but_no_messages_is_a_text() -> None:
    text = '[{"a": 1}, {"a": 2}]'
    assert [piece.text for piece in sent_pieces(text)] == [text]


@pytest.mark.parametrize("order", [1, -1])
def test_runs_of_other_settings_are_counted_apart(store_url: str, order: int) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    runs = [({"temperature": 0.0}, "blue"), ({"temperature": 1.0}, "red")]
    for settings, text in runs[::order]:
        for repeat in range(2):
            run = rows.run("org/a", "quiz", repeat=repeat, **settings)
            rows.scores(run, {"q0": 1.0})
            rows.generation(run, "q0", 0, text)
    rows.scores(rows.run("org/a", "quiz", split="dev", temperature=0.0), {"d0": 1.0})
    rows.generation(len(rows.rows["run"]), "d0", 0, "blue")
    with open_store(store_url, create=True) as store:
        rows.write(store)
        report = grep(store, "blue")
    told = {
        (row.condition, row.split): (row.n_matches, row.n_samples)
        for row in report.rows
    }
    assert told == {
        ("temperature=0.0", ""): (2, 2),
        ("temperature=1.0", ""): (0, 2),
        ("", "dev"): (1, 1),
    }
    assert report.one_line == "3 of 5 samples match 'blue': org/a 3 of 5"
    shown = str(report)
    assert "temperature=0.0" in shown and "split" in shown
