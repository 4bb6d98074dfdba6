"""Transcripts that importers of several formats make: turns, calls of tools, limits,
messages."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.importers.test_every_eval_ever import hold_to_schema, told
from tests.support import lm_eval
from tests.support.cli import Caller
from tests.support.dumps import rewritten
from tests.support.stores import store_at
from warehouse import connect
from warehouse.errors import MisuseError
from warehouse.importers.common.transcripts import (
    given,
    trajectory_transcript,
    transcript_of,
)
from warehouse.importers.evalscope import IMPORTER as EVALSCOPE
from warehouse.importers.every_eval_ever import IMPORTER as EVERY_EVAL_EVER
from warehouse.importers.harbor import IMPORTER as HARBOR
from warehouse.importers.nemo_evaluator import IMPORTER as NEMO
from warehouse.importers.promptfoo import IMPORTER as PROMPTFOO
from warehouse.importers.verifiers import IMPORTER as VERIFIERS
from warehouse.ingest.pipeline import ingest
from warehouse.interchange import inspect_logs
from warehouse.interchange.conversations import chat_messages
from warehouse.interchange.every_eval_ever import export
from warehouse.store.open import open_store

FIXTURES = Path(__file__).parents[1] / "data"
EVALS = FIXTURES / "verifiers" / "v0" / "outputs" / "evals" / "adder--org--tiny"
EPISODES = FIXTURES / "verifiers" / "v1" / "adder--org--tiny--bash--0a1b2c3d"
JOB = FIXTURES / "harbor" / "demo"
NEMO_RUN = FIXTURES / "nemo_evaluator" / "adder"
WORK = FIXTURES / "evalscope" / "20260304_050607"

Row = dict[str, Any]


def taken(root: Path, importer: Any) -> lm_eval.Taken:
    return lm_eval.take(root, importer=importer)


def ways(root: Path, importer: Any) -> dict[tuple[int, str, int], Row]:
    """Transcripts by run, prompt and draw."""
    return {
        (row["run"], row["prompt_id"], row["draw"]): row["transcript"]
        for row in taken(root, importer).rows
    }


def calls(way: Row) -> dict[str | None, tuple[int, int | None]]:
    return {item["tool"]: (item["n_calls"], item["n_errors"]) for item in way["tools"]}


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    return lambda folder: Path(
        shutil.copytree(folder, tmp_path / folder.parent.name / folder.name)
    )


# --- messages ------------------------------------------------------------------------------------


def test_what_was_given_beforehand_is_no_turn_and_no_call() -> None:
    call = {"id": "1", "function": {"name": "add", "arguments": "{}"}}
    example = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "error": "no"},
    ]
    way = transcript_of(
        [*given(example), {"role": "assistant", "content": "5"}], says_errors=True
    )
    assert (way["n_messages"], way["n_turns"], way["tools"], way["messages"]) == (
        3,
        1,
        [],
        None,
    )
    way = transcript_of([*given(example), *example], says_errors=True)
    assert way["tools"] == [{"tool": "add", "n_calls": 1, "n_errors": 1}]
    assert [item["role"] for item in json.loads(way["messages"])] == [
        "assistant",
        "tool",
    ] * 2


# --- verifiers -----------------------------------------------------------------------------------


def test_a_rollout_is_prompt_and_completion() -> None:
    way = ways(EVALS / "0123abcd", VERIFIERS)[0, "0", 0]
    assert (way["n_messages"], way["n_turns"], calls(way)) == (5, 2, {"add": (1, None)})
    assert [item["role"] for item in json.loads(way["messages"])] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ({"stop_condition": "max_turns_reached"}, "turn"),
        (
            {
                "stop_condition": "max_turns_reached",
                "completion": [{"role": "assistant", "content": "5"}],
            },
            None,
        ),
        ({"stop_condition": "timeout_reached"}, "time"),
        ({"stop_condition": "prompt_too_long"}, "context"),
        ({"stop_condition": "no_tools_called", "is_truncated": True}, "token"),
        ({"stop_condition": "no_tools_called"}, None),
    ],
)
def test_what_cut_a_rollout_short(
    copied: Callable[[Path], Path], changed: Row, limit: str | None
) -> None:
    folder = copied(EVALS / "0123abcd")
    rewritten(folder / "results.jsonl", lambda row: row.update(changed))
    assert {way["limit_hit"] for way in ways(folder, VERIFIERS).values()} == {limit}


def test_a_text_that_was_completed_is_one_turn_and_nothing_at_all_is_unknown(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EVALS / "0123abcd")
    rewritten(
        folder / "results.jsonl",
        lambda row: row.update(prompt="1 + 1 =", completion=" 2"),
    )
    assert {
        (way["n_turns"], way["messages"]) for way in ways(folder, VERIFIERS).values()
    } == {(1, None)}
    rewritten(folder / "results.jsonl", lambda row: row.update(completion=[]))
    assert set(map(str, ways(folder, VERIFIERS).values())) == {"None"}


def test_an_episode_is_the_branch_that_ends_in_the_last_reply() -> None:
    found = ways(EPISODES, VERIFIERS)
    way = found[0, "0", 0]
    assert (way["uuid"], way["n_messages"], way["n_turns"]) == (
        "00000000000000000000000000000190",
        4,
        2,
    )
    assert (way["cached_tokens"], way["reasoning_tokens"], calls(way)) == (
        12,
        2,
        {"add": (1, None)},
    )
    said = [item.get("content") for item in json.loads(way["messages"])]
    assert said == [
        "What is 2 + 3?",
        None,
        "5",
        "It is 0.",
    ]  # not the branch that was left
    assert {
        key[2]: way["limit_hit"] for key, way in found.items() if key[:2] == (0, "1")
    } == {0: None, 1: "turn"}


def test_parents_in_a_circle_and_time_that_ran_out(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EPISODES)

    def change(row: Row) -> None:
        row["is_timeout"] = True
        row["traces"][0]["nodes"][0]["parent"] = 4

    rewritten(folder / "traces.jsonl", change)
    assert {way["limit_hit"] for way in ways(folder, VERIFIERS).values()} == {"time"}


@pytest.mark.parametrize(
    ("run", "turns", "tools"),
    [
        (
            "wiki_search/outputs/evals/wiki-search--gpt-4.1-mini/052a81ae",
            535,
            {"search_pages": 135, "view_sections": 105, "read_section": 205},
        ),
        (
            "wiki_search/outputs/evals/wiki-search--gpt-4.1/50519885",
            456,
            {"search_pages": 146, "view_sections": 88, "read_section": 133},
        ),
        (
            "math_python/outputs/evals/math-python--gpt-4.1-mini/49a7458f",
            27,
            {"python": 15},
        ),
        (
            "math_python/outputs/evals/math-python--gpt-5-nano/cb7a1799",
            31,
            {"python": 16},
        ),
        ("wordle/outputs/evals/wordle--gpt-4.1-mini/816ec3b0", 85, {}),
    ],
)
def test_real_rollouts_have_the_counts_that_their_environments_recorded(
    data_dir: Path, run: str, turns: int, tools: dict[str, int]
) -> None:
    folder = data_dir / "verifiers" / run
    rows = [
        json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()
    ]
    for name, count in tools.items():  # counters that some environments keep as metrics
        assert sum(row.get(f"{name}_calls", 0) for row in rows) in (count, 0)
    assert sum(row.get("num_turns", 0) for row in rows) in (turns, 0)
    assert (
        sum(
            message["role"] == "assistant"
            for row in rows
            for message in row["completion"]
        )
        == turns
    )
    found = [row["transcript"] for row in taken(folder, VERIFIERS).rows]
    counted: Counter[str] = Counter()
    for way in found:
        counted.update({item["tool"]: item["n_calls"] for item in way["tools"]})
    assert sum(way["n_turns"] for way in found) == turns and counted == tools
    assert sum(way["n_messages"] for way in found) == sum(
        len(row["prompt"]) + len(row["completion"]) for row in rows
    )


# --- trajectories --------------------------------------------------------------------------------


def test_a_trial_that_went_on_in_a_second_file_is_one_conversation() -> None:
    found = ways(JOB, HARBOR)
    way = found[0, "sort", 0]
    assert (way["uuid"][-2:], way["n_turns"], way["n_messages"]) == (
        "01",
        3,
        10,
    )  # one step was the harness's own
    assert calls(way) == {"bash": (3, None), "write": (1, None)}
    assert (way["cached_tokens"], way["reasoning_tokens"], way["limit_hit"]) == (
        500,
        9,
        None,
    )
    said = json.loads(way["messages"])
    assert [item["role"] for item in said[:4]] == ["user", "assistant", "tool", "tool"]
    assert (said[3]["function"], said[1]["reasoning_content"]) == (
        "bash",
        "The file may be large.",
    )


def test_a_trial_keeps_its_messages_also_of_one_turn_and_unknown_is_not_zero() -> None:
    found = ways(JOB, HARBOR)
    way = found[0, "sort", 1]
    assert (way["n_turns"], way["tools"], way["limit_hit"]) == (1, [], "time")
    assert json.loads(way["messages"])[-1]["content"][1]["type"] == "image"
    way = found[0, "chess", 0]  # no trajectory
    assert (way["n_turns"], way["tools"], way["messages"], way["cached_tokens"]) == (
        None,
        None,
        None,
        500,
    )


def test_a_trajectory_that_cannot_be_read_is_noted_and_the_trial_counts(
    copied: Callable[[Path], Path],
) -> None:
    job = copied(JOB)
    path = job / "sort__0000001" / "agent" / "trajectory.cont-1.json"
    path.write_text(path.read_text()[:900])
    found = taken(job, HARBOR)
    (note,) = found.dump.notes
    assert note.startswith(
        "sort__0000001/agent/trajectory.cont-1.json: "
    ) and note.endswith("no transcript")
    (row,) = (
        row for row in found.rows if (row["prompt_id"], row["draw"]) == ("sort", 0)
    )
    assert row["transcript"]["n_turns"] is None and row["scores"][0]["value"] == 1.0


def test_totals_of_a_trajectory_stand_before_those_of_its_steps() -> None:
    step = {
        "source": "agent",
        "message": "x",
        "metrics": {"cached_tokens": 3, "extra": {"reasoning_tokens": 2}},
    }
    way = trajectory_transcript(
        [{"steps": [step, step], "final_metrics": {"total_cached_tokens": 7}}]
    )
    assert way and (way["cached_tokens"], way["reasoning_tokens"], way["n_turns"]) == (
        7,
        4,
        2,
    )
    assert trajectory_transcript([{"steps": []}]) is None


def test_the_log_of_inference_counts_calls_by_name(
    copied: Callable[[Path], Path],
) -> None:
    run = copied(NEMO_RUN)
    stats = {"tool_calls": {"count": 5, "names": {"add": 3}}, "model_calls": 4}

    def change(row: Row) -> None:
        row |= (
            {"model_stats": stats, "reasoning_tokens": 6}
            if row.get("problem_idx") == 0
            else {}
        )

    rewritten(run / "inference_log.jsonl", change)
    found = ways(run, NEMO)
    way = found[0, "0", 0]
    assert (way["n_turns"], way["n_messages"], way["reasoning_tokens"]) == (4, None, 6)
    assert calls(way) == {"add": (3, None), None: (2, None)}
    assert not found[0, "1", 0] or found[0, "1", 0]["tools"] is None
    steps = [
        {"source": "user", "message": "1 + 1?"},
        {
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "c", "function_name": "add"}],
        },
        {"source": "agent", "message": "2"},
    ]
    for trajectory in ([{"schema_version": "ATIF-v1.6", "steps": steps}], steps):
        rewritten(
            run / "results.jsonl",
            lambda row, told=trajectory: row.update(trajectory=told),
        )  # type: ignore[misc]
        way = ways(run, NEMO)[0, "1", 0]
        assert (way["n_turns"], calls(way), len(json.loads(way["messages"]))) == (
            2,
            {"add": (1, None)},
            3,
        )


def test_a_real_run_of_nemo_evaluator_is_of_single_turns(data_dir: Path) -> None:
    found = ways(data_dir / "nemo_evaluator", NEMO)
    assert len(found) == 36
    assert {
        (way["n_turns"], way["n_messages"], str(way["tools"])) for way in found.values()
    } == {(1, 2, "[]")}


# --- EvalScope -----------------------------------------------------------------------------------


def test_messages_of_an_agent_are_those_after_the_question(
    copied: Callable[[Path], Path],
) -> None:
    work = copied(WORK)
    call = {
        "id": "c1",
        "function": {"name": "search", "arguments": {"q": "x"}},
        "type": "function",
    }
    error = {"type": "timeout", "message": "too long"}
    written: list[Row] = [
        {
            "role": "assistant",
            "content": "",
            "source": "generate",
            "tool_calls": [call],
        },
        {
            "role": "tool",
            "content": "",
            "function": "search",
            "tool_call_id": "c1",
            "error": error,
        },
        {"role": "assistant", "content": "4", "source": "generate"},
    ]
    events = [
        {"step": 0, "type": "tool_call", "payload": {"name": "search", "id": "c1"}},
        {
            "step": 9,
            "type": "error",
            "payload": {"source": "loop", "message": "max_steps_exceeded"},
        },
    ]
    for path in work.rglob("ifeval*"):
        path.unlink()
    before = {row["identity"] for row in taken(work, EVALSCOPE).rows}
    for path in work.rglob("quiz_*.jsonl"):
        rewritten(
            path,
            lambda row: row.update(
                messages=[*row["messages"][:-1], *written],
                agent_trace={"events": events},
            ),
        )
    rows = taken(work, EVALSCOPE).rows
    assert {
        row["identity"] for row in rows
    } == before  # what the agent did is no part of the question
    way = next(row["transcript"] for row in rows if row["prompt_id"] == "1")
    assert (way["n_turns"], way["n_events"], way["limit_hit"]) == (2, 2, "turn")
    assert calls(way) == {"search": (1, 1)}
    for path in work.rglob("quiz_*.jsonl"):  # calls that stand in the text only
        rewritten(
            path, lambda row: row.update(messages=[*row["messages"][:2], written[-1]])
        )
    way = next(
        row["transcript"]
        for row in taken(work, EVALSCOPE).rows
        if row["prompt_id"] == "1"
    )
    assert (way["n_turns"], calls(way)) == (1, {"search": (1, 0)})


# --- promptfoo -----------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [False, True])
def test_calls_in_place_of_an_answer(tmp_path: Path, beside: bool) -> None:
    document = json.loads((FIXTURES / "promptfoo" / "out.json").read_text())
    asked = [
        {
            "id": "c",
            "type": "function",
            "function": {"name": "look_up", "arguments": '{"word": "x"}'},
        }
    ]
    first = document["results"]["results"][0]
    first["response"]["output"] = (
        {"content": "I look.", "tool_calls": asked} if beside else asked
    )
    (tmp_path / "out.json").write_text(json.dumps(document))
    found = [row["transcript"] for row in taken(tmp_path, PROMPTFOO).rows]
    (way,) = (way for way in found if way and way.get("messages"))
    assert (way["n_turns"], calls(way)) == (1, {"look_up": (1, None)})
    assert json.loads(way["messages"])[1]["tool_calls"][0]["arguments"] == {"word": "x"}


# --- Every Eval Ever -----------------------------------------------------------------------------

TOLD = """
select run.condition_key, run.content_digest, prompt.key, way.draw, way.uuid, way.n_messages, way.n_turns,
    way.n_tool_calls, way.n_tool_errors, way.n_events, way.limit_hit, way.cached_tokens, way.reasoning_tokens, said.text
from transcript way join run on run.id = way.run_id join prompt on prompt.id = way.prompt_id
left join content said on said.sha256 = way.messages_hash
"""
CALLED = """
select run.condition_key, prompt.key, called.draw, called.tool, called.n_calls, called.n_errors
from tool_call called join run on run.id = called.run_id join prompt on prompt.id = called.prompt_id
"""
FIGURES = (
    "select benchmark, model, metric, estimate, standard_error, n_prompts from "
    "score_summary"
)
SOURCES = (JOB, EVALS / "0123abcd", EPISODES, NEMO_RUN, WORK)


def test_runs_with_transcripts_come_back_from_every_eval_ever_as_they_were(
    tmp_path: Path,
) -> None:
    with open_store(store_at(tmp_path / "one.duckdb"), write=True) as store:
        ingest(store, SOURCES)
        export(store, tmp_path / "out", now=1e9)
        before = [told(store, query) for query in (TOLD, CALLED, FIGURES)]
        assert ingest(store, [tmp_path / "out"]).total("n_runs") == 0
    hold_to_schema(tmp_path / "out")
    with open_store(store_at(tmp_path / "other.duckdb"), write=True) as store:
        assert ingest(store, [tmp_path / "out"]).refused == ()
        assert [
            told(store, query) for query in (TOLD, CALLED, FIGURES)
        ] == before and all(before)


def test_others_read_the_conversation_of_an_export(tmp_path: Path) -> None:
    with open_store(store_at(tmp_path / "one.duckdb"), write=True) as store:
        ingest(store, [JOB])
        export(store, tmp_path / "out", now=1e9)
    (path,) = tmp_path.rglob("*_samples.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    line = next(item for item in lines if item["interaction_type"] == "agentic")
    assert (line["sample_id"], line["output"]) == ("sort", None)
    assert line["evaluation"] == {
        "score": 1.0,
        "is_correct": True,
        "num_turns": 3,
        "tool_calls_count": 4,
    }
    assert (
        line["token_usage"]["input_tokens_cache_read"] == 500
        and line["token_usage"]["reasoning_tokens"] == 9
    )
    assert line["messages"][1] == {
        "turn_idx": 1,
        "role": "assistant",
        "content": "I look first.",
        "reasoning_trace": "The file may be large.",
        "tool_calls": [
            {
                "id": "call_1",
                "name": "bash",
                "arguments": {"command": "head /app/names.txt"},
            },
            {
                "id": "call_2",
                "name": "bash",
                "arguments": {"command": "wc -l /app/names.txt"},
            },
        ],
    }
    assert line["messages"][2] == {
        "turn_idx": 2,
        "role": "tool",
        "content": "Zoe\nAda\n",
        "tool_call_id": ["call_1"],
    }
    # as a tool that does not know our details would write it
    foreign = [{name: item for name, item in line.items() if name != "metadata"}]
    alone = tmp_path / "alone" / "x_samples.jsonl"
    alone.parent.mkdir()
    alone.write_text("".join(json.dumps(item) + "\n" for item in foreign))
    (way,) = (row["transcript"] for row in taken(alone.parent, EVERY_EVAL_EVER).rows)
    assert (
        way["n_messages"],
        way["n_turns"],
        way["reasoning_tokens"],
        way["limit_hit"],
    ) == (10, 3, 9, None)
    assert calls(way) == {"bash": (3, None), "write": (1, None)}
    said = json.loads(way["messages"])
    assert (said[1]["reasoning_content"], said[2]["tool_call_id"]) == (
        "The file may be large.",
        "call_1",
    )


# --- logs of Inspect ------------------------------------------------------------------------------

SCORED = """
select run.benchmark, run.model, score.draw, metric.name, score.value from score
join run_current run on run.run_id = score.run_id join metric on metric.id = score.metric_id
where score.value is not null
"""
WAYS = (
    "select model, benchmark, n_generations, mean_turns, n_tool_calls from "
    "transcript_summary where mean_turns > 1"
)


def test_runs_are_read_back_from_logs_of_inspect_with_the_same_scores(
    tmp_path: Path,
) -> None:
    sources = (EVALS / "0123abcd", EPISODES, WORK, FIXTURES / "promptfoo" / "out.json")
    with open_store(store_at(tmp_path / "one.duckdb"), write=True) as store:
        ingest(store, sources)
        report = inspect_logs.export(store, tmp_path / "logs", now=1e9)
        before = [told(store, query) for query in (FIGURES, SCORED, WAYS)]
    assert (
        report.n_runs == len(list((tmp_path / "logs").glob("*.eval"))) > 5
        and report.left_out == ()
    )
    with open_store(store_at(tmp_path / "other.duckdb"), write=True) as store:
        back = ingest(store, [tmp_path / "logs"])
        assert back.refused == () and {
            item.verdict for item in back.reconciliation
        } == {"exact"}
        assert [
            told(store, query) for query in (FIGURES, SCORED, WAYS)
        ] == before and all(before)


def test_a_log_holds_messages_as_inspect_has_them(tmp_path: Path) -> None:
    with open_store(store_at(tmp_path / "one.duckdb"), write=True) as store:
        ingest(store, [JOB])
        inspect_logs.export(store, tmp_path / "logs", now=1e9)
    (path,) = (tmp_path / "logs").glob("*.eval")
    assert path.name.startswith("2026-11-20T11-00-00+00-00_quiz-1.0_")
    with ZipFile(path) as archive:
        header, first, second = (
            json.loads(archive.read(name))
            for name in (
                "header.json",
                "samples/sort_epoch_1.json",
                "samples/sort_epoch_2.json",
            )
        )
        assert len(json.loads(archive.read("summaries.json"))) == 6
    assert (header["eval"]["task"], header["eval"]["model"]) == ("quiz@1.0", "org/tiny")
    assert header["results"]["scores"][0]["metrics"]["mean"]["value"] == 0.75
    assert first["messages"][1]["content"][0] == {
        "type": "reasoning",
        "reasoning": "The file may be large.",
    }
    assert first["messages"][1]["tool_calls"][0] == {
        **{"id": "call_1", "function": "bash", "type": "function"},
        "arguments": {"command": "head /app/names.txt"},
    }
    assert (first["messages"][2]["role"], first["messages"][2]["function"]) == (
        "tool",
        "bash",
    )
    assert (
        first["output"]["choices"][0]["message"]["content"] == "The names are sorted."
    )
    assert len(first["events"][0]["input"]) == len(first["messages"]) - 1
    assert first["scores"] == {"reward": {"value": 1.0}} and "error" not in first
    usage = first["model_usage"]["org/tiny"]
    assert (
        usage["input_tokens"],
        usage["input_tokens_cache_read"],
        usage["total_tokens"],
    ) == (501, 500, 1102)
    assert (second["input"], second["error"]["message"]) == (
        "Sort /app/names.txt.",
        "AgentTimeoutError: told 2",
    )
    assert second["metadata"]["eval_warehouse"]["limit_hit"] == "time"


def test_what_is_no_message_of_inspect_becomes_one() -> None:
    stored = [
        {"role": "developer", "content": {"a": 1}},
        {"role": "critic", "content": ["x", {"type": "image"}]},
        {
            "role": "assistant",
            "content": None,
            "source": "input",
            "tool_calls": ["run", {"arguments": "x=1"}],
        },
        {"role": "tool", "name": "run", "content": "", "error": "broke"},
        {"role": "tool", "content": "", "error": {"type": "strange", "message": "m"}},
    ]
    system, critic, given_, failed, strange = chat_messages(json.dumps(stored))
    assert (system["role"], system["content"]) == ("system", '{"a": 1}')
    assert (critic["role"], critic["content"]) == ("user", "x\n(image)")
    assert (given_["source"], given_["content"]) == ("input", "")
    assert [(call["id"], call["arguments"]) for call in given_["tool_calls"]] == [
        ("2.0", {"arguments": "run"}),
        ("2.1", {"arguments": "x=1"}),
    ]
    assert (failed["function"], failed["error"]) == (
        "run",
        {"type": "unknown", "message": "broke"},
    )
    assert strange["error"] == {"type": "unknown", "message": "m"}


def test_results_without_the_id_of_a_call_answer_calls_in_their_order() -> None:
    asked = [
        {"id": "a", "function": "look", "arguments": {}},
        {"function": "read", "arguments": {}},
    ]
    stored = [
        {"role": "assistant", "tool_calls": asked},
        *[{"role": "tool", "content": text} for text in "12"],
    ]
    _, first, second = chat_messages(
        json.dumps([*stored, {"role": "tool", "content": "of nothing"}])
    )[:3]
    assert [(item["tool_call_id"], item["function"]) for item in (first, second)] == [
        ("a", "look"),
        ("0.1", "read"),
    ]


def test_export_of_logs_from_the_command_line_and_from_python(
    run: Caller, tmp_path: Path
) -> None:
    db = str(tmp_path / "one.duckdb")
    assert run("ingest", str(JOB), "-q", db=db).code == 0
    logs = tmp_path / "logs"
    assert run(
        "store", "export", "--format", "inspect", str(logs), db=db
    ).out.startswith("1 logs, 6 samples in")
    run("store", "export", "--format", "inspect", str(logs), db=db).fails(
        2, "not empty"
    )
    assert (
        run(
            "store", "export", "--format", "inspect", "--overwrite", str(logs), db=db
        ).code
        == 0
    )
    report = connect(f"duckdb:///{db}").export_inspect(tmp_path / "again", now=1e9)
    assert (report.n_runs, report.n_samples) == (1, 6)
    empty = tmp_path / "empty.duckdb"
    with (
        open_store(store_at(empty), create=True, write=True) as store,
        pytest.raises(MisuseError, match="no run with"),
    ):
        inspect_logs.export(store, tmp_path / "none", now=1e9)


# --- in a store ----------------------------------------------------------------------------------


def test_errors_that_a_format_does_not_say_are_not_none(
    run: Caller, tmp_path: Path
) -> None:
    db = str(tmp_path / "agents.duckdb")
    assert run("ingest", str(JOB), str(EVALS / "0123abcd"), "-q", db=db).code == 0
    rows = run("query", "--json", "transcript_summary", db=db).rows
    assert [
        (row["n_tool_calls"], row["n_tool_errors"], row["n_limited"]) for row in rows
    ][0] == (4, None, 2)
    shown = run("show", "run:1", "sort", db=db).out
    assert (
        "[tool write]\n  (nothing)" in shown
        and "  (reasoning) The file may be large." in shown
    )
    assert "errors" not in run("show", "run:1", db=db).out
