"""The family of docs/refresh.md, installed as a package of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.refresh.test_refresh import build
from tests.support.cli import in_fork
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store


@pytest.mark.rare
def test_the_family_of_the_docs_is_found_by_its_entry_point(
    store_url: str, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "refresh.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(code.splitlines()) <= 32
    (point,) = re.findall(r"`(longest = \"my_package.longest:FAMILY\")`", text)
    (tmp_path / "my_package").mkdir()
    module = tmp_path / "my_package" / "longest.py"
    module.write_text(code)
    about = tmp_path / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text(
        f"[warehouse.metrics]\n{point.replace(chr(34), '')}\n"
    )
    rows = build()
    rows.run("org/silent", "quiz")  # nothing scored
    with open_store(store_url, create=True) as store:
        rows.write(store)
        if store.dialect.roles is not None:
            upkeep.make_reader(store)

    def run(*options: str) -> list[dict[str, object]]:
        found = in_fork(
            "--db", store_url, *options, "--json", folder=tmp_path, packages=tmp_path
        )
        assert found.returncode == 0, found.stderr
        answer: list[dict[str, object]] = json.loads(found.stdout)
        return answer

    refresh = ("refresh", "--family", "longest")
    (row,) = run(*refresh)
    assert (row["family"], row["recomputed"], row["values"]) == ("longest", 10, 10)
    module.write_text(
        code.replace('"longest", "1"', '"longest", "2"') + "\n"
    )  # else what was compiled may be as new
    assert {row["why"] for row in run(*refresh, "--dry-run")} == {
        "version 1 of the method, now 2"
    }
    found = run("history", "org/b", "quiz", "--statistic", "most_draws")
    assert [(row["estimate"], row["method"], row["metric"]) for row in found] == [
        (3.0, "max", "acc")
    ]
    query = "select benchmark, reason from metric_current where estimate is null"
    assert run("query", query) == [{"benchmark": "quiz", "reason": "nothing scored"}]
