"""Figures that a dump states itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.tabular import read_toml

RUN = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
"""


def test_figures_of_a_document(tmp_path: Path) -> None:
    stored = {
        "acc": 62.5,
        "err": 5,
        "n": 8,
        "none": None,
        "pass_at_k": {"1": 0.5, "5": 0.75},
        "rows": [{"id": "q", "ok": 1}, {"id": "r", "ok": 0}],
    }
    (tmp_path / "r.json").write_text(json.dumps(stored))
    taken = read_toml(
        tmp_path,
        RUN
        + """
[rows]
at = "rows[]"
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "ok"
[[published]]
metric = "acc"
value = { path = "$.acc", scale = 0.01 }
standard_error = { path = "$.err", scale = 0.01 }
n = "$.n"
[[published]]
metric = "acc"
statistic = "pass@{key}"
value = "$.pass_at_k{}"
[[published]]
metric = "other"
benchmark = "suite"
split = "dev"
value = "$.none"
""",
    )
    (run,) = taken.runs
    mean, *passes = run.published
    assert (mean.metric, mean.statistic, mean.value) == ("acc", "mean", 0.625)
    assert (mean.standard_error, mean.n) == (0.05, 8)
    assert [(score.statistic, score.value) for score in passes] == [
        ("pass@1", 0.5),
        ("pass@5", 0.75),
    ]
    assert len(taken.rows) == 2


def test_rows_of_aggregates_become_runs(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "seed,step,task,acc\n0,1,a,0.5\n0,1,b,0.25\n1,1,a,0.75\n"
    )
    taken = read_toml(
        tmp_path,
        """
        [run]
        model = { const = "m" }
        training_seed = "seed"
        step = "step"
        benchmark = "task"
        [[published]]
        metric = "acc"
        value = "acc"
        [metrics.acc]
        link = "none"
        """,
    )
    figures = {
        (r.training_seed, r.step, r.benchmark): r.published[0].value for r in taken.runs
    }
    assert figures == {("0", 1, "a"): 0.5, ("0", 1, "b"): 0.25, ("1", 1, "a"): 0.75}
    assert taken.rows == []
    assert taken.runs[0].metrics[0].link == "none"


def test_two_figures_for_one_thing_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("task,acc\na,0.5\na,0.5\na,0.75\n,1\n")
    taken = read_toml(
        tmp_path,
        "[run]\n"
        'model = { const = "m" }\n'
        'benchmark = "task"\n'
        "[[published]]\n"
        'metric = "acc"\n'
        'value = "acc"\n',
    )
    assert taken.runs[0].published[0].value == 0.5
    assert [rejection.place for rejection in taken.rejections] == [
        "r.csv row 5",
        "r.csv row 4",
    ]
    assert "no benchmark" in taken.rejections[0].found
    assert taken.rejections[1].found == "a second acc, 0.75"
    assert "0.5, as stated before" in taken.rejections[1].expected


def test_a_figure_that_is_no_number_is_kept_as_text(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("task,acc\na,N/A\n")
    mapping = '[run]\nmodel = { const = "m" }\nbenchmark = "task"\n'
    mapping += '[[published]]\nmetric = "acc"\nvalue = "acc"\n'
    score = read_toml(tmp_path, mapping).runs[0].published[0]
    assert (score.value, score.raw) == (None, "N/A")


@pytest.mark.parametrize("found", [0.5, "many", True])
def test_several_figures_that_are_no_list_are_rejected(
    tmp_path: Path, found: object
) -> None:
    (tmp_path / "r.json").write_text(json.dumps([{"task": "a", "pass_at_k": found}]))
    mapping = '[run]\nmodel = { const = "m" }\nbenchmark = "task"\n'
    mapping += (
        "[[published]]\n"
        'metric = "acc"\n'
        'statistic = "pass@{key}"\n'
        'value = "pass_at_k{}"\n'
    )
    taken = read_toml(tmp_path, mapping)
    (rejection,) = taken.rejections
    assert (
        rejection.found == repr(found) and "an object or a list" in rejection.expected
    )
    assert all(not run.published for run in taken.runs)


@pytest.mark.parametrize(
    ("of", "record"),
    [
        (
            '[[published]]\nbenchmark = "other"\nmetric = "acc"\nvalue = "acc"',
            {"acc": 0.5},
        ),
        (
            "[sample]\n"
            'prompt_id = "id"\n'
            'perturbation = "form"\n'
            "[[scores]]\n"
            'metric = "acc"\n'
            'value = "acc"',
            {"id": "q", "form": "typos", "acc": 1},
        ),
    ],
)
def test_a_leaderboard_without_figures_of_its_own_says_why(
    tmp_path: Path, run: Caller, of: str, record: dict[str, Any]
) -> None:
    """A figure of another benchmark stood there as its own; of perturbations alone it
    said "no rows"."""
    (tmp_path / "r.json").write_text(json.dumps([record]))
    (tmp_path / "m.toml").write_text(RUN + of)
    store = f"duckdb:///{tmp_path}/s.duckdb"
    assert (
        run(
            "ingest",
            str(tmp_path / "r.json"),
            "--map",
            str(tmp_path / "m.toml"),
            db=store,
        ).code
        == 0
    )
    shown = run("leaderboard", "b", db=store)
    assert "no rows" in shown.out and "0.5" not in shown.out
    assert (
        "scores of perturbations, if it has any: warehouse noise templates b --factor "
        "perturbation" in shown.err
    )
