"""`compare` on the command line: what programs get, and what is said of odd stores;
`test_golden.py` has the usual."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.two_models import MODELS, ROWS
from warehouse import connect
from warehouse.analysis.comparison.row import ComparisonRow, Flip
from warehouse.cli.ui.table import number

ONE = ("compare", *MODELS, "--benchmark", "one")
ALL = ("compare", *MODELS, "--where", "temperature=")


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    return ROWS


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_programs_get_one_row_per_benchmark_or_the_overall_one(
    run: Caller, url: str
) -> None:
    rows = run(*ALL, "--json", db=url).rows
    assert [row["benchmark"] for row in rows] == ["many", "one", "same", "shared"]
    assert list(rows[0]) == list(ComparisonRow.columns())
    (overall,) = run(*ALL, "--overall", "--json", db=url).rows
    expected = connect(url).compare(*MODELS, where=["temperature="]).overall
    assert expected is not None and overall == expected.to_dict()
    (alone,) = run(*ONE, "--overall", "--json", db=url).rows
    assert alone["benchmark"] == "one"
    run("compare", *MODELS, "--latest", "--overall", db=url).fails(2, "2 metric scales")
    run(*ALL, "--overall", "--flips", db=url).fails(2, "--overall and --flips")


def test_options_reach_the_library(run: Caller, url: str) -> None:
    (row,) = run(
        "compare",
        *MODELS,
        "--benchmark",
        "many",
        "--method",
        "permutation",
        "--seed",
        "4",
        "--resamples",
        "99",
        "--level",
        "0.9",
        "--equivalence",
        "0.25",
        "--json",
        db=url,
    ).rows
    (expected,) = (
        connect(url)
        .compare(
            *MODELS,
            benchmark="many",
            method="permutation",
            seed=4,
            n_resamples=99,
            level=0.9,
            equivalence=0.25,
        )
        .rows
    )
    assert row == expected.to_dict()
    assert (row["test"], row["margin"], row["level"]) == ("permutation", 0.25, 0.9)
    (row,) = run(
        "compare",
        *MODELS,
        "--benchmark",
        "many",
        "--estimand",
        "prompts-fixed",
        "--json",
        db=url,
    ).rows
    assert row["estimand"] == "prompts_fixed"


@pytest.mark.parametrize(
    ("percent", "number"), [("90%", "0.9"), (" 99 %", "0.99"), ("99.5%", "0.995")]
)
def test_a_number_may_be_a_percentage(
    run: Caller, url: str, percent: str, number: str
) -> None:
    told = run(*ONE, "--level", percent, "--json", db=url).rows
    assert told == run(*ONE, "--level", number, "--json", db=url).rows
    same = run(*ONE, "--equivalence", "2%", "--json", db=url).rows
    assert same == run(*ONE, "--equivalence", "0.02", "--json", db=url).rows
    plan = ("power", "--omega2", "0.1", "--json")
    assert run(*plan, "--delta", "3%").rows == run(*plan, "--delta", "0.03").rows


@pytest.mark.parametrize("wrong", ["%", "x%", "150%", "nan%"])
def test_what_is_no_percentage_is_misuse(run: Caller, url: str, wrong: str) -> None:
    run(*ONE, "--level", wrong, db=url).fails(2, "level")


def test_flips_are_short_for_people_and_whole_for_programs(
    run: Caller, url: str
) -> None:
    rows = run(*ONE, "--flips", "4", "--json", db=url).rows
    assert len(rows) == 4 and list(rows[0]) == [item.name for item in fields(Flip)]
    assert rows[0]["response_a"].endswith("on and on ")
    found = run(*ONE, "--flips", "4", db=url).out
    first = next(
        line for line in found.splitlines() if line.startswith(rows[0]["tool_id"])
    )
    assert rows[0]["text"] in first and rows[0]["target"] in first and " ... " in first
    assert rows[0]["response_a"] not in first
    (row,) = run(*ONE, "--json", db=url).rows
    total = row["higher_a"] + row["higher_b"]
    assert (
        f"one: {total} of 60 prompts differ, a is higher on {row['higher_a']}" in found
    )
    assert f"... and {total - 4} more: --flips {total}" in found
    db, *command = (
        found.split("all of one prompt: warehouse --db ")[1].split(" (")[0].split()
    )
    assert (
        f"text\n{rows[0]['text']}" in run(*command, db=db).out
    )  # pasted, it asks the same store
    assert len(run(*ONE, "--flips", "--json", db=url).rows) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--equivalence", "0"), "--equivalence"),
        (("--equivalence", "-0.1"), "--equivalence"),
        (("--flips", "0"), "--flips"),
        (("--method", "magic"), "--method"),
        (("--estimand", "all"), "--estimand"),
        (("--seed", "-1"), "--seed"),
        (("--resamples", "0"), "--resamples"),
        (("--equivalence", "0.1", "--level", "0.4"), "level above 0.5"),
    ],
)
def test_what_cannot_be_asked_is_misuse(
    run: Caller, url: str, options: tuple[str, ...], message: str
) -> None:
    run(*ONE, *options, db=url).fails(2, message)


def test_versions_of_a_benchmark_are_not_compared_unasked(
    run: Caller, tmp_path: Path
) -> None:
    table, mapping, store = (
        tmp_path / "t.csv",
        tmp_path / "m.toml",
        str(tmp_path / "s.duckdb"),
    )
    rows = [
        f"{model},b,{version},q{i},{int((i + len(version)) % 3 > 0)}"
        for model, version in (("x", "1"), ("y", "2.0"), ("z", ""))
        for i in range(30)
    ]
    table.write_text("\n".join(["model,benchmark,version,id,score", *rows]))
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        'benchmark_version = "version"\n'
        "[sample]\n"
        'prompt_id = "id"\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        'value = "score"\n'
        "[metrics.acc]\nhigher_is_better = true\n"
    )
    assert run("ingest", str(table), "--map", str(mapping), db=store).code == 0
    told = "benchmark version '1' against '2.0'"
    run("compare", "x", "y", db=store).fails(2, told, "--force")
    call = ["gate", "--candidate", "x", "--baseline", "y", "--margin", "0.1"]
    run(*call, db=store).fails(2, told)
    for pair, options in ((("x", "y"), ["--force"]), (("x", "z"), [])):  # z: not known
        (row,) = run("compare", *pair, *options, "--json", db=store).rows
        assert row["n_prompts"] == 30
    for command in ("leaderboard", "pairs"):
        assert "benchmark's version (1, 2.0)" in run(command, "b", db=store).err


def test_what_stands_against_several_benchmarks_is_said_once(
    run: Caller, tmp_path: Path
) -> None:
    rows = [
        f"{model},{name},{model}{i},{i % 2}"
        for model in "xy"
        for name in ("b", "c")
        for i in range(4)
    ]
    (tmp_path / "t.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *rows])
    )
    store = str(tmp_path / "s.duckdb")
    run("ingest", str(tmp_path / "t.csv"), db=store)
    refused = run("compare", "x", "y", db=store)
    refused.fails(2, "b, c: no prompt in common")
    assert refused.err.count("no prompt in common") == 1


def test_where_nothing_can_be_tested_the_column_says_what_the_sentence_says(
    run: Caller, tmp_path: Path
) -> None:
    rows = [
        f"{model},{name},{i},{i % 2}"
        for model in "xy"
        for name in ("b", "c")
        for i in range(8)
    ]
    rows += [
        f"{model},d,{i},{(i * k) % 5 % 2}"
        for model, k in (("x", 1), ("y", 2))
        for i in range(40)
    ]
    (tmp_path / "t.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *rows])
    )
    store = str(tmp_path / "s.duckdb")
    run("ingest", str(tmp_path / "t.csv"), db=store)
    several = run("compare", "x", "y", db=store).out
    assert "d is open; no verdict on b and c." in in_one_line(several)
    assert (several.count("  no verdict  "), several.count("  open")) == (
        2,
        2,
    )  # of d, and over all
    assert "no verdict" in run("pairs", "b", db=store).out


def test_who_is_better_is_not_said_by_a_metric_of_no_known_direction(
    run: Caller, tmp_path: Path
) -> None:
    table, mapping, store = (
        tmp_path / "t.csv",
        tmp_path / "m.toml",
        str(tmp_path / "s.duckdb"),
    )
    right = {"x": 38, "y": 20, "z": 19}
    rows = [
        f"{model},b,q{i},{0.9 if i < n else 0.1}"
        for model, n in right.items()
        for i in range(40)
    ]
    table.write_text("\n".join(["model,benchmark,id,score", *rows]))
    mapping.write_text(
        '[run]\nmodel = "model"\nbenchmark = "benchmark"\n'
        '[sample]\nprompt_id = "id"\n[[scores]]\nmetric = "reward"\nvalue = "score"\n'
    )
    assert run("ingest", str(table), "--map", str(mapping), db=store).code == 0

    differ, same = (
        run("compare", "x", "y", db=store),
        run("compare", "y", "z", db=store),
    )
    assert "x and y differ on b (40 common questions)" in in_one_line(differ.out)
    assert "+36.0" in differ.out
    assert "which is better is not known." in in_one_line(differ.out)
    assert "cannot be told apart" in in_one_line(same.out) and "open" in same.out
    assert "neither" not in run("compare", "x", "y", "--unpaired", db=store).out
    assert sorted(
        row["better"] for row in run("pairs", "b", "--json", db=store).rows
    ) == ["", "", ""]
    shown = run("pairs", "b", db=store)
    assert shown.out.count("not known") == 2 and shown.out.count("tie") == 1
    board = run("leaderboard", "b", db=store)
    assert (
        "x has the highest figure 86.0 %" in board.out and "is first" not in board.out
    )
    assert "; nobody leads, as it is not known whether higher is better" in in_one_line(
        board.out
    )
    assert "--lower-is-better" in board.err

    (advice,) = {
        line for line in differ.err.splitlines() if "--higher-is-better" in line
    }
    for found in (shown, board):
        assert advice.partition("; ")[2] in found.err
    call = advice.partition(": warehouse ")[2].replace("BENCHMARK", "b").split()
    assert run(*call, db=store).code == 0
    assert "x is better on b" in in_one_line(run("compare", "x", "y", db=store).out)
    assert "x leads with" in run("leaderboard", "b", db=store).out


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    shown = [
        str(number(value, 3, sign=True))
        for value in (-1e-17, -0.0004, -0.0006, 0.0, 1e300)
    ]
    assert shown[:4] == ["+0.000", "+0.000", "-0.001", "+0.000"]
    assert float(shown[4]) == 1e300


def test_settings_in_which_two_models_differ_are_told(
    run: Caller, tmp_path: Path
) -> None:
    """A difference between models at two temperatures is not one between models alone."""
    table, mapping, store = (
        tmp_path / "t.csv",
        tmp_path / "m.toml",
        str(tmp_path / "s.duckdb"),
    )
    rows = [
        f"{model},{heat},{i},{int(i % 3 > 0)}"
        for model, heat in (("x", 0), ("y", 1), ("z", 1))
        for i in range(30)
    ]
    table.write_text("\n".join(["model,heat,id,score", *rows]))
    mapping.write_text(
        '[run]\nmodel = "model"\nbenchmark = { const = "b" }\ntemperature = "heat"\n'
        '[sample]\nprompt_id = "id"\n[[scores]]\nmetric = "acc"\nvalue = "score"\n'
    )
    assert run("ingest", str(table), "--map", str(mapping), db=store).code == 0
    shown = run("compare", "x", "y", db=store).out
    assert shown.startswith("x, temperature=0.0 against y, temperature=1.0 · ")
    assert run("compare", "y", "z", db=store).out.startswith("y against z · ")
    rows_of = {
        row["model"]: row["condition"]
        for row in run("leaderboard", "b", "--json", db=store).rows
    }
    assert rows_of == {
        "x": "temperature=0.0",
        "y": "temperature=1.0",
        "z": "temperature=1.0",
    }


def test_pairs_of_parts_name_the_option_that_takes_them(
    run: Caller, tmp_path: Path
) -> None:
    table, store = tmp_path / "t.csv", str(tmp_path / "s.duckdb")
    rows = [
        f"{model},b,{place},1"
        for model, n in (("x", 9), ("y", 4))
        for place in range(n)
    ]
    table.write_text("\n".join(["model,benchmark,prompt_id,score", *rows]))
    run("ingest", str(table), db=store)
    run("pairs", "b", db=store).fails(2, "--subset compares it")


def test_one_metric_under_two_names(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    """Two tools call a metric otherwise."""
    right = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]
    for name, metric in (("one", "exact_match"), ("two", "accuracy")):
        lines = [f"model,benchmark,harness,prompt_id,{metric}"]
        lines += [
            f"org/{name},quiz,{name},q{n},{value if name == 'one' else 1}"
            for n, value in enumerate(right)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        assert (
            run(
                "ingest",
                str(tmp_path / f"{name}.csv"),
                "--higher-is-better",
                db=store_url,
            ).code
            == 0
        )
    two = ("compare", "run:1", "run:2")
    run(*two, db=store_url).fails(
        2,
        "by accuracy, but by exact_match",
        "--metric exact_match --metric accuracy",
        "warehouse fix alias exact_match accuracy --metric --on quiz",
    )
    two = (*two, "--metric", "exact_match")
    run(*two, db=store_url).fails(
        2, "by exact_match, but by accuracy", "--metric exact_match --metric accuracy"
    )
    (row,) = run(*two, "--second-metric", "accuracy", "--json", db=store_url).rows
    assert (row["metric"], row["n_prompts"], round(row["difference"], 4)) == (
        "exact_match",
        12,
        round(-4 / 12, 4),
    )
    assert (
        "b by accuracy, which was said to be exact_match"
        in run(*two, "--second-metric", "accuracy", db=store_url).err
    )
    twice = ("compare", "run:1", "run:2", "--metric", "exact_match", "--metric")
    assert run(*twice, "accuracy", "--json", db=store_url).rows == [row]
    run(*twice, "a", "--metric", "b", db=store_url).fails(2, "one of A and one of B")
    both = (*twice, "accuracy", "--second-metric", "accuracy")
    run(*both, db=store_url).fails(2, "--metric names two already")
    run(*two, "--second-metric", "acuracy", db=store_url).fails(2, "acuracy")
