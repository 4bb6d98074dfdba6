"""A draft of a mapping says who gave the scores, or asks, where columns or the document
name them."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.mapping import parse_mapping
from warehouse.importers.tabular.scorers import scorer_of

#: By who scored: scores of two models on six prompts.
PROMPTS, MODELS = range(6), ("org/a", "org/b")
JUDGES = ("gpt-4o", "claude-3-opus")


def table(path: Path, columns: str, *values: tuple[Any, ...]) -> Path:
    """A table with a row for each model, prompt and tuple of values of some columns,
    and a score."""
    lines = [f"model,benchmark,prompt_id,{columns},score"]
    for number, model in enumerate(MODELS):
        for prompt in PROMPTS:
            for place, own in enumerate(values):
                score = (prompt + number * place) % 2
                lines.append(
                    ",".join(map(str, (model, "quiz", f"q{prompt}", *own, score)))
                )
    path.write_text("\n".join(lines) + "\n")
    return path


def draft(path: Path) -> tuple[dict[str, Any], str]:
    """The section [scorer] of a draft, and what it asks."""
    values = tomllib.loads(starting_mapping(path))
    return values.get("scorer", {}), " ".join(parse_mapping(values)[1])


@pytest.mark.parametrize(
    ("columns", "values", "expected"),
    [
        ("judge", [(name,) for name in JUDGES], {"judge_model": "judge"}),
        ("Judge Model", [(name,) for name in JUDGES], {"judge_model": "Judge Model"}),
        ("grader", [("gpt-4o",)], {"scorer": "grader"}),
        (
            "evaluator",
            [("exact_match",), ("model_graded_qa",)],
            {"scorer": "evaluator"},
        ),
        ("annotator_id", [(17,), (23,)], {"annotator": "annotator_id"}),
        ("labeller", [("ann",), ("bob",)], {"annotator": "labeller"}),
        (
            "judge,rater",
            [("gpt-4o", ""), ("", "ann")],
            {"judge_model": "judge", "annotator": "rater"},
        ),
    ],
)
def test_who_is_named_in_a_column_scored(
    tmp_path: Path,
    columns: str,
    values: list[tuple[Any, ...]],
    expected: dict[str, str],
) -> None:
    assert draft(table(tmp_path / "a.csv", columns, *values)) == (expected, "")


@pytest.mark.parametrize(
    ("columns", "values", "words"),
    [
        (
            "rater",
            [(1,), (2,)],
            ("rater", "[scorer] annotator", "--on-duplicate draws"),
        ),
        ("reviewed_by", [("ann",), ("bob",)], ("reviewed_by", "[scorer] annotator")),
        ("judge", [("x",), ("y",)], ("judge", "[scorer] scorer")),
        (
            "critic_model",
            [("gpt-4o",)],
            ("critic_model", "[scorer] scorer", "[run.configuration]"),
        ),
        (
            "judge,annotator",
            [("gpt-4o", "ann")],
            ("who gave the scores", "annotator", "judge"),
        ),
        (
            "annotator,exact_match",
            [("ann", 1), ("bob", 1)],
            ("which of the scores", "exact_match", "annotator"),
        ),
        (
            "judge,human_score",
            [("gpt-4o", 0.5)],
            ("which of the scores", "human_score"),
        ),
    ],
)
def test_what_a_table_does_not_prove_is_asked(
    tmp_path: Path, columns: str, values: list[tuple[Any, ...]], words: tuple[str, ...]
) -> None:
    path = table(tmp_path / "a.csv", columns, *values)
    scorer, asked = draft(path)
    assert scorer == {}
    assert words[0] in asked
    assert all(word in starting_mapping(path) for word in words)


@pytest.mark.parametrize(
    "column",
    ["judge_temperature", "judge", "grader", "judgement", "annotator_agreement"],
)
def test_numbers_and_verdicts_name_nobody(tmp_path: Path, column: str) -> None:
    values = (
        [("correct",), ("incorrect",)] if column == "grader" else [(0.25,), (0.75,)]
    )
    assert draft(table(tmp_path / "a.csv", column, *values))[0] == {}


def test_a_judge_in_an_object_or_in_the_document_around_the_records(
    tmp_path: Path,
) -> None:
    records = [{"prompt_id": f"q{prompt}", "score": prompt % 2} for prompt in PROMPTS]
    around = tmp_path / "around.json"
    around.write_text(
        json.dumps({"model": "org/a", "judge": "gpt-4o", "results": records})
    )
    assert draft(around) == ({"judge_model": "$.judge"}, "")
    inside = tmp_path / "inside.json"
    described = {"model": "gpt-4o", "temperature": 0}
    inside.write_text(
        json.dumps(
            [
                {"model": "org/a", "benchmark": "quiz", "judge": described, **own}
                for own in records
            ]
        )
    )
    assert draft(inside) == ({"judge_model": "judge.model"}, "")


@pytest.mark.parametrize(
    ("described", "expected", "words"),
    [
        ({"annotator": {"id": "a17"}}, {"annotator": "annotator.id"}, ""),
        ({"labeler": {"name": "eve", "team": "x"}}, {"annotator": "labeler.name"}, ""),
        (
            {"grader": {"type": "llm", "model": "claude-x"}},
            {"judge_model": "grader.model"},
            "",
        ),
        ({"grader": {"type": "human", "name": "eve"}}, {}, '"grader.name" is (eve)'),
        ({"evaluator": {"kind": "human"}}, {}, '"evaluator.kind" is (human)'),
        ({"scorer": {"threshold": 0.5}}, {}, ""),
        ({"reviewer": {"name": 0.5}}, {}, ""),
    ],
)
def test_who_is_named_in_an_object_scored_or_is_asked(
    tmp_path: Path, described: dict[str, Any], expected: dict[str, str], words: str
) -> None:
    records = [
        {
            "model": "org/a",
            "benchmark": "quiz",
            "prompt_id": f"q{prompt}",
            **described,
            "score": prompt % 2,
        }
        for prompt in PROMPTS
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(records))
    scorer, asked = draft(path)
    assert scorer == expected and words in asked and bool(words) == bool(asked)


def test_a_draft_gives_the_figures_that_ingest_gives_without_it(
    tmp_path: Path, run: Caller
) -> None:
    """People are one scorer, and each judge one of its own; several people are draws,
    as the draft says."""
    path = table(
        tmp_path / "a.csv",
        "judge,annotator",
        *[(name, "") for name in JUDGES],
        ("", "ann"),
        ("", "bob"),
    )
    scorer, asked = draft(path)
    assert scorer == {"judge_model": "judge", "annotator": "annotator"} and not asked
    text = starting_mapping(path)
    (tmp_path / "map.toml").write_text(text)
    (line,) = (line for line in text.splitlines() if "--map THIS_FILE" in line)
    options = line.partition("THIS_FILE")[2].split()
    assert options == ["--on-duplicate", "draws"]
    found = []
    for name, map_ in (
        ("with", ["--map", str(tmp_path / "map.toml")]),
        ("without", []),
    ):
        store = f"duckdb:///{tmp_path / name}.duckdb"
        assert run("ingest", str(path), *map_, *options, db=store).code == 0
        sql = (
            "select model.name as model, scorer.kind as kind, scorer.judge_model as "
            "judge, count(*) as n,"
            " sum(score.value) as total from score join metric on metric.id = "
            "score.metric_id join scorer on"
            " scorer.id = metric.scorer_id join run on run.id = score.run_id join "
            "checkpoint on checkpoint.id ="
            " run.checkpoint_id join training_seed on training_seed.id = "
            "checkpoint.training_seed_id join model on"
            " model.id = training_seed.model_id group by model.name, scorer.kind, "
            "scorer.judge_model"
        )
        rows = run("query", "--sql", sql, "--json", db=store).rows
        found.append(Counter(tuple(row.values()) for row in rows))
    assert found[0] == found[1]
    assert sorted((row[1], row[2], row[3]) for row in found[0]) == [
        *[("human", "", 12)] * 2,
        *[("model", "claude-3-opus", 6)] * 2,
        *[("model", "gpt-4o", 6)] * 2,
    ]


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (
            {"type": "human", "name": "eve"},
            {"scorer": "people", "scorer_kind": "human"},
        ),
        (
            {"kind": "Annotator", "id": "17"},
            {"scorer": "people", "scorer_kind": "human"},
        ),
        (
            {"type": "llm", "model": "gpt-4o"},
            {"scorer": "", "scorer_kind": "model", "judge_model": "gpt-4o"},
        ),
        (
            {"type": "program", "name": "regex"},
            {"scorer": "regex", "scorer_kind": "match"},
        ),
    ],
)
def test_an_object_says_whether_it_describes_people(
    described: dict[str, Any], expected: dict[str, str]
) -> None:
    assert scorer_of({"scorer": json.dumps(described)}) == expected
