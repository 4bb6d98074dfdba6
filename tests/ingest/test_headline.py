"""The headline metric: what somebody says, else what most current runs have; never what
came first. And no metric is hidden by another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import ENGINES, empty_store
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.benchmark import benchmark_part
from warehouse.analysis.report_data.part import ReportSetting
from warehouse.analysis.report_data.read import read_parts
from warehouse.analysis.report_data.section_table import section_kinds
from warehouse.analysis.selection.benchmarks import read_names
from warehouse.cli.main import main
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.curate import headline_metric
from warehouse.store.open import open_store


def write_table(folder: Path, name: str, metric: str, models: str) -> str:
    rows = [
        f"{model},toy,{place},{metric},{(place + len(model)) % 2}"
        for model in models.split()
        for place in range(8)
    ]
    path = folder / name
    path.write_text("\n".join(["model,benchmark,prompt_id,metric,score", *rows]) + "\n")
    return str(path)


@pytest.fixture(scope="module", params=ENGINES)
def original(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Two models scored by one metric, three by another; the smaller came first."""
    folder = tmp_path_factory.mktemp("tables")
    with empty_store(request, request.param) as url:
        for name, metric, models in (
            ("a.csv", "alpha", "m1 m2"),
            ("b.csv", "beta", "m3 m4 m5"),
        ):
            assert (
                main(["--db", url, "ingest", write_table(folder, name, metric, models)])
                == 0
            )
        yield url


@pytest.fixture
def store_of_two(own_url: str) -> str:
    """A copy of that store."""
    return own_url


def test_most_runs_decide_and_the_last_line_names_the_others(
    run: Caller, store_of_two: str
) -> None:
    shown = run("leaderboard", "toy", db=store_of_two).out
    assert shown.splitlines()[0].startswith("toy · beta")
    line = "other metrics (--metric NAME): alpha (2 conditions, none of them above)"
    assert shown.splitlines()[-1] == line
    other = run("leaderboard", "toy", "--metric", "alpha", db=store_of_two).out
    assert other.splitlines()[-1].endswith("beta (3 conditions, none of them above)")


def test_a_person_decides_and_takes_it_back(run: Caller, store_of_two: str) -> None:
    done = run("fix", "metric", "toy", "--metric", "alpha", "--json", db=store_of_two)
    assert [
        (row["metric"], row["is_headline"], row["chosen_by"]) for row in done.rows
    ] == [
        ("alpha", True, "person"),
        ("beta", False, None),
    ]
    with open_store(store_of_two) as store:
        for view in ("run_score", "score_summary"):
            found = store.arrow(f"select distinct metric from {view} where is_default")
            assert found.to_pylist() == [{"metric": "alpha"}]
    rows = run(
        "query", "leaderboard", "-p", "benchmark=toy", "--json", db=store_of_two
    ).rows
    assert {row["model"] for row in rows} == {"m1", "m2"}
    assert "toy · alpha" in run("pairs", "toy", db=store_of_two).out
    assert run("compare", "m1", "m2", "--json", db=store_of_two).rows
    run("compare", "m3", "m4", db=store_of_two).fails(
        2, "by alpha, but by beta; ", "both have --metric beta"
    )
    assert run("fix", "metric", "toy", "--metric", "", db=store_of_two).code == 0
    assert "toy · beta" in run("leaderboard", "toy", db=store_of_two).out
    assert run("compare", "m3", "m4", "--json", db=store_of_two).rows


def test_an_unknown_metric_or_benchmark_is_told(run: Caller, store_of_two: str) -> None:
    run("fix", "metric", "toy", "--metric", "gamma", db=store_of_two).fails(
        2, "beta, alpha"
    )
    run("fix", "metric", "tyo", "--metric", "alpha", db=store_of_two).fails(
        2, "did you mean toy?"
    )


def test_a_mapping_outweighs_the_number_of_runs(
    run: Caller, store_of_two: str, tmp_path: Path
) -> None:
    table = write_table(tmp_path, "c.csv", "alpha", "m6")
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "alpha"\n'
        'value = "score"\n'
        "[metrics.alpha]\n"
        "is_default = true\n"
    )
    assert run("ingest", table, "--map", str(mapping), db=store_of_two).code == 0
    assert "toy · alpha" in run("leaderboard", "toy", db=store_of_two).out


def test_what_is_gone_does_not_count(run: Caller, store_of_two: str) -> None:
    (entry,) = run(
        "list", "runs", "--where", "model=m3", "--json", db=store_of_two
    ).rows
    gone = f"run:{entry['run_id']}"
    assert run("fix", "invalidate", gone, "--reason", "x", db=store_of_two).code == 0
    assert (
        "toy · alpha" in run("leaderboard", "toy", db=store_of_two).out
    )  # two each: by name
    assert run("fix", "forget", "1", db=store_of_two).code == 0
    assert "toy · beta" in run("leaderboard", "toy", db=store_of_two).out


def test_a_tools_word_counts_for_its_own_runs(store_url: str) -> None:
    rows = StoreRows()
    own, aside, other = rows.metric("own"), rows.metric("aside"), rows.metric("other")
    rows.describe("quiz", own, default=True)
    rows.describe("quiz", aside, default=False)
    rows.describe("quiz", other, default=False)
    for model in ("a", "b"):
        run = rows.run(model)
        rows.scores(run, {"1": 1.0, "2": 0.0}, own)
        rows.scores(run, {"1": 1.0, "2": 0.0}, aside)
    for model in ("c", "d", "e"):
        rows.scores(rows.run(model), {"1": 1.0, "2": 0.0}, other)
    with open_store(store_url, create=True, write=True) as store:
        rows.write(store)
        assert chosen(store) == "other"  # three runs against two
        options = Ranking(n_resamples=0)
        names = read_names(store)
        reads = read_parts(store, names, "quiz", options, section_kinds().values())
        part = benchmark_part(reads, ReportSetting(store, names, options))
        assert part.other_rows[0].model == "a"
        headline_metric.choose(store, "quiz", "own")
        assert chosen(store) == "own"
        with pytest.raises(MisuseError, match="no metric 'more'"):
            headline_metric.choose(store, "quiz", "more")


def chosen(store: Store) -> str:
    return leaderboard(store, "quiz", n_resamples=0).metric


def test_what_finds_no_scores_names_the_metric_that_has_them(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    """In both load orders; m1 and m2 have alpha only, the headline metric is beta."""
    for name, metric, models in (
        ("b.csv", "beta", "m3 m4 m5"),
        ("a.csv", "alpha", "m1 m2"),
    ):
        assert (
            run(
                "ingest", write_table(tmp_path, name, metric, models), db=store_url
            ).code
            == 0
        )
    two = ("--where", "model!=m3", "--where", "model!=m4", "--where", "model!=m5")
    for words in (
        ("noise", "variance", "m1"),
        ("items", "datamap", "m1"),
        ("matrix", "test", "toy", *two),
        ("pairs", "toy", *two),
        ("gate", "--candidate", "m1", "--baseline", "m2"),
    ):
        margin = ("--margin", "0.1") if words[0] == "gate" else ()
        said = run(*words, *margin, db=store_url)
        said.fails(2, "beta" if words[0] != "pairs" else "alpha")
        assert "alpha" in said.err and "--metric" in said.err


def test_a_suite_and_programs_hear_of_the_other_metrics(
    run: Caller, store_of_two: str, tmp_path: Path
) -> None:
    rows = run("leaderboard", "toy", "--json", db=store_of_two).rows
    assert [row["other_metrics"] for row in rows] == [["alpha"]] * 3
    second = Path(write_table(tmp_path, "d.csv", "beta", "m3 m4"))
    second.write_text(second.read_text().replace(",toy,", ",tiny,"))
    assert run("ingest", str(second), db=store_of_two).code == 0
    shown = run("leaderboard", "--group", "toy,tiny", db=store_of_two).out
    line = (
        "other metrics (--metric NAME): alpha (2 conditions on 1 benchmark, none of "
        "them above)"
    )
    assert shown.splitlines()[-1] == line
    with open_store(store_of_two) as store:
        others = leaderboard(store, "toy").to_dict()["others"]
    assert [(one["metric"], one["n_conditions"]) for one in others] == [("alpha", 2)]


def test_rows_of_one_figure_stand_by_name(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    table = write_table(tmp_path, "a.csv", "alpha", "m5 m1 m3")
    assert run("ingest", table, db=store_url).code == 0
    rows = run("leaderboard", "toy", "--json", db=store_url).rows
    assert [row["model"] for row in rows] == ["m1", "m3", "m5"]


@pytest.mark.parametrize("is_first", [True, False])
def test_opposite_directions_are_noted_and_lower_holds(
    run: Caller, store_url: str, tmp_path: Path, is_first: bool
) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "rating"\n'
        'value = "score"\n'
    )
    words = {"a.csv": "--higher-is-better", "b.csv": "--lower-is-better"}
    notes = []
    for name in sorted(words, reverse=not is_first):
        table = write_table(tmp_path, name, "rating", name[0])
        read = run("ingest", table, "--map", str(mapping), words[name], db=store_url)
        assert read.code == 0
        notes.append(
            [line for line in read.err.splitlines() if "another source" in line]
        )
    said, other = ("lower", "higher") if is_first else ("higher", "lower")
    assert notes[0] == []
    assert (
        f"toy, rating: {said} is better here, {other} in another source: lower"
        in notes[1][0]
    )
    assert (
        "toy · rating, lower is better" in run("leaderboard", "toy", db=store_url).out
    )


def test_a_person_says_which_way_a_metric_points_and_no_dump_changes_it(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "rating"\n'
        'value = "score"\n'
    )

    def take(name: str, *word: str) -> str:
        table = write_table(tmp_path, name, "rating", name[0])
        return run("ingest", table, "--map", str(mapping), *word, db=store_url).err

    take("a.csv", "--lower-is-better")
    said = run(
        "fix",
        "metric",
        "toy",
        "--metric",
        "rating",
        "--higher-is-better",
        "--json",
        db=store_url,
    ).rows
    assert [(row["higher_is_better"], row["direction_by"]) for row in said] == [
        (True, "person")
    ]
    assert "another source" not in take("b.csv", "--lower-is-better")
    assert "lower is better" not in run("leaderboard", "toy", db=store_url).out
    run("fix", "metric", "toy", "--lower-is-better", db=store_url)
    assert (
        "toy · rating, lower is better" in run("leaderboard", "toy", db=store_url).out
    )
    run(
        "fix", "metric", "toy", "--metric", "nope", "--lower-is-better", db=store_url
    ).fails(2, "rating")
    assert run("store", "check", db=store_url).code == 0
