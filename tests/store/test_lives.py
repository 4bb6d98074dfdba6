"""Lives of a store as users live them, by the command line, on both engines: what is
taken back is gone, what two executions are is told by what marks them, the same bytes
count once. With inputs of our own, and with the folder of cases beside the repository,
where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller, Outcome
from warehouse.store.open import open_store

pytestmark = [pytest.mark.engine]

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
HEAD = "model,benchmark,prompt_id,score\n"


class Life:
    """A store, a folder that is the current one, and the command line."""

    def __init__(self, run: Caller, url: str, folder: Path) -> None:
        self.run, self.url, self.folder = run, url, folder

    def do(self, *arguments: str) -> Outcome:
        found = self.run(*arguments, db=self.url)
        assert found.code == 0, found.err
        return Outcome(found.code, found.out, " ".join(found.err.split()))

    def write(self, name: str, *lines: str, head: str = HEAD) -> str:
        (self.folder / name).write_text(head + "".join(f"{line}\n" for line in lines))
        return name

    def board(self, benchmark: str) -> list[dict[str, Any]]:
        return self.run("leaderboard", benchmark, "--json", db=self.url).rows

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with open_store(self.url) as store:
            return [tuple(row.values()) for row in store.rows(sql)]


@pytest.fixture
def life(
    run: Caller, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Life:
    monkeypatch.chdir(tmp_path)
    return Life(run, store_url, tmp_path)


@pytest.fixture
def case(life: Life) -> Any:
    """The life with a copy of a case in its folder."""

    def copied(name: str) -> Life:
        (found,) = list(CASES.glob(f"{name}*")) or [None]
        if found is None:
            pytest.skip(f"no case {name} in {CASES}")
        shutil.copytree(found, life.folder, dirs_exist_ok=True)
        return life

    return copied


def quiz(model: str, scores: Sequence[float]) -> list[str]:
    return [f"{model},quiz,q{number},{score}" for number, score in enumerate(scores)]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_forgotten_direction_turns_nothing_round(life: Life, is_first: bool) -> None:
    plain = life.write("a.csv", *quiz("ada", (1, 1, 0)), *quiz("bob", (1, 0, 0)))
    lower = life.write("b.csv", *quiz("cy", (0, 1, 1)))
    calls = [("ingest", plain), ("ingest", lower, "--lower-is-better")]
    for call in reversed(calls) if is_first else calls:
        life.do(*call)
    assert life.board("quiz")[0]["model"] == "bob"
    life.do("fix", "forget", lower)
    assert [row["model"] for row in life.board("quiz")] == ["ada", "bob"]


def test_what_a_forgotten_file_said_of_prompts_is_gone(life: Life) -> None:
    head = "model,benchmark,prompt_id,target,category,score\n"
    wrong = [f"bob,quiz,q{n},A,x,{n % 2}" for n in range(4)]
    right = [f"bob,quiz,q{n},{'CCDD'[n]},{'xxyy'[n]},1" for n in range(4)]
    life.do(
        "ingest",
        life.write("base.csv", *quiz("ada", (1, 0, 1, 0))),
        life.write("wrong.csv", *wrong, head=head),
    )
    life.do("fix", "forget", "wrong.csv")
    life.do("ingest", life.write("right.csv", *right, head=head))
    assert life.rows("select target from prompt order by key") == [
        ("C",),
        ("C",),
        ("D",),
        ("D",),
    ]
    assert (
        "4 prompts in 2 clusters"
        in life.do("fix", "cluster", "quiz", "category", "--default").out
    )


def test_an_invalidated_run_swallows_nothing(life: Life) -> None:
    life.do("ingest", life.write("whole.csv", *quiz("ada", (1, 0, 0))))
    life.do("fix", "invalidate", "run:1", "--reason", "the last is wrong")
    assert (
        "run 1" in life.do("ingest", life.write("part.csv", *quiz("ada", (1, 0)))).err
    )
    twice = [*quiz("ada", (1, 0, 0)), "ada,quiz,q0,1"]
    assert "does not count" in life.do("ingest", life.write("again.csv", *twice)).err
    (row,) = life.board("quiz")
    assert (row["estimate"], row["n_prompts"]) == (0.5, 2)


@pytest.mark.parametrize(
    ("field", "is_one_file"),
    [("step", True), ("temperature", False), ("training_seed", False)],
)
def test_runs_of_other_settings_share_an_id(
    life: Life, field: str, is_one_file: bool
) -> None:
    """However their rows are cut into files, and whatever came out."""
    head = f"model,benchmark,{field},run_id,prompt_id,score\n"
    parts = [
        [f"ada,quiz,{value},exp1,q{n},{n % 2}" for n in range(3)] for value in (1, 2, 3)
    ]
    files = [[line for part in parts for line in part]] if is_one_file else parts
    for number, lines in enumerate(files):
        life.do("ingest", life.write(f"{number}.csv", *lines, head=head))
    assert life.rows("select count(*) as n, count(superseded_by) as gone from run") == [
        (3, 0)
    ]


@pytest.mark.parametrize(
    ("marked_by", "is_one_file"),
    [("sampling_seed", True), ("run_id", False), ("started_at", False)],
)
def test_equal_outcomes_of_executions_that_are_told_apart_are_several(
    life: Life, marked_by: str, is_one_file: bool
) -> None:
    head = f"model,benchmark,{marked_by},prompt_id,score\n"
    values = [
        f"2026-01-0{n}T00:00:00Z" if marked_by == "started_at" else f"{n}"
        for n in (1, 2, 3)
    ]
    outcomes = ((1, 1), (1, 1), (0, 1))
    parts = [
        [f"ada,quiz,{value},q{n},{score}" for n, score in enumerate(scores)]
        for value, scores in zip(values, outcomes, strict=True)
    ]
    files = [[line for part in parts for line in part]] if is_one_file else parts
    for number, lines in enumerate(files):
        life.do("ingest", life.write(f"{number}.csv", *lines, head=head))
    (row,) = life.board("quiz")
    assert (row["estimate"], row["n_draws"]) == (pytest.approx(5 / 6), 6)


def test_executions_of_one_file_stay_though_it_is_held_twice(life: Life) -> None:
    """A file of two executions with equal scores, read in two ways: without the first
    reading both are there."""
    head = "model,benchmark,sampling_seed,prompt_id,score\n"
    path = life.write(
        "a.csv",
        *[f"ada,quiz,{seed},q{n},1" for seed in (0, 1) for n in (0, 1)],
        head=head,
    )
    life.do("ingest", path)
    life.do("ingest", path, "--text", "none", "--beside")
    assert life.rows("select count(*) from run_source") == [(4,)]
    life.do("fix", "forget", "1")
    assert life.rows(
        "select count(*) as n, count(distinct execution_key) as apart from run"
    ) == [(2, 2)]


# --- the cases -------------------------------------------------------------------------------------


def test_case_seeds_of_equal_outcome(case: Any) -> None:
    life = case("report_71_")
    life.do("ingest", ".", "--map", "m.toml")
    (row,) = life.board("aime")
    assert (row["estimate"], row["n_draws"], row["runs"]) == (
        pytest.approx(0.8333, abs=1e-4),
        36,
        3,
    )


def test_case_published_reruns(case: Any) -> None:
    life = case("report_73_")
    life.do("ingest", "runs.csv", "--map", "m.toml")
    (row,) = life.board("bfcl_multi_turn_base")
    assert (row["estimate"], row["runs"]) == (pytest.approx(0.4855), 10)


@pytest.mark.parametrize("order", [("scrape1", "scrape2"), ("scrape2", "scrape1")])
def test_case_a_board_that_is_fetched_again(case: Any, order: Sequence[str]) -> None:
    life = case("report_74_")
    for name in order:
        life.do("ingest", name)
    assert {row["model"]: row["estimate"] for row in life.board("geo maps")} == {
        "org/owl": 0.6,
        "org/fox": 0.5,
    }


def test_case_results_of_two_nights(case: Any) -> None:
    life = case("report_76_")
    life.do("ingest", "n1")
    life.do("refresh", "--alerts")
    life.do("ingest", "n2")
    (row,) = life.board("gsm8k")
    assert (row["estimate"], row["standard_error"]) == (
        0.8,
        pytest.approx(0.0283, abs=1e-4),
    )
    assert (
        "was stated as 0.4 before" in life.run("refresh", "--alerts", db=life.url).out
    )


def test_case_a_night_that_collapses(case: Any) -> None:
    life = case("report_77_")
    nights = sorted(path.name for path in life.folder.glob("n*.csv"))
    assert life.do("-q", "ingest", *nights[:-1]).err == ""
    life.do("refresh", "--alerts", "quiz")
    assert "differ by more than chance" in life.do("-q", "ingest", nights[-1]).err
    alerts = life.run("refresh", "--alerts", "quiz", db=life.url)
    assert "worse" in alerts.out
    assert all("repeats_differ" in row["flags"] for row in life.board("quiz"))


def test_case_ids_of_sessions(case: Any) -> None:
    life = case("report_81_")
    life.do("ingest", "sess.json")
    assert (
        "40 common questions"
        in life.do("compare", "acme:fox", "acme:owl", "--benchmark", "support bot").out
    )


def test_case_reports_of_one_name(case: Any) -> None:
    life = case("report_61_")
    life.do("ingest", ".")
    assert [row["model"] for row in life.board("swe_bench")] == [
        "claude-sonnet",
        "gpt-5",
    ]


def test_case_the_same_file_read_otherwise(case: Any) -> None:
    life = case("row_03_")
    life.do("ingest", "s.csv")
    life.do("mapping", "s.csv", "-o", "m.toml")
    text = (life.folder / "m.toml").read_text()
    (life.folder / "m.toml").write_text(text.replace("training_seed", "sampling_seed"))
    assert "replaced" in life.do("ingest", "s.csv", "--map", "m.toml").err
    assert len(life.board("s")) == 2 and life.rows("select count(*) from source") == [
        (1,)
    ]
