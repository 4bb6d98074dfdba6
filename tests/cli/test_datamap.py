"""``datamap``: what people and programs get to see."""

from __future__ import annotations

import warehouse
from tests.analysis.datamap.test_datamap import build as build
from tests.support.cli import Caller


def test_people_see_distribution_map_and_suspects(run: Caller, url: str) -> None:
    call = ("items", "datamap", "org/a", "--benchmark", "quiz")
    brief = run(*call, db=url)
    assert "The target of 1 prompt may be wrong, prompt:2 (org/a says " in brief.out
    assert "all answers alike" in brief.out and "S = 0" not in brief.out
    found = run(*call, "--explain", db=url)
    assert found.code == 0 and found.out.startswith("P(correct), over prompts")
    assert (
        "prompts by P(correct) and S(consistency): quiz, org/a, temperature=0.2"
        in found.out
    )
    assert (
        "suspected label errors: 2 (P <= 0.1, S >= -0.8, by extracted answer)"
        in found.out
    )
    (line,) = [line for line in found.out.splitlines() if line.startswith("S = 0")][:1]
    assert line.split() == ["S", "=", "0", "1", "0", "0", "0", "0", "0", "0", "1"]
    assert "a prompt is not suspected" in found.err


def test_programs_get_the_suspects_of_the_library(run: Caller, url: str) -> None:
    library = warehouse.connect(url).datamap("org/a", benchmark="quiz")
    suspects = run(
        "items",
        "datamap",
        "org/a",
        "--benchmark",
        "quiz",
        "--suspects",
        "--json",
        db=url,
    ).rows
    assert suspects == [row.to_dict() for row in library.suspects]


def test_models_for_grouping_are_named(run: Caller, url: str) -> None:
    near = run(
        "items",
        "datamap",
        "org/words",
        "--group",
        "embedding",
        "--embedder",
        "tests.support.embedders:tiny",
        "--explain",
        db=url,
    )
    assert "by embedding of responses" in near.out
    entailed = run(
        "items",
        "datamap",
        "org/words",
        "--group",
        "entailment",
        "--entailment",
        "tests.support.embedders:words",
        "--suspects",
        "--explain",
        db=url,
    )
    assert (
        "by entailment of responses" in entailed.out
        and "over prompts" not in entailed.out
    )


def test_mistakes_end_in_one_line(run: Caller, url: str) -> None:
    run("items", "datamap", "org/once", db=url).fails(2, "a data map needs several")
    run("items", "datamap", "org/a", "--benchmark", "lines", db=url).fails(
        2, "--correct-at"
    )
    run("items", "datamap", "org/a", "--suspects", "--distribution", db=url).fails(
        2, "give one of"
    )
    run("items", "datamap", "org/words", "--group", "embedding", db=url).fails(
        2, "--embedder MODEL"
    )
    run(
        "items",
        "datamap",
        "org/words",
        "--group",
        "entailment",
        "--entailment",
        "/no/folder",
        db=url,
    ).fails(3, "no such folder")
    run("items", "datamap", "org/a", "--max-p", "2", db=url).fails(2, "--max-p")
