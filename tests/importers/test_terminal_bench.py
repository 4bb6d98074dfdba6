"""Run folders of Terminal-Bench. The run of ``tests/data/terminal_bench`` was written
by the result models of the real package; real ones are read where they are present."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.pages import ROOT
from tests.support.stores import select
from warehouse import connect
from warehouse.errors import InputError
from warehouse.importers.terminal_bench import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.records.settings import settings_of
from warehouse.store.open import open_store

RUN = Path(__file__).parents[1] / "data" / "terminal_bench" / "demo"


take = partial(lm_eval.take, importer=IMPORTER)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "demo"))


def test_the_header_says_all_that_the_files_say() -> None:
    (header,) = take(RUN).dump.runs
    assert (header.harness, header.harness_commit) == ("terminal-bench", "abc123")
    assert (header.model, header.agent) == ("org/tiny", "terminus")
    assert header.agent_parameters == {"max_steps": 9}
    assert (header.benchmark, header.benchmark_version) == (
        "terminal-bench-demo",
        "0.1.1",
    )
    assert (header.n_benchmark, header.n_requested) == (3, 2)
    assert header.run_id == "00000000-0000-4000-8000-000000000007"
    assert header.started_at is not None
    assert header.started_at.isoformat() == "2026-11-20T10:59:00"
    assert header.configuration["n_attempts"] == 2
    assert {item.statistic: item.value for item in header.published} == {
        "mean": 0.5,
        "pass@2": 1.0,
    }


def test_a_trial_is_a_draw_of_its_task() -> None:
    rows = {(row["prompt_id"], row["draw"]): row for row in take(RUN).rows}
    assert len(rows) == 4
    row = rows["sort", 1]
    assert row["text"] == "Please do sort."
    assert (row["input_tokens"], row["output_tokens"], row["latency"]) == (
        1066,
        166,
        12.5,
    )
    assert (row["error"], row["explanation"]) == (
        "agent_timeout",
        '{"test_a":"failed"}',
    )
    found = {
        key: (row["scores"][0]["value"], row["error"]) for key, row in rows.items()
    }
    assert found == {
        ("sort", 0): (1.0, None),
        ("sort", 1): (0.0, "agent_timeout"),
        ("chess", 0): (None, "parse_error"),
        ("chess", 1): (1.0, None),
    }


def test_trials_of_an_interrupted_run_come_from_their_own_files(run: Path) -> None:
    whole = take(run)
    (run / "results.json").unlink()
    parts = take(run)
    key = lambda row: (row["prompt_id"], row["draw"])  # noqa: E731
    assert sorted(parts.rows, key=key) == sorted(whole.rows, key=key)
    assert parts.dump.runs[0].run_id == "00000000-0000-4000-8000-000000000008"
    (run / "run_metadata.json").unlink()
    assert len(take(run, model="org/tiny").rows) == 4
    with pytest.raises(InputError, match="names the model"):
        take(run)


def test_files_of_other_tools_are_left_alone(tmp_path: Path) -> None:
    for name, text in {
        "results.json": '{"results": {"task": {"acc": 1}}}',
        "run_metadata.json": '{"agent_name": "a"}',
    }.items():
        (tmp_path / name).write_text(text)
    assert lm_eval.claimed(tmp_path, importer=IMPORTER) == []


def test_a_trial_that_is_none_is_rejected_with_its_place(run: Path) -> None:
    document = json.loads((run / "results.json").read_text())
    document["results"][1]["is_resolved"] = "yes"
    (run / "results.json").write_text(json.dumps(document))
    (rejection,) = take(run).dump.rejections
    assert (rejection.place, "is_resolved" in rejection.found) == ("trial 1", True)


def test_tokens_of_an_agent_that_counts_none_are_missing(run: Path) -> None:
    document = json.loads((run / "results.json").read_text())
    for trial in document["results"]:
        trial |= {"total_input_tokens": 0, "total_output_tokens": 0}
    (run / "results.json").write_text(json.dumps(document))
    assert {(row["input_tokens"], row["output_tokens"]) for row in take(run).rows} == {
        (None, None)
    }


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, RUN.parent) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 1)
        (found,) = select(
            store, "select * from published_against_recomputed where statistic = 'mean'"
        )
        assert found["verdict"] == "null_as_worst"


def test_the_board_says_that_the_source_publishes_other_figures(
    store_url: str,
) -> None:
    with ingested(store_url, RUN.parent):
        pass
    store = connect(store_url, create=False)
    (row,) = store.leaderboard("terminal-bench-demo").rows
    said = " ".join(store.leaderboard("terminal-bench-demo").notes)
    (listed,) = store.runs()
    assert row.estimate != 0.5
    assert "published figures are others" in said and "org/tiny" in said
    (as_wrong,) = store.leaderboard("terminal-bench-demo", policy="all-wrong").rows
    assert as_wrong.estimate == 0.5
    assert listed.n_scored is not None and listed.n_scored <= listed.n_found


def test_the_mapping_and_the_importer_see_the_same_runs(
    data_dir: Path, duckdb_url: str
) -> None:
    with open_store(duckdb_url, create=True, write=True) as store:
        report = ingest(store, [data_dir / "terminal_bench"])
        assert (report.total("n_runs"), report.total("n_repeats")) == (21, 16)
        assert {row.verdict for row in report.reconciliation} == {"null_as_worst"}
        mapping = ROOT / "docs" / "mappings" / "terminal_bench.toml"
        again = ingest(store, [data_dir / "terminal_bench"], mapping=mapping)
        assert (again.total("n_runs"), again.total("n_seen_again")) == (0, 21)


LOCKED = {
    "created_at": "2026-11-20",
    "dataset": {"name": "d"},
    "run_config": {"global_agent_timeout_sec": None},
}


@pytest.mark.parametrize(
    ("file", "place", "value", "is_setting"),
    [
        ("run_metadata.json", ("run_id",), "with-tools", True),
        ("run_metadata.json", ("run_id",), "demo-2026-11-02__11-00-00", False),
        ("run_metadata.json", ("agent_kwargs", "max_steps"), "9", False),
        ("run_metadata.json", ("agent_kwargs", "max_steps"), 50, True),
        ("run_metadata.json", ("agent_kwargs", "model_name"), "org/tiny", False),
        ("run_metadata.json", ("some_option",), "on", True),
        ("run_metadata.json", ("uuid",), "00000000-0000-4000-8000-000000000009", False),
        ("run_metadata.json", ("n_concurrent_trials",), 8, False),
        ("run_metadata.json", ("username",), "ada", False),
        ("tb.lock", ("run_config", "global_agent_timeout_sec"), 3600, True),
        ("tb.lock", ("run_config", "global_timeout_multiplier"), 2.0, True),
        ("tb.lock", ("run_config", "global_timeout_multiplier"), 1.0, False),
        ("tb.lock", ("run_config", "livestream"), True, False),
        ("tb.lock", ("created_at",), "2026-11-21", False),
    ],
)
def test_what_a_run_was_made_with_is_its_condition(
    run: Path, file: str, place: tuple[str, ...], value: Any, is_setting: bool
) -> None:
    (run / "tb.lock").write_text(json.dumps(LOCKED))
    before = settings_of(take(run).dump.runs[0]).condition_key
    document = json.loads((run / file).read_text())
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    (run / file).write_text(json.dumps(document))
    assert (settings_of(take(run).dump.runs[0]).condition_key != before) == is_setting
