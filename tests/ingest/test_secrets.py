"""Keys that a harness wrote into its results do not reach the store."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_ingest import write_run
from tests.support.cli import Caller
from warehouse.store.open import open_store
from warehouse.store.schema import tables

KEY = "sk-proj-0a1b2c3d4e5f6g7h8i9j"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmVkaGlkZGVu"


def test_a_key_among_the_arguments_of_a_model_is_not_stored(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "plain", "org/a")
    write_run(tmp_path / "keyed", "org/b")
    for path in (tmp_path / "keyed").rglob("results*.json"):
        document = json.loads(path.read_text())
        document["config"]["model_args"] += (
            f",temperature=0.5,api_key={KEY},base_url=http://me:hidden@host/v1"
        )
        document["config"]["gen_kwargs"] = {"temperature": 0.5, "api_key": KEY}
        document["config"]["tool_keys"] = {
            "SLACK_TOKEN": "hidden",
            "argv": ["--passphrase", "hidden"],
        }
        document["config"]["remark"] = f"sent to https://host/v1?sig=hidden with {JWT}"
        document["configs"]["trivia"]["metadata"] = {
            "client": {"api_key": "hidden", "tries": 3}
        }
        path.write_text(json.dumps(document))
    assert run("ingest", str(tmp_path), db=store_url).code == 0
    with open_store(store_url) as store:
        stored = {
            name: str(store.rows(f"select * from {name}"))
            for name in tables.metadata.tables
        }
    assert (
        '"tries":3' in stored["run"].replace(" ", "").replace("'", '"')
        and 'model_args.temperature":"0.5"' in stored["run"]
    )
    assert [
        name
        for name, text in stored.items()
        if KEY in text or JWT in text or "hidden" in text
    ] == []


MAPPING = """
[run]
benchmark = { const = "b" }
model = "model"
endpoint = "url"
note = "note"
tags = { path = "tags" }
agent = "agent"
[sample]
prompt_id = "id"
error = "error"
[[scores]]
metric = "acc"
value = "score"
"""
ROW = {
    "model": f"m?api_key={KEY}", "url": f"https://me:hidden@host/v1?sig=hidden&x={KEY}", "note": "X-Api-Key: hidden",
    "tags": ["SLACK_TOKEN=hidden"], "agent": f"a --passphrase hidden {JWT}",
}  # fmt: skip


def test_a_key_in_any_field_in_errors_and_in_rejected_rows_is_neither_stored_nor_told(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text(MAPPING)
    error = f"401: Incorrect API key provided: {KEY}; sent Authorization: Bearer {JWT}"
    rows = [
        {**ROW, "id": n, "error": error if n else None, "score": 1.0 - n}
        for n in range(2)
    ]
    lines = [*map(json.dumps, rows), json.dumps({**ROW, "id": 2})[:-1]]
    (tmp_path / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))
    call = (
        "-v",
        "ingest",
        "--map",
        str(tmp_path / "m.toml"),
        str(tmp_path / "rows.jsonl"),
    )
    refused = run(*call, db=store_url)
    taken = run(
        *call, "--max-rejected", "1", "--set", f"recipe=api_key={KEY}", db=store_url
    )
    assert taken.code == 0, taken.err
    drafted = run("mapping", str(tmp_path / "rows.jsonl"), db=store_url)
    with open_store(store_url) as store:
        stored = {
            name: str(store.rows(f"select * from {name}"))
            for name in tables.metadata.tables
        }
    stored |= {
        "refused": refused.out + refused.err,
        "taken": taken.out + taken.err,
        "draft": drafted.out,
    }
    assert "401: Incorrect API key provided: ***" in stored["generation"]
    assert [
        name
        for name, text in stored.items()
        if KEY in text or JWT in text or "hidden" in text
    ] == []
