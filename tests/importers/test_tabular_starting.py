"""``warehouse mapping FILE``: what it writes can be used as it stands where the guesses
suffice."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.pages import ROOT
from tests.support.tabular import candidates, read, read_toml, scores
from warehouse.errors import InputError
from warehouse.importers.tabular.column_names import Grade, grade_of
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.importers.tabular.mapping import parse_mapping
from warehouse.records import ImportSettings

RECORDS = {
    "model": ["org/a", "org/b"] * 2,
    "task": ["sums"] * 4,
    "question_id": [7, 7, 8, 8],
    "question": ["3+4?", "3+4?", "4+4?", "4+4?"],
    "gold": ["7", "7", "8", "8"],
    "prediction": ["7", "6", "8", "8"],
    "subject": ["odd", "odd", "even", "even"],
    "annotator": ["x", "y", "z", "w"],
    "correct": [1, 0, 1, 1],
}


def mapping_of(path: Path) -> dict[str, Any]:
    """The mapping that is written for a file, which must have no mistakes of its own."""
    values = tomllib.loads(starting_mapping(path))
    mistakes = parse_mapping(values)[1]
    assert [
        text for text in mistakes if not text.startswith("expected [[scores]]")
    ] == []
    return values


@pytest.mark.parametrize(
    ("name", "writer", "options"),
    [
        ("a.csv", "to_csv", {"index": False}),
        ("a.csv", "to_csv", {"index": False, "sep": ";"}),
        ("a [1].csv", "to_csv", {"index": False, "encoding": "utf-8-sig"}),
        ("a.tsv", "to_csv", {"index": False, "sep": "\t"}),
        ("a.csv.gz", "to_csv", {"index": False}),
        ("a.json", "to_json", {"orient": "records"}),
        ("a.jsonl", "to_json", {"orient": "records", "lines": True}),
        ("a.jsonl.gz", "to_json", {"orient": "records", "lines": True}),
        ("a.parquet", "to_parquet", {}),
    ],
)
def test_it_can_be_used_as_it_stands(
    tmp_path: Path, name: str, writer: str, options: dict[str, Any]
) -> None:
    getattr(pd.DataFrame(RECORDS), writer)(tmp_path / name, **options)
    values = mapping_of(tmp_path / name)
    assert values["run"] == {"model": "model", "benchmark": "task"}
    assert values["metadata"] == {"subject": {"path": "subject", "optional": True}}
    assert values["metrics"] == {
        "correct": {"kind": "binary", "higher_is_better": True}
    }
    taken = read(tmp_path, values)
    assert scores(taken.rows) == [1, 0, 1, 1] and not taken.rejections
    assert {row["target"] for row in taken.rows} == {"7", "8"}


def test_every_column_is_described_and_what_is_not_used_can_be_uncommented(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame(RECORDS).to_csv(path, index=False)
    text = starting_mapping(path)
    for column in RECORDS:
        assert f"\n#   {column}: " in text
    line = next(line for line in text.splitlines() if line.startswith("# annotator ="))
    values = tomllib.loads(text.replace(line, line.removeprefix("# ")))
    assert values["metadata"]["annotator"] == "annotator"


def test_generations_in_a_document(tmp_path: Path) -> None:
    document = {
        "model": "m",
        "config": {"temperature": 0.5},
        "name": "sums",
        "results": [
            {
                "question": f"q{i}",
                "expected_answer": "1",
                "completions": [
                    {"model_answer": "1", "score": 1.0},
                    {"model_answer": "2", "score": 0.25},
                ],
            }
            for i in range(3)
        ],
    }
    (tmp_path / "r.json").write_text(json.dumps(document))
    values = mapping_of(tmp_path / "r.json")
    assert values["rows"] == {"at": "results[]", "draws": "completions[]"}
    assert values["run"] == {
        "model": "$.model",
        "benchmark": "$.name",
        "temperature": "$.config.temperature",
    }
    taken = read(tmp_path, values)
    assert scores(taken.rows) == [1.0, 0.25] * 3
    assert taken.runs[0].temperature == 0.5
    assert "higher_is_better" not in values["metrics"]["score"]  # 0.25: who knows


def test_a_table_with_a_column_per_model(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(
        "id,question,category,gpt-4,llama.3\n1,q1,x,1,0\n2,q2,y,0,\n3,q3,y,1,1\n"
    )
    values = mapping_of(tmp_path / "wide.csv")
    taken = read(tmp_path, values, {"benchmark": "b"})
    assert taken.values("model") == {("gpt-4",): [1, 0, 1], ("llama.3",): [0, 1]}
    assert {row["text"] for row in taken.rows} == {"q1", "q2", "q3"}
    assert [row["prompt_id"] for row in taken.rows][:3] == ["1", "2", "3"]


def test_verdicts_of_a_draft_are_no_target(tmp_path: Path) -> None:
    pd.DataFrame(
        {"input": ["x", "y"], "label": ["correct", "wrong"], "score": [1, 0]}
    ).to_csv(tmp_path / "y.csv")
    assert "target" not in mapping_of(tmp_path / "y.csv")["sample"]


def test_epochs_of_an_exported_inspect_log_are_draws(tmp_path: Path) -> None:
    rows = [
        f"u{i}{epoch},E,{i},{epoch},q{i},A,{i * epoch % 2}"
        for i in (1, 2, 3)
        for epoch in (1, 2)
    ]
    (tmp_path / "y.csv").write_text(
        "\n".join(["sample_id,eval_id,id,epoch,input,target,score_match", *rows])
    )
    values = tomllib.loads(starting_mapping(tmp_path / "y.csv"))
    assert values["sample"]["draw"] == "epoch" and "epoch" not in values["run"]


def test_an_index_written_as_a_column_is_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text(
        "Unnamed: 0,model,q1,q2,q3\n0,m1,1,0,1\n1,m2,0,0,1\n"
    )
    taken = read(tmp_path, mapping_of(tmp_path / "y.csv"), {"benchmark": "b"})
    assert taken.values("model") == {("m1",): [1, 0, 1], ("m2",): [0, 0, 1]}


def test_signed_cells_are_taken_for_right_and_wrong_with_a_warning(
    tmp_path: Path,
) -> None:
    pd.DataFrame({"": ["m1", "m2"], "0": [1, -1], "1": [-1, -1]}).to_csv(
        tmp_path / "y.csv", index=False
    )
    text = starting_mapping(tmp_path / "y.csv")
    assert (
        "check that -1 is not missing" in text
        and 'benchmark = { const = "NAME" }' in text
    )
    values = mapping_of(tmp_path / "y.csv") | {"run": {"benchmark": {"const": "b"}}}
    assert (
        values["matrix"]["orientation"] == "models_by_prompts"
        and values["metrics"]["score"]["kind"] == "binary"
    )
    assert scores(read(tmp_path, values).rows) == [1, 0, 0, 0]


def test_predictions_without_scores_are_compared(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "model,task,id,gold,prediction\na,b,1,18,18.0\na,b,2,5,-5\n"
    )
    values = mapping_of(tmp_path / "r.csv")
    assert scores(read(tmp_path, values).rows) == [1, 0]
    words = "model,task,id,gold,prediction\na,b,1,Paris,paris.\na,b,2,Rome,Oslo\n"
    (tmp_path / "r.csv").write_text(words)
    assert scores(read(tmp_path, mapping_of(tmp_path / "r.csv")).rows) == [1, 0]


def test_messages_are_not_compared_with_a_target(tmp_path: Path) -> None:
    """Each would be wrong, whatever was answered."""
    said = [{"role": "assistant", "content": "18"}]
    rows = [
        {
            "id": n,
            "completion": said,
            "answer": "18",
            "reward": n / 2,
            "seconds": 2.5 + n,
        }
        for n in range(3)
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = starting_mapping(tmp_path / "r.jsonl")
    assert (
        "exact_match" not in text
        and '\n[[scores]]  # number\nmetric = "reward"' in text
    )


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("yes", "no"), [1, 0]),
        (("85%", "5%"), [0.85, 0.05]),
        (("True", "False"), [1, 0]),
    ],
)
def test_words_and_percents(
    tmp_path: Path, cells: tuple[str, str], expected: list[float]
) -> None:
    text = f"model,task,id,score\na,b,1,{cells[0]}\na,b,2,{cells[1]}\n"
    (tmp_path / "r.csv").write_text(text)
    taken = read(tmp_path, mapping_of(tmp_path / "r.csv"))
    assert scores(taken.rows) == pytest.approx(expected)


def test_what_the_file_does_not_tell_is_left_to_be_filled_in(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "who,id,score\nalice,1,1\nalice,2,0\nbob,1,1\nbob,2,1\n"
    )
    text = starting_mapping(tmp_path / "r.csv")
    assert (
        '# model = { const = "NAME" }  # not known: fill in, or say --set model=NAME'
        in text
    )
    assert 'perhaps "who"' in text
    filled = text.replace('# model = { const = "NAME" }', 'model = "who"')
    taken = read(tmp_path, tomllib.loads(filled), {"benchmark": "b"})
    assert taken.values("model") == {("alice",): [1, 0], ("bob",): [1, 1]}


def test_odd_names_and_contents(tmp_path: Path) -> None:
    frame = pd.DataFrame(RECORDS).rename(
        columns={"annotator": 'who "said" it\\ [0]', "subject": "Subject"}
    )
    frame["gold"] = ["a\nb\x07", "'''", '"""', "#"]
    frame.to_csv(tmp_path / "a.csv", index=False)
    values = mapping_of(tmp_path / "a.csv")
    assert read(tmp_path, values).rows[0]["target"] == "a\nb\x07"


@pytest.mark.parametrize(
    "content", [b"", b"model,score\n", gzip.compress(b"", mtime=0)]
)
def test_a_file_without_rows_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / ("a.csv.gz" if content.startswith(b"\x1f") else "a.csv")
    path.write_bytes(content)
    with pytest.raises(InputError):
        starting_mapping(path)


def test_the_command(tmp_path: Path, run: Caller) -> None:
    path, target = tmp_path / "a.csv", tmp_path / "m.toml"
    pd.DataFrame(RECORDS).to_csv(path, index=False)
    shown = run("mapping", str(path))
    assert shown.code == 0 and tomllib.loads(shown.out)["run"]["benchmark"] == "task"
    assert run("mapping", str(path), "-o", str(target)).code == 0
    assert target.read_text(encoding="utf-8") == shown.out
    run("mapping", str(path), "-o", str(target)).fails(2, "is there already", "--force")
    assert run("mapping", str(path), "-o", str(target), "--force").code == 0
    done = run(
        "ingest", str(path), "--map", str(target), db=f"duckdb:///{tmp_path / 's.db'}"
    )
    assert done.code == 0 and "4 scores" in done.out
    (tmp_path / "b.csv").write_text("")
    run("mapping", str(tmp_path / "b.csv")).fails(3, "empty file")
    (tmp_path / "b.bin").write_text("x")
    run("mapping", str(tmp_path / "b.bin")).fails(3, "format")


def test_ingest_names_the_command_where_nobody_knows_a_file(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "wide.csv").write_text("id,gpt-4,llama\n1,1,0\n")
    done = run(
        "ingest", str(tmp_path / "wide.csv"), db=f"duckdb:///{tmp_path / 's.db'}"
    )
    done.fails(3, "no importer knows the only file", "`warehouse mapping FILE`")


@pytest.mark.parametrize("label", ["Model", "model_name"])
def test_a_row_per_model_and_a_column_per_benchmark(tmp_path: Path, label: str) -> None:
    (tmp_path / "board.csv").write_text(
        f"{label},#Params (B),MMLU,ARC-C\norg/a,7,64.2,51\norg/b,70,70.1,\n"
    )
    taken = read(tmp_path, mapping_of(tmp_path / "board.csv"))
    figures = {
        (run.model, run.benchmark, one.value)
        for run in taken.runs
        for one in run.published
    }
    assert figures == {
        ("org/a", "MMLU", 64.2),
        ("org/a", "ARC-C", 51.0),
        ("org/b", "MMLU", 70.1),
    }


@pytest.mark.parametrize("label", ["model", ""])
def test_a_row_per_model_with_standard_errors(tmp_path: Path, label: str) -> None:
    (tmp_path / "board.csv").write_text(
        f"{label},win_rate,standard_error,n_total,n_wins\n"
        "gpt4,95.3,.7,805,761\n"
        "claude,88.4,1.1,804,707\n"
    )
    taken = read(tmp_path, mapping_of(tmp_path / "board.csv"), {"benchmark": "b"})
    figures = {
        (run.model, one.metric, one.value, one.standard_error, one.n)
        for run in taken.runs
        for one in run.published
    }
    assert figures == {
        ("gpt4", "win_rate", 95.3, 0.7, 805),
        ("claude", "win_rate", 88.4, 1.1, 804),
    }


def test_a_row_per_prompt_is_no_table_of_figures(tmp_path: Path) -> None:
    """Models in a column, but below each other: rows are prompts."""
    (tmp_path / "rows.csv").write_text("model,tokens,right\na,5,1\na,7,0\nb,5,1\n")
    values = tomllib.loads(starting_mapping(tmp_path / "rows.csv"))
    assert "published" not in values and values["choose"]  # nothing names the prompts


def test_a_row_per_model_in_percent(tmp_path: Path) -> None:
    rows = [f"{n},m{n},{n}.5%,{n % 3}0%,1.{n}" for n in range(1, 60)]
    (tmp_path / "board.csv").write_text(
        "\n".join(["Rank,Model,Multi,Simple,Latency (s)", *rows])
    )
    taken = read(tmp_path, mapping_of(tmp_path / "board.csv"))
    assert {run.benchmark for run in taken.runs} == {"Multi", "Simple"}
    assert ("m58", 0.585) in {
        (run.model, round(run.published[0].value, 9)) for run in taken.runs
    }


def test_shipped_mappings_go_by_name(
    tmp_path: Path, run: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = run("mapping", "--list")
    names = [line.split()[0] for line in listed.out.splitlines()[2:]]
    assert names == sorted(
        path.stem for path in (ROOT / "docs" / "mappings").glob("*.toml")
    )
    shown = run("mapping", "eval_arena")
    assert shown.out == (ROOT / "docs" / "mappings" / "eval_arena.toml").read_text(
        encoding="utf-8"
    )
    line = (
        '{"benchmark_id": "mbpp+", "model": "a", "example_id": "Mbpp/2", "pass1": 1}\n'
    )
    Path("mbpp+.jsonl").write_text(line)
    db = f"duckdb:///{tmp_path / 's.db'}"
    assert "1 score" in run("ingest", "mbpp+.jsonl", "--map", "eval_arena", db=db).out
    Path("copy.toml").write_text(shown.out)
    assert (
        "1 source unchanged"
        in run("ingest", "mbpp+.jsonl", "--map", "copy.toml", db=db).out
    )  # what it says counts
    assert (
        warehouse.connect(db)
        .ingest("mbpp+.jsonl", mapping="eval_arena")
        .sources[0]
        .state
        == "unchanged"
    )
    Path("eval_arena").write_text("no TOML")  # a file that is there goes first
    run("ingest", "mbpp+.jsonl", "--map", "eval_arena", db=db).fails(3, "not TOML")
    run("ingest", "mbpp+.jsonl", "--map", "eval_arna", db=db).fails(
        2, "did you mean eval_arena?"
    )
    run("ingest", "mbpp+.jsonl", "--map", "arena.toml", db=db).fails(2, "arena.toml")
    run("mapping").fails(2, "--list")


def test_a_line_above_the_header_is_named_where_no_row_fits_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# made by x\nid,model,verdict\na,m,good\n")
    with pytest.raises(
        InputError, match=r"a.csv, line 1: .*; line 2 looks like it: .*take out"
    ):
        starting_mapping(tmp_path / "a.csv")


def test_no_shipped_mapping_fits_a_file_without_rows(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "a.csv").write_text("# made by x\nid,model,verdict\na,m,good\n")
    said = run("ingest", str(tmp_path / "a.csv"), db=f"duckdb:///{tmp_path / 's.db'}")
    said.fails(3, "no importer knows")
    assert "by its shape" not in said.err and "by their shape" not in said.err


def test_scores_are_not_offered_as_ids(tmp_path: Path) -> None:
    path = csv(
        tmp_path / "a.csv",
        {"id": [1, 2, 3], "model": ["m"] * 3, "score": [0.5, 0.25, 1]},
    )
    assert 'prompt_id = "id"\n' in starting_mapping(path)


def test_ingest_says_why_a_table_cannot_be_read(tmp_path: Path, run: Caller) -> None:
    (tmp_path / "a.csv").write_text("id,model,score\n1,m,1\n", encoding="utf-16")
    run("ingest", str(tmp_path / "a.csv"), db=f"duckdb:///{tmp_path / 's.db'}").fails(
        3, "text in UTF-16"
    )


def test_keys_of_services_are_not_shown(tmp_path: Path) -> None:
    row = {
        "model": "org/a",
        "id": 1,
        "score": 1,
        "spec": {"api_key": "hidden", "note": "sk-0a1b2c3d4e5f6g7h8"},
    }
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(row)}\n")
    text = starting_mapping(tmp_path / "a.jsonl")
    assert "spec.api_key: text, 1, ***" in text and "note: text, 1, ***" in text
    assert "hidden" not in text and "sk-0" not in text


@pytest.mark.parametrize(
    "drawn", ["chat-{:032x}", "{:08x}-1b2c-4d5e-8f90-0a1b2c3d4e5f"]
)
def test_ids_that_are_drawn_for_each_answer_do_not_part_models(
    run: Caller, tmp_path: Path, drawn: str
) -> None:
    rows = [
        {
            "id": drawn.format(1000 * place + i),
            "model": model,
            "task": "sums",
            "question": f"{i}+1?",
            "correct": i % 2,
        }
        for place, model in enumerate(("org/a", "org/b"))
        for i in range(12)
    ]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    text = starting_mapping(tmp_path / "a.jsonl")
    assert '# prompt_id = "id"  # without it the content is the key' in text
    (tmp_path / "m.toml").write_text(text)
    store = str(tmp_path / "s.duckdb")
    assert (
        run(
            "ingest",
            str(tmp_path / "a.jsonl"),
            "--map",
            str(tmp_path / "m.toml"),
            db=store,
        ).code
        == 0
    )
    (row,) = run("compare", "org/a", "org/b", "--json", db=store).rows
    assert row["n_prompts"] == 12


def test_ids_that_are_drawn_for_each_record_with_several_scores(tmp_path: Path) -> None:
    """Output items of the OpenAI Evals API, two graders each; and a trace of Langfuse
    below a name."""
    graded = [
        {"name": name, "passed": True, "score": 1.0}
        for name in ("String check", "Label check")
    ]
    items = [
        {
            "id": f"outputitem_{7919 * i:032x}",
            "run_id": "evalrun_1",
            "datasource_item_id": i,
            "results": graded,
        }
        for i in range(12)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"object": "list", "data": items}))
    assert (
        mapping_of(tmp_path / "a.json")["sample"]["prompt_id"] == "^.datasource_item_id"
    )
    traces = [{"id": item["id"].partition("_")[2], "scores": graded} for item in items]
    (tmp_path / "b.json").write_text(json.dumps({"x": {"data": traces}}))
    asked(tmp_path / "b.json", "what tells prompts apart")
    named = [{**trace, "id": f"quiz-{place}"} for place, trace in enumerate(traces)]
    (tmp_path / "c.json").write_text(json.dumps({"x": {"data": named}}))
    assert mapping_of(tmp_path / "c.json")["sample"]["prompt_id"] == "^.id"


def test_spans_of_a_trace_are_no_prompts(run: Caller, tmp_path: Path) -> None:
    """Raw events of Braintrust: the span of a scorer lies below that of its prompt, and
    has its score too."""
    store = str(tmp_path / "s.duckdb")
    for number, model in enumerate(("org/a", "org/b")):
        events = []
        for i in range(12):
            ids = [
                f"{100 * number + 2 * i + place:08x}-1b2c-4d5e-8f90-0a1b2c3d4e5f"
                for place in (0, 1)
            ]
            event = {
                "id": ids[0],
                "span_id": ids[0],
                "span_parents": None,
                "input": f"{i}+1?",
                "scores": {"right": i % 2},
            }
            events += [
                event,
                {
                    **event,
                    "id": ids[1],
                    "span_id": ids[1],
                    "span_parents": ids[:1],
                    "input": [event],
                },
            ]
        (tmp_path / "a.json").write_text(json.dumps({"events": events}))
        text = starting_mapping(tmp_path / "a.json")
        assert mapping_of(tmp_path / "a.json")["rows"]["skip"] == [
            {"path": "span_parents", "matching": "."}
        ]
        (tmp_path / "m.toml").write_text(text)
        given = ("--set", f"model={model}", "--set", "benchmark=sums")
        assert (
            run(
                "ingest",
                str(tmp_path / "a.json"),
                "--map",
                str(tmp_path / "m.toml"),
                *given,
                db=store,
            ).code
            == 0
        )
    (row,) = run("compare", "org/a", "org/b", "--json", db=store).rows
    assert (row["n_prompts"], row["mean_a"]) == (12, 0.5)


def test_ids_that_differ_where_the_content_is_the_same_are_asked_about(
    tmp_path: Path,
) -> None:
    named = {
        **RECORDS,
        "question_id": [
            f"{name}-{i}" for name, i in (("a", 7), ("a", 8), ("b", 7), ("b", 8))
        ],
    }
    pd.DataFrame(named).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    asked(tmp_path / "a.jsonl", "tells prompts apart")
    pd.DataFrame(RECORDS).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    assert mapping_of(tmp_path / "a.jsonl")["sample"]["prompt_id"] == "question_id"


# --- what a draft asks ----------------------------------------------------------------------------


def asked(path: Path, *words: str) -> str:
    """The draft for a file, which has to ask something and may say nothing that is used
    before."""
    text = starting_mapping(path)
    mistakes = parse_mapping(tomllib.loads(text))[1]
    assert any(
        all(word in mistake for word in ("[[choose]]", *words)) for mistake in mistakes
    ), mistakes
    return text


def csv(path: Path, columns: dict[str, Any]) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_a_choice_is_refused_with_its_line_until_it_is_made(
    tmp_path: Path, run: Caller
) -> None:
    path = csv(
        tmp_path / "a.csv",
        {"id": range(6), "resolved": [1, 0] * 3, "tests_passed": [3, 1, 2] * 2},
    )
    target = tmp_path / "m.toml"
    said = run("mapping", str(path), "-o", str(target))
    assert "decide what [[choose]] asks (1), then warehouse ingest" in said.err
    assert said.err.rstrip().endswith("--set model=NAME --set benchmark=NAME")
    lines = target.read_text(encoding="utf-8").splitlines()
    line = next(
        number for number, text in enumerate(lines, 1) if text.startswith("[[choose]]")
    )
    call = (
        "ingest",
        str(path),
        "--map",
        str(target),
        "--default",
        "model=m",
        "--default",
        "benchmark=b",
    )
    store = f"duckdb:///{tmp_path / 's.db'}"
    run(*call, db=store).fails(
        3, f"m.toml: line {line}: [[choose]]", "resolved", "tests_passed"
    )
    chosen = [
        text
        for text in lines
        if not text.startswith(("[[choose]]", "what =", "between ="))
    ]
    at = chosen.index('# metric = "resolved"') - 1
    chosen[at : at + 3] = [text.removeprefix("# ") for text in chosen[at : at + 3]]
    target.write_text("\n".join(chosen), encoding="utf-8")
    assert "6 scores" in run(*call, db=store).out


def test_nested_scores_are_found(tmp_path: Path) -> None:
    rows = [
        {
            "index": i,
            "target": "1",
            "sample": {
                "score": {"value": {"acc": float(i > 0)}, "prediction": "long " * 9}
            },
        }
        for i in range(4)
    ]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    values = mapping_of(tmp_path / "r.jsonl")
    assert values["scores"] == [{"metric": "acc", "value": "sample.score.value.acc"}]
    assert scores(read(tmp_path, values, {"model": "m", "benchmark": "b"}).rows) == [
        0,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("document", "at", "draws"),
    [
        (
            {f"q{i}": {"question": f"{i}?", "correct": i % 2} for i in range(9)},
            "{}",
            None,
        ),
        (
            {"meta": 1, "passed": {f"t_{i}": [True, i > 4] for i in range(9)}},
            "passed{}",
            "[]",
        ),
        ({f"t_{i}": i % 2 for i in range(9)}, "{}", None),
        (
            {"runs": {"a": {"items": [{"id": i, "score": i % 2} for i in range(9)]}}},
            "runs.a.items[]",
            None,
        ),
        (
            [{"model": "m", "items": [{"id": i, "score": i % 2} for i in range(9)]}],
            "[].items[]",
            None,
        ),
    ],
)
def test_keyed_objects_and_nested_lists_are_rows(
    tmp_path: Path, document: Any, at: str, draws: str | None
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    values = mapping_of(tmp_path / "r.json")
    assert (values["rows"]["at"], values["rows"].get("draws")) == (at, draws)
    taken = read(tmp_path, values, {"model": "m", "benchmark": "b"})
    assert len(taken.rows) == (18 if draws else 9) and not taken.rejections
    assert sum(scores(taken.rows)) == (13 if draws else 4)


def lists(**scores_of: list[int]) -> dict[str, Any]:
    return {
        key: [{"id": i, "correct": n} for i, n in enumerate(several)]
        for key, several in scores_of.items()
    }


@pytest.mark.parametrize(
    ("document", "words", "decision", "means"),
    [
        (
            lists(a=[1, 1], b=[0, 0]),
            'the keys "a", "b" above',
            {"model": "^@key"},
            {"a": 1, "b": 0},
        ),
        (
            {"runs": lists(u=[1, 0], v=[0, 0])},
            "above the records name",
            {"model": "^@key"},
            {"u": 0.5, "v": 0},
        ),
        (
            {
                "models": {
                    key: {"answers": lists(x=[n])["x"]}
                    for key, n in zip("abc", (1, 1, 0), strict=True)
                }
            },
            "above the records name",
            {"model": "^@key"},
            {"a": 1, "b": 1, "c": 0},
        ),
        (
            json.loads(
                pd.DataFrame(
                    {"model": ["a", "b"] * 3, "q": list("xxyyzz"), "score": [1, 0] * 3}
                ).to_json()
            ),
            'what "model", "q" hold, by the same keys',
            {"model": "$.model[@key]"},
            {"a": 1, "b": 0},
        ),
        (
            {"seed": 1} | lists(test=[1, 1, 1], dev=[0, 0]),
            "hold the samples",
            {},
            {"m": 1},
        ),
    ],
)
def test_records_that_lie_in_several_places_are_not_left_out(
    tmp_path: Path,
    document: Any,
    words: str,
    decision: dict[str, str],
    means: dict[str, float],
) -> None:
    """They were read from one of the places, without a word on the others."""
    (tmp_path / "r.json").write_text(json.dumps(document))
    values = tomllib.loads(asked(tmp_path / "r.json", words))
    del values["choose"]
    values["run"] |= decision
    taken = read(
        tmp_path, values, {"benchmark": "b"} | ({} if decision else {"model": "m"})
    )
    by_model: dict[str, list[float]] = {}
    for row in taken.rows:
        by_model.setdefault(taken.run_of(row).model, []).append(
            row["scores"][0]["value"]
        )
    assert {
        model: sum(several) / len(several) for model, several in by_model.items()
    } == means


def test_a_table_by_columns_below_other_keys(tmp_path: Path) -> None:
    by_column = json.loads(
        pd.DataFrame({"model": ["a", "b"] * 3, "score": [1, 0] * 3}).to_json()
    )
    (tmp_path / "r.json").write_text(
        json.dumps({"meta": {"date": 1}, "data": by_column})
    )
    asked(tmp_path / "r.json", 'what "data.model" hold')


def test_scores_under_names_of_models_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"id": i, "question": f"{i}?", "scores": {"gpt-4": 1, "llama-3.1": i % 2}}
        for i in range(4)
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    text = asked(tmp_path / "r.json", "(1) models, (2) metrics of one model")
    decided = re.sub(r"(?ms)^\[\[choose\]\].*?\n\n|^files.*?\n", "", text).replace(
        "[run]", '[run]\nmodel = { const = "{s}" }'
    )
    decided = '[each]\ns = ["gpt-4", "llama-3.1"]\n' + decided
    decided += '[[scores]]\nmetric = "acc"\nvalue = \'scores."{s}"\'\n'
    taken = read(tmp_path, tomllib.loads(decided), {"benchmark": "b"})
    assert sum(scores(taken.rows)) == 6 and {run.model for run in taken.runs} == {
        "gpt-4",
        "llama-3.1",
    }


def test_the_model_that_judged_is_not_the_one_that_answered(tmp_path: Path) -> None:
    samples = [{"id": i, "score": i % 2} for i in range(4)]
    config = {"judge": {"model": "gpt-4"}}
    (tmp_path / "r.json").write_text(json.dumps({"config": config, "samples": samples}))
    assert "model" not in mapping_of(tmp_path / "r.json").get("run", {})
    (tmp_path / "r.json").write_text(
        json.dumps({"config": config | {"model": {"name": "m"}}, "samples": samples})
    )
    assert mapping_of(tmp_path / "r.json")["run"]["model"] == "$.config.model.name"


def test_texts_of_generations_are_no_questions(tmp_path: Path) -> None:
    rows = [
        {"id": i, "samples": [{"text": "a", "score": 1}, {"text": "b", "score": i % 2}]}
        for i in range(4)
    ]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    taken = read(
        tmp_path, mapping_of(tmp_path / "r.jsonl"), {"model": "m", "benchmark": "b"}
    )
    assert [(row["prompt_id"], row["draw"], row["response"]) for row in taken.rows][
        :3
    ] == [
        ("0", 0, "a"),
        ("0", 1, "b"),
        ("1", 0, "a"),
    ]


def test_keys_that_name_the_models_again_are_not_asked_about(tmp_path: Path) -> None:
    runs = {key: {"model": f"m{key}", "items": lists(x=[1, 0])["x"]} for key in "abc"}
    (tmp_path / "r.json").write_text(json.dumps({"runs": runs}))
    taken = read(tmp_path, mapping_of(tmp_path / "r.json"), {"benchmark": "b"})
    assert {run.model for run in taken.runs} == {"ma", "mb", "mc"} and len(
        taken.rows
    ) == 6


def test_keys_that_say_again_what_the_records_say_are_not_asked_about(
    tmp_path: Path,
) -> None:
    document = {
        "date": 1,
        "eval": {f"T/{i}": [{"task_id": f"T/{i}", "passed": i > 1}] for i in range(4)},
    }
    (tmp_path / "r.json").write_text(json.dumps(document))
    values = mapping_of(tmp_path / "r.json")
    assert values["rows"]["at"] == "eval{}[]" and "choose" not in values
    assert scores(read(tmp_path, values, {"model": "m", "benchmark": "b"}).rows) == [
        0,
        0,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("key", "names"), [("models", ["x", "y"]), ("outputs", ["gpt-4o", "llama-3"])]
)
def test_names_of_models_beside_each_other_are_no_metrics(
    tmp_path: Path, key: str, names: list[str]
) -> None:
    rows = [
        {
            "id": i,
            "question": f"{i}?",
            key: [{"name": name, "score": 1} for name in names],
        }
        for i in range(3)
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    taken = read(tmp_path, mapping_of(tmp_path / "r.json"), {"benchmark": "b"})
    assert {run.model for run in taken.runs} == {*names}
    assert {score["metric"] for row in taken.rows for score in row["scores"]} == {
        "score"
    }


def test_tasks_of_a_document_may_be_benchmarks_with_published_figures(
    tmp_path: Path,
) -> None:
    document = {
        "model": "m",
        "results": {name: {"acc": 0.5, "acc_stderr": 0.1} for name in ("mmlu", "arc")},
    }
    (tmp_path / "r.json").write_text(json.dumps(document))
    asked(tmp_path / "r.json", "benchmarks, of which figures are published")


BIGCODE = {
    "humaneval": {"pass@1": 0.317, "pass@10": 0.48},
    "mbpp": {"pass@1": 0.412, "pass@10": 0.55},
}
SETTINGS = {"model": "org/m", "temperature": 0.2, "n_samples": 20, "do_sample": True}


def figures(taken: Any) -> set[tuple[str, str, str, float]]:
    return {
        (run.model, run.benchmark, one.metric, one.value)
        for run in taken.runs
        for one in run.published
    }


def test_figures_of_the_tasks_that_a_document_names(tmp_path: Path) -> None:
    """What bigcode-evaluation-harness writes: which column are the scores of the
    prompts was asked."""
    document = BIGCODE | {"config": SETTINGS | {"tasks": "humaneval,mbpp"}}
    (tmp_path / "evaluation_results.json").write_text(json.dumps(document))
    taken = read(tmp_path, mapping_of(tmp_path / "evaluation_results.json"))
    expected = {
        ("org/m", task, name, value)
        for task, pair in BIGCODE.items()
        for name, value in pair.items()
    }
    assert figures(taken) == expected and not taken.rows and not taken.rejections
    assert {run.temperature for run in taken.runs} == {0.2}


@pytest.mark.parametrize(
    ("document", "decision", "expected"),
    [
        (BIGCODE | {"config": SETTINGS}, {}, 4),
        ({"model": "org/m", "gsm8k": {"accuracy": 0.6, "n": 1319}}, {}, 1),
        (
            {
                "model": "org/m",
                "results": {"a": {"acc": 0.5}, "b": {"pass@1": 0.2}, "c": {"acc": 0.7}},
            },
            {},
            3,
        ),
        (
            {
                m: {t: {"acc": 0.5} for t in ("mmlu", "arc")}
                for m in ("gpt-4o", "llama-3")
            },
            {"model": "^@key"},
            4,
        ),
    ],
)
def test_figures_of_tasks_are_asked_about_and_right(
    tmp_path: Path, document: Any, decision: dict[str, str], expected: int
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    values = tomllib.loads(
        asked(
            tmp_path / "r.json",
            "(1) models" if decision else "of which figures are published",
        )
    )
    assert len(values.pop("choose")) == 1
    values["run"] |= decision
    taken = read(tmp_path, values)
    assert len(figures(taken)) == expected and not taken.rows and not taken.rejections
    assert {run.model for run in taken.runs} == (
        {"gpt-4o", "llama-3"} if decision else {"org/m"}
    )
    assert {one.n for run in taken.runs for one in run.published} <= {None, 1319}


def test_an_object_by_key_is_no_table(tmp_path: Path) -> None:
    """``{id: true}`` was a matrix of one model called ``true``, with the first id as
    its label."""
    (tmp_path / "r.json").write_text(
        json.dumps({"run": "x", "a__a-1": True, "b__b-2": False, "c__c-3": True})
    )
    text = asked(tmp_path / "r.json", "prompts by key, each with a score")
    said = (
        '[rows] at = "{}"; [[rows.skip]] path = "@key", equal_to = ["run"]; [sample] '
        'prompt_id = "@key", [[scores]]'
    )
    assert f'{said} metric = "score", value = "@"' in text
    values = {
        "rows": {"at": "{}", "skip": [{"path": "@key", "equal_to": ["run"]}]},
        "sample": {"prompt_id": "@key"},
        "scores": [{"metric": "score", "value": "@"}],
    }
    taken = read(tmp_path, values, {"model": "m", "benchmark": "b"})
    assert [row["prompt_id"] for row in taken.rows] == ["a__a-1", "b__b-2", "c__c-3"]
    assert scores(taken.rows) == [1, 0, 1]


def test_figures_by_key_and_by_name_are_offered_as_published(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps({"narrativeqa": 20.1, "qasper": 33.4}))
    assert (
        '[run] benchmark = "@key", [[published]] metric = "score", value = "@"'
        in asked(tmp_path / "r.json", "benchmarks by key, each with a published figure")
    )
    (tmp_path / "r.json").write_text(
        json.dumps({"pass@1": 0.38, "model": "m", "split": "full"})
    )
    assert '[[published]] metric = "pass@1", value = "pass@1"' in asked(
        tmp_path / "r.json", "none: they are published figures of a whole benchmark"
    )


@pytest.mark.parametrize(
    ("column", "name"),
    [("seed", "training_seed"), ("step", "step"), ("run_id", "run_id")],
)
def test_what_tells_figures_of_one_model_apart_is_offered_with_them(
    tmp_path: Path, column: str, name: str
) -> None:
    """Three figures of one model under three seeds were one figure, stated twice
    otherwise."""
    values = {column: [100, 200, 300], "accuracy": [0.5, 0.6, 0.7]}
    path = csv(
        tmp_path / "r.csv", {"model": ["ada"] * 3, "benchmark": ["quiz"] * 3} | values
    )
    text = asked(path, "figures of whole benchmarks or runs")
    assert (
        f'2. [run] {name} = "{column}", and for [[scores]], [[published]] metric = '
        '"accuracy"' in text
    )


def test_spreads_and_codes_are_not_offered_as_scores(tmp_path: Path) -> None:
    columns = {
        "mean": [0.6, 512],
        "variance": [0, 0],
        "stddev": [0, 0],
        "exit_code": [0, 1],
    }
    asked(csv(tmp_path / "a.csv", {"id": ["x", "y"]} | columns), "where the scores are")


def test_a_leaderboard_with_words_for_what_is_missing(tmp_path: Path) -> None:
    """Columns with a "-" were left out without a word, and the one that was left was a
    metric of no benchmark."""
    board = {
        "model": ["gpt-4", "llama-3", "qwen"],
        "MMLU": [86.4, 66.1, 58.1],
        "GSM8K": ["92.0", "-", "51.2"],
    }
    taken = read(
        tmp_path,
        mapping_of(csv(tmp_path / "b.csv", board | {"ARC": ["96.3", "60.2", "N/A"]})),
    )
    by_benchmark: dict[str, list[float]] = {}
    for _, benchmark, _, value in sorted(figures(taken)):
        by_benchmark.setdefault(benchmark, []).append(value)
    assert by_benchmark == {
        "MMLU": [86.4, 66.1, 58.1],
        "GSM8K": [92, 51.2],
        "ARC": [96.3, 60.2],
    }
    turned = {
        "dataset": ["gsm8k", "mmlu"],
        "metric": ["acc"] * 2,
        "llama-2-7b": ["16.3", "45.9"],
        "qwen-7b": ["51.2", "-"],
    }
    (tmp_path / "b.csv").unlink()
    taken = read(tmp_path, mapping_of(csv(tmp_path / "summary.csv", turned)))
    assert {figure[:2] + figure[3:] for figure in figures(taken)} == {
        ("llama-2-7b", "gsm8k", 16.3),
        ("llama-2-7b", "mmlu", 45.9),
        ("qwen-7b", "gsm8k", 51.2),
    }


@pytest.mark.parametrize("first", [True, False])
def test_a_mean_of_benchmarks_is_none_unless_it_is_taken(
    tmp_path: Path, run: Caller, first: bool
) -> None:
    means, board = (
        {"Average": [76.2, 58.6]},
        {"MMLU": [86.4, 66.1], "GSM8K": [66.0, 51.1]},
    )
    models, names = {"Model": ["gpt-4", "llama-3"]}, ["MMLU", "GSM8K"]
    rows = [
        {"model": model, "benchmark": name, "accuracy": value}
        for name, values in (board | means).items()
        for model, value in zip(models["Model"], values, strict=True)
    ]
    tables = {
        "wide": models | (means | board if first else board | means),
        "turned": {"benchmark": ["Average", *names] if first else [*names, "Average"]}
        | {model: [1.5] * 3 for model in models["Model"]},
        "long": pd.DataFrame(rows[::-1] if first else rows).to_dict("list"),
    }
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        path = csv(tmp_path / name / "b.csv", table)
        assert {
            figure[1] for figure in figures(read(path.parent, mapping_of(path)))
        } == {*names}, name
        said = run("mapping", str(path), "-o", str(tmp_path / f"{name}.toml")).err
        assert said.startswith("note: left out, since it sums up others: Average; "), (
            name
        )


def test_a_table_as_columns_and_rows(tmp_path: Path) -> None:
    """What Weights & Biases and MLflow write: no column was found in it."""
    names = ["question", "answer", "prediction", "correct"]
    rows = [[f"{i}?", "a", "ab"[i % 2], i % 2 == 0] for i in range(3)]
    (tmp_path / "t.table.json").write_text(
        json.dumps({"columns": names, "data": rows, "ncols": 4, "nrows": 3})
    )
    taken = read(
        tmp_path,
        mapping_of(tmp_path / "t.table.json"),
        {"model": "m", "benchmark": "b"},
    )
    assert scores(taken.rows) == [1, 0, 1] and [row["text"] for row in taken.rows] == [
        "0?",
        "1?",
        "2?",
    ]


def test_a_row_without_a_text_leaves_the_ids_what_they_are(tmp_path: Path) -> None:
    """A try of tau-bench that failed has no task in it."""
    rows = [
        {
            "task_id": i,
            "trial": trial,
            "reward": i % 2,
            "info": {"task": {"instruction": f"Do {i}"}},
        }
        for trial in range(2)
        for i in range(4)
    ]
    rows[3]["info"] = {"error": "EOF"}
    (tmp_path / "r.json").write_text(json.dumps(rows))
    taken = read(
        tmp_path, mapping_of(tmp_path / "r.json"), {"model": "m", "benchmark": "b"}
    )
    assert (
        not taken.rejections
        and len(taken.rows) == 8
        and {row["prompt_id"] for row in taken.rows} == {*"0123"}
    )
    assert sorted(row["draw"] for row in taken.rows) == [0] * 4 + [1] * 4


def test_files_that_must_be_saved_otherwise_are_named(
    tmp_path: Path, run: Caller
) -> None:
    """A format in the mapping was to help, and a mapping that could not be begun."""
    (tmp_path / "r.xlsx").write_bytes(b"PK\x03\x04")
    for command in ("ingest", "mapping"):
        shown = run(command, str(tmp_path / "r.xlsx")).err
        assert (
            "a spreadsheet" in shown
            and "save each of its sheets as CSV" in shown
            and "format =" not in shown
        )
    (tmp_path / "r.feather").write_bytes(b"ARROW1")
    shown = run("mapping", str(tmp_path / "r.feather")).err
    assert "save it as Parquet" in shown and "format =" not in shown


def test_the_words_of_a_judge_are_no_response_and_ids_are_named(tmp_path: Path) -> None:
    rows = [
        {"competition_id": name, "judge_output": {"response": "fine"}, "score": 0.5}
        for name in "abc"
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    text = asked(tmp_path / "r.json", "prompts with an id")
    assert (
        '[sample] prompt_id = "competition_id"' in text
        and "response" not in tomllib.loads(text)["sample"]
    )


def test_what_a_model_or_a_judge_said_is_no_target(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "inputs": {"question": f"{i}?"},
            "outputs": {"answer": "x"},
            "score": i % 2,
        }
        for i in range(4)
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    assert "target" not in mapping_of(tmp_path / "r.json")["sample"]
    notes = [{"name": name, "label": "ok", "score": 0.5} for name in ("tone", "style")]
    (tmp_path / "r.json").write_text(
        json.dumps([{"example_id": i, "annotations": notes} for i in range(4)])
    )
    assert "target" not in mapping_of(tmp_path / "r.json")["sample"]


def test_figures_of_one_metric_in_several_objects_are_of_several_benchmarks(
    tmp_path: Path,
) -> None:
    """Followed to the letter: NeMo-Skills' metrics."""
    document = {
        task: {"pass@1": {"num_entries": 9, "symbolic_correct": n}}
        for task, n in (("a", 81.2), ("b-c", 60.5))
    }
    (tmp_path / "r.json").write_text(json.dumps(document))
    text = asked(tmp_path / "r.json", "published figures of a whole benchmark")
    said = (
        '[each] benchmark = ["a.pass@1", "b-c.pass@1"], [run] benchmark = { const = '
        '"{benchmark}" }, [[published]] '
    )
    assert (
        f'{said}metric = "symbolic_correct", value = "{{benchmark}}.symbolic_correct"'
        in text
    )
    values = {
        "each": {"benchmark": ["a.pass@1", "b-c.pass@1"]},
        "run": {"benchmark": {"const": "{benchmark}"}},
        "published": [
            {"metric": "symbolic_correct", "value": "{benchmark}.symbolic_correct"}
        ],
    }
    assert figures(read(tmp_path, values, {"model": "m"})) == {
        ("m", "a.pass@1", "symbolic_correct", 81.2),
        ("m", "b-c.pass@1", "symbolic_correct", 60.5),
    }


def test_words_beside_scores_are_asked_about(tmp_path: Path) -> None:
    """No column looked like scores, though ingest took it for them."""
    table = {
        "model": ["m"] * 4,
        "benchmark": ["b"] * 4,
        "id": range(4),
        "score": ["0.5", "1.0", "ERROR", "0.5"],
    }
    values = tomllib.loads(
        asked(csv(tmp_path / "a.csv", table), 'rows without "score" count as')
    )
    del values["choose"]
    values["scores"][0]["if_null"] = "omit"
    assert scores(read(tmp_path, values).rows) == [0.5, 1, 0.5]


def test_what_lies_beside_benchmarks_is_none(tmp_path: Path) -> None:
    """The reading made a run of the key "model", which had no figures."""
    boards = {name: {"accuracy": 0.5} for name in ("gpt-4", "llama-3")}
    (tmp_path / "r.json").write_text(json.dumps({"model": "x", **boards}))
    text = asked(tmp_path / "r.json", "benchmarks, of which figures are published")
    assert (
        'at = "{}", [[rows.skip]] path = "@key", equal_to = ["model"], [run] benchmark '
        '= "@key"' in text
    )


def test_a_table_of_votes(tmp_path: Path, run: Caller) -> None:
    """Where scores are was asked of a table that ingest reads without a mapping."""
    rows = [
        {
            "question_id": i,
            "model_a": "x",
            "model_b": "y",
            "winner": "model_a",
            "turn": 1,
        }
        for i in range(3)
    ]
    (tmp_path / "v.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    values = mapping_of(tmp_path / "v.jsonl")
    assert "choose" not in values and "scores" not in values
    (tmp_path / "m.toml").write_text(starting_mapping(tmp_path / "v.jsonl"))
    named = ("--default", "benchmark=b")
    shown = [
        run(
            "ingest",
            str(tmp_path / "v.jsonl"),
            *named,
            *more,
            db=f"duckdb:///{tmp_path}/{name}.duckdb",
        ).out
        for name, more in (
            ("plain", ()),
            ("mapped", ("--map", str(tmp_path / "m.toml"))),
        )
    ]
    assert all("3 votes" in text for text in shown)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ((0, 1, -999), "-999 beside 0 to 1"),
        ((0.0, 3.5, -99.0), "-99 beside 0 to 3.5"),
        ((0, 1, -1), "score is -1 beside"),
        ((-1, 1, 1), ""),
        ((-120.0, -99.0, -7), ""),
    ],
)
def test_numbers_that_stand_for_no_score_are_no_scores(
    tmp_path: Path, run: Caller, scores: Any, says: str
) -> None:
    rows = [f"m,b,q{number},{score}\n" for number, score in enumerate(scores)]
    (tmp_path / "t.csv").write_text("model,benchmark,prompt_id,score\n" + "".join(rows))
    shown = run("ingest", str(tmp_path / "t.csv"), db=f"duckdb:///{tmp_path}/s.duckdb")
    assert says in shown.err and (" beside " in shown.err) == bool(says)
    assert shown.code == (3 if "-99" in says else 0)


def test_turns_are_prompts_and_a_verdict_of_minus_1_is_asked_about(
    tmp_path: Path, run: Caller
) -> None:
    """What MT-bench writes of a judge: -1 where its words hold no rating."""
    rows = [
        {
            "question_id": i,
            "model": "m",
            "turn": turn,
            "score": -1 if (i, turn) == (1, 2) else 7 + turn,
        }
        for i in range(3)
        for turn in (1, 2)
    ]
    path = tmp_path / "j.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    store = f"duckdb:///{tmp_path}/s.duckdb"
    shown = run(
        "ingest",
        str(path),
        "--default",
        "benchmark=b",
        "--on-duplicate",
        "draws",
        db=store,
    )
    assert "score is -1 beside 8 to 9, and counts as such" in shown.err
    values = tomllib.loads(
        asked(tmp_path / "j.jsonl", 'what -1 in "score" is, beside 8 to 9')
    )
    assert len(values.pop("choose")) == 1
    values["scores"][0]["value"] = {"path": "score", "null": ["-1"]}
    taken = read(tmp_path, values, {"benchmark": "b"})
    assert [score["value"] for row in taken.rows for score in row["scores"]] == [
        8,
        9,
        8,
        None,
        8,
        9,
    ]
    assert {row["prompt_id"] for row in taken.rows} == {
        f"{i} turn {turn}" for i in range(3) for turn in (1, 2)
    }
    for row in rows:
        row["score"] = min(row["score"], 1)
    (tmp_path / "j.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert "choose" not in mapping_of(
        tmp_path / "j.jsonl"
    )  # right, and wrong with a penalty


def test_scores_by_name_beside_each_other_are_metrics_of_one_prompt(
    tmp_path: Path,
) -> None:
    cases = [
        {
            "input": f"{i}?",
            "scores": [
                {"name": "exact", "value": i % 2},
                {"name": "style", "value": 0.5},
            ],
        }
        for i in range(4)
    ]
    (tmp_path / "r.json").write_text(json.dumps(cases))
    taken = read(
        tmp_path, mapping_of(tmp_path / "r.json"), {"model": "m", "benchmark": "b"}
    )
    assert taken.means(metric="exact") == {(): 0.5} and taken.means(metric="style") == {
        (): 0.5
    }
    assert {row["text"] for row in taken.rows} == {"0?", "1?", "2?", "3?"}


def test_names_that_name_nothing_are_not_taken(tmp_path: Path) -> None:
    path = csv(
        tmp_path / "a.csv",
        {
            "model": ["hf"] * 3,
            "task": ["default"] * 3,
            "id": [1, 2, 3],
            "score": [1, 0, 1],
        },
    )
    text = starting_mapping(path)
    assert not {"model", "benchmark"} & {*tomllib.loads(text)["run"]}
    assert (
        '"task" is none: "default" names nothing' in text
        and '"hf" is what runs models' in text
    )


FLAGS = {
    "Available": ["True"] * 4,
    "MoE": ["False", "True"] * 2,
    "Likes": [5, 9, 2, 7],
    "CO2 cost (kg)": [1.5] * 4,
}


def test_flags_and_counts_of_a_leaderboard_are_no_figures(tmp_path: Path) -> None:
    board = {
        "T": ["a"] * 4,
        "fullname": [f"org/m{i}" for i in range(4)],
        "MMLU": [64.2, 70.1, 55, 61.7],
    }
    csv(tmp_path / "b.csv", board | FLAGS | {"GSM8K": [50.5, 61.2, 40.9, 44]})
    taken = read(tmp_path, mapping_of(tmp_path / "b.csv"))
    assert {run.benchmark for run in taken.runs} == {"MMLU", "GSM8K"} and not taken.rows
    assert {run.model for run in taken.runs} == {f"org/m{i}" for i in range(4)}


def test_flags_alone_are_no_scores(tmp_path: Path) -> None:
    asked(
        csv(tmp_path / "b.csv", {"id": range(4)} | FLAGS),
        "whether any of these columns are scores",
    )


def test_a_figure_with_the_name_of_a_flag_is_a_figure(tmp_path: Path) -> None:
    path = tmp_path / "evaluators.csv"
    path.write_text(
        "model,Human agreement,Pearson corr.,Multimodal\n"
        "gpt4,70.98,0.94,1\n"
        "claude,65.3,0.93,0\n"
    )
    metrics = [figure["metric"] for figure in mapping_of(path)["published"]]
    assert metrics == ["Human agreement", "Pearson corr."]


def test_a_turned_leaderboard(tmp_path: Path) -> None:
    csv(
        tmp_path / "b.csv",
        {
            "Benchmark": ["MMLU", "GSM8K"],
            "GPT-4": [86.4, 92.0],
            "Llama 3 70B": [79.5, 93.0],
        },
    )
    taken = read(tmp_path, mapping_of(tmp_path / "b.csv"))
    figures = {
        (run.model, run.benchmark, one.value)
        for run in taken.runs
        for one in run.published
    }
    assert ("Llama 3 70B", "GSM8K", 93.0) in figures and len(figures) == 4


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"question_id": range(9), "alpha": [10.5] * 9, "beta": [3.5, 7.5, 9] * 3},
            "what the columns",
        ),
        ({"score": [0.5, 1.0, 0.25]}, "what the rows are"),
        (
            {
                "id": range(4),
                "faithfulness": [0.1, 0.2, 0.3, 0.4],
                "relevancy": [0.5] * 4,
            },
            "which columns",
        ),
        ({"id": range(4), "correct": [1, None, 0, 1]}, "count as"),
        (
            {"model": ["a", "a", "b", "b"], "id": range(4), "score": [1, 0, 1, 1]},
            "no two models",
        ),
        (
            {"id": range(4), "gold": list("ABCD"), "pred": ["A", "B", "D", None]},
            "count as",
        ),
        (
            {"id": range(4), "latency_ms": [5, 6, 7, 8], "cost": [0.1] * 4},
            "where the scores are",
        ),
        (
            {"question": ["x?", "x?", "y?"], "gold": list("AAB"), "score": [1, 0, 1]},
            "rows of the same",
        ),
    ],
)
def test_two_readings_are_asked_about(
    tmp_path: Path, columns: dict[str, Any], words: str
) -> None:
    asked(csv(tmp_path / "a.csv", columns), words)


def test_an_answer_column_is_held_against_the_target_rather_than_the_text_around_it(
    tmp_path: Path,
) -> None:
    rows = {
        "id": range(4),
        "answer": list("ABCD"),
        "generated_text": ["The answer is (A)."] * 4,
        "pred": list("ABCA"),
    }
    taken = read(
        tmp_path,
        mapping_of(csv(tmp_path / "a.csv", rows)),
        {"model": "m", "benchmark": "b"},
    )
    assert scores(taken.rows) == [1, 1, 1, 0]


def test_seeds_of_trials_are_no_training_seeds(tmp_path: Path) -> None:
    rows = {
        "task_id": [0, 0, 1, 1],
        "trial": [0, 1, 0, 1],
        "seed": [300, 301, 300, 301],
        "reward": [1, 0, 1, 1],
    }
    drafted = mapping_of(csv(tmp_path / "a.csv", rows))
    assert (
        drafted["sample"]["draw"] == "trial" and "training_seed" not in drafted["run"]
    )
    models = {
        "task_id": [0, 0, 1, 1],
        "trial": [0, 0, 0, 0],
        "seed": [300, 301, 300, 301],
        "reward": [1, 0, 1, 1],
    }
    assert mapping_of(csv(tmp_path / "b.csv", models))["run"]["training_seed"] == "seed"


def test_trials_are_generations_and_epochs_are_asked_about(tmp_path: Path) -> None:
    rows = {"task_id": [0, 0, 1, 1], "trial": [1, 2, 1, 2], "reward": [1, 0, 1, 1]}
    taken = read(
        tmp_path,
        mapping_of(csv(tmp_path / "a.csv", rows)),
        {"model": "m", "benchmark": "b"},
    )
    assert [row["draw"] for row in taken.rows] == [0, 1, 0, 1]
    asked(
        csv(
            tmp_path / "a.csv",
            {"epoch" if name == "trial" else name: c for name, c in rows.items()},
        ),
        '"epoch"',
    )


@pytest.mark.parametrize("kept", [("question",), ("datasource_item_id",), ()])
def test_ids_drawn_for_each_answer_above_its_scores_do_not_part_models(
    tmp_path: Path, run: Caller, kept: tuple[str, ...]
) -> None:
    """Output items of OpenAI's evals: their ids are of one run, and no two models
    shared a prompt."""

    def item(model: str, place: int) -> dict[str, Any]:
        results = [
            {"name": name, "score": (place + i) % 2}
            for i, name in enumerate(("exact_match", "judge_score"))
        ]
        found = {
            "id": f"outputitem_{place + 100 * ord(model):032x}",
            "results": results,
            "sample": {"model": model},
        }
        item = {"question": f"{place}+1?"} if "question" in kept else {}
        by_id = {"datasource_item_id": place} if "datasource_item_id" in kept else {}
        return found | {"datasource_item": item} | by_id

    (tmp_path / "a.jsonl").write_text(
        "".join(f"{json.dumps(item(m, i))}\n" for m in "ab" for i in range(12))
    )
    if not kept:
        asked(tmp_path / "a.jsonl", "no two models have a prompt in common")
        return
    (tmp_path / "m.toml").write_text(starting_mapping(tmp_path / "a.jsonl"))
    store = str(tmp_path / "s.duckdb")
    ingested = run(
        *(
            "ingest",
            str(tmp_path / "a.jsonl"),
            "--map",
            str(tmp_path / "m.toml"),
            "--set",
            "benchmark=b",
        ),
        db=store,
    )
    assert ingested.code == 0
    (row,) = run(
        "compare", "a", "b", "--metric", "exact_match", "--json", db=store
    ).rows
    assert (row["n_prompts"], row["difference"]) == (12, 0)


@pytest.mark.parametrize(
    ("text", "target", "response"),
    [
        ("inputs.query", "inputs.ground_truth", "inputs.response"),  # Azure's evaluate
        ("inputs", "reference_outputs", "outputs"),  # LangSmith's table, MLflow's
        ("inputs.question", "target.answer", "output"),  # Humanloop's
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_texts_of_exports_are_known_flattened_or_not(
    tmp_path: Path, text: str, target: str, response: str, suffix: str
) -> None:
    """The place of the row was the key: models pair wrongly where files differ in
    order."""
    columns = {
        text: ["1+1?", "2+3?"],
        target: ["two", "five"],
        response: ["two", "six"],
        "feedback.correct": [1, 0],
    }
    table = pd.DataFrame(columns)
    if suffix == "csv":
        table.to_csv(tmp_path / "a.csv", index=False)
    else:
        table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    mapping = mapping_of(tmp_path / f"a.{suffix}")
    names = {name: path.strip('"') for name, path in mapping["sample"].items()}
    assert mapping["key"] == ["text", "target"]
    assert names == {"text": text, "target": target, "response": response}


@pytest.mark.parametrize("name", ["gpt-4.1.csv", "gpt-4.1/answers.csv"])
def test_the_model_may_be_in_the_name_of_the_file_or_its_folder(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "runs" / name
    path.parent.mkdir(parents=True)
    text = starting_mapping(csv(path, {"id": [1, 2], "task": "b", "correct": [1, 0]}))
    wanted = "# its folder's" if "/" in name else "# the file's name"
    lines = [
        line.removeprefix("# ")
        if line.endswith(wanted) or line.startswith("# [path]")
        else line
        for line in text.splitlines()
    ]
    importer = IMPORTER.for_mapping(tomllib.loads("\n".join(lines)), "m.toml")
    (source,) = importer.claim(candidates(tmp_path))
    assert [run.model for run in importer.read(source, ImportSettings()).runs] == [
        "gpt-4.1"
    ]


@pytest.mark.parametrize("shape", ["wide", "by prompt", "by model"])
def test_models_that_columns_or_keys_name_are_among_the_readings(
    tmp_path: Path, shape: str
) -> None:
    """They were metrics of one model, or columns of which the first held the scores."""
    names, right = ("gpt-4o", "llama-3-8b"), {f"q{i}": (i % 2, 1) for i in range(30)}
    if shape == "wide":
        wide = {
            f"{name}_correct": [pair[n] for pair in right.values()]
            for n, name in enumerate(names)
        }
        path, chosen = (
            csv(tmp_path / "a.csv", {"question": [*right], **wide}),
            "'\"{system}_correct\"'",
        )
    else:
        by_prompt = {
            key: dict(zip(names, pair, strict=True)) for key, pair in right.items()
        }
        by_model = {
            name: {key: pair[n] for key, pair in right.items()}
            for n, name in enumerate(names)
        }
        (path := tmp_path / "a.json").write_text(
            json.dumps(by_prompt if shape == "by prompt" else by_model)
        )
        chosen = "'\"{system}\"'"
    text = asked(path)
    rest = (
        text[: text.index("[[choose]]")]
        + text[text.index("\n[", text.index("\n#   1.")) :]
    )
    if shape == "by model":
        assert '#   1. [rows] at = "{}{}", [run] model = "^@key"\n' in text
        text = rest.replace('at = "gpt-4o{}"', 'at = "{}{}"').replace(
            "[run]", '[run]\nmodel = "^@key"\n#'
        )
    else:
        each = 'system = ["gpt-4o", "llama-3-8b"]'
        assert (
            f'#   1. [each] {each}, with [run] model = {{ const = "{{system}}" }} and '
            "one [[scores]]" in text
        )
        assert f"value = {chosen}\n" in text
        model = '[run]\nmodel = { const = "{system}" }\n#'
        text = (
            f"{rest.replace('[run]', model)}\n"
            "[each]\n"
            f"{each}\n"
            "[[scores]]\n"
            'metric = "score"\n'
            f"value = {chosen}\n"
        )
    taken = read_toml(tmp_path, text, benchmark="b")
    found = [
        (taken.runs[row["run"]].model, score["value"])
        for row in taken.rows
        for score in row["scores"]
    ]
    assert Counter(found) == {
        ("gpt-4o", 0): 15,
        ("gpt-4o", 1): 15,
        ("llama-3-8b", 1): 30,
    }


def test_scores_in_a_list_beside_one_of_generations_are_draws(
    tmp_path: Path, run: Caller
) -> None:
    lists = [["a", "b", "c"], ["d"], None]
    records = [
        {
            "task_id": f"t{i}",
            "model": "m",
            "generations": texts,
            "passed": texts and [i, *([1] * (len(texts) - 1))],
        }
        for i, texts in enumerate(lists)
    ]
    (tmp_path / "a.jsonl").write_text(
        "".join(f"{json.dumps(record)}\n" for record in records)
    )
    (tmp_path / "m.toml").write_text(starting_mapping(tmp_path / "a.jsonl"))
    store = str(tmp_path / "s.duckdb")
    done = run(
        "ingest",
        str(tmp_path / "a.jsonl"),
        "--map",
        str(tmp_path / "m.toml"),
        "--set",
        "benchmark=b",
        db=store,
    )
    assert done.code == 0
    sql = (
        "select key, draw, value from score join prompt on prompt.id = prompt_id order "
        "by key, draw"
    )
    rows = run("query", "--sql", sql, "--json", db=store).rows
    assert [[*row.values()] for row in rows] == [
        ["t0", 0, 0],
        ["t0", 1, 1],
        ["t0", 2, 1],
        ["t1", 0, 1],
    ]
    alone = [
        {name: value for name, value in record.items() if name != "generations"}
        for record in records[:2]
    ]
    (tmp_path / "b.jsonl").write_text(
        "".join(f"{json.dumps(record)}\n" for record in alone)
    )
    asked(
        tmp_path / "b.jsonl", "where the scores are"
    )  # they may be parts of one answer, as tests are


@pytest.mark.parametrize(
    ("form", "is_step"),
    [("step{}", True), ("{}", True), ("1B-step{}", False), ("late", False)],
)
def test_a_step_in_a_text_is_its_number(
    tmp_path: Path, form: str, is_step: bool
) -> None:
    columns = {"model": "m", "task": "b", "id": [1, 2, 1, 2], "score": [1, 0, 0, 0]}
    table = columns | {"step": [form.format(step) for step in (9, 9, 10, 10)]}
    expected = (
        {"path": "step", "pattern": r"\d+"}
        if form == "step{}"
        else "step"
        if is_step
        else None
    )
    mapping = tomllib.loads(starting_mapping(csv(tmp_path / "a.csv", table)))
    assert mapping["run"].get("step") == expected


@pytest.mark.parametrize("column", ["judge", "checkpoint", "sample", "subject"])
def test_what_tells_rows_of_one_prompt_apart_is_asked_about(
    tmp_path: Path, run: Caller, column: str
) -> None:
    """As it stood ingest refused the draft: facts stood twice."""
    rows = [
        (m, f"q{i}", w, (i + k) % 3)
        for k, w in enumerate(("x", "y"))
        for m in "ab"
        for i in range(6)
    ]
    table = dict(
        zip(("model", "id", column, "score"), zip(*rows, strict=True), strict=True)
    )
    text = asked(
        csv(tmp_path / "a.csv", table),
        f'what "{column}" tells apart, where rows are of one prompt',
    )
    draft = text[: text.index("[[choose]]")] + text[text.index("\n[run]") :]
    draw = f'draw = {{ path = "{column}", values = {{ x = 0, y = 1 }} }}'
    assert f". [sample] {draw}\n" in text
    store, command = (
        str(tmp_path / "s.duckdb"),
        ("ingest", str(tmp_path / "a.csv"), "--set", "benchmark=b", "--map"),
    )
    for name, mapping in (
        ("as it was", draft),
        ("chosen", draft.replace("[sample]", f"[sample]\n{draw}\n#")),
    ):
        (tmp_path / f"{name}.toml").write_text(mapping)
        assert run(*command, str(tmp_path / f"{name}.toml"), db=store).code == (
            3 if name == "as it was" else 0
        )
    sql = "select model, estimate, n_prompts, n_draws from score_summary order by 1"
    found = [
        [*row.values()] for row in run("query", "--sql", sql, "--json", db=store).rows
    ]
    assert found == [["a", 1, 6, 12], ["b", 1, 6, 12]]


def test_a_file_that_an_importer_knows_is_said_to_be(run: Caller) -> None:
    shown = run("mapping", str(ROOT / "tests" / "data" / "inspect" / "grid.json"))
    assert "The importer inspect reads this file without a mapping" in shown.out


EXPORT = pd.DataFrame(
    [
        {
            "id": f"s{i}{name}",
            "traceId": f"t{i}",
            "name": name,
            "value": value,
            "source": "EVAL",
        }
        for i in range(6)
        for name, value in (("correctness", i % 2), ("helpfulness", i / 10))
    ]
)


def test_a_row_per_score_is_a_metric_by_its_name_and_a_prompt_by_its_owner(
    tmp_path: Path,
) -> None:
    EXPORT.to_csv(tmp_path / "a.csv", index=False)
    values = mapping_of(tmp_path / "a.csv")
    assert values["scores"] == [{"metric": {"path": "name"}, "value": "value"}]
    assert values["sample"]["prompt_id"] == "traceId"
    values["run"] = {"model": {"const": "m"}, "benchmark": {"const": "b"}}
    taken = read(tmp_path, values)
    flat = pd.DataFrame(
        [
            (s["metric"], s["value"], row["prompt_id"])
            for row in taken.rows
            for s in row["scores"]
        ]
    )
    assert (
        flat.groupby(0)[1].mean().to_dict()
        == EXPORT.groupby("name").value.mean().to_dict()
    )
    assert flat[2].nunique() == 6


def test_names_beside_ids_that_are_no_metrics(tmp_path: Path) -> None:
    EXPORT.replace({"correctness": "ada", "helpfulness": "bob"}).to_csv(
        tmp_path / "a.csv", index=False
    )
    assert "path" not in mapping_of(tmp_path / "a.csv")["scores"][0]["metric"]


def test_scores_in_lists_are_of_the_prompt_around_them(tmp_path: Path) -> None:
    traces = [
        {
            "id": f"t{i}",
            "output": "x",
            "scores": rows[["id", "name", "value"]].to_dict("records"),
        }
        for i, (_, rows) in enumerate(EXPORT.groupby("traceId"))
    ]
    (tmp_path / "a.json").write_text(json.dumps(traces))
    values = mapping_of(tmp_path / "a.json")
    assert values["sample"]["prompt_id"] == "^.id" and values["scores"][0][
        "metric"
    ] == {"path": "name"}


@pytest.mark.parametrize("turned", [False, True])
def test_the_average_of_models_is_no_model(tmp_path: Path, turned: bool) -> None:
    table = pd.DataFrame(
        {"MMLU": [88.7, 66.6, 77.6], "GSM8K": [95.8, 79.6, 87.7]},
        ["gpt-4o", "llama-3-8b", "Average"],
    )
    table = table.T.rename_axis("Benchmark") if turned else table.rename_axis("Model")
    table.to_csv(tmp_path / "a.csv")
    taken = read(tmp_path, mapping_of(tmp_path / "a.csv"))
    assert {run.model for run in taken.runs} == {
        "gpt-4o",
        "llama-3-8b",
    } and not taken.rejections


@pytest.mark.parametrize(
    "said", ["outputs.output", "outputs.answer"]
)  # as LangSmith and its users call it
def test_columns_that_an_export_flattened_are_known_by_their_last_name(
    tmp_path: Path, said: str
) -> None:
    rows: dict[str, list[Any]] = {
        "inputs.question": ["1+1?", "2+2?"],
        said: ["two", "five"],
        "reference_outputs.answer": ["2", "4"],
    }
    rows |= {"feedback.correctness": [1, 0], "error": ["null", "null"]}
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    values = mapping_of(tmp_path / "a.csv")
    assert values["sample"] == {
        "text": '"inputs.question"',
        "target": '"reference_outputs.answer"',
        "response": f'"{said}"',
    }
    assert values["scores"] == [
        {"metric": "correctness", "value": '"feedback.correctness"'}
    ]


@pytest.mark.parametrize("written", [json.dumps, str])
def test_scores_in_texts_of_objects_are_asked_about(
    tmp_path: Path, written: Callable[[Any], str]
) -> None:
    rows = {
        "id": ["q1", "q2"],
        "input": ["1+1?", "2+2?"],
        "output": ["2", "4"],
        "expected": ["2", "4"],
    }
    rows["scores"] = [
        written({"Factuality": 0.25, "n": 3, "of": None}),
        written({"Factuality": 0.5}),
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    text = starting_mapping(tmp_path / "a.csv")
    values = tomllib.loads(text)
    assert values["choose"][0]["between"][1:] == ['Factuality in the texts of "scores"']
    found = re.search(r"\[\[scores\]\] metric = (.+), value = (\{.+\})", text)
    assert found is not None
    score = tomllib.loads(f"metric = {found[1]}\nvalue = {found[2]}")
    values = {
        key: value for key, value in values.items() if key not in ("choose", "metrics")
    } | {"scores": [score]}
    values["run"] = {"model": {"const": "m"}, "benchmark": {"const": "b"}}
    assert scores(read(tmp_path, values).rows) == [0.25, 0.5]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_frame_of_inspects_samples_is_read_as_it_is_drafted(
    tmp_path: Path, run: Caller, kind: str
) -> None:
    """Epochs of a prompt are draws, C, P, I and N are what ``value_to_float`` makes of
    them."""
    frame = pd.DataFrame(
        {
            "sample_id": [f"Kx{number}Zq9" for number in range(8)],
            "eval_id": ["e"] * 8,
            "id": [1, 1, 2, 2, 3, 3, 4, 4],
            "epoch": [1, 2] * 4,
            "input": [f"{number // 2}+1?" for number in range(8)],
            "target": [str(number // 2 + 1) for number in range(8)],
            "score_match": [*"CICCCIIC"],
            "score_model_graded_qa": [*"CCPPNNII"],
        }
    )
    path = tmp_path / f"samples.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    draft, db = tmp_path / "draft.toml", f"duckdb:///{tmp_path / 's.db'}"
    said = run("mapping", str(path), "-o", str(draft)).err
    assert said.endswith(
        f"next: warehouse ingest {path} --map {draft} --set model=NAME --set "
        "benchmark=NAME\n"
    )
    done = run(
        "ingest",
        str(path),
        "--map",
        str(draft),
        "--set",
        "model=m",
        "--set",
        "benchmark=sums",
        db=db,
    )
    assert done.code == 0, done
    sql = (
        "select metric, estimate, n_prompts, n_draws from score_summary order by metric"
    )
    found = run("query", "--json", "--sql", sql, db=db).rows
    assert [tuple(row.values()) for row in found] == [
        ("score_match", 0.625, 4, 8),
        ("score_model_graded_qa", 0.375, 4, 8),
    ]


@pytest.mark.parametrize(
    "names", [("n", "c"), ("num_samples", "num_correct"), ("total", "passed_count")]
)
@pytest.mark.parametrize("of", [[10, 10, 10], [10, 20, 10]])
def test_counts_of_right_generations_are_offered_as_shares(
    tmp_path: Path, names: tuple[str, str], of: list[int]
) -> None:
    total, right = names
    path = csv(
        tmp_path / "a.csv", {"task_id": ["x", "y", "z"], total: of, right: [0, 3, 10]}
    )
    draft = asked(path, "where the scores are")
    value = f'{{ path = "{right}", scale = 0.1 }}' if len({*of}) == 1 else '"COLUMN"'
    assert (
        f'[[scores]] metric = "pass@1", value = {value}, n_draws = "{total}"' in draft
    )
    assert (f"write {right} / {total} into a column" in draft) == (len({*of}) > 1)
    more = csv(
        tmp_path / "b.csv", {"task_id": ["x", "y", "z"], total: of, right: [0, 30, 10]}
    )
    assert "pass@1" not in asked(more, "scores")


def test_fields_of_a_dataset_that_an_export_flattened_tell_prompts_apart(
    tmp_path: Path,
) -> None:
    """As Opik exports a comparison: by place, files in another order would be paired
    wrongly."""
    columns = {
        "dataset.question": ["a?", "b?"],
        "dataset.expected_output": ["x", "y"],
        "output": ["p", "q"],
    }
    draft = tomllib.loads(
        starting_mapping(
            csv(tmp_path / "a.csv", columns | {"feedback_scores.equals": [1, 0]})
        )
    )
    assert (
        draft["key"] == ["text", "target"]
        and draft["sample"]["text"] == '"dataset.question"'
    )


def test_ids_in_camel_case_stand_in_for_ids_that_are_drawn(tmp_path: Path) -> None:
    """As items of a run of a dataset in Langfuse."""
    items = [
        {
            "id": f"{i:08x}-1b2c-4d5e-8f90-0a1b2c3d4e5f",
            "datasetItemId": f"item-{i}",
            "output": "x",
        }
        for i in range(4)
    ]
    scores = [
        {"name": name, "value": value}
        for name, value in (("accuracy", 1), ("quality", 0.4))
    ]
    (tmp_path / "a.json").write_text(
        json.dumps({"data": [item | {"scores": scores} for item in items]})
    )
    assert mapping_of(tmp_path / "a.json")["sample"]["prompt_id"] == "^.datasetItemId"


def test_results_of_0_and_1_are_a_reading_beside_scores(tmp_path: Path) -> None:
    """As RewardBench has them beside the rewards of both answers."""
    columns = {
        "id": range(4),
        "results": [0, 1, 1, 0],
        "scores_chosen": [0.1, 0.4, 2, 1],
        "scores_rejected": [1, 0, 1, 2],
    }
    draft = asked(csv(tmp_path / "a.csv", columns), "which columns are the scores")
    assert 'between = ["results (0/1, 0 to 1; mean 0.5)", "scores_chosen' in draft


def test_lists_side_by_side_are_offered_as_rows(tmp_path: Path, run: Caller) -> None:
    """As RewardBench and ``Dataset.to_dict`` write columns; the reading works as it is
    said."""
    columns = {"id": ["x", "y", "z"], "results": [1, 0, 1], "model": "m"}
    (tmp_path / "a.json").write_text(json.dumps(columns))
    draft = asked(
        tmp_path / "a.json",
        "where the scores are",
        "lists id, results, which lie side by side",
    )
    assert '[rows] at = "SCORES[]"' in draft and 'prompt_id = "$.IDS[@index]"' in draft
    (tmp_path / "m.toml").write_text(
        "[rows]\n"
        'at = "results[]"\n'
        "[run]\n"
        'model = "$.model"\n'
        'benchmark = { const = "b" }\n'
        "[sample]\n"
        'prompt_id = "$.id[@index]"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "@"\n'
    )
    db = str(tmp_path / "s.db")
    assert (
        run(
            "ingest", str(tmp_path / "a.json"), "--map", str(tmp_path / "m.toml"), db=db
        ).code
        == 0
    )
    sql = (
        "select key, value from prompt_score join prompt on prompt.id = prompt_id "
        "order by key"
    )
    assert [
        [*row.values()] for row in run("query", "--sql", sql, "--json", db=db).rows
    ] == [
        ["x", 1],
        ["y", 0],
        ["z", 1],
    ]


def test_a_draft_without_a_reading_names_what_may_be_written(tmp_path: Path) -> None:
    raters = csv(
        tmp_path / "raters.csv",
        {"item": ["a", "b"] * 2, "rater1": [5, 3, 1, 4], "rater2": [4, 2, 2, 4]},
    )
    asked(raters, "where the scores are", "such as rater1 (1 to 5), rater2 (2 to 4)")
    path = tmp_path / "judged.jsonl"
    judged = {
        "question": "Q?",
        "label": "A>B",
        "judged": {"games": [{"decision": "A>B"}, {"decision": "B>A"}]},
    }
    path.write_text(
        "".join(json.dumps(judged | {"pair_id": number}) + "\n" for number in range(3))
    )
    draft = asked(
        path, "where the scores are", "judged.games[0].decision of each record"
    )
    assert (
        "# "
        + '  1. [[scores]] metric = "exact_match", value = { equals = ["judged.games[0].decision", "label"] }'
        in draft
    )
    scored = {
        "inputRecord": {"prompt": "2+2?"},
        "result": {"scores": [{"metricName": "Accuracy", "result": 0.5}]},
    }
    path.write_text(
        "".join(json.dumps(scored | {"n": number}) + "\n" for number in range(3))
    )
    draft = asked(
        path, "where the scores are", "result.scores[0].result of each record"
    )
    assert '[[scores]] metric = "result", value = "result.scores[0].result"' in draft


def test_metrics_by_a_length_are_offered_beside_the_others(tmp_path: Path) -> None:
    """As OLMES has them; without it the draft asked about fewer than there are."""
    path = tmp_path / "predictions.jsonl"
    metrics = [
        {
            "acc_raw": n % 2,
            "acc_per_token": n % 3 % 2,
            "acc_per_char": 1,
            "seconds_per_token": 1,
        }
        for n in range(6)
    ]
    path.write_text(
        "".join(
            json.dumps({"doc_id": n, "metrics": of}) + "\n"
            for n, of in enumerate(metrics)
        )
    )
    asked(
        path,
        "which columns",
        "metrics.acc_raw (0/1, 0 to 1",
        "metrics.acc_per_token (0/1, 0 to 1",
    )
    assert grade_of("seconds_per_token") is grade_of("cost_per_token") is Grade.NEVER


def test_figures_of_a_document_beside_one_that_is_called_a_score(
    tmp_path: Path,
) -> None:
    """As MixEval writes them."""
    (tmp_path / "score.json").write_text(
        '{"overall score": 61.2, "TriviaQA": 67.0, "MMLU": 70.1}'
    )
    draft = asked(
        tmp_path / "score.json",
        "which columns",
        "benchmarks by key, each with a published figure",
    )
    assert (
        '[rows] at = "{}"; [run] benchmark = "@key", [[published]] metric = "score", '
        'value = "@"' in draft
    )


MODELS = ["org/gpt-4", "org/llama-3"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # numbers with marks, errors and commas; how a benchmark was put; what is
        # missing
        (
            {"Model": MODELS, "MMLU (5-shot)": ["**86.4 ± 0.3**", "79.0"], "GSM8K (8-shot, CoT)": ["92.0*", "—"]},
            {("MMLU (5-shot)", 86.4), ("MMLU (5-shot)", 79.0), ("GSM8K (8-shot, CoT)", 92.0)},
        ),
        ({"Model": MODELS, "Elo": ["1,287 (+3/-4)", "1,250.5"]}, {("b", 1287.0), ("b", 1250.5)}),
        # what sums up others, and counts
        (
            {"fullname": MODELS, "Average ⬆️": [1.5, 2.5], "BBH": [2.5, 3.5], "Mean win rate": [0.5, 1]}
            | {"Generation": [0, 1]},
            {("BBH", 2.5), ("BBH", 3.5)},
        ),
        ({"Model": MODELS, "Zero-shot": ["95%", "90%"], "STS": [60.5, 61.5], "QA": [1.5, 2.5], "IR": [3.5, 4.5]},
         {("STS", 60.5), ("STS", 61.5), ("QA", 1.5), ("QA", 2.5), ("IR", 3.5), ("IR", 4.5)}),
        ({"Benchmark": ["MMLU", "QA"], "Shots": [5, 0], "gpt-4": [86.5, 1.5], "llama-3": [79.5, 2.5]},
         {("MMLU", 86.5), ("QA", 1.5), ("MMLU", 79.5), ("QA", 2.5)}),
    ],
)  # fmt: skip
def test_boards_as_people_write_them(
    tmp_path: Path, table: dict[str, Any], expected: set[tuple[str, float]]
) -> None:
    path = csv(tmp_path / "b.csv", table)
    mapping = {key: value for key, value in mapping_of(path).items() if key != "choose"}
    taken = figures(
        read(
            tmp_path,
            mapping,
            {} if "benchmark" in mapping["run"] else {"benchmark": "b"},
        )
    )
    assert {(benchmark, value) for _, benchmark, _, value in taken} == expected


def test_figures_below_each_other_are_taken_by_metric_with_error_and_size(
    tmp_path: Path,
) -> None:
    rows = [
        (m, "b", x, v, 0.1, 50) for m in MODELS for x, v in (("acc", 0.5), ("f1", 0.7))
    ]
    path = csv(
        tmp_path / "l.csv",
        pd.DataFrame(
            rows, columns=["model", "benchmark", "metric", "value", "stderr", "n"]
        ),
    )
    taken = [
        one for run in read(tmp_path, mapping_of(path)).runs for one in run.published
    ]
    assert Counter((one.metric, one.value, one.standard_error, one.n) for one in taken) == {
        ("acc", 0.5, 0.1, 50): 2, ("f1", 0.7, 0.1, 50): 2
    }  # fmt: skip


def test_what_tells_rows_apart_may_be_models(tmp_path: Path) -> None:
    """What TruLens writes: records of several versions of an app, and no model."""
    columns = {
        "app_version": ["v1"] * 4 + ["v2"] * 4,
        "input": ["a", "b", "c", "d"] * 2,
        "Context Relevance": [0.5] * 7 + [1],
    }
    choices = tomllib.loads(starting_mapping(csv(tmp_path / "records.csv", columns)))[
        "choose"
    ]
    assert any(
        "app_version" in choice["what"] and choice["between"][0] == "models"
        for choice in choices
    )
    assert (
        "Context Relevance"
        in starting_mapping(tmp_path / "records.csv").partition("[[scores]]")[2]
    )


def test_a_chart_of_weights_and_biases_holds_figures_by_step(
    run: Caller, tmp_path: Path
) -> None:
    """A column for each run, with the ends of what was drawn: neither is a model of
    prompts called 0, 1000 …"""
    heads = [
        f"{name} - eval/acc{end}"
        for name in ("fox-s1", "fox-s2", "owl-s1")
        for end in ("", "__MIN", "__MAX")
    ]
    lines = [",".join(["Step", *heads])]
    for step in (0, 1000, 2000):
        figures = [
            f"{0.25 + step / 10_000 + place / 100}"
            for place in range(3)
            for _ in range(3)
        ]
        lines.append(",".join([str(step), *figures]))
    lines[-1] = lines[-1].rsplit(",", 3)[0] + ",,,"
    path = tmp_path / "wandb_export.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    mapping = tmp_path / "m.toml"
    assert run("mapping", str(path), "-o", str(mapping)).code == 0
    dump = read(
        tmp_path,
        tomllib.loads(mapping.read_text(encoding="utf-8")),
        {"benchmark": "quiz"},
    )
    figures_by_run = {
        (header.model, header.step): header.published[0].value for header in dump.runs
    }
    assert len(figures_by_run) == 8
    assert figures_by_run["owl-s1", 1000] == pytest.approx(0.37)
    assert {header.published[0].metric for header in dump.runs} == {"eval/acc"}
