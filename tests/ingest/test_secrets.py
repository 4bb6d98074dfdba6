"""Keys that a harness wrote into its results do not reach the store."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_ingest import write_run
from tests.support.cli import Caller
from warehouse.store.open import open_store
from warehouse.store.schema import tables

KEY = "sk-proj-0a1b2c3d4e5f6g7h8i9j"


def test_a_key_among_the_arguments_of_a_model_is_not_stored(run: Caller, store_url: str, tmp_path: Path) -> None:
    write_run(tmp_path / "plain", "org/a")
    write_run(tmp_path / "keyed", "org/b")
    for path in (tmp_path / "keyed").rglob("results*.json"):
        document = json.loads(path.read_text())
        document["config"]["model_args"] += f",temperature=0.5,api_key={KEY},base_url=http://me:hidden@host/v1"
        document["config"]["gen_kwargs"] = {"temperature": 0.5, "api_key": KEY}
        document["configs"]["trivia"]["metadata"] = {"client": {"api_key": "hidden", "tries": 3}}
        path.write_text(json.dumps(document))
    assert run("ingest", str(tmp_path), db=store_url).code == 0
    with open_store(store_url) as store:
        stored = {name: str(store.rows(f"select * from {name}")) for name in tables.metadata.tables}
    assert '"tries":3' in stored["run"].replace(" ", "").replace("'", '"') and "temperature=0.5" in stored["run"]
    assert [name for name, text in stored.items() if KEY in text or "hidden" in text] == []
