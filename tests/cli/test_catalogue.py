"""``sources``, ``forget``, ``runs``, ``invalidate``, ``models``, ``benchmarks``,
``cluster``, ``link`` as commands; the library below them has tests of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """Two runs of two sources; the second source had a bad row and a note."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for number, model in enumerate(("org/a", "org/b"), start=1):
        rows.scores(rows.run(model, "quiz"), {"p1": 1.0, "p2": 0.0})
        rows.rows["run_source"].append(
            {"run_id": number, "source_id": number, "place": "x"}
        )
        rows.add(
            "source",
            (number,),
            sha256=f"{number}",
            settings_key="s",
            path=f"dump{number}.json",
            format="tool",
            importer_version="1",
            state="loaded",
            bytes=10,
            n_runs=1,
            n_rejected=number - 1,
            notes=["odd ids"] if number == 2 else None,
        )
    rejection = {"source_id": 2, "place": "line 7", "found": "{", "expected": "JSON"}
    rows.rows["rejection"].append(rejection)
    rows.prompt("other", "z1", text="question p1")
    for prompt in rows.rows["prompt"]:
        prompt["metadata"] = {"topic": "history", "book": {"page": prompt["key"]}}
    return rows


@pytest.fixture
def url(own_url: str) -> str:
    return own_url


def test_sources_are_listed_and_one_is_shown_with_its_faults(
    run: Caller, url: str
) -> None:
    rows = run("list", "sources", "--json", db=url).rows
    assert [(row["path"], row["n_current"], row["notes"]) for row in rows] == [
        ("dump1.json", 1, []),
        ("dump2.json", 1, ["odd ids"]),
    ]
    shown = run("list", "sources", "dump2.json", db=url).out
    assert "note: odd ids" in shown and "rejected: line 7: {; expected JSON" in shown
    assert "dump1" not in shown
    run("list", "sources", "dump3.json", db=url).fails(2, "no source 'dump3.json'")


def test_forgetting_a_source_removes_its_run(run: Caller, url: str) -> None:
    assert "1 run removed, 0 kept" in run("fix", "forget", "2", db=url).out
    assert [row["model"] for row in run("list", "runs", "--json", db=url).rows] == [
        "org/a"
    ]
    run("fix", "forget", "2", db=url).fails(2, "no source '2'")


def test_runs_are_narrowed_tagged_and_noted(run: Caller, url: str) -> None:
    done = run("fix", "tag", "run:2", "paper", "--note", "final", "--json", db=url)
    (row,) = done.rows
    assert (row["run_id"], row["tags"], row["note"], row["sources"]) == (
        2,
        ["paper"],
        "final",
        [2],
    )
    assert len(run("list", "runs", "--where", "tags=paper", "--json", db=url).rows) == 1
    assert (
        run(
            "fix", "tag", "2", "--remove", "paper", "--note", "", "--json", db=url
        ).rows[0]["tags"]
        == []
    )
    assert run("list", "runs", "--where", "tags=paper", db=url).out == "no such runs\n"


def test_an_invalidated_run_is_listed_only_on_request(run: Caller, url: str) -> None:
    done = run("fix", "invalidate", "run:2", "--reason", "wrong template", db=url)
    assert done.code == 0 and "run:2" in done.out
    assert len(run("list", "runs", "--json", db=url).rows) == 1
    rows = run("list", "runs", "--all", "--json", db=url).rows
    assert [row["status_reason"] for row in rows] == [None, "wrong template"]
    assert len(run("leaderboard", "quiz", "--json", db=url).rows) == 1


def test_two_names_of_one_model_become_one(run: Caller, url: str) -> None:
    assert (
        run("fix", "alias", "org/b", "org/a", db=url).out == "org/b is shown as org/a\n"
    )
    shown = {
        row["model"]: row["shown_as"]
        for row in run("list", "models", "--json", db=url).rows
    }
    assert shown == {"org/a": "org/a", "org/b": "org/a"}
    assert {
        row["model"] for row in run("leaderboard", "quiz", "--json", db=url).rows
    } == {"org/a"}
    assert run("fix", "alias", "org/b", "--undo", db=url).code == 0
    assert run("list", "models", "--csv", db=url).out.count("org/b,org/b") == 1
    run("fix", "alias", "org/x", "org/a", db=url).fails(2, "benchmark 'org/x'")


def test_benchmarks_have_counts_and_aliases(run: Caller, url: str) -> None:
    (row,) = [
        row
        for row in run("list", "benchmarks", "--json", db=url).rows
        if row["benchmark"] == "quiz"
    ]
    assert (row["n_prompts"], row["n_runs"], row["n_models"]) == (2, 2, 2)
    assert run("fix", "alias", "quiz", "other", db=url).code == 0
    assert run("leaderboard", "other", "--json", db=url).rows[0]["benchmark"] == "other"
    assert run("fix", "alias", "quiz", "--undo", db=url).code == 0


def test_prompts_are_clustered_by_fields(run: Caller, url: str) -> None:
    done = run("fix", "cluster", "quiz", "topic, book.page", "--default", db=url)
    assert (
        done.out
        == "quiz: 2 prompts in 2 clusters by topic,book.page; error bars use it\n"
    )
    (row,) = [
        row
        for row in run("list", "benchmarks", "--json", db=url).rows
        if row["benchmark"] == "quiz"
    ]
    assert row["clustering"] == "topic,book.page"
    run("fix", "cluster", "quiz", "passage", db=url).fails(2, "passage", "topic")
    run("fix", "cluster", "quizz", "topic", db=url).fails(2, "quizz")


def test_equal_prompts_are_linked_and_taken_apart(run: Caller, url: str) -> None:
    assert run("list", "links", db=url).out == "no prompts are linked\n"
    assert run("fix", "link", "other", "quiz", db=url).out.startswith(
        "1 prompts linked"
    )
    (row,) = run("list", "links", "--json", db=url).rows
    assert (row["benchmark"], row["canonical_benchmark"], row["n_prompts"]) == (
        "other",
        "quiz",
        1,
    )
    assert (
        run("fix", "link", "other", "--undo", db=url).out == "1 prompts taken apart\n"
    )


def test_an_empty_store_has_answers_too(run: Caller, tmp_path: Path) -> None:
    url = str(tmp_path / "empty.duckdb")
    run("store", "init", db=url)
    for command in (
        "list sources",
        "list runs",
        "list models",
        "list benchmarks",
        "list links",
    ):
        assert run(*command.split(), db=url).out.startswith("no"), command
        assert run(*command.split(), "--json", db=url).out == "[]\n"
    run("leaderboard", db=url).fails(2, "no runs yet")
    run("compare", "a", "b", db=url).fails(2, "'a'")


def test_a_model_that_is_a_path_has_no_developer(tmp_path: Path, run: Caller) -> None:
    names = ("../results/last", "/models/last", "./last", "org/last")
    rows = "".join(f"{name},sums,q,1\n" for name in names)
    (tmp_path / "a.csv").write_text(f"model,benchmark,prompt_id,score\n{rows}")
    db = f"duckdb:///{tmp_path / 's.db'}"
    run("ingest", str(tmp_path / "a.csv"), db=db)
    developers = {
        row["model"]: row["developer"]
        for row in run("list", "models", "--json", db=db).rows
    }
    assert developers == dict.fromkeys(names) | {"org/last": "org"}


def test_settings_that_tell_runs_apart_are_listed_and_left_out(
    run: Caller, tmp_path: Path
) -> None:
    store = str(tmp_path / "settings.db")
    lines = "model,benchmark,prompt_id,score,sampler\n"
    for name, score in (("x", 1), ("y", 0)):
        (tmp_path / f"{name}.csv").write_text(
            f"{lines}org/a,quiz,q1,{score},{name}\norg/a,quiz,q2,1,{name}\n"
        )
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[run.configuration]\n"
        'sampler = "sampler"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        "[metrics.score]\nhigher_is_better = true\n"
    )
    files = [str(tmp_path / f"{name}.csv") for name in "xy"]
    done = run("ingest", *files, "--map", str(mapping), db=store)
    assert (
        "kept apart by settings" in done.err
        and "fix settings quiz --ignore sampler" in done.err
    )
    assert {
        row["condition"] for row in run("leaderboard", "quiz", "--json", db=store).rows
    } == {
        "sampler=x",
        "sampler=y",
    }
    (row,) = run("list", "settings", "quiz", "--json", db=store).rows
    assert (row["setting"], row["values"], row["is_ignored"]) == (
        "sampler",
        ["x", "y"],
        False,
    )
    done = run(
        "fix",
        "settings",
        "quiz",
        "--ignore",
        "sampler",
        "--reason",
        "no matter",
        db=store,
    )
    assert done.out == "sampler does not matter: 2 runs of 2 conditions are of 1 now\n"
    (row,) = run("leaderboard", "quiz", "--json", db=store).rows
    assert (row["runs"], row["condition"]) == (2, "")
    assert run("fix", "settings", "quiz", "--count", "sampler", db=store).code == 0
    assert len(run("leaderboard", "quiz", "--json", db=store).rows) == 2
    run("fix", "settings", "--reason", "x", db=store).fails(2, "--ignore")
    run("fix", "settings", "--ignore", "a", "--count", "a", db=store).fails(
        2, "--count"
    )


@pytest.mark.parametrize("is_renamed_first", [True, False])
@pytest.mark.parametrize("said_of", ["quiz", "quiz-old"])
def test_what_does_not_matter_on_a_benchmark_holds_for_all_its_names(
    run: Caller, tmp_path: Path, is_renamed_first: bool, said_of: str
) -> None:
    """Whichever of its names is given, before or after it got another."""
    store = str(tmp_path / "settings.db")
    lines = "model,benchmark,prompt_id,score,sampler\n"
    for benchmark in ("quiz", "quiz-old"):
        for sampler, score in (("x", 1), ("y", 0)):
            rows = f"org/a,{benchmark},q1,{score},{sampler}\norg/a,{benchmark},q2,1,{sampler}\n"
            (tmp_path / f"{benchmark}-{sampler}.csv").write_text(lines + rows)
    assert run("ingest", *map(str, sorted(tmp_path.glob("*.csv"))), db=store).code == 0
    rename = ("fix", "alias", "quiz-old", "quiz")
    ignore = ("fix", "settings", said_of, "--ignore", "sampler")
    for command in (rename, ignore) if is_renamed_first else (ignore, rename):
        assert run(*command, db=store).code == 0
    sql = (
        "select count(distinct condition_key) as n from run join benchmark b on b.id = "
        "benchmark_id group by b.name"
    )
    assert [
        row["n"] for row in run("query", "--json", "--sql", sql, db=store).rows
    ] == [1, 1]
    (row,) = run("list", "settings", "quiz-old", "--json", db=store).rows
    assert (row["setting"], row["is_ignored"]) == ("sampler", True)
    other = "quiz-old" if said_of == "quiz" else "quiz"
    assert run("fix", "settings", other, "--count", "sampler", db=store).code == 0
    assert [
        row["n"] for row in run("query", "--json", "--sql", sql, db=store).rows
    ] == [2, 2]
    run("fix", "settings", "nowhere", "--ignore", "sampler", db=store).fails(
        2, "nowhere"
    )
