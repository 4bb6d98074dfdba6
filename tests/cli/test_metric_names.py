"""Two tools that name one metric otherwise: each way out that a message names is taken
as it is printed, and leads on."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli import Caller

RIGHT = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]


@pytest.fixture
def tools(run: Caller, store_url: str, tmp_path: Path) -> str:
    """A model by one tool on a named split, and another by a tool that names none."""
    for name, metric, split in (("one", "exact_match", "test"), ("two", "correct", "")):
        lines = [f"model,benchmark,split,harness,prompt_id,question,{metric}"]
        lines += [
            f"org/{name},quiz,{split},{name},{name}{n},what is {n}?,{value}"
            for n, value in enumerate(RIGHT if name == "one" else reversed(RIGHT))
        ]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(lines) + "\n")
        read = run("ingest", str(path), "--higher-is-better", db=store_url)
        assert read.code == 0, read.err
    return store_url


def commands_of(text: str) -> list[list[str]]:
    """The lines to paste that a message has."""
    found = re.findall(r"warehouse ((?:fix|compare) [^`;]*)", text)
    return [shlex.split(line) for line in found]


@pytest.mark.parametrize("way", ["once", "always"])
@pytest.mark.rare
def test_every_way_out_of_a_comparison_leads_on(
    run: Caller, tools: str, way: str
) -> None:
    refused = run("compare", "org/one", "org/two", db=tools)
    refused.fails(2, "no benchmark in common", "does not say which split")
    link, across = commands_of(refused.err)
    assert run(*link, db=tools).code == 0
    refused = run(*across, db=tools)
    refused.fails(2, "two names of one metric")
    if way == "once":
        metrics = re.findall(r"--metric [\w,-]+", refused.err)[:2]
        again = [*across, *shlex.split(" ".join(metrics))]
    else:
        (alias,) = commands_of(refused.err)
        assert run(*alias, db=tools).code == 0
        again = across
    (row,) = run(*again, "--json", db=tools).rows
    assert row["n_prompts"] == len(RIGHT)
    assert row["difference"] == 0


def test_a_leaderboard_names_the_alias_and_what_to_do_if_it_is_none(
    run: Caller, tools: str
) -> None:
    board = run("leaderboard", "quiz", db=tools)
    assert "org/two" in board.out and "org/one" not in board.out
    (alias,) = commands_of(board.err.replace("; if not", "`"))
    other = re.search(r"if not: --metric (\w+)", board.err)
    assert other is not None
    alone = run("leaderboard", "quiz", "--metric", other[1], "--json", db=tools).rows
    assert [row["model"] for row in alone] == ["org/one"]
    assert run(*alias, db=tools).code == 0
    both = run("leaderboard", "quiz", "--json", db=tools).rows
    assert {row["model"] for row in both} == {"org/one", "org/two"}
    listed = run("list", "declared", "quiz", "--json", db=tools).rows
    assert [row["about"] for row in listed] == ["metric alias"]


def test_options_of_an_alias(run: Caller, tools: str) -> None:
    fix = ("fix", "alias", "correct")
    run(*fix, "org/one", "--on", "quiz", db=tools).fails(2, "--on goes with --metric")
    run(*fix, "--metric", "--undo", db=tools).fails(2, "nobody said")
    run(*fix, "wrong", "--metric", db=tools).fails(2, "no metric 'wrong'")
