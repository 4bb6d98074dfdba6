"""``card``: the figures of a model as Markdown, for the Hub, in Every Eval Ever; each
can be recomputed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Caller
from tests.support.every_eval_ever import schema
from warehouse import connect

ODD = 'lab/"odd|\n<b>Ä*: x'
PUBLISHED = Path(__file__).parents[1] / "data" / "mteb"
Lines = Iterator[dict[str, Any]]


def answers(model: str, benchmark: str, wrong: int, n: int = 40, **more: Any) -> Lines:
    for i in range(n):
        yield {
            "model": model,
            "benchmark": benchmark,
            "prompt_id": f"p{i}",
            "acc": int(i >= wrong),
            **more,
        }


def dump(path: Path, *parts: Lines) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for part in parts for line in part))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    (folder / "new").mkdir()
    dump(
        folder / "new" / "a.jsonl",
        *(answers("lab/a", "quiz", 5 + shots, fewshot=shots) for shots in (0, 5)),
    )
    dump(
        folder / "new" / "part.jsonl",
        answers("lab/a", "exam", 3, 20),
        answers("lab/b", "exam", 20, temperature=0.5),
    )
    dump(
        folder / "new" / "b.jsonl",
        answers("lab/b", "quiz", 25, fewshot=5),
        answers("lab/b", "quiz", 30, fewshot=0),
    )
    long = [
        {
            "model": ODD,
            "benchmark": "a|b",
            "prompt_id": f"p{i}",
            "metric": "points",
            "score": 1e-9 * (i % 5),
        }
        for i in range(20)
    ]
    dump(folder / "new" / "odd.jsonl", iter(long))
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        store = connect("s.db")
        store.ingest(folder / "new")
        store.ingest(PUBLISHED)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_card_has_the_figures_of_the_leaderboard_and_of_the_comparison(
    run: Caller, place: Path
) -> None:
    card = run("card", "lab/a", "--against", "lab/b", db="s.db")
    assert card.code == 0 and card.out.startswith("## Evaluation of lab/a\n")
    rows = run("card", "lab/a", "--against", "lab/b", "--json", db="s.db").rows
    board = {
        tuple(row["run_ids"]): row
        for name in ("quiz", "exam")
        for row in run("leaderboard", name, "--json", db="s.db").rows
    }
    assert [(row["benchmark"], row["fewshot"]) for row in rows] == [
        ("exam", None),
        ("quiz", 0),
        ("quiz", 5),
    ]
    for row in rows:
        same = (
            "estimate",
            "standard_error",
            "ci_low",
            "ci_high",
            "n_prompts",
            "method",
            "flags",
        )
        assert [row[name] for name in same] == [
            board[tuple(row["run_ids"])][name] for name in same
        ]
        assert f"| {row['benchmark']} |" in card.out and row["unit"] == "share of 1"
    pair = run(
        "compare",
        "lab/a",
        "lab/b",
        "-b",
        "quiz",
        "--where",
        "fewshot=5",
        "--json",
        db="s.db",
    ).rows
    assert [
        rows[2][name] for name in ("difference", "difference_ci_low", "p_value")
    ] == [pair[0][name] for name in ("difference", "ci_low", "p_value")]
    assert [row["verdict"] for row in rows] == ["better"] * 3
    assert rows[0]["p_holm"] >= rows[0]["p_value"] and "subset" in rows[0]["flags"]
    assert "p Holm is adjusted" in card.out and "subset" in card.out


def test_a_card_is_a_claim_that_holds_until_the_store_changes(
    run: Caller, place: Path
) -> None:
    asked = "card lab/a --against lab/b --where fewshot=5"
    made = run(*asked.split(), "--out", "c.md", db="s.db")
    assert made.code == 0 and made.out == ""
    assert run("claim", asked, "-o", "c.json", db="s.db").code == 0
    assert (
        "warehouse card lab/a --where fewshot=5 --against lab/b"
        in (place / "c.md").read_text()
    )
    held = run("claim", "verify", "c.json", db="s.db")
    assert held.code == 0 and "the claim holds" in held.out, held
    dump(place / "new" / "b.jsonl", answers("lab/b", "quiz", 28, fewshot=5))
    dump(place / "new" / "a.jsonl", answers("lab/a", "quiz", 11, fewshot=5))
    connect("t.db").ingest(place / "new")
    other = run("claim", "verify", "c.json", "--json", db="t.db")
    assert other.code == 1
    found = {row["where"] for row in other.rows if row["what"] == "figure"}
    assert {"quiz lab/a acc: estimate", "quiz lab/a acc: difference"} <= found, found
    run("card", "lab/a", "--out", "c.md", db="s.db").fails(2, "c.md is there already")


def test_the_hub_reads_the_model_index(run: Caller, place: Path) -> None:
    text = run(
        "card", ODD, "--format", "hf", "--dataset", "a|b=org/set:part", db="s.db"
    ).out
    (index,) = yaml.safe_load(text.strip().removeprefix("---").removesuffix("---"))[
        "model-index"
    ]
    (row,) = run("card", ODD, "--json", db="s.db").rows
    assert index["name"] == row["model"] == ODD
    (result,) = index["results"]
    assert result["task"]["type"] and result["dataset"] == {
        "type": "org/set",
        "name": "a|b",
        "config": "part",
    }
    (metric,) = result["metrics"]
    assert (metric["type"], metric["value"]) == ("points", row["estimate"])
    assert (
        metric["args"]["ci_low"] == row["ci_low"] and metric["args"]["n_prompts"] == 20
    )
    hub = pytest.importorskip("huggingface_hub.repocard_data")
    name, (read,) = hub.model_index_to_eval_results([index])
    assert (name, read.metric_value, read.dataset_name) == (ODD, row["estimate"], "a|b")


def test_a_file_of_eval_results_needs_a_data_set(run: Caller, place: Path) -> None:
    run("card", "lab/a", "--format", "hf-results", db="s.db").fails(
        2, "--dataset BENCHMARK=OWNER/NAME:TASK"
    )
    run(
        "card", "lab/a", "--format", "hf-results", "--dataset", "quiz=nope", db="s.db"
    ).fails(2, "expected OWNER/NAME")
    done = run(
        "card",
        "lab/a",
        "--format",
        "hf-results",
        "--dataset",
        "quiz=org/quiz:main",
        db="s.db",
    )
    entries = yaml.safe_load(done.out)
    assert [entry["dataset"] for entry in entries] == [
        {"id": "org/quiz", "task_id": "main"}
    ] * 2
    assert [entry["value"] for entry in entries] == [
        0.875,
        0.75,
    ] and "0-shot" in entries[0]["notes"]
    assert "left out" in done.err and "exam" in done.err


def test_every_eval_ever_takes_the_card_with_its_uncertainty(
    run: Caller, place: Path
) -> None:
    document = json.loads(run("card", "lab/a", "--format", "eee", db="s.db").out)
    schema("eval").validate(document)
    rows = run("card", "lab/a", "--json", db="s.db").rows
    found = [one["score_details"] for one in document["evaluation_results"]]
    assert sorted(one["score"] for one in found) == sorted(
        row["estimate"] for row in rows
    )
    by_score = {row["estimate"]: row for row in rows}
    for one in found:
        row, said = by_score[one["score"]], one["uncertainty"]
        ends = {
            "lower": row["ci_low"],
            "upper": row["ci_high"],
            "confidence_level": 0.95,
            "method": row["method"],
        }
        assert (
            said["confidence_interval"] == ends
            and said["num_samples"] == row["n_prompts"]
        )


def test_published_figures_stand_apart_and_are_said_to_be(
    run: Caller, place: Path
) -> None:
    model = next(
        row["model"]
        for row in run("list", "models", "--json", db="s.db").rows
        if row["model"].endswith("embed")
    )
    card = run("card", model, "--against", "lab/a", db="s.db")
    assert (
        "As their sources publish them" in card.out and "From samples" not in card.out
    )
    rows = run("card", model, "--against", "lab/a", "--json", db="s.db").rows
    assert rows and all(
        row["method"] == "published" and row["difference"] is None for row in rows
    )
    assert {row["verdict"] for row in rows} == {"the reference lacks it"}
    assert (
        run("claim", shlex.join(["card", model]), "-o", "p.json", db="s.db").code == 0
    )
    assert run("claim", "verify", "p.json", db="s.db").code == 0
    for text in run("card", model, "--format", "eee", db="s.db").out.splitlines():
        schema("eval").validate(document := json.loads(text)) if text.startswith(
            '{"'
        ) else None
        assert (
            not text.startswith('{"')
            or document["source_metadata"]["source_type"] == "documentation"
        )


def test_what_would_break_out_of_a_table_does_not(run: Caller, place: Path) -> None:
    lines = run("card", ODD, db="s.db").out.splitlines()
    assert lines[0] == r'## Evaluation of lab/"odd\| \<b>Ä\*: x'
    (row,) = [line for line in lines if line.startswith(r"| a\|b")]
    assert "2e-09" in row and "(direction unknown)" in "\n".join(lines)
    assert len(re.findall(r"(?<!\\)\|", row)) == len(
        re.findall(r"\|", lines[lines.index(row) - 2])
    )
    assert (
        sum(
            line.startswith("# ")
            for line in run("card", ODD, "--format", "hf", db="s.db").out.splitlines()
        )
        == 1
    )


def test_what_has_no_card_says_why(run: Caller, place: Path) -> None:
    run("card", "lab/c", db="s.db").fails(2, "did you mean lab/b or lab/a")
    run("card", "run:99", db="s.db").fails(2, "run:99")
    run("card", "lab/a", "--metric", "nope", db="s.db").fails(2, "no metric 'nope'")
    run("card", "lab/a", "--force", db="s.db").fails(2, "--force goes with --out")
    run("card", "lab/a", "--format", "hf", "--json", db="s.db").fails(
        2, "--format and --out"
    )
    run("card", "lab/a", "--format", "eee", "--against", "lab/b", db="s.db").fails(
        2, "--against adds differences"
    )
    run("card", "lab/a", "--dataset", "a=b/c", db="s.db").fails(
        2, "--dataset goes with"
    )
    assert (
        run("fix", "invalidate", "run:1", "--reason", "wrong template", db="s.db").code
        == 0
    )
    run("card", "run:1", db="s.db").fails(2, "'run:1' has no current run")
    one = run("card", "run:2", "--json", db="s.db").rows
    assert [row["run_ids"] for row in one] == [[2]]
    assert run("fix", "alias", "lab/a", "lab/b", db="s.db").code == 0
    assert {row["model"] for row in run("card", "lab/a", "--json", db="s.db").rows} == {
        "lab/b"
    }


def test_the_library_lists_what_the_commands_list(run: Caller, place: Path) -> None:
    store = connect("s.db")
    for name in ("models", "benchmarks", "runs", "sources"):
        listed = getattr(store, name)()
        rows = run("list", name, "--json", db="s.db").rows
        assert (
            json.loads(
                json.dumps(listed.records(), default=lambda when: when.isoformat())
            )
            == rows
        )
        assert len(listed) == len(listed.to_frame()) == len(rows) and str(
            listed
        ).startswith(next(iter(rows[0]))[:3])
    assert {run.model for run in store.runs(where="model=lab/a")} == {"lab/a"}
    assert len(store.sources(1)) == 1
    suite = store.leaderboard(["quiz", "exam"], where="fewshot!=5")
    assert {row.model for row in suite.rows} == {"lab/a", "lab/b"}
    assert store.leaderboard(["quiz"]).benchmark == "quiz"
    assert store.card("lab/a", against="lab/b").one_line.endswith(
        "against lab/b: better on 3"
    )


def test_what_cannot_be_tested_has_no_verdict(run: Caller, tmp_path: Path) -> None:
    lines = [
        f"{m},ties,{n},1\n{m},test,{n},{n % 2 * k}"
        for m, k in (("a", 0), ("b", 1))
        for n in range(20)
    ]
    (tmp_path / "t.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,acc", *lines, "a,one,p,1", "b,one,p,0"])
    )
    db = str(tmp_path / "t.db")
    assert run("ingest", str(tmp_path / "t.csv"), "--higher-is-better", db=db).code == 0
    verdicts = {
        row["benchmark"]: row["verdict"]
        for row in run("card", "a", "--against", "b", "--json", db=db).rows
    }
    ties = "no verdict: all differences are equal"
    assert verdicts == {
        "ties": ties,
        "one": "no verdict: a single prompt",
        "test": "worse",
    }
    assert (
        "b is better on test; no verdict on one and ties."
        in run("compare", "a", "b", db=db).out
    )


def test_a_card_has_the_columns_that_were_chosen(run: Caller, place: Path) -> None:
    chosen = ("card", "lab/a", "--columns", "benchmark,prompts")
    card = run(*chosen, db="s.db").out
    assert "| benchmark | prompts |" in card and "estimate" not in card
    run("card", "lab/a", "--columns", "nosuch", db="s.db").fails(
        2, "no column 'nosuch'"
    )
