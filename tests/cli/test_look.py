"""``leaderboard``, ``compare`` and ``show``: what programs get, and what is refused
(for people: `test_golden.py`)."""

from __future__ import annotations

import re

import pytest

from tests.support.cli import Caller, filled_url, on_a_terminal
from tests.support.world import build_world
from warehouse.analysis.show.view import PromptRow
from warehouse.errors import did_you_mean
from warehouse.stats.intervals.methods import METHODS, RESAMPLED


def line_of(text: str, *words: str) -> str:
    (line,) = [
        line for line in text.splitlines() if all(word in line for word in words)
    ]
    return line


# --- leaderboard -----------------------------------------------------------------------------


def test_the_help_names_interval_methods_that_there_are(run: Caller) -> None:
    text = " ".join(run("leaderboard", "--help").out.split())
    (named,) = re.findall(r"Of the intervals, such as ([\w, ]+);", text)
    assert {*named.split(", ")} <= {*METHODS, *RESAMPLED}


def test_options_of_a_leaderboard_reach_the_library(run: Caller, url: str) -> None:
    narrow = run(
        "leaderboard",
        "draws",
        "--where",
        "temperature=1",
        "--level",
        "0.5",
        "--json",
        "--method",
        "t",
        db=url,
    ).rows
    assert [(row["model"], row["level"], row["method"]) for row in narrow] == [
        ("org/a", 0.5, "t")
    ]
    clustered = run("leaderboard", "golden", "--json", db=url).rows
    plain = run("leaderboard", "golden", "--cluster", "none", "--json", db=url).rows
    of_a, bare = (
        next(row for row in rows if row["model"] == "org/a")
        for rows in (clustered, plain)
    )
    assert of_a["n_clusters"] == 4 and bare["n_clusters"] is None
    strict = run("leaderboard", "quiz", "--metric", "acc,strict", "--json", db=url).rows
    assert {row["metric"] for row in strict} == {"acc,strict"}
    latest = run("leaderboard", "draws", "--latest", "--json", db=url).rows
    assert len([row for row in latest if row["model"] == "org/a"]) == 1


def test_without_a_benchmark_every_one_has_a_board(run: Caller, url: str) -> None:
    found = run("--explain", "leaderboard", db=url)
    assert found.code == 0
    for benchmark in ("draws", "golden", "quiz"):
        assert f"\n{benchmark} by " in found.out
    rows = run("leaderboard", "--json", db=url).rows
    assert {"draws", "golden", "quiz"} <= {row["benchmark"] for row in rows}
    run("leaderboard", "--where", "temperature=77", db=url).fails(2, "temperature=77")


def test_a_board_that_cannot_be_is_misuse(run: Caller, url: str) -> None:
    run("leaderboard", "quizz", db=url).fails(2, "quizz", "quiz")
    run("leaderboard", "quiz", "--metric", "f1", db=url).fails(2, "f1")
    run("leaderboard", "quiz", "--where", "colour=red", db=url).fails(2, "colour")
    run("leaderboard", "quiz", "--method", "magic", db=url).fails(2, "magic")


@pytest.mark.engine
def test_a_table_fits_the_terminal_and_says_what_it_leaves_out(
    request: pytest.FixtureRequest,
) -> None:
    with filled_url(request, "duckdb", build_world()) as url:
        call = ("--db", url, "leaderboard", "quiz")
        wide, narrow, tiny = (on_a_terminal(width, *call) for width in (200, 80, 40))
        asked = on_a_terminal(80, *call, "--wide")
        chosen = on_a_terminal(80, *call, "--columns", "model,estimate")
    starts = [
        next(at for at, line in enumerate(lines) if line.startswith("place"))
        for lines in (wide, tiny)
    ]
    tables = [
        lines[at : at + 11] for at, lines in zip(starts, (wide, tiny), strict=True)
    ]  # without what is said
    assert tables[0] == tables[1]  # in 40 columns there is nothing to gain by folding
    (head,) = [line for line in asked if line.startswith("place")]
    assert "vs. best" in head and "stat. rank" in head and "method" in head
    assert max(len(line) for line in narrow) <= 80 < max(len(line) for line in wide)
    assert any(
        all(word in line for word in ("org/c", "47.5 %", "[36.8, 58.1]"))
        for line in narrow
    )
    left_out = next(line for line in narrow if line.startswith("("))
    assert (
        left_out.endswith("--wide)")
        and "flags" in left_out
        and "flags" in wide[starts[0]]
    )
    assert ["model", "estimate"] in [line.split() for line in chosen]


def test_columns_are_chosen_by_name_in_every_form(run: Caller, url: str) -> None:
    asked = ("leaderboard", "quiz", "--columns")
    assert list(run(*asked, "estimate,model", "--json", db=url).rows[0]) == [
        "estimate",
        "model",
    ]
    assert (
        run(*asked, "model,estimate", "--csv", db=url).out.splitlines()[0]
        == "model,estimate"
    )
    shown = run(*asked, "estimate,model", db=url).out.splitlines()
    assert ["estimate", "model"] in [line.split() for line in shown]
    refused = run(*asked, "modle", db=url)
    refused.fails(2, "no column 'modle'", "model, ")
    assert not refused.out  # the sentence above the table would be read as the answer


def test_two_benchmarks_are_asked_as_a_suite(run: Caller, url: str) -> None:
    for words in (
        ("leaderboard", "quiz", "other"),
        ("claim", "leaderboard quiz other", "-o", "never.json"),
    ):
        run(*words, db=url).fails(2, "--group quiz,other")


# --- compare ---------------------------------------------------------------------------------


def test_an_ambiguous_name_lists_the_candidates(run: Caller, url: str) -> None:
    call = ("compare", "org/a", "org/c", "--benchmark", "draws")
    run(*call, db=url).fails(2, "run:3", "run:4", "temperature=0", "--latest")
    assert run(*call, "--latest", db=url).code == 0
    assert (
        run(*call, "--where", "temperature=1", db=url).code == 2
    )  # org/c has none at 1


def test_what_should_not_be_compared_is_refused_with_the_reason(
    run: Caller, url: str
) -> None:
    run("compare", "org/a", "org/a", "--benchmark", "golden", db=url).fails(
        2, "both references"
    )
    run("compare", "org/a", "nobody", db=url).fails(2, "nobody")


# --- show ------------------------------------------------------------------------------------


def test_a_run_is_shown_with_its_prompts(run: Caller, url: str) -> None:
    assert line_of(run("-v", "show", "run:1", db=url).out, "condition_key")
    rows = run("show", "1", "--json", db=url).rows
    assert len(rows) == 10
    assert list(rows[0]) == list(PromptRow.columns())


def test_a_prompt_is_shown_with_its_scores(run: Caller, url: str) -> None:
    (row,) = run("show", "run:1", "w1", "--json", db=url).rows
    assert row["prompt"]["text"] == "question w1" and row["scores"][0]["value"] == 1.0


def test_what_cannot_be_shown_is_misuse(run: Caller, url: str) -> None:
    run("show", "run:999", db=url).fails(2, "run:999")
    run("show", "run:1", "nope", db=url).fails(2, "nope", "show run:1")
    run("show", "org/a", db=url).fails(2, "several benchmarks")


def test_names_that_are_nearly_right_are_answered_with_close_ones(
    run: Caller, url: str
) -> None:
    for words, part in (
        (
            ("list", "runs", "--where", "benchmark=quizz"),
            "no benchmark is 'quizz': did you mean quiz?",
        ),
        (("query", "leaderboard", "-p", "benchmark=quizz"), "did you mean quiz?"),
        (("query", "runs_of_model", "-p", "model=org/aa"), "did you mean org/a"),
        (("leaderboard", "quiz", "--where", "model=org/aa"), "did you mean org/a"),
        (("report", "quizz"), "did you mean quiz?"),
        (("refresh", "quizz"), "did you mean quiz?"),
        (("fix", "cluster", "quizz", "x"), "did you mean quiz?"),
        (("fix", "link", "quizz", "quiz"), "did you mean quiz?"),
    ):
        assert part in run(*words, db=url).err, words
    assert did_you_mean("squad", ["equal"], "none") == "none"  # three letters of five
