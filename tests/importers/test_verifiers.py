"""Runs of verifiers. The episodes of ``tests/data/verifiers`` were written by the
models of the real package (``tests/writers/verifiers_episodes.py``), the rollouts after
its files (``tests/writers/verifiers_rollouts.py``)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.dumps import rewritten
from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import InputError
from warehouse.importers.verifiers import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

MADE = Path(__file__).parents[1] / "data" / "verifiers"
EVALS = MADE / "v0" / "outputs" / "evals" / "adder--org--tiny"
OLD, MIDDLE, NEW = EVALS / "0123abcd", EVALS / "4567cdef", EVALS / "89abef01"
EPISODES = MADE / "v1" / "adder--org--tiny--bash--0a1b2c3d"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:d808\nsize 23975\n"

Row = dict[str, Any]


take = partial(lm_eval.take, importer=IMPORTER)


def scores(row: Row) -> dict[str, tuple[Any, ...]]:
    return {
        item["metric"]: (item["value"], item["status"], item["raw"])
        for item in row["scores"]
    }


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    def copy(folder: Path) -> Path:
        return Path(
            shutil.copytree(folder, tmp_path / folder.parent.name / folder.name)
        )

    return copy


# --- rollouts ------------------------------------------------------------------------------------


def test_wrong_ids_are_not_followed() -> None:
    """Each stored id stands for two questions; what is asked tells the prompts apart."""
    taken = take(OLD)
    found = {
        (row["target"], row["draw"]): scores(row)["reward"][0] for row in taken.rows
    }
    third = 0.3333333333
    assert found == {
        ("1", 0): 1.0,
        ("1", 1): 1.0,
        ("2", 0): 0.0,
        ("2", 1): 1.0,
        ("3", 0): third,
        ("3", 1): third,
    }
    assert [row["position"] for row in taken.rows] == [0, 1, 2, 0, 1, 2]
    assert "3 of 3 stored ids stand for several questions" in taken.dump.notes[0]


def test_the_wrong_key_gives_another_error(tmp_path: Path) -> None:
    with open_store(f"duckdb:///{tmp_path}/a.duckdb", create=True, write=True) as store:
        ingest(store, [OLD])
        (row,) = leaderboard(store, "adder").rows
    assert row.estimate == pytest.approx(sum((1.0, 0.5, 1 / 3)) / 3, abs=1e-9)
    assert row.standard_error == pytest.approx(
        0.2003, abs=5e-5
    )  # by the stored ids it were .0556


def test_the_header_of_the_first_writers() -> None:
    (header,) = take(OLD).dump.runs
    assert (header.harness, header.model, header.benchmark) == (
        "verifiers",
        "org/tiny",
        "adder",
    )
    assert (header.temperature, header.max_tokens, header.n_requested) == (0.5, 64, 3)
    assert (header.run_id, str(header.started_at)) == (
        "0123abcd",
        "2025-08-25 21:13:53",
    )
    assert header.system_prompt_hash is not None
    told = {
        m.name: (m.kind, m.higher_is_better, m.unit, m.is_default)
        for m in header.metrics
    }
    assert told == {
        "reward": (None, True, "", True),
        "correct_reward_func": (None, True, "", False),
        "num_turns": ("continuous", None, "count", False),
        "total_tool_calls": ("continuous", None, "count", False),
    }
    published = {item.metric: item.value for item in header.published}
    assert published["correct_reward_func"] == 0.5 and published.keys() == told.keys()


def test_a_rollout_with_tools_is_known_by_what_it_says_last(
    copied: Callable[[Path], Path],
) -> None:
    assert {row["response"] for row in take(OLD).rows} == {
        "It is 1.",
        "It is 2.",
        "It is 3.",
    }
    row = take(OLD).rows[0]
    assert row["text"] == "system: Give a number.\n\nuser: What is 0 + 1?"
    assert (
        row["metadata"] is None
    )  # declarations of tools are no property of a question
    folder = copied(OLD)
    rewritten(
        folder / "results.jsonl",
        lambda row: row.update(completion=row["completion"][:1]),
    )
    assert (
        json.loads(json.loads(take(folder).rows[0]["response"])[0])["function"]["name"]
        == "add"
    )


def test_metadata_that_were_written_before_the_results() -> None:
    taken = take(MIDDLE)
    (header,) = taken.dump.runs
    assert header.published == ()
    assert header.n_requested == 2  # four rows, not four examples
    assert (header.endpoint, header.top_p) == ("api.example.com", 0.9)
    assert header.agent_parameters == {
        "level": 3
    }  # a folder of somebody's machine is left out
    assert header.sampling == {}
    assert [note.split(":")[0] for note in taken.dump.notes][1:] == [
        "the metadata were written before the results",
        "1 of 4 rows have no completion",
    ]
    assert (
        "4 examples with 1 rollouts each; the rows are 2 questions, 4 rollouts in all"
        in taken.dump.notes[0]
    )


def test_a_row_without_completion_measures_nothing() -> None:
    *whole, empty = take(MIDDLE).rows
    assert scores(empty) == {
        "reward": (None, "error", "1.0"),
        "format_reward_func": (None, "error", "1.0"),
    }
    assert (empty["error"], empty["response"], empty["latency"]) == (
        "no completion",
        None,
        0.2505,
    )
    assert [scores(row)["reward"][0] for row in whole] == [1.9, 0.5, 1.2]
    assert json.loads(empty["metadata"]) == {"task": "sums"}


def test_an_empty_text_is_an_answer(copied: Callable[[Path], Path]) -> None:
    folder = copied(MIDDLE)
    rewritten(
        folder / "results.jsonl",
        lambda row: row.update(prompt="The sum is", completion=""),
    )
    taken = take(folder)
    assert {row["text"] for row in taken.rows} == {"The sum is"}
    assert [scores(row)["reward"][0] for row in taken.rows] == [1.9, 0.5, 1.2, 1.0]


def test_a_run_without_any_completion_has_failed(
    copied: Callable[[Path], Path],
) -> None:
    """Its prompts may be lost as well: then the stored ids are all there is."""
    folder = copied(MIDDLE)
    rewritten(
        folder / "results.jsonl",
        lambda row: row.update(prompt=[{"content": "", "role": "user"}], completion=[]),
    )
    taken = take(folder)
    assert (taken.dump.runs[0].status, taken.dump.runs[0].note) == (
        "failed",
        "no row has a completion",
    )
    assert [(row["prompt_id"], row["draw"], row["text"]) for row in taken.rows] == [
        ("0", 0, None),
        ("1", 0, None),
        ("0", 1, None),
        ("1", 1, None),
    ]
    assert len({row["identity"] for row in taken.rows}) == 2


def test_failures_and_passes_of_the_newest_writers() -> None:
    taken = take(NEW)
    (header,) = taken.dump.runs
    assert (header.harness_version, header.harness_commit, header.task_version) == (
        "0.1.14",
        "abc",
        "1.2",
    )
    assert str(header.started_at) == "2026-11-22 02:05:39.500000"
    assert header.endpoint is None  # an address of the machine itself
    rows = taken.rows
    assert [row["draw"] for row in rows] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert scores(rows[0]) == {
        "reward": (1.0, None, None),
        "correct": (1.0, None, None),
        "num_turns": (1.0, None, None),
        "passed": (1.0, None, None),
    }
    assert scores(rows[1])["passed"] == (0.0, None, None)
    assert scores(rows[3])["reward"] == (None, "error", "0.0")
    assert rows[3]["error"] == "ModelError() -> BadRequestError('code 400')"
    assert scores(rows[6])["reward"] == (
        None,
        "limit",
        "0.0",
    )  # the prompt had grown too long
    assert (rows[2]["input_tokens"], rows[2]["output_tokens"], rows[2]["latency"]) == (
        5,
        4,
        2.5,
    )
    assert rows[0]["finish_reason"] == "max_turns_reached"
    assert json.loads(rows[0]["metadata"]) == {"info": {"kind": "even"}}


def test_published_figures_count_failures_as_worst(store_url: str) -> None:
    with ingested(store_url, NEW) as (_, report):
        found = {
            item.metric: (item.published, item.verdict)
            for item in report.reconciliation
        }
        assert found["reward"] == (0.5125, "null_as_worst")
        assert found["passed pass@2"] == (pytest.approx(5 / 6), "null_as_worst")
        assert found["passed pass^2"] == (pytest.approx(1 / 6), "null_as_worst")
        assert found["passed pass^4"] == (0.0, "null_as_worst")
        assert {verdict for _, verdict in found.values()} <= {"exact", "null_as_worst"}


def test_passes_where_a_question_lacks_rollouts_are_those_of_the_others(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(NEW)
    rows = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(rows[:-1]))
    found = {
        item.statistic
        for item in take(folder).run("adder").published
        if item.metric == "passed"
    }
    assert found and all(name.endswith(" of whole questions") for name in found)


def test_metadata_alone_are_figures(copied: Callable[[Path], Path]) -> None:
    folder = copied(OLD)
    (folder / "results.jsonl").unlink()
    taken = take(folder)
    assert taken.rows == [] and len(taken.dump.runs[0].published) == 4


def test_rows_alone_are_named_by_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "outputs" / "evals" / "adder--org--tiny" / "0123abcd"
    folder.mkdir(parents=True)
    shutil.copy(OLD / "results.jsonl", folder)
    (header,) = take(folder).dump.runs
    assert (header.model, header.benchmark, header.run_id) == (
        "org/tiny",
        "adder",
        "0123abcd",
    )
    elsewhere = Path(shutil.copytree(folder, tmp_path / "x" / "y"))
    with pytest.raises(InputError, match="names the model"):
        take(elsewhere)
    assert take(elsewhere, model="org/m").dump.runs[0].benchmark == "verifiers"


def test_the_same_run_under_two_ids_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "outputs" / "evals" / "adder--org--tiny"
    for name in ("0123abcd", "fedcba98"):
        shutil.copytree(OLD, folder / name)
    with open_store(f"duckdb:///{tmp_path}/a.duckdb", create=True, write=True) as store:
        report = ingest(store, [folder])
        assert (report.total("n_runs"), report.total("n_seen_again")) == (1, 1)


@pytest.mark.parametrize(
    "text", [POINTER, "", '{"example_id": 0, "prompt": "a", "compl']
)
def test_what_stands_in_place_of_rows_is_refused(
    tmp_path: Path, copied: Callable[[Path], Path], text: str
) -> None:
    folder = copied(MIDDLE)
    (folder / "results.jsonl").write_text(text)
    with open_store(f"duckdb:///{tmp_path}/a.duckdb", create=True, write=True) as store:
        report = ingest(store, [folder])
        assert len(report.refused) == 1 and "results.jsonl" in (
            report.refused[0].error or ""
        )
        assert select(store, "select count(*) as n from run") == [{"n": 0}]


def test_a_row_without_an_id_is_rejected_with_its_place(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(NEW)
    with (folder / "results.jsonl").open("a") as out:
        out.write('{"prompt": "a", "completion": "b", "reward": 1.0}\n')
    (rejection,) = take(folder).dump.rejections
    assert (rejection.place, rejection.found[:14]) == (
        "results.jsonl line 9",
        "no example_id:",
    )


def test_ids_may_be_texts(copied: Callable[[Path], Path]) -> None:
    folder = copied(NEW)
    rewritten(
        folder / "results.jsonl",
        lambda row: row.update(example_id=f"q{row['example_id']}"),
    )
    assert [(row["prompt_id"], row["draw"]) for row in take(folder).rows] == [
        (str(question), draw) for question in range(2) for draw in range(4)
    ]


# --- episodes ------------------------------------------------------------------------------------


def test_each_checkpoint_of_a_training_is_a_run() -> None:
    first, second = take(EPISODES).dump.runs
    assert (first.step, second.step) == (40, 80)
    assert (first.model, first.benchmark, first.agent) == ("org/tiny", "adder", "bash")
    assert first.agent_parameters == {"agent": "solver", "max_turns": 4}
    assert (first.temperature, first.max_tokens, first.top_p) == (
        0.5,
        64,
        0.9,
    )  # the agent's own above the run's
    assert (first.harness_version, first.harness_commit) == ("0.4.0", "abc123")
    assert (first.run_id, first.split, first.n_requested) == (
        "run-7/solver/step 40",
        "",
        2,
    )
    told = {
        metric.name: (metric.scorer_parameters, metric.higher_is_better)
        for metric in first.metrics
    }
    assert told == {
        "reward": ({}, True),
        "num_tool_calls": ({}, None),
        "length": ({}, None),
        "correct": ({"weight": 1.0}, True),
        "short": ({"weight": 0.2}, True),
    }


def test_rewards_are_weighted_and_what_was_not_scored_is_not_zero() -> None:
    rows = [row for row in take(EPISODES).rows if row["run"] == 0]
    assert [scores(row)["reward"] for row in rows] == [
        (pytest.approx(1.1), None, None),
        (pytest.approx(0.1), None, None),
        (None, "error", None),
        (None, "limit", "1.0"),  # out of turns, and one of two rewards was not scored
    ]
    assert scores(rows[3])["correct"] == (1.0, None, None)
    assert scores(rows[2])["num_tool_calls"] == (None, "error", None)
    assert rows[2]["error"] == "ProviderError: 503 from the provider"


def test_what_a_trace_spent_and_said() -> None:
    row = take(EPISODES).rows[0]
    assert (row["response"], row["text"], row["target"]) == (
        "It is 0.",
        "What is 2 + 3?",
        "5",
    )
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (
        32,
        8,
        0.5,
    )  # what a cache held included
    assert (row["latency"], row["finish_reason"], row["draw"]) == (
        1.5,
        "agent_completed",
        0,
    )
    assert json.loads(row["identity"]) == {
        "prompt": "What is 2 + 3?",
        "system_prompt": "Use the tool.",
        "answer": "5",
    }


def test_a_call_without_a_price_leaves_no_cost(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EPISODES, tmp_path / EPISODES.name))
    path = folder / "traces.jsonl"
    first, *others = path.read_text().splitlines()
    episode = json.loads(first)
    del episode["traces"][0]["calls"][1]["usage"]["cost"]
    path.write_text("\n".join([json.dumps(episode), *others]))
    assert [row["cost"] for row in take(folder).rows][:2] == [None, 0.5]


def test_older_settings_and_rollouts_of_the_training_itself(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EPISODES)
    shutil.rmtree(folder / "configs")
    (folder / "config.toml").write_text(
        'model = "org/named"\n[sampling]\ntemperature = 0.25\n'
    )

    def change(row: Row) -> None:
        row["run"]["work"] = {"type": "train", "step": 3}
        row["traces"][0]["agent"]["config"] = {"harness": "default"}
        row["traces"][0]["calls"] = []

    rewritten(folder / "traces.jsonl", change)
    (header,) = take(folder).dump.runs
    assert (header.model, header.temperature, header.split, header.step) == (
        "org/named",
        0.25,
        "train",
        3,
    )
    assert header.agent == "default"
    (folder / "config.toml").write_text("model =")
    with pytest.raises(InputError, match=r"config\.toml"):
        take(folder)


def test_an_episode_that_ended_before_any_agent_began(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EPISODES)
    error = {"type": "EnvError", "message": "no sandbox"}
    rewritten(
        folder / "traces.jsonl",
        lambda row: row.update(traces=[], errors=[error], ok=False),
    )
    taken = take(folder)
    assert {run.model for run in taken.dump.runs} == {"org/tiny"}
    assert {row["error"] for row in taken.rows} == {"EnvError: no sandbox"}
    assert scores(taken.rows[0]) == {"reward": (None, "error", None)}


def test_a_failure_before_any_agent_is_that_of_the_only_agent(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EPISODES)

    def change(row: Row) -> None:
        if row["traces"][0]["stop_condition"] == "provider_error":
            row |= {
                "ok": False,
                "traces": [],
                "errors": [{"type": "EnvError", "message": "no sandbox"}],
            }

    rewritten(folder / "traces.jsonl", change)
    taken = take(folder)
    assert [run.run_id for run in taken.dump.runs] == [
        "run-7/solver/step 40",
        "run-7/solver/step 80",
    ]
    rows = [row for row in taken.rows if row["run"] == 0]
    assert [(row["text"], row["draw"], row["error"]) for row in rows][2:] == [
        ("What is 4 + 7?", 0, "EnvError: no sandbox"),
        ("What is 4 + 7?", 1, None),
    ]


def test_errors_of_earlier_tries_and_an_agent_without_rewards(
    copied: Callable[[Path], Path],
) -> None:
    folder = copied(EPISODES)

    def change(row: Row) -> None:
        trace = row["traces"][0]
        judge = json.loads(json.dumps(trace)) | {
            "rewards": {},
            "ok": True,
            "stop_condition": "agent_completed",
        }
        judge["agent"]["name"] = "judge"
        row["traces"].append(judge)
        trace["errors"] = [{"type": "SandboxError", "message": "lost"}]

    rewritten(folder / "traces.jsonl", change)
    taken = take(folder)
    assert [run.agent_parameters["agent"] for run in taken.dump.runs] == [
        "solver",
        "judge",
        "solver",
        "judge",
    ]
    solver = [row for row in taken.rows if row["run"] == 0]
    assert [row["error"] for row in solver] == [None, None, "SandboxError: lost", None]
    judge = [row for row in taken.rows if row["run"] == 1]
    assert all("reward" not in scores(row) for row in judge)


# --- all -----------------------------------------------------------------------------------------


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, MADE) as (_, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 5)


@pytest.mark.parametrize("timed", [True, False])
def test_exact_copies_and_rollouts_beyond_the_declared_number_are_told(
    copied: Callable[[Path], Path], timed: bool
) -> None:
    folder = copied(NEW)
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows):
        for name in ("generation_ms", "scoring_ms", "total_ms", "timing"):
            row.pop(name, None)
        if timed:
            row["timing"] = {"generation_ms": 12.5 + number}
    before = [json.dumps(row) for row in rows]
    path.write_text("\n".join(before) + "\n")
    whole = take(folder).rows
    path.write_text(
        "\n".join([*before, json.dumps(dict(reversed(rows[0].items())))]) + "\n"
    )
    taken = take(folder)
    assert [row["draw"] for row in taken.rows] == [row["draw"] for row in whole]
    assert [
        note
        for note in taken.dump.notes
        if "1 rows are exact copies" in note and "left out" in note
    ]
    other = {
        **rows[0],
        "completion": [{"role": "assistant", "content": "something else"}],
    }
    path.write_text("\n".join([*before, json.dumps(other)]) + "\n")
    taken = take(folder)
    assert len(taken.rows) == len(whole) + 1
    assert [
        note
        for note in taken.dump.notes
        if "1 questions have more rollouts (up to 5)" in note
    ]
