"""What a report says first: who leads where, over all benchmarks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse import connect
from warehouse.report.found import LEADS, TIED, Leader, found_in_words
from warehouse.report.heat import HeatColumn


def column(name: str, leader: Leader | None) -> HeatColumn:
    return HeatColumn(name, "acc", True, {}, leader=leader)


def words(*columns: HeatColumn) -> list[str]:
    return [sentence.striptags() for sentence in found_in_words(columns)]


def test_who_leads_where_is_said_by_name() -> None:
    said = words(
        column("a", Leader(LEADS, "x")),
        column("b", Leader(LEADS, "x")),
        column("c", Leader(LEADS, "y")),
        column("d", Leader(TIED, "x")),
        column("e", None),
    )
    assert said == [
        "x leads on a and b; y leads on c.",
        "On d the best cannot be told from others.",
        "On e there is one model or none, so nothing is ranked.",
    ]


def test_of_many_there_is_a_number() -> None:
    columns = [column(f"b{n}", Leader(LEADS, f"m{n % 6}")) for n in range(24)]
    assert words(*columns) == [
        "m0 leads on 4 benchmarks; m1 leads on 4 benchmarks; m2 leads on 4 benchmarks; "
        "m3 leads on 4 benchmarks; 2 other models on 8 benchmarks."
    ]


def test_one_benchmark_has_its_own_sentence() -> None:
    assert words(column("a", Leader(LEADS, "x"))) == []


def test_names_of_dumps_are_text() -> None:
    (sentence,) = found_in_words(
        [column("<i>a", Leader(LEADS, "<b>x")), column("b", Leader(LEADS, "<b>x"))]
    )
    assert "&lt;b&gt;x" in sentence and "&lt;i&gt;a" in sentence


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("found")
    dice = random.Random(2)
    lines = ["model,benchmark,prompt_id,score"]
    for name, skills in (("sums", (0.9, 0.3)), ("words", (0.5, 0.5))):
        for model, skill in zip(("good", "bad"), skills, strict=True):
            for number in range(60):
                lines.append(f"{model},{name},{number},{int(dice.random() < skill)}")
    (folder / "scores.csv").write_text("\n".join(lines))
    made = store_at(folder / "s.duckdb")
    connect(made).ingest(folder / "scores.csv")
    return made


def test_the_first_line_of_a_report_is_of_all_benchmarks(
    run: Caller, url: str, tmp_path: Path
) -> None:
    page = tmp_path / "r.html"
    assert run("report", "-o", str(page), db=url).code == 0
    text = page.read_text(encoding="utf-8")
    first = text.index('<p class="found">')
    assert first < text.index('<ul class="answers">')
    assert "<b>good</b></bdi> leads on <bdi>sums</bdi>" in text
    assert "On <bdi>words</bdi> the best cannot be told from others." in text
