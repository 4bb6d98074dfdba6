"""Which notes of an ingest -q keeps: on what may be read in two ways, and on what
contradicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import Caller

#: Ingests a table of a name; gives what was said.
Quietly = Callable[..., str]

HEAD = "model,benchmark,prompt_id,score,started_at\n"


@pytest.fixture
def quietly(run: Caller, duckdb_url: str, tmp_path: Path) -> Quietly:
    assert run("store", "init", db=duckdb_url).code == 0

    def ingest(name: str, text: str, *options: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        done = run("-q", "ingest", str(path), *options, db=duckdb_url)
        assert done.code == 0
        return done.err

    return ingest


def night(day: int, *scores: int) -> str:
    rows = [
        f"ada,quiz,q{number},{score},2026-04-{day:02}T02:00:00Z"
        for number, score in enumerate(scores)
    ]
    return HEAD + "\n".join(rows) + "\n"


def test_a_nightly_job_is_told_nothing_of_its_repeats(quietly: Quietly) -> None:
    """Under names of their own, or one after the other under the same name."""
    for day in range(1, 4):
        assert quietly(f"n{day}.csv", night(day, 1, 0, day % 2)) == ""
    for day in range(4, 7):
        assert quietly("latest.csv", night(day, 1, 0, day % 2)) == ""


def test_what_may_be_read_in_two_ways_is_told(quietly: Quietly) -> None:
    plain = [line.rpartition(",")[0] for line in night(1, 1, 0, 1).splitlines()]
    one, other = (
        "\n".join(plain) + "\n",
        "\n".join([*plain[:-1], "ada,quiz,q2,0"]) + "\n",
    )
    assert quietly("a.csv", one) == ""
    assert "joined run 1" in quietly("b.csv", other)
    assert "was read before with other content" in quietly(
        "a.csv", one.replace("q0,1", "q0,0")
    )
    longer = one + "ada,quiz,q4,0\n"
    assert "stands in this one, which supersedes it" in quietly("c.csv", longer)
    assert "holds all of this one" in quietly("d.csv", "\n".join(plain[:2]) + "\n")
    assert "1 duplicate row collapsed" in quietly(
        "e.csv", longer.replace("ada", "bob") + "bob,quiz,q4,0\n"
    )


def test_equal_scores_that_nothing_tells_apart_are_told(quietly: Quietly) -> None:
    head, one, other = (
        "model,benchmark,prompt_id,score\n",
        "ada,quiz,q1,1\n",
        "ada,quiz,q2,0\n",
    )
    assert quietly("a.csv", head + one + other) == ""
    said = quietly("b.csv", head + other + one)
    assert "taken for one" in said and "--set run_id=NAME" in said


FIGURES = """
files = "figures*.csv"
[run]
model = "model"
benchmark = "benchmark"
[[published]]
metric = "score"
value = "score"
"""


def test_figures_that_samples_from_elsewhere_contradict_are_told(
    quietly: Quietly, tmp_path: Path
) -> None:
    """Whichever comes first; a figure that rounds to their mean is none of them."""
    (tmp_path / "map.toml").write_text(FIGURES)
    figures, samples = (
        "model,benchmark,score\n{},quiz,{}\n",
        "model,benchmark,prompt_id,score\n{0},quiz,q1,1\n",
    )
    samples += "{0},quiz,q2,0\n{0},quiz,q3,0\n"
    by_map = ("--map", str(tmp_path / "map.toml"))
    quietly("figures-ada.csv", figures.format("ada", 0.9), *by_map)
    said = quietly("ada.csv", samples.format("ada"))
    assert (
        "ada on quiz: score 0.9 published by run 1, 0.3333 from 3 prompts of run 2"
        in said
    )
    assert quietly("bob.csv", samples.format("bob")) == ""
    said = quietly("figures-bob.csv", figures.format("bob", 0.5), *by_map)
    assert (
        "bob on quiz: score 0.5 published by run 4, 0.3333 from 3 prompts of run 3"
        in said
    )
    assert quietly("eve.csv", samples.format("eve")) == ""
    assert "contradict" not in quietly(
        "figures-eve.csv", figures.format("eve", 0.333), *by_map
    )
