"""``ingest``: dumps of a real tool's form through the command line, on both engines."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress as RichProgress

from tests.support.cli import COMMAND, Caller, in_fork
from tests.support.forked import Popen
from warehouse.cli.ui.ingest_summary import error_lines
from warehouse.cli.ui.progress import Bar
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import _of_sources
from warehouse.store.load.state import LoadReport
from warehouse.store.open import open_store

MAPPING = """
[run]
harness = { const = "tool" }
model = "model"
benchmark = { const = "sums" }
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "correct"
"""


def write_run(
    folder: Path,
    model: str = "org/a",
    *,
    date: str = "2026-01-01T10-00-00.000000",
    scores: tuple[float, ...] = (1.0, 0.0, 1.0),
    published: float | None = 2 / 3,
) -> Path:
    """One invocation of lm-eval as its 0.4 series writes it: results and samples of one
    task."""
    home = folder / model.replace("/", "__")
    home.mkdir(parents=True, exist_ok=True)
    results = {
        "results": {
            "trivia": {
                "alias": "trivia",
                "exact_match,none": published,
                "exact_match_stderr,none": 0.1,
            }
        },
        "configs": {
            "trivia": {
                "task": "trivia",
                "test_split": "test",
                "num_fewshot": 0,
                "output_type": "generate_until",
                "repeats": 1,
                "metric_list": [
                    {
                        "metric": "exact_match",
                        "aggregation": "mean",
                        "higher_is_better": True,
                    }
                ],
            }
        },
        "versions": {"trivia": 1.0},
        "n-shot": {"trivia": 0},
        "higher_is_better": {"trivia": {"exact_match": True}},
        "n-samples": {"trivia": {"original": len(scores), "effective": len(scores)}},
        "config": {"model": "hf", "model_args": f"pretrained={model}"},
        "model_source": "hf",
        "model_name": model,
        "date": 1767261600.0,
    }
    (home / f"results_{date}.json").write_text(json.dumps(results))
    lines = [json.dumps(sample(number, score)) for number, score in enumerate(scores)]
    (home / f"samples_trivia_{date}.jsonl").write_text("\n".join(lines) + "\n")
    return home


def sample(number: int, score: float) -> dict[str, Any]:
    document = {
        "question": f"What is {number} + 1?",
        "topic": "even" if number % 2 else "odd",
    }
    arguments = {
        "gen_args_0": {
            "arg_0": f"Q: {document['question']}",
            "arg_1": {"until": ["\n"]},
        }
    }
    return {
        "doc_id": number,
        "doc": document,
        "target": str(number + 1),
        "arguments": arguments,
        "resps": [[f" {number + score:g}"]],
        "filtered_resps": [f"{number + score:g}"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"d{number}",
        "prompt_hash": f"p{number}",
        "target_hash": f"t{number}",
        "exact_match": score,
    }


def test_the_summary_counts_everything(
    run: Caller, bare_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "in", "org/a")
    write_run(tmp_path / "in", "org/b", scores=(1.0, 1.0, 1.0), published=0.5)
    (tmp_path / "in" / "README.md").write_text("hello")
    done = run("ingest", str(tmp_path / "in"), db=bare_url)
    assert done.code == 0
    assert done.err.startswith("created ")
    first, counts, published = done.out.splitlines()[:3]
    assert re.fullmatch(
        r"read 4 of 5 files in [\d.]+ s: 2 runs of org/a and org/b on trivia", first
    )
    assert counts == "  6 answers, 6 scores"  # and nothing of what there is none of
    assert published == "published figures: 1 of 2 come out exactly, 1 contradicts"
    figures = Path(__file__).parents[1] / "data" / "mteb"
    alone = " ".join(run("ingest", str(figures), db=bare_url).out.split())
    assert "0 of" not in alone and "have no samples, or are no means" in alone
    assert "NOT READ, 1 of 5 files:" in done.err and "README.md" in done.err
    assert [line.split() for line in done.out.splitlines() if "contradicts" in line][
        -1
    ][1] == "org/b"
    assert run("store", "check", db=bare_url).code == 0


def test_again_is_unchanged_and_elsewhere_seen_again(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    home = write_run(tmp_path / "in")
    for path in home.iterdir():
        (tmp_path / "copy" / home.name).mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        (tmp_path / "copy" / home.name / path.name).write_text(text + "\n")
    call = ("ingest", str(tmp_path / "in"))
    (first,) = run(*call, "--json", db=store_url).rows
    (second,) = run(*call, "--json", db=store_url).rows
    assert (first["state"], first["n_runs"], second["state"]) == (
        "loaded",
        1,
        "unchanged",
    )
    assert "1 source unchanged" in run(*call, db=store_url).out
    assert "created" not in run(*call, db=store_url).err
    (third,) = run("ingest", str(tmp_path / "copy"), "--json", db=store_url).rows
    assert (third["n_runs"], third["n_seen_again"]) == (0, 1)


def test_a_dry_run_reads_everything_and_stores_nothing(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "in")
    monkeypatch.chdir(tmp_path)
    done = run("ingest", "in", "--dry-run")
    assert done.code == 0 and ": 1 run" in done.out and "nothing was stored" in done.out
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert run("ingest", "in").code == 0
    write_run(tmp_path / "in", "org/b")
    assert ": 1 run" in run("ingest", "in", "--dry-run").out
    assert len(run("list", "sources", "--json").rows) == 1


def test_a_dry_run_leaves_an_empty_database_empty(
    run: Caller, bare_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "in")
    done = run("ingest", str(tmp_path / "in"), "--dry-run", db=bare_url)
    assert done.code == 0 and ": 1 run" in done.out
    assert run("list", "runs", db=bare_url).code == 4


def test_what_only_a_watch_needs_is_not_ignored(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    run("ingest", str(tmp_path), "--settle", "3", db=duckdb_url).fails(
        2, "--settle goes with --watch"
    )


def test_a_bad_source_is_refused_and_the_rest_loaded(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path, "org/a")
    bad = write_run(tmp_path, "org/b")
    (samples,) = bad.glob("samples_*")
    samples.write_text(samples.read_text().replace('"doc_id": 1', '"doc_id": oops'))
    done = run("ingest", str(tmp_path), db=store_url)
    done.fails(3, samples.name, "line 2")
    assert "read 2 of 4 files" in done.out
    assert [
        row["model"] for row in run("list", "runs", "--json", db=store_url).rows
    ] == ["org/a"]
    allowed = run(
        "ingest", str(tmp_path), "--max-rejected", "1", "--json", db=store_url
    )
    assert [row["n_rejected"] for row in allowed.rows if row["state"] == "loaded"] == [
        1
    ]
    assert (
        "line 2"
        in run("list", "sources", str(allowed.rows[1]["source_id"]), db=store_url).out
    )


def test_a_conflict_names_the_ways_out(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "one")
    write_run(tmp_path / "two", scores=(0.0, 1.0, 1.0))
    assert run("ingest", str(tmp_path / "one"), db=store_url).code == 0
    call = ("ingest", str(tmp_path / "two"))
    run(*call, db=store_url).fails(3, "--on-conflict supersede")
    assert (
        run(*call, "--on-conflict", "skip", "--json", db=store_url).rows[0]["n_runs"]
        == 0
    )
    run("fix", "forget", "2", db=store_url)
    assert "(superseded)" in run(*call, "--on-conflict", "supersede", db=store_url).out


def test_options_reach_the_loader(run: Caller, store_url: str, tmp_path: Path) -> None:
    write_run(tmp_path / "in")
    done = run(
        "ingest",
        str(tmp_path / "in"),
        "--set",
        "model=mine/x",
        "--set",
        "temperature=0.7",
        "--cluster-by",
        "topic",
        "--text",
        "none",
        db=store_url,
    )
    assert done.code == 0
    (row,) = run("leaderboard", "trivia", "--json", db=store_url).rows
    assert (row["model"], row["n_clusters"], row["estimate"]) == (
        "mine/x",
        2,
        pytest.approx(2 / 3),
    )
    assert run(
        "list", "runs", "--where", "temperature=0.7", "--json", db=store_url
    ).rows
    (shown,) = run("show", "run:1", "0", "--json", db=store_url).rows
    assert shown["responses"][0]["response"] is None


def test_one_prompt_is_shown_as_a_log_viewer_would(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "in")
    run("ingest", str(tmp_path / "in"), db=duckdb_url)
    shown = run("show", "run:1", "2", db=duckdb_url).out
    for part in (
        "What is 2 + 1?",
        "--- target\n3",
        "--- prompt sent, draw 0\nQ: What is 2 + 1?",
        "--- response, draw 0\n 3",
        "exact_match",
    ):
        assert part in shown


def test_a_mapping_reads_a_table(run: Caller, store_url: str, tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text("model,id,correct\norg/a,1,1\norg/a,2,0\norg/b,1,1\norg/b,2,1\n")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING)
    done = run("ingest", str(table), "--map", str(mapping), db=store_url)
    assert done.code == 0, done.err
    rows = run("leaderboard", "sums", "--json", db=store_url).rows
    assert [(row["model"], row["estimate"]) for row in rows] == [
        ("org/b", 1.0),
        ("org/a", 0.5),
    ]
    mapping.write_text(
        MAPPING.replace('"correct"', '"corect"').replace("[sample]", "[smaple]")
    )
    run("ingest", str(table), "--map", str(mapping), db=store_url).fails(3, "smaple")


def test_the_settings_name_the_mapping_of_each_pattern_and_what_is_no_result(
    run: Caller, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "new")
    table = "model,id,correct\norg/b,1,1\norg/b,2,0\n"
    (tmp_path / "new" / "results.csv").write_text(table)
    (tmp_path / "new" / "costs.csv").write_text("dollars\n3\n")
    (tmp_path / "mapping.toml").write_text(MAPPING)
    (tmp_path / "warehouse.toml").write_text(
        '[ingest]\nignore = ["costs.csv"]\n'
        '[ingest.maps]\n"new/*.csv" = "mapping.toml"\n'
    )
    done = run("ingest", "new", db=store_url)
    assert done.code == 0, done.err
    assert (
        "note: read by the mapping mapping.toml (ingest.maps): new/results.csv"
        in done.err
    )
    assert "costs.csv" not in done.err and "not dumps" not in done.out
    rows = run("list", "models", "--json", db=store_url).rows
    assert {row["model"] for row in rows} == {"org/a", "org/b"}
    (tmp_path / "warehouse.toml").write_text('[ingest.maps]\n"*.csv" = 3\n')
    run("ingest", "new", db=store_url).fails(3, "ingest.maps is", "PATTERN = MAPPING")


def test_a_folder_of_hidden_files_alone_says_so(
    run: Caller, tmp_path: Path, bare_duckdb_url: str
) -> None:
    (tmp_path / "project" / ".deepeval").mkdir(parents=True)
    (tmp_path / "project" / ".deepeval" / "run.json").write_text("{}")
    run("ingest", str(tmp_path / "project"), db=bare_duckdb_url).fails(
        3, "hidden ones are left out"
    )


def test_nothing_to_ingest_is_bad_input(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.md").write_text("nothing")
    call = ("ingest", str(tmp_path / "in"))
    run(*call, db=bare_duckdb_url).fails(3, "no importer knows", "--map")
    run(*call, "--format", "helm", db=bare_duckdb_url).fails(
        3, "importer helm knows none of 1 files"
    )


def test_of_packed_dumps_it_is_said_that_they_are_packed(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    shutil.make_archive(
        str(tmp_path / "in" / "dump"), "zip", write_run(tmp_path / "out")
    )
    path = str(tmp_path / "in")
    run("ingest", path, db=duckdb_url).fails(3, "1 of them is packed: unpack first")
    write_run(tmp_path / "in")
    done = run("ingest", path, db=duckdb_url)
    assert done.code == 0
    assert "dump.zip: an archive or packed file; unpack it first" in done.err


def test_links_to_folders_are_named_and_not_followed(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    """A dump that was unpacked must not reach what lies beside it."""
    write_run(tmp_path / "elsewhere", "org/a")
    home = write_run(tmp_path / "in", "org/b")
    (tmp_path / "in" / "old").symlink_to(
        tmp_path / "elsewhere", target_is_directory=True
    )
    (home / "up").symlink_to(tmp_path / "in", target_is_directory=True)
    done = run("ingest", str(tmp_path / "in"), db=duckdb_url)
    assert done.code == 0
    for link in (tmp_path / "in" / "old", home / "up"):
        assert f"{link}: a link to a folder, which is not followed" in done.err
    (row,) = run("leaderboard", "trivia", "--json", db=duckdb_url).rows
    assert row["model"] == "org/b"
    assert run("ingest", str(tmp_path / "in" / "old"), db=duckdb_url).code == 0
    assert len(run("leaderboard", "trivia", "--json", db=duckdb_url).rows) == 2


def test_a_wrong_setting_is_misuse(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "in")
    call = ("ingest", str(tmp_path / "in"))
    run(*call, "--set", "tempreture=1", db=bare_duckdb_url).fails(
        2, "tempreture", "temperature"
    )
    run(*call, "--set", "step=soon", db=bare_duckdb_url).fails(2, "step=soon")
    run(*call, "--format", "nope", db=bare_duckdb_url).fails(2, "nope", "lm_eval")
    run(*call, "--on-conflict", "maybe", db=bare_duckdb_url).fails(2, "maybe")


# --- progress --------------------------------------------------------------------------------


def test_no_bar_and_no_colours_where_nobody_looks(tmp_path: Path) -> None:
    write_run(tmp_path / "in")
    done = in_fork("-q", "ingest", "in", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_a_terminal_sees_a_bar_and_what_to_type_next(tmp_path: Path) -> None:
    write_run(tmp_path / "in")
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with Popen(
        [str(COMMAND), "ingest", "in"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=slave,
        env=environment,
    ) as process:
        os.close(slave)
        seen = b""
        try:
            while block := os.read(master, 4096):
                seen += block
        except OSError:  # the other side is closed
            pass
        assert process.stdout is not None and b": 1 run" in process.stdout.read()
    os.close(master)
    assert process.returncode == 0
    assert "\N{BOX DRAWINGS HEAVY HORIZONTAL}".encode() in seen
    assert b"next, the scores with their errors: warehouse leaderboard" in seen


# --- files that a mapping does not name ------------------------------------------------------

NAMING = """
files = ["a*.csv"]
[run]
model = "model"
benchmark = { const = "b" }
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "score"
"""


def test_a_file_that_the_mapping_does_not_name_is_refused_and_the_others_load(
    run: Caller, tmp_path: Path
) -> None:
    for name, key in (
        ("a.csv", "id"),
        ("b.csv", "key"),
    ):  # of the same shape it would be taken
        (tmp_path / name).write_text(f"model,{key},score\nm,1,1\nm,2,0\n")
    (tmp_path / "map.toml").write_text(NAMING)
    url, mapping = (
        f"duckdb:///{tmp_path / 's.duckdb'}",
        ("--map", str(tmp_path / "map.toml")),
    )
    done = run(
        "ingest", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), *mapping, db=url
    )
    assert done.code == 3
    assert "b.csv: not among the files that the mapping names" in done.err
    assert run("query", "select n_scores from run_current", "--json", db=url).rows == [
        {"n_scores": 2}
    ]


@pytest.mark.parametrize("mistake", ["files", "key", "data"])
def test_no_store_is_made_for_nothing(
    run: Caller, tmp_path: Path, mistake: str
) -> None:
    (tmp_path / "b.csv").write_text("model,key,score\nm,1,1\n")
    (tmp_path / "words.txt").write_text("words")
    (tmp_path / "map.toml").write_text(
        NAMING if mistake == "files" else NAMING.replace("[run]", "[runs]")
    )
    given = (
        ["words.txt"]
        if mistake == "data"
        else ["b.csv", "--map", str(tmp_path / "map.toml")]
    )
    done = run(
        "ingest",
        str(tmp_path / given[0]),
        *given[1:],
        db=f"duckdb:///{tmp_path / 's.duckdb'}",
    )
    assert done.code == 3 and "created" not in done.err
    assert not (tmp_path / "s.duckdb").exists()


def test_a_refused_first_load_leaves_no_file_and_touches_none_that_was_there(
    run: Caller, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("model,benchmark,prompt_id,score\nm,quiz,1,1,7,8\n")
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    refused = run("ingest", str(bad), db=url)
    assert refused.code == 3 and "nothing was stored" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]
    run("leaderboard", db=url).fails(4, "no store at")
    write_run(tmp_path / "good")
    assert run("ingest", str(bad), str(tmp_path / "good"), db=url).code == 3
    assert (tmp_path / "s.duckdb").exists()
    empty = f"duckdb:///{tmp_path / 'empty.duckdb'}"
    assert run("store", "init", db=empty).code == 0
    assert "removed" not in run("ingest", str(bad), db=empty).err
    assert len(run("list", "sources", "--json", db=empty).rows) == 1


def test_the_bar_counts_the_bytes_of_each_source_once(
    tmp_path: Path, store_url: str
) -> None:
    sizes = []
    for place in range(3):
        path = tmp_path / "in" / f"{place}.csv"
        path.parent.mkdir(exist_ok=True)
        rows = "".join(f"m{place},b,{row},1\n" for row in range(1 + 10 * place))
        path.write_text("model,benchmark,prompt_id,score\n" + rows)
        sizes.append(path.stat().st_size)
    shown = RichProgress(disable=True)
    bar = Bar(shown)
    with open_store(store_url, create=True) as store:
        ingest(store, [tmp_path / "in"], progress=bar)
    (task,) = shown.tasks
    assert (task.completed, task.total) == (sum(sizes), sum(sizes))


def test_a_note_on_several_sources_is_told_once() -> None:
    notes = [("a", "x is y"), ("b", "x is y"), ("c", "z"), ("d", "x is y")]
    assert _of_sources(notes) == ["3 sources, the first a: x is y", "c: z"]


def test_a_note_does_not_say_twice_which_source_it_is_about() -> None:
    assert _of_sources([("in/x/a.csv", "a.csv: z"), ("in/x/b.csv", "x/b.csv: z")]) == [
        "2 sources, the first in/x/a.csv: z"
    ]


# --- errors ----------------------------------------------------------------------------------


def test_errors_that_name_their_files_are_one_kind() -> None:
    said = "m.toml: no such key in 'x/{0}'"
    reports = [
        LoadReport(f"in/x/{n}", "refused", error=f"in/x/{n}: {said.format(n)}")
        for n in ("a.json", "b.json")
    ]
    assert error_lines(reports) == [
        "in/x/a.json: m.toml: no such key in 'x/a.json' [and 1 more like it: b.json]"
    ]


@pytest.mark.rare
def test_errors_of_one_kind_are_said_once(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    for number in range(9):
        rows = "".join(f"q{row},m,1\n" for row in range(number))
        (tmp_path / f"r{number}.csv").write_text(f"id,model,score\n{rows},m,0\n")
    (tmp_path / "fine.csv").write_text("id,model,score\nq,m,1\n")
    (tmp_path / "other.csv").write_text("id,model,score\nq,m,1\nq,m,0\n")
    done = run("ingest", str(tmp_path), "--default", "benchmark=b", db=bare_duckdb_url)
    errors = [line for line in done.err.splitlines() if line.startswith("Error: ")]
    assert done.code == 3 and len(errors) == 2
    assert any(
        "[and 8 more like it: r1.csv, r2.csv, r3.csv, … (-v names all)]" in line
        for line in errors
    )
    assert sum("stands twice" in line for line in errors) == 1
    every = run(
        "ingest", str(tmp_path), "--default", "benchmark=b", "-v", db=bare_duckdb_url
    )
    assert "r8.csv" in every.err.partition("more like it")[2]
    singly = run(
        "ingest",
        str(tmp_path),
        "--default",
        "benchmark=b",
        "--json",
        db=bare_duckdb_url,
    )
    assert sum(bool(row["error"]) for row in json.loads(singly.out)) == 10


def test_errors_follow_the_summary_and_fit_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,model,score\nq,m,1\nq,m,0\n")
    master, slave = pty.openpty()
    call = [str(COMMAND), "ingest", "r.csv", "--default", "benchmark=b"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "60", "NO_COLOR": "1"}
    with Popen(call, cwd=tmp_path, stdout=slave, stderr=slave, env=environment):
        os.close(slave)
        seen = b""
        try:
            while block := os.read(master, 4096):
                seen += block
        except OSError:  # the other side is closed
            pass
    os.close(master)
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", seen.decode()).splitlines()
    (error,) = [place for place, line in enumerate(lines) if line.startswith("Error: ")]
    assert error > next(
        place for place, line in enumerate(lines) if line.startswith("read ")
    )
    assert len(lines) > error + 2 and max(map(len, lines[error:])) <= 60


def test_files_that_a_mapping_does_not_name_are_one_note(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text('files = ["a.csv"]\n' + MAPPING)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abcde":
        (folder / f"{name}.csv").write_text("id,model,correct\nq,m,1\n")
    done = run("ingest", str(folder), "--map", str(mapping), db=bare_duckdb_url)
    (note,) = [line for line in done.err.splitlines() if "not among the files" in line]
    assert note.startswith("  4 files, the first ")


def test_columns_that_steer_a_terminal_are_spelled_out(
    store_url: str, tmp_path: Path, run: Caller
) -> None:
    table = tmp_path / "table.jsonl"
    names = ["\x1b[31mred", "two\nlines", *(f"c{number}" for number in range(300))]
    table.write_text(
        json.dumps({"model": "m", "prompt_id": "q"} | dict.fromkeys(names, 1)) + "\n"
    )
    said = run("ingest", str(table), db=store_url).err
    assert r"\x1b[31mred" in said and "\x1b[31m" not in said


# --- what was not read, and what to check ----------------------------------------------------

TOLD = "model,benchmark,prompt_id,score,seed\na,q,1,1,0\na,q,2,0,0\n"


def test_quiet_keeps_what_changes_figures_and_what_nobody_read(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text(TOLD)
    (tmp_path / "in" / "other.csv").write_text("model,prompt_id,said\na,1,x\n")
    done = run("ingest", str(tmp_path / "in"), "--quiet", db=bare_duckdb_url)
    assert done.code == 0 and done.out.startswith("read 1 of 2 files in ")
    lines = done.err.splitlines()
    assert lines[0] == "NOT READ, 1 of 2 files:"
    assert "other.csv: no column names the benchmark: benchmark, task" in lines[1]
    assert "no column holds scores: score, correct" in lines[1]
    assert "columns here: model, prompt_id, said" in lines[1]
    assert lines[2] == "CHECK:" and "seed as training_seed" in lines[3]
    assert len(lines) == 4  # the note on the direction is left out


def test_what_files_need_is_told_with_how_many_need_it(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"{name},prompt_id,score\nx,1,1\n")
    (tmp_path / "d.csv").write_text("benchmark,prompt_id,score\nb,1,1\n")
    done = run("ingest", str(tmp_path), db=bare_duckdb_url)
    assert done.code == 3 and "no column names the model: model, model_" in done.err
    assert "  -> for 3 files: --default model=NAME --default benchmark=NAME" in done.err
    assert "  -> for 1 file: --default model=NAME\n" in done.err
    given = ("--default", "model=m", "--default", "benchmark=b")
    taken = run("ingest", str(tmp_path), *given, db=bare_duckdb_url)
    assert taken.code == 0 and "read 4 files in" in taken.out
