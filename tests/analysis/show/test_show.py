"""`show`: a run with its prompts, or one prompt with every response and score."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.world import the_world
from warehouse.analysis.show.answer import in_order, show
from warehouse.analysis.show.view import PromptRuns, PromptView, RunView
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

ROWS = the_world()
SEEN = next(
    run["id"]
    for run in ROWS.rows["run"]
    if run["benchmark_id"] == ROWS.benchmark("seen")
)


def test_a_run_lists_its_prompts(world: Store) -> None:
    view = show(world, f"run:{SEEN}")
    assert isinstance(view, RunView)
    assert view.one_line == f"run:{SEEN} org/a on seen (complete, 3 prompts)"
    first = view.rows[0]
    assert (first.tool_id, first.value, first.n_draws, first.n_unscored) == (
        "task/1 'x'",
        1,
        1,
        1,
    )
    assert "revision" not in view.run  # what is not set is not shown
    assert view.to_frame()["metric"].tolist() == ["acc"] * 3


def test_a_prompt_shows_every_response_and_score(world: Store) -> None:
    view = show(world, str(SEEN), "task/1 'x'")
    assert isinstance(view, PromptView)
    assert (view.prompt["text"], view.prompt["target"]) == (
        "question task/1 'x'",
        "answer task/1 'x'",
    )
    assert [(r["draw"], r["response"], r["error"]) for r in view.responses] == [
        (0, "It is 4.", None),
        (1, "", "timeout"),
    ]
    assert view.responses[0]["prompt_sent"] == "Q: question task/1 'x'"
    assert [(s["draw"], s["value"], s["status"]) for s in view.scores] == [
        (0, 1.0, "scored"),
        (1, None, "error"),
    ]
    assert view.one_line == f"run:{SEEN} prompt task/1 'x': 2 responses, 2 scores"
    assert view.to_dict()["scores"][0]["metric"] == "acc"


@pytest.mark.parametrize("by", ["tool_id", "id", "prefix"])
def test_a_prompt_is_found_by(world: Store, by: str) -> None:
    prompt = ROWS.prompt("seen", "abcdef123")
    text = {"tool_id": "abcdef123", "id": str(prompt), "prefix": "abcdef1"}[by]
    view = show(world, f"run:{SEEN}", text)
    assert isinstance(view, PromptView)
    assert view.prompt["id"] == prompt


@pytest.mark.parametrize(
    ("run", "prompt", "message"),
    [
        (f"run:{SEEN}", "abcdef", "2 prompts of run"),
        (f"run:{SEEN}", "nope", "has no prompt 'nope'"),
        (f"run:{SEEN}", "abcd", "has no prompt 'abcd'"),  # too short for a prefix
        ("run:9999", None, "'run:9999' has no current run"),
        ("org/a", None, "has runs on several benchmarks"),
        ("item/model0", None, "was repeated; choose one of run:"),
    ],
)
def test_what_is_not_one_thing_is_said(
    world: Store, run: str, prompt: str | None, message: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        show(world, run, prompt)
    assert message in str(caught.value)


def test_a_prompt_goes_by_the_id_that_other_commands_print(world: Store) -> None:
    prompt = show(world, f"run:{SEEN}").rows[0].prompt_id
    view = show(world, f"run:{SEEN}", f"prompt:{prompt}")
    assert isinstance(view, PromptView) and view.prompt["id"] == prompt
    everywhere = show(world, f"prompt:{prompt}")
    assert isinstance(everywhere, PromptRuns) and everywhere.benchmark == "seen"
    assert (SEEN, 1.0) in {(row.run_id, row.value) for row in everywhere.rows}
    other = next(
        row["id"]
        for row in ROWS.rows["prompt"]
        if row["benchmark_id"] == ROWS.benchmark("quiz")
    )
    with pytest.raises(MisuseError, match=f"prompt:{other} is of quiz"):
        show(world, f"run:{SEEN}", f"prompt:{other}")
    with pytest.raises(MisuseError, match="no prompt has the id 999999"):
        show(world, "prompt:999999")


def test_prompts_come_in_the_order_of_the_benchmark() -> None:
    def order(ids: list[str]) -> list[str]:
        return [row["tool_id"] for row in in_order([{"tool_id": one} for one in ids])]

    counted = [f"sample_{number}" for number in range(12)]
    assert order(counted[::-1]) == counted
    named = ["zebra", "ant", "bee7"]
    assert order(named) == named
    hashed = [f"{number * 7919 % 65521:x}" for number in range(40)]
    assert order(hashed) == hashed


def test_a_value_of_0_stays(run: Caller, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("model,benchmark,prompt_id,score\na,b,1,0\na,b,2,0\n")
    url = f"duckdb:///{tmp_path / 'x.duckdb'}"
    assert run("ingest", str(table), db=url).code == 0
    assert "value" in run("show", "run:1", db=url).out
    assert "value" in run("show", "run:1", "1", db=url).out
