"""A published figure that the samples do not give names the policy that does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller

PROMPTS = [f"p{number}" for number in range(10)]
SAID: list[float | str] = [1.0, 1.0, 1.0, 0.0, "limit", "limit", "error", 1.0, 0.0, 1.0]


def agent(
    rows: StoreRows, model: str, said: list[float | str], figure: float, n: int | None
) -> None:
    """A run of answers, some of them without a score, with a published figure."""
    run = rows.run(model, "tasks", **({} if n is None else {"n_requested": n}))
    drawn = [None if isinstance(one, str) else one for one in said]
    rows.scores(run, dict(zip(PROMPTS, drawn, strict=False)))
    own = [row for row in rows.rows["score"] if row["run_id"] == run]
    for row, one in zip(own, said, strict=True):
        row["status"] = one if isinstance(one, str) else "scored"
    rows.published(run, figure, benchmark="tasks")


def build() -> StoreRows:
    rows = StoreRows()
    rows.describe("tasks", rows.metric())
    agent(rows, "m/attempts", SAID, 0.5556, None)  # five of nine, the error left out
    agent(rows, "m/wrong", SAID, 0.5, None)  # five of ten
    agent(rows, "m/absent", [1.0] * 6 + [0.0], 0.6, 10)  # six of ten, three not there
    agent(rows, "m/other", SAID, 0.9, None)
    agent(rows, "m/exact", SAID, 5 / 7, None)
    return rows


ROWS = build()


def test_the_policy_that_reproduces_is_named(run: Caller, url: str) -> None:
    rows = run("query", "published_policies", "--json", db=url).rows
    found = {row["model"]: row for row in rows}
    assert {model: row["reproduces_under"] for model, row in found.items()} == {
        "m/attempts": "attempts",
        "m/wrong": "all-wrong",
        "m/absent": "all-wrong",
        "m/other": "",
    }
    other = found["m/other"]
    figures = (other["missing"], other["attempts"], other["all_wrong"])
    assert figures == pytest.approx((5 / 7, 5 / 9, 5 / 10))
    assert (found["m/absent"]["n_unscored"], found["m/absent"]["n_absent"]) == (0, 3)


def test_what_was_read_says_it(run: Caller, tmp_path: Path, bare_url: str) -> None:
    document = {
        "results": {"trivia": {"acc,none": 0.5, "alias": "trivia"}},
        "configs": {"trivia": {"metric_list": [{"metric": "acc"}]}},
        "n-samples": {"trivia": {"original": 4, "effective": 4}},
        "config": {"model": "hf", "model_args": "pretrained=org/a"},
        "model_name": "org/a",
    }
    folder = tmp_path / "org__a"
    folder.mkdir()
    stamp = "2026-01-01T00-00-00.000000"
    (folder / f"results_{stamp}.json").write_text(json.dumps(document))
    lines = []
    for number, score in enumerate((1.0, 1.0, None, None)):
        row = {"doc_id": number, "doc": {"q": f"question {number}"}, "target": "x"}
        row |= {"filter": "none", "metrics": ["acc"], "acc": score}
        lines.append(json.dumps(row | {"resps": [["y"]], "filtered_resps": ["y"]}))
    (folder / f"samples_trivia_{stamp}.jsonl").write_text("\n".join(lines) + "\n")
    said = " ".join(run("ingest", str(tmp_path), db=bare_url).out.split())
    assert "0 of 1 come out exactly, 1 under policy all-wrong" in said
    assert "warehouse query published_policies" in said and "contradicts" not in said
