"""The reference of the mapping language says what the program does."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from tests.support.tabular import ROOT, read, scores
from warehouse.importers.common.streams import FORMATS
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.importer import load_mapping
from warehouse.importers.tabular.mapping import SPEC_FIELDS, parse_mapping
from warehouse.importers.tabular.mapping_variants import RUN_FIELDS, SAMPLE_FIELDS
from warehouse.records import MetricSpec

TEXT = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in (
        "mappings.md",
        "reference/mapping_language.md",
        "reference/drafts.md",
    )
)
MAPPINGS = sorted((ROOT / "docs" / "mappings").glob("*.toml"))
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
#: What a mapping says of a metric in other words, or by being a mapping.
DERIVED = {"name", "filter", "default_by"}
#: A draft with something to decide is refused as it is.
TOML = [text for kind, text in BLOCKS if kind == "toml" and "[[choose]]" not in text]


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.stem)
def test_documented_mapping_has_no_mistakes(path: Path) -> None:
    assert parse_mapping(load_mapping(path))[1] == []
    assert re.search(rf"--map {path.stem}\n", path.read_text(encoding="utf-8"))


def test_the_example_runs(tmp_path: Path) -> None:
    name = re.search(r"`(results/[^`]+\.jsonl)`", TEXT)
    assert name is not None
    data = next(text for kind, text in BLOCKS if kind == "json")
    (tmp_path / name[1]).parent.mkdir()
    (tmp_path / name[1]).write_text(data)
    taken = read(tmp_path, tomllib.loads(TOML[0]))
    (run,) = taken.runs
    assert (run.model, run.temperature, run.benchmark) == (
        "llama-3b",
        0.6,
        "arithmetic",
    )
    assert [row["response"] for row in taken.rows] == ["4", "5"]
    assert scores(taken.rows) == [1, 0]


@pytest.mark.parametrize("block", TOML)
def test_every_snippet_is_a_piece_of_a_mapping(block: str) -> None:
    _, mistakes = parse_mapping(tomllib.loads(block))
    assert [
        text
        for text in mistakes
        if not text.startswith(("expected [[scores]]", "nothing"))
    ] == []


def test_every_field_and_key_is_named() -> None:
    keys = [item.name for item in fields(Recode)]
    specs = [item.name for item in fields(MetricSpec) if item.name not in DERIVED]
    missing = [
        name
        for name in (*RUN_FIELDS, *SAMPLE_FIELDS, *keys, *specs)
        if f"`{name}" not in TEXT
    ]
    assert missing == []


def test_metrics_take_every_field_of_their_specification() -> None:
    known = {item.name for item in fields(MetricSpec)} - DERIVED
    assert set(SPEC_FIELDS) == known


def test_formats_are_named() -> None:
    assert {"csv", "tsv", "json", "jsonl", "parquet", "txt"} == set(FORMATS.values())
