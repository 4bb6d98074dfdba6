"""Inputs that no tool writes, of every importer: refused or rejected with their place,
never a defect, never half."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.importers.common import bounds
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
from warehouse.testing.changed_files import change_json

DATA = Path(__file__).resolve().parents[1] / "data"
DEEP = "[" * 3000 + "]" * 3000
CSV = "model,benchmark,prompt_id,score\na,q,1,1\na,q,2,0\n"


def test_promptfoo_is_known_whatever_the_order_of_its_keys(
    run: Caller, tmp_path: Path, duckdb_url: str
) -> None:
    folder = Path(shutil.copytree(DATA / "promptfoo", tmp_path / "p"))
    change_json(folder, "keys in another order")
    document = json.loads((folder / "out.json").read_text())
    long = {
        "config": {"description": "x" * 100_000, **document.pop("config")},
        **document,
    }
    (folder / "out.json").write_text(json.dumps(long))
    with open_store(duckdb_url, write=True) as store:
        report = ingest(store, [folder])
        assert sorted(Path(item.source).name for item in report.sources) == [
            "best.jsonl",
            "out.json",
            "out.jsonl",
        ]
        assert {item.state for item in report.sources} == {"loaded"}


def test_an_archive_of_too_many_tables_is_refused_with_the_bound(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(60):
            archive.writestr(f"t{number}.csv", CSV)
    monkeypatch.setattr(bounds, "MAX_TABLES", 50)
    run("ingest", str(tmp_path / "many.zip"), db=str(tmp_path / "s.db")).fails(
        3, "60 tables", "at most 50", "unpack it"
    )
    monkeypatch.setattr(bounds, "MAX_TABLES", 60)
    assert (
        run("ingest", str(tmp_path / "many.zip"), db=str(tmp_path / "s.db")).code == 0
    )


NESTED = (
    f"a = {DEEP}\n",
    f"[{'.'.join('a' * 3000)}]\n",
    f"a = {'{b = ' * 3000}1{'}' * 3000}\n",
)


@pytest.mark.parametrize("text", NESTED, ids=["lists", "tables", "inline tables"])
def test_a_mapping_that_is_nested_too_deep_is_refused(
    run: Caller, tmp_path: Path, text: str
) -> None:
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "m.toml").write_text(text)
    told = ("m.toml", "nested too deep")
    run(
        "ingest",
        str(tmp_path / "t.csv"),
        "--map",
        str(tmp_path / "m.toml"),
        db=str(tmp_path / "s.db"),
    ).fails(3, *told)


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "t.csv", "--map", "/dev/zero"),
        ("fix", "prices", "/dev/zero"),
        ("leaderboard", "q", "--prices", "/dev/zero"),
    ],
)
@pytest.mark.timeout(30)
def test_a_file_of_the_user_that_never_ends_is_refused(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(CSV)
    assert run("ingest", "t.csv", db="s.db").code == 0
    assert run(*words, db="s.db").code in (2, 3)


@pytest.mark.parametrize(
    ("dump", "files"),
    [
        ("lm_eval/v0_4_9", "*"),
        ("lighteval", "*"),
        ("verifiers", "*"),
        ("inspect", "grid.*"),
    ],
)
def test_a_folder_whose_name_is_no_text(tmp_path: Path, dump: str, files: str) -> None:
    folder, whole = (
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff\xfe")),
        tmp_path / "whole",
    )
    for target in (folder, whole):
        target.mkdir()
        for path in (DATA / dump).glob(files):
            (shutil.copytree if path.is_dir() else shutil.copy)(
                path, target / path.name
            )
    states = []
    for path in (folder, whole):
        with open_store(str(tmp_path / f"{len(states)}.db"), create=True) as store:
            states.append(sorted(item.state for item in ingest(store, [path]).sources))
    assert states[0] == states[1]


@pytest.mark.parametrize("form", ["a record", "a text"])
@pytest.mark.timeout(60)
def test_a_text_of_many_megabytes_is_not_read_once_for_each_mapping(
    run: Caller, tmp_path: Path, form: str
) -> None:
    text = "x" * 20_000_000
    row = json.dumps(
        {"model": "a", "benchmark": "q", "prompt_id": "1", "score": 1, "response": text}
    )
    (tmp_path / "big.jsonl").write_text(
        f"{row}\n" if form == "a record" else f'"{text}"\n'
    )
    found = run("ingest", str(tmp_path / "big.jsonl"), db=str(tmp_path / "s.db"))
    assert found.code == (0 if form == "a record" else 3), found
