"""Fields that were named before the scores came are declared; all others are
exploratory; on both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from warehouse import Warehouse, connect
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.store.connection import Store
from warehouse.store.curate.declarations import declarations
from warehouse.store.curate.declared_slices import (
    declare_slices,
    undeclare_slices,
)
from warehouse.store.open import open_store

EARLY = datetime(2026, 5, 3)
MAPPING = """
files = ["*.csv"]
[run]
model = "model"
benchmark = "benchmark"
[sample]
prompt_id = "id"
[metadata]
language = "language"
level = "level"
[[scores]]
metric = "acc"
value = "acc"
[metrics.acc]
kind = "binary"
low = 0
high = 1
higher_is_better = true
"""
BY = {
    "leaderboard": ("leaderboard", "mgsm"),
    "compare": ("compare", "org/a", "org/b", "-b", "mgsm"),
    "gate": ("gate", "org/a", "org/b", "-b", "mgsm", "--margin", "0.5")
    + ("--no-slice-worse-than", "0.9"),
    "variance": ("noise", "variance", "mgsm"),
}


def dump(folder: Path, model: str) -> Path:
    """Answers to 24 questions in three languages, of two levels."""
    folder.mkdir(exist_ok=True)
    (folder / "map.toml").write_text(MAPPING)
    lines = ["model,benchmark,id,language,level,acc"]
    lines += [
        f"org/{model},mgsm,q{n},{'sw te de'.split()[n % 3]},{n % 2},"
        f"{int(n % (2 if model == 'a' else 3) > 0)}"
        for n in range(24)
    ]
    path = folder / f"{model}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(run: Caller, url: str, path: Path) -> None:
    read = run("ingest", str(path), "--map", str(path.parent / "map.toml"), db=url)
    assert read.code == 0, read.err


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with open_store(store_url, write=True) as opened:
        yield opened


def said(store: Store) -> list[tuple[str, str]]:
    return [(one.benchmark, one.subject) for one in declarations(store)]


def test_fields_are_named_once_and_taken_back(store: Store) -> None:
    assert declare_slices(store, "mgsm", ["metadata.language"], at=EARLY) == (
        "mgsm",
        False,
    )
    declare_slices(store, "mgsm", ["language", "level,language", "prompt.level"])
    assert said(store) == [
        ("mgsm", "language"),
        ("mgsm", "language,level"),
        ("mgsm", "level"),
    ]
    assert declarations(store)[0].declared_at == EARLY  # it keeps its day
    assert undeclare_slices(store, "mgsm", ["language , level"]) == ["language,level"]
    with pytest.raises(MisuseError, match="topic: not declared of mgsm"):
        undeclare_slices(store, "mgsm", ["topic"])
    assert undeclare_slices(store, "mgsm") == ["language", "level"]
    for fields in ([], [""], ["a,"]):
        with pytest.raises(MisuseError, match="name fields"):
            declare_slices(store, "mgsm", fields)
    with pytest.raises(MisuseError, match="no field: not declared"):
        undeclare_slices(store, "mgsm")


@pytest.mark.parametrize("question", BY)
def test_a_field_named_before_the_scores_is_declared(
    run: Caller, store_url: str, tmp_path: Path, question: str
) -> None:
    made = run("fix", "slices", "mgsm", "language", "language,level", db=store_url)
    assert "declared, for scores that are stored from now on" in made.out
    assert "there is no benchmark 'mgsm' yet" in made.err
    for model in "ab":
        read(run, store_url, dump(tmp_path / "dumps", model))
    by = (*BY[question], "--by")
    day = utc_now()
    words = f"Field language declared on {day.day} {day:%B %Y}."
    shown = run(*by, "language", db=store_url)
    assert words in shown.out + shown.err, shown
    assert "exploratory" not in shown.out + shown.err
    rows = json.loads(run(*by, "language", "--json", db=store_url).out)
    assert {row["label"] for row in rows} == {"declared"}
    assert all(row["declared_at"].startswith(f"{day:%Y-%m-}") for row in rows)
    cells = json.loads(run(*by, "level,language", "--json", db=store_url).out)
    assert {row["label"] for row in cells} == {"declared"}
    other = run(*by, "level", db=store_url)
    text = " ".join((other.out + other.err).split())
    assert (
        "exploratory: level was chosen after the scores were stored; 1 field was asked "
        "for in this call"
    ) in text
    rows = json.loads(run(*by, "level", "--json", db=store_url).out)
    assert {(row["label"], row["declared_at"]) for row in rows} == {
        ("exploratory", None)
    }


@pytest.fixture
def late(run: Caller, store_url: str, tmp_path: Path) -> Warehouse:
    """The field is named between two runs."""
    read(run, store_url, dump(tmp_path / "dumps", "a"))
    warehouse = connect(store_url, create=False)
    warehouse.declare_slices("mgsm", "language")
    read(run, store_url, dump(tmp_path / "dumps", "b"))
    return warehouse


def labels(result: Any) -> set[str]:
    return {row.label for row in result.rows}


def test_it_is_exploratory_for_scores_that_were_there(late: Warehouse) -> None:
    compared = late.compare_by("org/a", "org/b", "language", benchmark="mgsm")
    assert labels(compared) == {"exploratory"}
    text = " ".join(str(compared).split())
    assert (
        "was declared on" in text and "after scores of this answer were stored" in text
    )
    alone = late.leaderboard_by("mgsm", "language", where=["model=org/b"])
    assert labels(alone) == {"declared"}
    slope = late.compare_slope("org/a", "org/b", "level", benchmark="mgsm")
    assert labels(slope) == {"exploratory"}


def test_of_several_fields_each_has_its_own(late: Warehouse) -> None:
    board = late.leaderboard_by("mgsm", ["language", "level"], where=["model=org/b"])
    assert {(row.field, row.label) for row in board.rows} == {
        ("language", "declared"),
        ("level", "exploratory"),
    }
    text = " ".join(str(board).split())
    assert "Field language declared on" in text
    assert "level was chosen after the scores were stored; 2 fields were" in text
    both = late.compare_by("org/a", "org/b", ["language", "level"], benchmark="mgsm")
    first, second = both.fields
    assert first.p_holm is not None and second.p_holm is not None


def test_prompts_that_are_chosen_by_hand_are_not_declared(late: Warehouse) -> None:
    board = late.leaderboard_by(
        "mgsm", "language", where=["model=org/b", "prompt.level=1"]
    )
    assert labels(board) == {"exploratory"}
    assert "but not what where= leaves" in " ".join(str(board).split())


def test_undone_it_is_exploratory_again(late: Warehouse) -> None:
    assert late.declare_slices("mgsm", undo=True) == ("language",)
    board = late.leaderboard_by("mgsm", "language", where=["model=org/b"])
    assert labels(board) == {"exploratory"}


def test_a_day_in_the_future_declares_nothing(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    with open_store(store_url, write=True) as store:
        declare_slices(store, "mgsm", ["language"], at=utc_now() + timedelta(days=1))
    for model in "ab":
        read(run, store_url, dump(tmp_path / "dumps", model))
    found = connect(store_url, create=False).leaderboard_by("mgsm", "language")
    assert labels(found) == {"exploratory"}


def test_a_report_and_a_claim_have_the_label(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    run("fix", "slices", "mgsm", "language", db=store_url)
    for model in "ab":
        read(run, store_url, dump(tmp_path / "dumps", model))
    run("fix", "cluster", "mgsm", "language", db=store_url)
    page, claim = tmp_path / "page.html", tmp_path / "claim.json"
    assert run("report", "mgsm", "--out", str(page), db=store_url).code == 0
    assert "Field language declared on" in page.read_text()
    ask = "noise variance mgsm --by language"
    made = run("claim", ask, "-o", str(claim), db=store_url)
    assert made.code == 0, made.err
    assert '"about":"slices"' in claim.read_text()
    assert run("claim", "verify", str(claim), db=store_url).code == 0
    run("fix", "slices", "mgsm", "--undo", db=store_url)
    other = run("claim", "verify", str(claim), "--json", db=store_url).rows
    assert {"slices of mgsm: language"} <= {row["where"] for row in other}


def test_pairs_are_not_offered_by_slices(run: Caller, late: Warehouse) -> None:
    refused = run("pairs", "mgsm", "--by", "language", db=str(late.url))
    refused.fails(
        2,
        "all pairs × slices is not offered",
        "warehouse leaderboard mgsm --by language",
        "warehouse compare A B -b mgsm --by language",
    )


def test_variance_by_slices_is_that_of_their_prompts(late: Warehouse) -> None:
    report = late.variance("mgsm", by="language")
    assert len(report.rows) == 6
    for row in report.rows:
        values = [
            float(n % (2 if row.model == "org/a" else 3) > 0)
            for n in range(24)
            if "sw te de".split()[n % 3] == row.slice
        ]
        mean = sum(values) / len(values)
        spread = sum((one - mean) ** 2 for one in values) / (len(values) - 1)
        assert row.n_prompts == len(values)
        assert row.estimate == pytest.approx(mean)
        assert (row.standard_error or 0) ** 2 == pytest.approx(spread / len(values))
    plain = late.variance("mgsm").rows
    assert {(row.field, row.slice, row.label) for row in plain} == {("", "", "")}
    with pytest.raises(MisuseError, match="no prompt of mgsm has the field 'topic'"):
        late.variance("mgsm", by="topic")
