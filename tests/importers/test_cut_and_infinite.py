"""Files that end inside a row, infinite scores, and paths that name another model."""

from __future__ import annotations

import json
import shutil
from itertools import permutations
from pathlib import Path

import pytest

from tests.support import helm, inspect_logs, lm_eval
from tests.support.cli import Caller
from warehouse.importers.inspect import IMPORTER as INSPECT
from warehouse.ingest.pipeline import ingest
from warehouse.records import parse_json
from warehouse.store.open import open_store

LM_EVAL = Path(__file__).parents[1] / "data" / "lm_eval" / "v0_4_13" / "org__demo-model"
ROWS = [
    {"model": "m", "benchmark": "toy", "prompt_id": f"p{n}", "score": n % 2}
    for n in range(9)
]
LINES = "\n".join(json.dumps(row) for row in ROWS)
CELLS = "\n".join(
    ["model,benchmark,prompt_id,score", *(f"m,toy,p{n},{n % 2}" for n in range(9))]
)


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("r.jsonl", LINES[:-12], "truncated"),
        ("r.jsonl", LINES, "complete"),
        ("r.csv", CELLS[:-3], "truncated"),
        ("r.csv", CELLS[:-3] + "\n", "complete"),  # a short row, but a whole line
        ("r.csv", CELLS.replace("p3,1", "p3"), "complete"),
        ("r.csv", CELLS, "complete"),
    ],
)
def test_a_file_that_ends_inside_a_row_is_truncated(
    run: Caller, tmp_path: Path, name: str, text: str, status: str
) -> None:
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    (tmp_path / name).write_text(text)
    assert run("ingest", str(tmp_path / name), "--max-rejected", "1", db=url).code == 0
    found = run("query", "select status from run", "--json", db=url).rows
    assert found == [{"status": status}]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_infinite_scores_and_lists_are_counted_and_kept(
    run: Caller, tmp_path: Path, form: str
) -> None:
    odd = {3: float("inf"), 4: [1, 2]}
    rows = [
        row | {"score": odd.get(place, row["score"])} for place, row in enumerate(ROWS)
    ]
    text = {
        "jsonl": "\n".join(map(json.dumps, rows)) + "\n",
        "json": json.dumps(rows),
        "csv": CELLS.replace("p3,1", "p3,Infinity").replace("p4,0", 'p4,"[1, 2]"')
        + "\n",
    }[form]
    table, url = tmp_path / f"r.{form}", f"duckdb:///{tmp_path / 's.duckdb'}"
    table.write_text(text)
    read = run("ingest", str(table), db=url)
    assert (
        "1 value of 'score', infinite where no score can be: kept as text, unscored"
        in read.err
    )
    assert "(prompt p3 of m)" in read.err
    assert "1 value of 'score', no number: kept as text, unscored" in read.err
    found = run(
        "query",
        "select raw from score where value is null order by raw",
        "--json",
        db=url,
    )
    assert [row["raw"].replace(" ", "") for row in found.rows] == ["Infinity", "[1,2]"]


HARNESSES = {
    "lm_eval": (
        LM_EVAL,
        "samples_demo_gen_*.jsonl",
        '"exact_match": 1.0',
        '"exact_match": Infinity',
        "exact_match",
    ),
    "helm": (
        helm.FIXTURES
        / "simple_classification-model=simple_model1,max_train_instances=1",
        "per_instance_stats.json",
        '"sum": 0, "sum_squared": 0, "min": 0, "max": 0, "mean": 0.0, "variance": 0.0, '
        '"stddev": 0.0}, {"name": {"name": "quasi_exact_match"',
        '"sum": 0, "sum_squared": 0, "min": 0, "max": 0, "mean": Infinity, "variance": '
        '0.0, "stddev": 0.0}, {"name": {"name": "quasi_exact_match"',
        "exact_match",
    ),
}


@pytest.mark.parametrize("harness", HARNESSES)
def test_an_infinite_score_of_a_harness_is_counted_and_kept(
    run: Caller, tmp_path: Path, harness: str
) -> None:
    source, pattern, finite, infinite, metric = HARNESSES[harness]
    folder, url = tmp_path / source.name, f"duckdb:///{tmp_path / 's.duckdb'}"
    shutil.copytree(source, folder)
    (samples,) = folder.glob(pattern)
    text = samples.read_text()
    assert finite in text
    samples.write_text(text.replace(finite, infinite, 1))
    read = run("ingest", str(folder), db=url)
    assert (
        f"1 value of '{metric}', infinite where no score can be: kept as text"
        in read.err
    )
    found = run(
        "query",
        "select raw, status from score where lower(raw) like '%inf%'",
        "--json",
        db=url,
    ).rows
    assert [row["raw"].lower()[:3] for row in found] == ["inf"]


@pytest.mark.parametrize("order", list(permutations(("version", "status", "eval"))))
def test_a_log_is_known_whatever_the_order_of_its_keys(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    whole = inspect_logs.FIXTURES / "grid.json"
    document = parse_json(whole.read_bytes())
    ordered = {key: document[key] for key in order} | document
    (tmp_path / "log.json").write_text(json.dumps(ordered))
    found = inspect_logs.take(tmp_path / "log.json")
    assert [row["prompt_id"] for row in found.rows] == [
        row["prompt_id"] for row in inspect_logs.take(whole).rows
    ]
    assert lm_eval.claimed(tmp_path, importer=INSPECT)


@pytest.mark.parametrize(
    ("folder", "n"), [("org__demo-model", 0), ("org__other", 1), ("mine", 0)]
)
def test_a_folder_of_the_harness_that_names_another_model_is_noted(
    tmp_path: Path, folder: str, n: int
) -> None:
    (tmp_path / folder).mkdir()
    (results,) = LM_EVAL.glob("results_*.json")
    shutil.copy(results, tmp_path / folder)
    notes = lm_eval.take(tmp_path / folder).dump.notes
    assert sum("the folder says that the model is" in note for note in notes) == n


@pytest.mark.parametrize(("named", "n"), [("org_m", 0), ("org_other", 1)])
def test_a_run_folder_of_helm_that_names_another_model_is_noted(
    tmp_path: Path, named: str, n: int
) -> None:
    held = helm.spec()["adapter_spec"]["model"]
    name = held.replace("/", "_") if n == 0 else named
    plain = helm.plain(tmp_path)
    folder = plain.rename(plain.with_name(f"quiz:k=1,model={name}"))
    notes = helm.take(folder).dump.notes
    assert sum("the folder says that the model is" in note for note in notes) == n


@pytest.mark.parametrize("harness", ["inspect", "helm"])
def test_names_of_files_that_are_no_utf8_do_not_matter(
    store_url: str, tmp_path: Path, harness: str
) -> None:
    folder = tmp_path / "in"
    if harness == "inspect":
        folder.mkdir()
        shutil.copy(inspect_logs.FIXTURES / "grid.json", folder / "lo\udcffg.json")
    else:
        plain = helm.plain(folder)
        plain.rename(plain.with_name("qui\udcffz"))
    with open_store(store_url, create=True, write=True) as store:
        report = ingest(store, [folder])
        assert [item.error for item in report.sources] == [""]
        places = store.arrow("select place from run_source").column(0).to_pylist()
    assert places and all("\udcff" not in (place or "") for place in places)


@pytest.mark.parametrize("bad", ["\\u0000", "\\ud800"])
def test_a_name_that_the_store_cannot_hold_is_no_blame_on_the_importer(
    run: Caller, store_url: str, tmp_path: Path, bad: str
) -> None:
    (results,) = LM_EVAL.glob("results_*.json")
    text = results.read_text().replace("org/demo-model", f"org/de{bad}mo")
    (tmp_path / results.name).write_text(text)
    read = run("ingest", str(tmp_path), db=store_url)
    assert "defect" not in read.err


def test_a_number_too_large_to_square_is_counted_and_kept(
    run: Caller, tmp_path: Path
) -> None:
    """It had been left out without a word."""
    table, url = tmp_path / "large.csv", f"duckdb:///{tmp_path / 's.duckdb'}"
    table.write_text(
        "model,benchmark,prompt_id,score\n"
        "a,b,q1,1e200\n"
        "a,b,q2,-1e150\n"
        "a,b,q3,3.5\n"
        "a,b,q4,inf\n"
    )
    read = run("ingest", str(table), db=url)
    assert (
        "2 values of 'score', 1e140 or more, too large to calculate with: kept as "
        "text, unscored" in read.err
    )
    assert (
        "1 value of 'score', infinite: kept as text, and such in every figure"
        in read.err
    )
    assert (
        len(
            run(
                "query", "select raw from score where value is null", "--json", db=url
            ).rows
        )
        == 3
    )
