"""``--from PATH`` and ``warehouse PATH``: result files that are asked without a store."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.cli import Caller, in_fork
from tests.support.pages import ROOT
from warehouse.cli.dumps import AskedDumps
from warehouse.cli.state import State
from warehouse.cli.ui.next_step import with_store

HEADER = "model,benchmark,prompt_id,score\n"
STRANGE = "who,which,right\n" + "".join(
    f"org/{name},{number},{(number * step) % 7 % 2}\n"
    for name, step in (("a", 1), ("b", 3))
    for number in range(40)
)
MAPPING = """[run]
model = "who"
benchmark = { const = "quiz" }
[sample]
prompt_id = "which"
[[scores]]
metric = "acc"
value = "right"
[metrics.acc]
kind = "binary"
higher_is_better = true
"""


def table(path: Path, *models: str, benchmark: str = "quiz") -> Path:
    """Scores of some models, each better than the one before."""
    rows = [
        f"{model},{benchmark},{number},{int(number % 7 <= step + 2)}\n"
        for step, model in enumerate(models)
        for number in range(60)
    ]
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(HEADER + "".join(rows))
    return path


def work_in(above: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file of results, and a cache of its own beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(above / "cache"))
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    folder = above / "work"
    if not folder.exists():
        table(folder / "results" / "scores.csv", "ada", "bob")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of this test alone."""
    return work_in(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place of tests that only ask: what the first has read is there for the others."""
    return tmp_path_factory.mktemp("shared")


def kept(here: Path) -> list[Path]:
    """The stores that the cache holds."""
    return sorted((here.parent / "cache" / "warehouse" / "dumps").glob("*/dumps.db"))


def test_a_path_in_place_of_a_command_is_its_leaderboard_and_leaves_nothing_behind(
    run: Caller, here: Path
) -> None:
    shown = run("results")
    assert shown.code == 0, shown.err
    assert "quiz" in shown.out and "bob" in shown.out
    assert "read 1 source: 2 runs" in shown.err
    assert run("leaderboard", "--from", "results/").out == shown.out
    assert run("results/scores.csv", "quiz").code == 0
    assert os.listdir(here) == ["results"]
    table(here / "more.csv", "cy")
    rows = run("results", "more.csv", "--json").rows
    assert {row["model"] for row in rows} == {"ada", "bob", "cy"}


def test_what_is_a_command_too_is_the_command_and_an_unknown_word_is_none(
    run: Caller, here: Path
) -> None:
    (here / "config").mkdir()
    assert "store.url" in run("config").out
    run("leader").fails(2, "no command 'leader'; did you mean leaderboard?")
    run("result").fails(2, "no command 'result'")


@pytest.mark.parametrize(
    "question",
    [
        ("compare", "ada", "bob"),
        ("show", "run:1"),
        ("show", "run:1", "7"),
        ("pairs", "quiz"),
        ("gate", "bob", "--baseline", "ada", "--margin", "0.02"),
        ("list", "models"),
        ("query", "score_summary"),
        ("query", "--sql", "select count(*) as n from run"),
        ("items", "difficulty", "quiz"),
        ("card", "ada"),
    ],
    ids=" ".join,
)
def test_every_question_answers_of_files_what_it_answers_of_a_store(
    run: Caller,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    question: tuple[str, ...],
) -> None:
    work_in(shared, monkeypatch)
    url = f"duckdb:///{shared / 'store.duckdb'}"
    if not (shared / "store.duckdb").exists():
        assert run("ingest", "results", db=url).code == 0
    of_store, of_files = run(*question, db=url), run(*question, "--from", "results")
    assert of_files.code == of_store.code, of_files.err
    assert of_files.out == of_store.out


def test_where_a_command_has_a_from_of_its_own_ours_stands_before_it(
    run: Caller, here: Path
) -> None:
    done = run("--from", "results", "power", "--from", "ada", "bob", "--delta", "0.1")
    assert done.code == 0, done.err
    written = run("--from", "results", "report", "--out", "page.html")
    assert written.code == 0 and (here / "page.html").stat().st_size > 10_000
    claimed = run("claim", "leaderboard quiz", "-o", "c.json", "--from", "results")
    assert claimed.code == 0, claimed.err
    assert run("claim", "verify", "c.json", "--from", "results").code == 0


def test_files_are_read_again_when_their_bytes_change_and_not_when_their_times_do(
    run: Caller, here: Path
) -> None:
    path = here / "results" / "scores.csv"
    os.utime(path, (1, 1))
    assert "read 1 source" in run("results").err
    assert "read 1 source" not in run("results").err
    os.utime(path, (2, 2))
    assert "read 1 source" not in run("results").err
    table(path, "ada", "bob", "cy")
    assert "read 1 source: 3 runs" in run("results").err
    assert len(kept(here)) == 1  # the earlier one went
    table(here / "results" / "more.csv", "dee", benchmark="other")
    rows = run("list", "benchmarks", "--json", "--from", "results").rows
    assert len(rows) == 2
    (here / "results" / "more.csv").unlink()
    rows = run("list", "benchmarks", "--json", "--from", "results").rows
    assert len(rows) == 1


@pytest.mark.rare
def test_other_values_and_mappings_are_other_stores(run: Caller, here: Path) -> None:
    (here / "strange.csv").write_text(STRANGE)
    (here / "quiz.toml").write_text(MAPPING)
    asked = ("list", "models", "--json", "--from", "strange.csv", "--map", "quiz.toml")
    assert len(run(*asked).rows) == 2
    renamed = MAPPING.replace('"who"', '{ const = "one" }').replace(
        '"which"', '{ template = "{who} {which}" }'
    )
    (here / "quiz.toml").write_text(renamed)
    assert [row["model"] for row in run(*asked).rows] == ["one"]
    alone = table(here / "alone.csv", "x").read_text()
    (here / "alone.csv").write_text(alone.replace("model,", "m,").replace("x,", ","))
    named = (
        "list",
        "models",
        "--json",
        "--from",
        "alone.csv",
        "--default",
        "model=org/x",
    )
    (here / "alone.csv").write_text(
        "benchmark,prompt_id,score\n" + "".join(f"quiz,{n},{n % 2}\n" for n in range(9))
    )
    assert [row["model"] for row in run(*named).rows] == ["org/x"]
    alone = ("leaderboard", "--from", "results", "--format", "lm_eval")
    run(*alone).fails(3, "the importer lm_eval knows none of 1 files")
    run("leaderboard", "--map", "quiz.toml").fails(2, "--map: goes with --from PATH")
    lower = run("leaderboard", "quiz", "--from", "results", "--lower-is-better")
    assert "lower is better" in lower.out


def test_the_settings_map_files_by_pattern_for_questions_too(
    run: Caller, here: Path
) -> None:
    (here / "results" / "strange.csv").write_text(STRANGE)
    (here / "quiz.toml").write_text(MAPPING)
    (here / "warehouse.toml").write_text('[ingest.maps]\n"strange.csv" = "quiz.toml"\n')
    done = run("list", "models", "--json", "--from", "results")
    assert len(done.rows) == 4
    assert "read by the mapping quiz.toml (ingest.maps)" in done.err


def test_a_refused_file_is_told_each_time_and_ends_as_ingest_does(
    run: Caller, here: Path
) -> None:
    path = table(here / "results" / "bad.csv", "cy")
    path.write_text(path.read_text().replace("cy,quiz,5,0", "cy,quiz,5,0,7,8"))
    (here / "results" / "notes.json").write_text('{"words": 1}')
    ingested = run("ingest", "results", "--dry-run")
    assert ingested.code == 3
    for _ in range(2):
        shown = run("leaderboard", "--from", "results")
        assert shown.code == 3 and "ada" in shown.out and "cy" not in shown.out
        assert "Error: results/bad.csv" in shown.err
        assert "the answer is without 1 source (exit code 3)" in shown.err
        assert "--max-rejected: an option of ingest: warehouse ingest" in shown.err
        assert "not read: results/notes.json: no importer knows this file" in shown.err
    assert run("compare", "ada", "bob", "--from", "results", "-q").code == 3
    (here / "results" / "scores.csv").unlink()
    alone = run("leaderboard", "--from", "results", "--json")
    alone.fails(3, "bad.csv")
    assert json.loads(alone.err.splitlines()[-1])["kind"] == "input"
    assert os.listdir(here) == ["results"]


def test_what_cannot_be_asked_says_what_to_do(run: Caller, here: Path) -> None:
    (here / "words.txt").write_text("words")
    run("words.txt").fails(3, "no importer knows the only file", "warehouse mapping")
    run("leaderboard", "--from", "gone").fails(2, "no file or folder 'gone'")
    run("leaderboard", "--from", "https://example.org/a").fails(
        2, "warehouse ingest URL"
    )
    run("leaderboard", "--from", "results", db="a.duckdb").fails(2, "--db and --from")
    url = here / "own.duckdb"
    assert run("ingest", "results", db=str(url)).code == 0
    run("own.duckdb").fails(2, "is a store", "warehouse --db own.duckdb leaderboard")
    run("leaderboard", "qiuz", "--from", "results").fails(2, "did you mean quiz")
    shown = run("show", "run:9", "--from", "results")
    shown.fails(2, "warehouse --from results list runs")


@pytest.mark.parametrize(
    "changing",
    [
        ("store", "init"),
        ("fix", "tag", "run:1", "x"),
        ("refresh",),
        ("subset", "plan", "quiz", "--size", "10"),
        ("text", "cluster", "quiz"),
        ("judge", "next", "quiz", "--judge", "x", "--n", "5"),
        ("ingest", "results"),
        ("schedule", "--once"),
    ],
    ids=" ".join,
)
def test_a_command_that_changes_a_store_is_not_asked_of_files(
    run: Caller, here: Path, changing: tuple[str, ...]
) -> None:
    run("--from", "results", *changing).fails(2, "--from is for commands that only ask")
    run(*changing, "--from", "results").fails(2, "No such option")
    assert not kept(here) and os.listdir(here) == ["results"]


@pytest.mark.rare
def test_without_a_cache_a_question_is_answered_all_the_same(
    run: Caller, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"no size": "WAREHOUSE_CACHE_SIZE", "a file": "XDG_CACHE_HOME"}
    monkeypatch.setenv("TMPDIR", str(here.parent / "tmp"))
    (here.parent / "tmp").mkdir()
    (here.parent / "cache file").write_text("")
    values = {"no size": "0", "a file": str(here.parent / "cache file")}
    for why, variable in places.items():
        with monkeypatch.context() as patched:
            patched.setenv(variable, values[why])
            done = in_fork("results", folder=here)
            assert done.returncode == 0 and "bob" in done.stdout, (why, done.stderr)
            assert not kept(here) and not list((here.parent / "tmp").iterdir())
    monkeypatch.setenv("WAREHOUSE_CACHE_SIZE", "much")
    run("results").fails(2, "WAREHOUSE_CACHE_SIZE is 'much'")


@pytest.mark.rare
def test_the_cache_holds_the_latest_used_up_to_its_size(
    run: Caller, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        table(here / f"{name}.csv", "ada", benchmark=name)
    assert run("a.csv").code == 0
    size = sum(file.stat().st_size for file in kept(here)[0].parent.iterdir())
    monkeypatch.setenv("WAREHOUSE_CACHE_SIZE", str(int(2.5 * size)))
    assert run("b.csv").code == run("a.csv").code == 0
    assert run("c.csv").code == 0
    assert len(kept(here)) == 2
    assert "read 1 source" not in run("a.csv").err
    assert "read 1 source" in run("b.csv").err
    monkeypatch.setenv("WAREHOUSE_CACHE_SIZE", "1000")
    assert run("c.csv").code == run("results").code == 0  # one is there, one too large
    assert len(kept(here)) <= 2


def test_the_next_step_asks_the_same_files() -> None:
    state = State(dumps=AskedDumps(("my results", "b"), values=("step=3",)))
    assert with_store(state, "warehouse report") == (
        "warehouse --from 'my results' --from b --set step=3 report"
    )


def test_the_shipped_demo_answers_in_one_command(run: Caller, here: Path) -> None:
    shutil.copytree(ROOT / "docs" / "demo" / "results", here / "demo")
    shown = run("demo")
    assert shown.code == 0 and "model-a leads" in shown.out
    assert "read 6 sources: 8 runs, 4 of them repeats" in shown.err
