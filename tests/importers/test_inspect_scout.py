"""Scans of Inspect Scout. The scan of ``tests/data/inspect_scout`` was written by the
real package over two logs of ``tests/data/inspect``
(``tests/writers/inspect_scout_scan.py``)."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.inspect_logs import as_first_asked
from tests.support.stores import select, store_at
from warehouse.errors import InputError
from warehouse.importers.common.file_walk import look_at
from warehouse.importers.inspect_scout.importer import _READ, IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.records import Candidate, Dump, ImportSettings
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

DATA = Path(__file__).parents[1] / "data"
SCAN = DATA / "inspect_scout" / "scan_id=TsNfC3xHXRk2eyXVowErAD"
LOGS = [DATA / "inspect" / f"{name}.eval" for name in ("grid", "faults")]
Row = dict[str, Any]


def claimed(folder: Path) -> list[Any]:
    seen = [look_at(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    return list(IMPORTER.claim([item for item in seen if isinstance(item, Candidate)]))


def take(folder: Path) -> tuple[Dump, list[Row]]:
    """What is read of a scan, with its rows under the names of their metrics."""
    (source,) = claimed(folder)
    dump = IMPORTER.read(source, ImportSettings())
    assert dump.scan is not None and not dump.runs
    names = [metric.name for metric in dump.scan.metrics]
    rows = [row for batch in dump.scan.batches for row in batch.to_pylist()]
    return dump, [{**row, "metric": names[row["metric"]]} for row in rows]


def of(rows: list[Row], metric: str, place: str, position: int = 0) -> tuple[Any, ...]:
    """Value, text, status and label of one metric and generation."""
    (found,) = (
        row
        for row in rows
        if (row["metric"], row["place"].partition("/")[2], row["position"])
        == (metric, place, position)
    )
    return tuple(found[name] for name in ("value", "raw", "status", "label"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SCAN, tmp_path / SCAN.name))


def change(path: Path, **columns: Any) -> None:
    """Columns of a Parquet file with other values: one for all rows, or a function of
    the old one; None drops it."""
    table = pq.read_table(path)
    for name, value in columns.items():
        place = table.schema.get_field_index(name)
        if value is None:
            table = table.drop_columns(name)
            continue
        old = table.column(name).to_pylist()
        new = pa.array(
            [value(item) if callable(value) else value for item in old], type=None
        )
        table = table.set_column(place, name, new)
    pq.write_table(table, path)


def test_scanners_are_metrics_with_version_parameters_and_judge() -> None:
    dump, _ = take(SCAN)
    assert dump.scan is not None and dump.scan.scan_id == "TsNfC3xHXRk2eyXVowErAD"
    by_name = {metric.name: metric for metric in dump.scan.metrics}
    assert list(by_name) == [
        *("doubtful", "judge", "length", "letters"),
        *("shape.chars", "shape.has_digit", "shape.first", "unsure", "words"),
    ]
    judge = by_name["judge"]
    assert (judge.scorer_kind, judge.judge_model, judge.filter) == (
        "model",
        "mockllm/model",
        "scan v2 mockllm/model",
    )
    assert judge.scorer_parameters == {"scanner": "judge", "version": 2}
    unsure = by_name["unsure"]  # a key of one's own, and parameters
    assert (unsure.scorer_kind, unsure.judge_model, unsure.scorer) == (
        "match",
        "",
        "unsure",
    )
    assert unsure.scorer_parameters == {
        "scanner": "hedges",
        "version": 0,
        "params": {"word": "hm"},
    }
    assert by_name["letters"].unit == "items" and by_name["words"].unit == ""
    assert {metric.higher_is_better for metric in dump.scan.metrics} == {None}


def test_values_are_cast_by_their_types() -> None:
    _, rows = take(SCAN)
    assert of(rows, "words", "q/1/2") == (3.0, None, "scored", None)
    assert of(rows, "unsure", "last/2") == (1.0, None, "scored", "hedge")
    assert of(rows, "unsure", "7/1") == (0.0, None, "scored", "hedge")
    assert of(rows, "shape.chars", "7/2") == (5.0, None, "scored", None)
    assert of(rows, "shape.has_digit", "q/1/1") == (1.0, None, "scored", None)
    assert of(rows, "shape.first", "7/2") == (None, "C", "not_scalar", None)
    assert of(rows, "doubtful", "good/1") == (None, "calm", "not_scalar", None)


def test_a_list_is_counted_with_its_items_and_an_empty_one_is_none() -> None:
    _, rows = take(SCAN)
    assert of(rows, "letters", "7/1") == (1.0, None, "scored", None)
    assert of(rows, "letters", "7/1", 1) == (None, "L", "not_scalar", "capital")
    assert of(rows, "letters", "last/1") == (0.0, None, "scored", None)


def test_errors_refusals_and_null_on_purpose_are_told_apart() -> None:
    dump, rows = take(SCAN)
    assert of(rows, "doubtful", "bad/1") == (None, "nothing was said", "error", None)
    assert of(rows, "doubtful", "refused/1") == (
        None,
        "I cannot judge this",
        "refused",
        None,
    )
    assert of(rows, "doubtful", "long/1") == (None, None, "no_answer", None)
    assert dump.notes == [
        "length looked at each message: their mean is the score of a generation",
        "the scan is not complete: 2 of 13 of doubtful failed",
        "published means over all 13 generations together agree: words",
    ]


def test_generations_are_named_by_uuid_and_by_place() -> None:
    _, rows = take(SCAN)
    (row,) = (
        row
        for row in rows
        if row["metric"] == "words" and row["uuid"] == "ddkmpjhVmiWFnSZd7PAyNx"
    )
    assert row["place"] == "nSUhVeSJ9gbRBuzcDMskrY/bad/1"  # numbers and texts are texts
    assert row["scanned_at"].isoformat() > "2026-11-25"


def test_an_error_of_an_object_stands_for_each_key(copy: Path) -> None:
    change(
        copy / "shape.parquet",
        scan_error=lambda old: old,
        value=lambda old: None if '"L"' in old else old,
    )
    _, rows = take(copy)
    assert [
        of(rows, f"shape.{key}", "7/1")[2] for key in ("chars", "has_digit", "first")
    ] == ["no_answer"] * 3
    assert "shape" not in {row["metric"] for row in rows}


def test_objects_of_too_many_keys_are_texts(copy: Path) -> None:
    numbers = iter(range(1000))
    change(
        copy / "shape.parquet",
        value=lambda _: json.dumps({f"k{next(numbers)}": 1 for _ in range(20)}),
    )
    dump, rows = take(copy)
    assert (
        "shape: objects of 260 different keys are kept as texts, unscored" in dump.notes
    )
    assert of(rows, "shape", "7/1")[2] == "not_scalar"


@pytest.mark.parametrize(
    ("kind", "text", "value", "status"),
    [
        ("number", "1e3", 1000.0, "scored"),
        ("number", "NaN", None, "not_scalar"),
        ("number", "1e999", None, "not_scalar"),
        ("number", "1_000", None, "not_scalar"),
        ("number", "five", None, "not_scalar"),
        ("boolean", "True", 1.0, "scored"),
        ("boolean", "1", None, "not_scalar"),
        ("string", "7", None, "not_scalar"),  # a label may be a digit
        ("array", "[1, 2]", None, "not_scalar"),
        (
            "resultset",
            '[1, true, {"value": null}, {"value": {"a": 1}}, "x"]',
            5.0,
            "scored",
        ),
        ("resultset", "[1", None, "not_scalar"),
        ("object", "[1]", None, "not_scalar"),
        ("another", "x", None, "not_scalar"),
    ],
)
def test_odd_values(
    copy: Path, kind: str, text: str, value: float | None, status: str
) -> None:
    change(copy / "words.parquet", value=text, value_type=kind)
    _, rows = take(copy)
    assert of(rows, "words", "7/1")[:3:2] == (value, status)
    assert of(rows, "words", "7/1")[1] == (text if value is None else None)
    if text.startswith("[1, true"):
        items = [of(rows, "words", "7/1", place)[:3] for place in range(1, 6)]
        assert items == [
            (1.0, None, "scored"),
            (1.0, None, "scored"),
            (None, None, "no_answer"),
            (None, '{"a":1}', "not_scalar"),
            (None, "x", "not_scalar"),
        ]


def test_columns_of_0_1(copy: Path) -> None:
    (copy / "_summary.json").unlink()
    for path in copy.glob("*.parquet"):
        table = pq.read_table(path)
        old = {
            "transcript_task_id": "id",
            "transcript_task_repeat": "epoch",
            "transcript_model": "model",
        }
        table = table.rename_columns(
            [old.get(name, name) for name in table.column_names]
        )
        pq.write_table(
            table.drop_columns(
                ["uuid", "label", "validation_target", "validation_result"]
            ),
            path,
        )
    dump, rows = take(copy)
    assert of(rows, "words", "q/1/2") == (3.0, None, "scored", None)
    assert of(rows, "unsure", "last/2") == (1.0, None, "scored", None)
    assert not any("published" in note for note in dump.notes)


def test_a_large_input_is_not_read(copy: Path) -> None:
    path = copy / "words.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index("input")
    table = table.set_column(
        place, "input", pa.array(["x" * 1_000_000] * table.num_rows)
    )
    pq.write_table(table, path, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    start = whole.index(b"x" * 100)
    path.write_bytes(
        whole[:start] + b"\xff" * 64 + whole[start + 64 :]
    )  # damaged where nobody looks
    assert of(take(copy)[1], "words", "q/1/2")[0] == 3.0


def test_errors_that_lack_a_row_are_added(copy: Path) -> None:
    path = copy / "doubtful.parquet"
    table = pq.read_table(path)
    pq.write_table(
        table.filter(
            pa.array([item is None for item in table.column("scan_error").to_pylist()])
        ),
        path,
    )
    _, rows = take(copy)
    left = {
        row["uuid"]: (row["raw"], row["status"])
        for row in rows
        if row["metric"] == "doubtful" and row["raw"]
    }
    assert left["ddkmpjhVmiWFnSZd7PAyNx"] == ("nothing was said", "error")
    assert left["QJFQr8BJLYvvomdSbPRina"] == ("I cannot judge this", "refused")
    assert sum(row["metric"] == "doubtful" for row in rows) == 13


def test_a_mean_that_the_values_do_not_have_is_told(copy: Path) -> None:
    path = copy / "_summary.json"
    path.write_text(path.read_text().replace("1.3846153846153846", "1.5"))
    dump, _ = take(copy)
    assert "words: a mean of 1.5 is published, its 13 values have 1.38462" in dump.notes


def test_scanners_without_values_are_told(copy: Path) -> None:
    (copy / "words.parquet").unlink()
    dump, _ = take(copy)
    assert (
        "the scan is not complete: 2 of 13 of doubtful failed, no values of words"
        in dump.notes
    )


def test_keys_and_passwords_are_dropped(copy: Path, tmp_path: Path) -> None:
    secret = "sk-proj-" + "Ab1" * 16
    spec = json.loads((copy / "_scan.json").read_text())
    spec["scanners"]["unsure"]["params"] = {"word": "hm", "api_key": secret}
    (copy / "_scan.json").write_text(json.dumps(spec))
    change(
        copy / "doubtful.parquet",
        scan_error=f"wrong key {secret}",
        value=lambda _: None,
    )
    with open_store(
        f"duckdb:///{tmp_path / 'x.duckdb'}", create=True, write=True
    ) as store:
        assert not ingest(store, [copy]).refused
        told = str(select(store, "select parameters from scorer")) + str(
            select(store, "select raw from scan_value")
        )
        assert "hm" in told and "wrong key" in told and secret not in told


def test_a_row_without_an_id_is_rejected(copy: Path) -> None:
    change(copy / "words.parquet", transcript_id="", transcript_source_id=None)
    dump, rows = take(copy)
    assert not [row for row in rows if row["metric"] == "words"]
    assert (len(dump.rejections), dump.rejections[0].place) == (
        13,
        "words.parquet, row 1",
    )


# --- what is no whole scan ------------------------------------------------------------------------


def test_only_folders_of_scans_are_claimed(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shutil.copy(copy / "words.parquet", tmp_path / "other")
    (tmp_path / "other" / "_scan.json").write_text('{"scan": 1}')
    (source,) = claimed(tmp_path)
    assert source.root == copy and len(source.files) == 10
    renamed = copy.rename(tmp_path / "renamed")
    assert [item.root for item in claimed(tmp_path)] == [renamed]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda folder: (folder / "_scan.json").unlink(), "no _scan.json beside"),
        (lambda folder: (folder / "_scan.json").write_text("{}"), "no scan_id"),
        (
            lambda folder: [path.unlink() for path in folder.glob("*.parquet")],
            "holds no values",
        ),
        (
            lambda folder: (folder / "words.parquet").write_bytes(b"PAR1 no"),
            "cannot be read as Parquet",
        ),
        (
            lambda folder: change(folder / "words.parquet", value=None),
            "no column value",
        ),
        (
            lambda folder: (folder / "_scan.json").write_text('{"scan_id": "x"'),
            "_scan.json",
        ),
        (lambda folder: (folder / "_summary.json").write_text("[]"), "_summary.json"),
    ],
)
def test_what_is_no_whole_scan_is_refused(copy: Path, fault: Any, message: str) -> None:
    fault(copy)
    with pytest.raises(InputError, match=message):
        take(copy)


ODD = (7, b"\xff", {"a": 1}, 2.5, True, [1], "\0", "2026-01-01")


@pytest.mark.parametrize("value", ODD)
def test_columns_of_other_types_stop_nothing(copy: Path, value: Any) -> None:
    for path in copy.glob("*.parquet"):
        if path.name != "letters.parquet":
            path.unlink()
    path = copy / "letters.parquet"
    whole = path.read_bytes()
    for name in _READ & set(pq.read_schema(path).names):
        change(path, **{name: value})
        with suppress(InputError):
            take(copy)
        path.write_bytes(whole)


@pytest.mark.parametrize("turn", [0, pytest.param(4, marks=pytest.mark.rare)])
def test_what_such_columns_leave_in_a_store_is_sound(
    copy: Path, tmp_path: Path, turn: int
) -> None:
    for number, path in enumerate(sorted(copy.glob("*.parquet")), turn):
        value = ODD[number % len(ODD)]
        change(
            path, value=value, label=value, scanner_params=value, scan_model_usage=value
        )
    with open_store(store_at(tmp_path / "x.duckdb"), write=True) as store:
        assert not ingest(store, [copy, *LOGS]).refused
        assert check(store).ok


def test_pointers_are_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "words.parquet").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n"
    )
    with open_store(
        f"duckdb:///{tmp_path / 'x.duckdb'}", create=True, write=True
    ) as store:
        (refused,) = ingest(store, [copy]).refused
        assert "git lfs pull" in refused.error


# --- with logs, in a store ------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["scan first", "logs first", "together"])
@pytest.mark.rare
def test_with_its_logs_in_any_order(store_url: str, tmp_path: Path, order: str) -> None:
    sources = {
        "scan first": ([SCAN], LOGS),
        "logs first": (LOGS, [SCAN]),
        "together": ([*LOGS, SCAN],),
    }[order]
    with open_store(store_url, create=True, write=True) as store:
        for paths in sources:
            assert not ingest(store, paths).refused
        means = (
            "select run.benchmark_id, metric.name, count(*) as n, count(value) as "
            "n_values, avg(value) as mean"
            " from score join run on run.id = run_id join metric on metric.id = "
            "metric_id where origin = 'scanned'"
            " and name in ('words', 'letters', 'length', 'doubtful') group by 1, 2 "
            "order by 1, 2"
        )
        found = [
            (row["name"], row["n"], row["n_values"], row["mean"])
            for row in select(store, means)
        ]
        near = pytest.approx
        assert sorted(found, key=lambda row: (row[0], row[1])) == [
            ("doubtful", 4, 0, None),
            ("doubtful", 9, 0, None),
            ("length", 4, 4, near(6.458333333)),
            ("length", 9, 9, near(8.666666667)),
            ("letters", 4, 4, 0),
            ("letters", 9, 9, near(4 / 9)),
            ("words", 4, 4, near(1.75)),
            ("words", 9, 9, near(11 / 9)),
        ]
        assert check(store).ok
        again = ingest(store, [*LOGS, SCAN])
        assert {item.state for item in again.sources} == {"unchanged"}


def test_a_retry_has_the_values_of_the_samples_that_it_kept(
    tmp_path: Path, store_url: str
) -> None:
    retry = as_first_asked(
        DATA / "inspect" / "faults_retried.eval", tmp_path / "faults_retried.eval"
    )
    with open_store(store_url, create=True, write=True) as store:
        ingest(store, [SCAN, LOGS[1], retry])
        runs = (
            "select run_id, superseded_by, count(*) as n from score join run on run.id "
            "= run_id"
        )
        rows = select(
            store, f"{runs} where origin = 'scanned' group by 1, 2 order by 1"
        )
        # nine metrics; the retry asked one of the four samples anew
        assert [(row["superseded_by"] is None, row["n"]) for row in rows] == [
            (False, 36),
            (True, 27),
        ]
        assert check(store).ok
