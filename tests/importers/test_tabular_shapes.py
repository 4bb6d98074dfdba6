"""Shipped mappings are found by what a file holds, whatever it is called."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.tabular import read_toml, scores
from warehouse.importers.tabular.mapping_files import shipped_mappings
from warehouse.importers.tabular.mapping_shapes import mappings_for

LINE = '{"benchmark_id": "lcb", "model": "a", "example_id": "Mbpp/2", "pass1": 1}\n'


@pytest.mark.parametrize(
    "name", ["lcb_codegen_v5.jsonl", "renamed.json", "packed.jsonl.gz"]
)
def test_a_file_named_by_hand_or_in_a_folder_is_taken_under_any_name(
    tmp_path: Path, run: Caller, name: str
) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    data = LINE.encode() * 2
    (folder / name).write_bytes(
        gzip.compress(data)
        if name.endswith(".gz")
        else LINE.encode() + b"\n" + data[:0]
    )
    for number, path in enumerate((folder / name, folder)):
        done = run(
            "ingest",
            str(path),
            "--map",
            "eval_arena",
            db=f"duckdb:///{tmp_path / f's{number}.db'}",
        )
        assert done.code == 0 and ": 1 run" in done.out, done


def test_others_of_the_shape_are_taken_with_those_that_are_named(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "mbpp+.jsonl").write_text(LINE)
    (tmp_path / "lcb_codegen_v6.jsonl").write_text(LINE.replace("lcb", "v6"))
    (tmp_path / "notes.jsonl").write_text('{"text": "no scores"}\n')
    done = run(
        "ingest",
        str(tmp_path),
        "--map",
        "eval_arena",
        db=f"duckdb:///{tmp_path / 's.duckdb'}",
    )
    assert done.code == 0 and ": 2 runs" in done.out


def test_a_file_of_another_shape_is_refused_with_what_it_lacks(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "x.jsonl").write_text('{"model": "a", "pass1": 1}\n')
    done = run(
        "ingest",
        str(tmp_path / "x.jsonl"),
        "--map",
        "eval_arena",
        db=f"duckdb:///{tmp_path / 's.db'}",
    )
    done.fails(3, "matches no file", "'benchmark_id': no such")


def test_a_shipped_mapping_that_a_file_fits_is_used_and_said(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "any.json").write_text(
        json.dumps({"raw_scored_generations": {"a": [True]}, "pass_at_1": 1, "x": 2})
    )
    (tmp_path / "arena.jsonl").write_text(LINE.replace("pass1", "pass2"))
    (tmp_path / "fits.jsonl").write_text(LINE)
    assert mappings_for(tmp_path / "fits.jsonl") == ["eval_arena"]
    assert mappings_for(tmp_path / "arena.jsonl") == []
    db = f"duckdb:///{tmp_path / 's.db'}"
    fits = str(tmp_path / "fits.jsonl")
    run("ingest", fits, "--no-map", db=db).fails(3, "--map eval_arena fits")
    done = run("ingest", fits, db=db)
    assert "read by the shipped mapping eval_arena, whose shape it has" in done.err
    assert run("list", "runs", "--json", db=db).rows[0]["model"] == "a"


def test_columns_that_may_be_missing_tell_a_shape_where_they_are_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "any.csv").write_text("user_input,response,faithfulness\nq,r,1\n")
    (tmp_path / "chat.csv").write_text("user_input,reply,score\nq,r,1\n")
    assert mappings_for(tmp_path / "any.csv") == ["ragas"]
    assert mappings_for(tmp_path / "chat.csv") == []


def test_each_mapping_fits_its_own_dump_only(data_dir: Path) -> None:
    names = {
        "bbq_unifiedqa": "bbq_unifiedqa/preds_Disability_status.jsonl",
        "dclm_database": "dclm_database/DCLM_model_database_half.csv",
        "cruxeval": "cruxeval_generations/phi-1_temp0.2_input.json",
        "mmlu_pro_matrix": "mmlu_pro_matrix/correct.parquet",
        "scaling_laws_evals": "scaling_laws/evals/evaluation_c4_original-d=1024_l=24_h=8-0.25_heavy.json",
        "ragas": "ragas/generated_0.4.3/ragas_results.csv",
        "terminal_bench": "terminal_bench/20250711_openhands_claude-4-sonnet/openhands-sonnet/results.json",
    }
    assert {*names} <= {*shipped_mappings()}
    assert {name: mappings_for(data_dir / path) for name, path in names.items()} == {
        name: [name] for name in names
    }


@pytest.mark.parametrize("where", ["inner", "outer"])
def test_optional_inside_first(tmp_path: Path, where: str) -> None:
    first = {"inner": '{ first = [{ path = "late", optional = true }, "early"] }'}
    first["outer"] = '{ first = ["late", "early"], optional = true }'
    for name, content in (
        ("a.csv", "id,early\n1,0\n2,1\n"),
        ("b.json", '[{"id": 1, "early": 0}, {"id": 2, "early": 1}]'),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text(content)
        mapping = (
            "[sample]\n"
            'prompt_id = "id"\n'
            "[[scores]]\n"
            'metric = "acc"\n'
            f"value = {first[where]}\n"
        )
        assert scores(read_toml(folder, mapping, model="m", benchmark="b").rows) == [
            0,
            1,
        ]


def test_what_a_mapping_reads_packed_is_not_to_be_unpacked(
    tmp_path: Path, run: Caller
) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.write(tmp_path / "x.csv", "x.csv")
    db = f"duckdb:///{tmp_path / 's.db'}"
    run("ingest", str(tmp_path / "x.zip"), db=db).fails(
        3, "tables in .zip and .gz are read as they are with --map"
    )
    said = run("ingest", str(tmp_path / "x.zip"), "--map", "eval_arena", db=db)
    said.fails(3, "no such column")
    assert "unpack" not in said.err


def test_broken_json_is_named_with_line_and_column(tmp_path: Path, run: Caller) -> None:
    (tmp_path / "x.json").write_text('{"model": "a",\n "x": [1,2,,3]}')
    db = f"duckdb:///{tmp_path / 's.db'}"
    for call in (("mapping",), ("ingest",), ("ingest", "--map", "eval_arena")):
        given = {} if call == ("mapping",) else {"db": db}
        run(call[0], str(tmp_path / "x.json"), *call[1:], **given).fails(
            3, "line 2 column 12"
        )
