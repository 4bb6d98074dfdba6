"""Tables whose scores are all missing are refused, unless each row says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tabular import read_toml
from warehouse.errors import InputError
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

RUN = (
    "[run]\n"
    'model = { const = "m" }\n'
    'benchmark = { const = "b" }\n'
    "[sample]\n"
    'prompt_id = "id"\n'
)
SCORE = '[[scores]]\nmetric = "acc"\nvalue = "acc"\n'


def test_no_score_in_any_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc\nq1,\nq2,\n")
    with pytest.raises(
        InputError,
        match=r"a\.csv: no score in any of 2 rows; expected numbers at \[\[scores\]\] 1",
    ):
        read_toml(tmp_path, RUN + SCORE)


def test_only_words(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc\nq1,good\nq2,bad\n")
    with pytest.raises(
        InputError, match="no score in any of 2 rows, only text such as 'good'"
    ):
        read_toml(tmp_path, RUN + SCORE)


@pytest.mark.parametrize(
    "stated", ['error = "why"\n' + SCORE, SCORE + 'status = "state"\n']
)
def test_failures_that_say_why_are_kept(tmp_path: Path, stated: str) -> None:
    (tmp_path / "a.csv").write_text(
        "id,acc,why,state\nq1,,timeout,error\nq2,,refused,limit\n"
    )
    taken = read_toml(tmp_path, RUN + stated)
    assert len(taken.rows) == 2 and not taken.notes


def test_one_that_does_not_say_why(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc,why\nq1,,timeout\nq2,,\n")
    with pytest.raises(InputError, match="no score in any of 2 rows"):
        read_toml(tmp_path, RUN + 'error = "why"\n' + SCORE)


def test_responses_alone_need_no_score(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,said\nq1,x\n")
    assert len(read_toml(tmp_path, RUN + 'response = "said"\n').rows) == 1


def test_one_metric_of_two_without_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc,f1\nq1,1,\nq2,0,\n")
    taken = read_toml(tmp_path, RUN + SCORE + SCORE.replace("acc", "f1"))
    assert taken.notes == ["f1: no value in any of 2 rows"]


def test_if_null_gives_every_value(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc\nq1,\nq2,\n")
    taken = read_toml(
        tmp_path, RUN + SCORE + 'if_null = { value = 0, status = "no_answer" }\n'
    )
    assert taken.notes == ["acc: no value in any of 2 rows, and if_null gives each one"]


def test_no_table_of_scout_is_stored_without_a_score(data_dir: Path) -> None:
    folder = data_dir / "inspect_scout" / "generated_0.6.1"
    mapping = """
        files = ["fails_on_even_length.parquet"]
        [run]
        model = { const = "m" }
        benchmark = { const = "b" }
        [sample]
        prompt_id = "transcript_id"
        error = "scan_error"
        [[scores]]
        metric = "value"
        value = "value"
    """
    with pytest.raises(InputError, match="no score in any of 180 rows"):
        read_toml(folder, mapping)


@pytest.mark.parametrize("name", ["m.csv", "log"])
def test_a_run_that_failed_is_stored_with_a_note(
    store_url: str, tmp_path: Path, data_dir: Path, name: str
) -> None:
    if name == "log":  # ten samples, no scores
        (path,) = (data_dir / "inspect_logs").rglob("*dPiJ*")
        mapping = None
    else:
        path, mapping = tmp_path / name, tmp_path / "m.toml"
        path.write_text("id,acc,why\n" + "".join(f"q{n},,timeout\n" for n in range(10)))
        mapping.write_text(RUN + 'error = "why"\n' + SCORE)
    with open_store(store_url, create=True) as store:
        report = ingest(store, [path], mapping=mapping)
    assert report.total("n_samples") == 10
    assert any(
        note.startswith("none of 10 samples has a score")
        for note in report.sources[0].notes
    )
